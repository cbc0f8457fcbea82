//! `funil doctor` (C-84) finds and repairs every sort of damage, and changes nothing that is right.

mod copies;
mod credentials;
mod derived;
mod details;
mod left;
mod remains;
mod storm;

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::{Bench, Ended};

/// Records of all kinds. Each test begins with an instance of them.
const INSTANCE: &str = r#"
{"kind":"department","id":2,"name":"Vendas"}
{"kind":"user","id":7,"name":"Ana","admin":true}
{"kind":"user","id":8,"name":"Bruno","department":2}
{"kind":"user","id":9,"name":"Carla","department":2}
{"kind":"profile","number":"5511987001122","name":"Rui"}
{"kind":"tag","id":1,"tag":"Quente"}
{"kind":"lossReason","id":1,"name":"Preço"}
{"kind":"company","id":2,"companyname":"Boa Vista","points":7.5}
{"kind":"lead","id":1,"firstname":"Carla","mobile":"+55 11 97326-3471","company":2,"owner":7,"createDate":"2026-01-01T00:00:00.000Z"}
{"kind":"lead","id":2,"firstname":"Davi","email":"Davi@example.com","company":2,"createDate":"2026-01-01T00:00:00.000Z"}
{"kind":"lead","id":3,"owner":8,"archived":true,"userAccess":[9],"createDate":"2026-01-01T00:00:00.000Z"}
{"kind":"lead","id":4,"owner":9,"archived":true,"createDate":"2026-01-01T00:00:00.000Z"}
{"kind":"funnel","id":3,"name":"Vendas","columns":[{"id":31,"name":"Entrada"},{"id":32,"name":"Proposta"}]}
{"kind":"opportunity","id":1,"title":"Um","crm_id":3,"crm_column":31,"lead_id":1,"user":7,"value":"1234.56","createDate":"2026-09-04T09:30:00.000Z"}
{"kind":"opportunity","id":2,"title":"Dois","crm_id":3,"crm_column":31,"lead_id":2,"user":8,"value":"0.44","status":"gain","createDate":"2026-09-04T09:29:59.000Z"}
{"kind":"opportunity","id":3,"title":"Tres","crm_id":3,"crm_column":32,"lead_id":1,"user":7,"archived":1,"service_permission":"users","service_permission_users":[8],"createDate":"2026-09-04T09:30:00.000Z"}
{"kind":"calendar","id":1,"name":"Agenda","keyName":"key-1","publicId":"pub_1","userId":7,"timezone":"UTC","durationMinutes":30,"hours":{}}
{"kind":"calendar","id":2,"name":"Agenda","keyName":"key-2","publicId":"pub_2","userId":7,"timezone":"UTC","durationMinutes":30,"hours":{}}
{"kind":"meeting","id":1,"calendarId":1,"leadId":1,"status":"scheduled","date":"2027-03-01T12:00:00Z","endDate":"2027-03-01T12:30:00Z"}
{"kind":"meeting","id":2,"calendarId":1,"leadId":2,"status":"rescheduled","date":"2027-03-01T23:30:00Z","endDate":"2027-03-02T00:30:00Z"}
{"kind":"meeting","id":3,"calendarId":1,"leadId":1,"status":"canceled","date":"2027-03-01T12:00:00Z","endDate":"2027-03-01T12:30:00Z"}
{"kind":"ticket","id":1,"lead_relation":1,"createDate":"2026-05-01T10:00:00.000Z"}
{"kind":"ticket","id":2,"createDate":"2026-05-01T10:00:00.000Z"}
{"kind":"file","ticket":1,"id":7}
{"kind":"file","ticket":1,"store_path":"a#b"}
{"kind":"call","id":1,"user":8,"leadPhone":"5511987001122","type":"INCOMING","status":"COMPLETE","duration":65,"record":true,"service":"x","createDate":"2026-06-01T10:00:00.000Z","lead":1}
{"kind":"call","id":2,"user":8,"leadPhone":"5511987001122","type":"INCOMING","status":"COMPLETE","duration":65,"record":true,"service":"x","createDate":"2026-06-01T10:00:00.000Z","lead":2}
{"kind":"report","id":3,"name":"Por dia","entity":"calls","measure":"count","groupBy":"day","filters":{}}
"#;

/// The partitions of totals, with versions that a repair raises.
const TOTALS: [&str; 11] = [
    "acme#lead-total#",
    "acme#lead-total-restricted#",
    "acme#lead-block#",
    "acme#board-total#",
    "acme#board-rank#",
    "acme#board-total-restricted#",
    "acme#board-rank-restricted#",
    "acme#agenda#",
    "acme#user-agenda#",
    "acme#shared-buffers",
    "acme#meeting-month#",
];

/// Pairs of item and reason.
type Findings = BTreeSet<(String, String)>;

fn bench() -> Bench {
    let bench = Bench::with_instance();
    bench.import(INSTANCE.trim_start()).done();
    bench
}

fn id(id: u64) -> String {
    format!("{id:015}")
}

fn doctor(bench: &Bench) -> Ended {
    bench.funil("doctor --instance acme --json")
}

fn repair(bench: &Bench) -> Ended {
    bench.funil("doctor --instance acme --repair --json")
}

/// The differences that a doctor reports.
fn found(ended: &Ended, repaired: bool) -> Findings {
    let document = ended.document();
    let differences = document["differences"].as_array().unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    differences
        .iter()
        .map(|difference| {
            assert_eq!(difference["repaired"], repaired, "{difference}");
            (text(&difference["item"]), text(&difference["reason"]))
        })
        .collect()
}

/// The table without the versions that a repair raises.
fn content(bench: &Bench) -> Vec<Value> {
    let mut items = bench.items();
    for item in &mut items {
        let pk = item["pk"]["S"].as_str().unwrap();
        if pk == "acme#directory" || TOTALS.iter().any(|totals| pk.starts_with(totals)) {
            item.as_object_mut().unwrap().remove("v");
        }
    }
    items
}

#[track_caller]
fn assert_clean(bench: &Bench) {
    let seen = doctor(bench).done();
    assert!(found(&seen, false).is_empty(), "{seen:?}");
}

/// Requires that the doctor finds exactly these differences, writes nothing without `--repair`, and repairs all with
/// it.
#[track_caller]
fn assert_repairs(bench: &Bench, expected: &Findings) {
    let damaged = bench.items();
    let seen = doctor(bench);
    assert_eq!((seen.code, found(&seen, false)), (1, expected.clone()));
    assert_eq!(bench.items(), damaged, "without --repair nothing is written");
    let repaired = repair(bench);
    assert_eq!((repaired.code, found(&repaired, true)), (0, expected.clone()));
    assert_clean(bench);
}

/// Applies the damages of a table, and requires that the doctor restores the instance.
#[track_caller]
fn assert_restores(bench: &Bench, table: &str) {
    let (before, exported) = (content(bench), bench.export());
    let expected = damage(bench, table);
    assert_repairs(bench, &expected);
    assert_eq!(content(bench), before);
    assert_eq!(bench.export(), exported);
}

/// Applies the damages of a table, and returns the expected findings. Each line contains a damage, an item, and the
/// reason of the finding. Damages are `delete`, `put ITEM`, `set NAME VALUE`, `unset NAME…` and `copy PK SK`. A line
/// without a damage has a further finding. `*` at the end of a sort key stands for the rest of the only matching key.
fn damage(bench: &Bench, table: &str) -> Findings {
    let lines = table.lines().filter(|line| !line.is_empty()).map(|line| {
        let [damage, item, reason] = line.split('|').map(str::trim).collect::<Vec<_>>()[..] else {
            panic!("{line}");
        };
        let (pk, sk) = item.split_once(' ').unwrap();
        let sk = &whole(bench, pk, sk);
        let json = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        match damage.split_once(' ').unwrap_or((damage, "")) {
            ("", _) => {}
            ("delete", _) => bench.delete(pk, sk),
            ("put", item) => bench.put(pk, sk, &json(item)),
            ("set", change) => {
                let (name, value) = change.split_once(' ').unwrap();
                bench.set(pk, sk, name, &json(value));
            }
            ("unset", names) => {
                let mut item = bench.item(pk, sk).unwrap();
                item.as_object_mut()
                    .unwrap()
                    .retain(|name, _| !names.split(' ').any(|gone| gone == name));
                bench.put(pk, sk, &item);
            }
            ("copy", of) => {
                let (partition, sort) = of.split_once(' ').unwrap();
                bench.put(pk, sk, &bench.item(partition, sort).unwrap());
            }
            _ => panic!("{line}"),
        }
        (format!("{pk} {sk}"), reason.to_owned())
    });
    lines.collect()
}

fn whole(bench: &Bench, pk: &str, sk: &str) -> String {
    let Some(begins) = sk.strip_suffix('*') else {
        return sk.to_owned();
    };
    let keys = bench.partition(pk).into_iter();
    let mut keys = keys.map(|item| item["sk"]["S"].as_str().unwrap().to_owned());
    keys.find(|sk| sk.starts_with(begins)).unwrap()
}

#[test]
fn a_sound_instance() {
    let bench = bench();
    let before = bench.items();
    let document = repair(&bench).done().document();
    assert_eq!(document["differences"], json!([]));
    let totals = |item: &&Value| {
        TOTALS
            .iter()
            .any(|pk| item["pk"]["S"].as_str().unwrap().starts_with(pk))
    };
    let checked = json!({
        "users": 3, "credentials": 0, "profiles": 1, "tags": 1, "loss reasons": 1, "companies": 1, "reports": 1, "funnels": 1, "counters": 7,
        "leads": 4, "calls": 2, "opportunities": 3, "calendars": 2, "meetings": 3, "tickets": 2, "files": 2,
        "copies": 9, "totals": before.iter().filter(totals).count(),
        "derived": document["checked"]["derived"], "items": document["checked"]["items"],
    });
    let mut without = checked.clone();
    without.as_object_mut().unwrap().remove("credentials");
    assert_eq!(document["checked"], without);
    let text = bench.funil("doctor --instance acme").done().out;
    let begins =
        "0 differences, 0 remain; looked at 2 calendars, 2 calls, 1 companies, 9 copies, 7 counters, ";
    assert!(text.starts_with(begins), "{text}");
    assert_eq!(bench.items(), before);
    assert_clean(&Bench::with_sample());
}

#[test]
fn what_is_not_there_or_wrongly_asked() {
    let bench = Bench::with_instance();
    assert_clean(&bench);
    let absent = bench.funil("doctor --instance absent");
    assert_eq!(absent.code, 1);
    assert!(absent.err.contains("there is no instance absent"), "{absent:?}");
    assert_eq!(bench.funil("doctor").code, 2);
    let help = bench.funil("doctor --help").done().out;
    assert!(help.contains("funil doctor --instance acme --repair"), "{help}");
}

/// A doctor ignores the items of other instances.
#[test]
fn a_line_for_each_difference_of_the_instance() {
    let bench = bench();
    bench.funil("instance create acme2").done();
    bench.put("acme2#leads#0", &id(1), &json!({}));
    bench.put("acme2#lead-total#0", "7", &json!({ "n": { "N": "5" } }));
    assert_clean(&bench);
    bench.delete("acme#leads#0", &id(1));
    let line = format!("acme#leads#0 {}: is missing: lead 1 has it", id(1));
    let seen = bench.funil("doctor --instance acme");
    assert_eq!((seen.code, seen.out.lines().next()), (1, Some(line.as_str())));
    assert!(seen.out.contains("\n1 differences, 1 remain; "), "{seen:?}");
    let repaired = bench.funil("doctor --instance acme --repair").done().out;
    assert_eq!(
        repaired.lines().next(),
        Some(format!("{line} (repaired)").as_str())
    );
    let theirs = bench.funil("doctor --instance acme2 --json");
    assert_eq!((theirs.code, found(&theirs, false).len()), (1, 2));
}
