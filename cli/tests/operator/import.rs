mod calls;
mod large;

use serde_json::{Value, json};

use crate::support::{Bench, USERS, sample};

pub fn lead(id: u64, rest: &str) -> String {
    format!(r#"{{"kind":"lead","id":{id},"createDate":"2026-01-01T00:00:00.000Z"{rest}}}"#) + "\n"
}

/// The rejected lines as `line N: reason`.
pub fn refused(document: &Value) -> Vec<String> {
    let lines = document["refused"].as_array().unwrap().iter();
    lines
        .map(|refused| {
            format!(
                "line {}: {}",
                refused["line"],
                refused["reason"].as_str().unwrap()
            )
        })
        .collect()
}

pub fn records(export: &str, kind: &str) -> Vec<Value> {
    let records = export
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    records.filter(|record| record["kind"] == kind).collect()
}

pub fn bench() -> Bench {
    let bench = Bench::with_instance();
    bench.import(USERS).done();
    bench
}

/// The sort keys of a partition.
pub fn listed(bench: &Bench, pk: &str) -> Vec<String> {
    let items = bench.partition(pk);
    let keys = items
        .iter()
        .map(|item| item["sk"]["S"].as_str().unwrap().to_owned());
    let mut keys: Vec<_> = keys.collect();
    keys.sort();
    keys
}

#[track_caller]
pub fn assert_sound(bench: &Bench) {
    let seen = bench.funil("doctor --instance acme --json").done().document();
    assert_eq!(seen["differences"], json!([]));
}

/// Valid and invalid lines. Every reference occurs before and after its record.
const MIXED: [&str; 22] = [
    r#"{"kind":"lead","id":1,"owner":99}"#,
    r#"{"kind":"lead","id":2,"points":"many"}"#,
    "",
    "not json",
    r#"{"kind":"message","id":1}"#,
    r#"{"kind":"lead","id":3,"company":5,"owner":7}"#,
    r#"{"kind":"lead","id":4,"company":6}"#,
    r#"{"kind":"user","id":7,"name":"Ana","department":1}"#,
    r#"{"kind":"user","id":8,"name":"Bruno","group":4}"#,
    r#"{"kind":"user","id":9,"name":"Carla","department":3}"#,
    r#"{"kind":"department","id":1,"name":"A","parent":2}"#,
    r#"{"kind":"department","id":2,"name":"B"}"#,
    r#"{"kind":"department","id":3,"name":"C","parent":3}"#,
    r#"{"kind":"company","id":5,"companyname":"E","owner":7}"#,
    r#"{"kind":"company","id":6,"companyname":"F","owner":8}"#,
    r#"{"kind":"lead","id":5,"userAccess":[7,99]}"#,
    r#"{"kind":"lead","id":6,"departmentAccess":[3]}"#,
    r#"{"kind":"lead","id":7,"department":3}"#,
    r#"{"kind":"lead","id":8,"stage":900,"role":900,"createdBy":900,"updatedBy":900,"partner_instance":900}"#,
    r#"{"kind":"lead","id":9,"tags":[1,2]}"#,
    r#"{"kind":"tag","id":1,"tag":"Quente"}"#,
    r#"{"kind":"lead","id":10,"tags":[1]}"#,
];

#[test]
fn invalid_lines_do_not_stop_the_import() {
    let bench = Bench::with_instance();
    let many: Vec<_> = (1..=201).collect();
    let crowded = format!(r#"{{"kind":"lead","id":11,"userAccess":{many:?}}}"#);
    let answer = bench.import(&[&MIXED[..], &[&crowded]].concat().join("\n"));
    assert_eq!(answer.code, 1);
    let document = answer.document();
    assert_eq!(
        refused(&document),
        [
            "line 1: owner: user 99 does not exist",
            "line 2: points: must be a number",
            "line 4: not JSON: expected ident at column 2",
            "line 5: unknown kind \"message\"; the kinds are setting, department, group, user, profile, tag, lossReason, company, lead, \
             funnel, opportunity, calendar, meeting, ticket, file, hook, call, event, report, automation",
            "line 7: company: company 6 does not exist",
            "line 9: group: group 4 does not exist",
            "line 10: department: department 3 does not exist",
            "line 13: parent: department 3 is or lies below department 3",
            "line 15: owner: user 8 does not exist",
            "line 16: userAccess: user 99 does not exist",
            "line 17: departmentAccess: department 3 does not exist",
            "line 18: department: department 3 does not exist",
            "line 20: tags: tag 2 does not exist",
            "line 23: userAccess: must be a list of at most 200 ids",
        ]
    );
    assert_eq!(
        (&document["imported"], &document["unchanged"]),
        (&json!(8), &json!(0))
    );
    let export = bench.export();
    let ids: Vec<_> = records(&export, "lead")
        .iter()
        .map(|lead| lead["id"].clone())
        .collect();
    assert_eq!(ids, [3, 8, 10]);
}

#[test]
fn without_json_reasons_are_on_standard_error() {
    let bench = Bench::with_instance();
    let answer = bench.funil_reading(
        "import --instance acme -",
        b"{\"kind\":\"lead\",\"id\":1}\n{\"kind\":\"lead\",\"id\":2,\"company\":3}\n\xff\n{",
    );
    assert_eq!(answer.code, 1);
    assert_eq!(answer.out, "1 imported, 0 unchanged, 3 refused\n");
    assert_eq!(
        answer.err,
        "line 2: company: company 3 does not exist\nline 3: not UTF-8 text; save the file as UTF-8\n\
         line 4: not JSON: EOF while parsing an object at column 1\n\
         mend the refused lines and import the file again\n"
    );
}

#[test]
fn a_line_replaces_the_record_of_its_id() {
    let bench = bench();
    bench
        .import(&lead(
            1,
            r#","email":"a@example.com","owner":7,"phone":"+55 11 98700-1122","vip":true"#,
        ))
        .done();
    let totals = |bench: &Bench| {
        let mut items = bench.partition("acme#lead-total#0");
        items.extend(bench.partition("acme#lead-total#1"));
        let counted = items.into_iter().filter(|item| item["n"]["N"] != "0");
        counted.map(|item| item["sk"]["S"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(totals(&bench), ["7"]);
    let changed = lead(1, r#","owner":8,"mobile":"11 98700-1123","archived":true"#);
    bench.import(&changed).done();
    let [record] = &records(&bench.export(), "lead")[..] else {
        panic!("one lead");
    };
    assert_eq!(
        *record,
        json!({
            "kind": "lead", "id": 1, "mobile": "11 98700-1123", "points": 0, "owner": 8,
            "ignoreSubDepartments": false, "archived": true, "createDate": "2026-01-01T00:00:00.000Z",
            "lastActive": "2026-01-01T00:00:00.000Z", "preferred_locale": "pt-BR", "instance_active": "true",
            "lead_online": "false",
        })
    );
    assert_eq!(totals(&bench), ["8"]);
    assert_eq!(
        bench.partition("acme#leads#0").len() + bench.partition("acme#leads#0#7").len(),
        0
    );
    assert_eq!(bench.partition("acme#leads#1#8").len(), 1);
    assert_eq!(bench.partition("acme#phone#5511987001122").len(), 0);
    assert_eq!(bench.partition("acme#phone#5511987001123").len(), 1);
}

#[test]
fn the_last_valid_line_of_a_record_counts() {
    let bench = bench();
    let lines = [
        lead(1, r#","email":"a""#),
        lead(1, r#","email":"b""#),
        lead(1, r#","email":true"#),
    ]
    .concat();
    let answer = bench.import(&lines).document();
    assert_eq!(
        (&answer["imported"], &answer["unchanged"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(refused(&answer), ["line 3: email: must be text"]);
    assert_eq!(records(&bench.export(), "lead")[0]["email"], "b");
    let again = bench.import(&lines).document();
    assert_eq!((&again["imported"], &again["unchanged"]), (&json!(0), &json!(2)));
}

#[test]
fn leads_changed_through_the_api_are_kept_without_overwrite() {
    let bench = bench();
    let sk = "000000000000001";
    bench.import(&lead(1, r#","email":"a""#)).done();
    bench.set(
        "acme#lead",
        sk,
        "lastActive",
        &json!({ "S": "2026-05-05T00:00:00.000Z" }),
    );
    bench.set("acme#lead", sk, "edited", &json!({ "N": "1" }));
    let same = bench.import(&lead(1, r#","email":"a""#)).done().document();
    assert_eq!(same["unchanged"], 1);
    let other = bench.import(&lead(1, r#","email":"b""#));
    assert_eq!(other.code, 1);
    assert_eq!(
        refused(&other.document()),
        ["line 1: lead 1 was changed through the API since it was imported; use --overwrite to replace it"]
    );
    // Calls count as activity, and older data does not move `lastActive` back.
    for (email, last_active) in [("b", ""), ("d", r#","lastActive":"2026-05-04T00:00:00.000Z""#)] {
        let line = lead(1, &format!(r#","email":"{email}"{last_active}"#));
        let told = bench.import_overwriting(&line).done().document();
        assert_eq!(told["imported"], 1);
        let lead_now = &records(&bench.export(), "lead")[0];
        assert_eq!(lead_now["email"], email);
        assert_eq!(lead_now["lastActive"], "2026-05-05T00:00:00.000Z");
    }
    bench.import(&lead(1, r#","email":"c""#)).done();
}

#[test]
fn long_and_deep_lines_are_rejected() {
    let bench = bench();
    let lines = [
        lead(1, &format!(r#","note":"{}""#, "a".repeat(100_000))),
        lead(2, &format!(r#","note":"{}""#, "a".repeat(2_000_000))),
        lead(3, r#","tree":[[[[[[[[1]]]]]]]]"#),
        format!("{{\"kind\":\"lead\",\"x\":{}", "[".repeat(100_000)) + "\n",
        lead(4, &format!(r#","note":"{}""#, "a".repeat(99_000))),
    ];
    let answer = bench.import(&lines.concat()).document();
    let [large, long, deep, bottomless] = &refused(&answer)[..] else {
        panic!("{answer}");
    };
    assert_eq!(large, "line 1: the record is larger than 100 KB");
    assert_eq!(long, "line 2: longer than 1 MB; a record has at most 100 KB");
    assert_eq!(deep, "line 3: the record is nested over 8 levels");
    assert!(
        bottomless.starts_with("line 4: not JSON: recursion limit"),
        "{bottomless}"
    );
    assert_eq!(answer["imported"], 1);
}

#[test]
fn names_are_limited_by_the_item_size() {
    let bench = Bench::with_instance();
    let name = "n".repeat(4000);
    let user = |id: u64| format!(r#"{{"kind":"user","id":{id},"name":"{name}"}}"#);
    // An item has the names of a hundred ids, so users 100 to 120 are in the next item.
    let lines: Vec<_> = (1..=120).map(user).collect();
    let answer = bench.import(&lines.join("\n"));
    assert_eq!(answer.code, 1);
    let document = answer.document();
    let count = document["imported"].as_u64().unwrap();
    assert!((100..110).contains(&count), "{count}");
    assert_eq!(
        refused(&document)[0],
        format!(
            "line {}: the instance's list of users' names would take more than 350 KB of one item; \
             use fewer or shorter names",
            count - 20
        )
    );
    // Existing users can still change.
    bench.import(r#"{"kind":"user","id":1,"name":"Ana"}"#).done();
}

#[test]
fn thousands_of_leads_are_imported() {
    let bench = bench();
    let lines: String = (1..=1500)
        .map(|id| {
            lead(
                id,
                &format!(r#","owner":{},"phone":"55119870{id:05}""#, 7 + id % 2),
            )
        })
        .collect();
    assert_eq!(bench.import(&lines).done().document()["imported"], 1500);
    let totals = bench.partition("acme#lead-total#0");
    let counts: Vec<_> = totals.iter().map(|item| item["n"]["N"].clone()).collect();
    assert_eq!(counts, ["750", "750"]);
    assert_eq!(records(&bench.export(), "lead").len(), 1500);
}

/// C-104: a dry run reports and exits like the import, and writes nothing, also in an instance with records.
#[test]
fn a_dry_run_reports_like_the_import_and_writes_nothing() {
    let bench = Bench::with_instance();
    let bad =
        r#"{"kind":"opportunity","id":900,"title":"x","crm_id":3,"crm_column":31,"lead_id":404,"user":7}"#;
    let changed = sample().replace("Padaria Estrela Ltda", "Padaria Lua Ltda") + bad + "\n{\n";
    for lines in [sample(), changed.clone(), sample() + bad, String::new()] {
        let (before, lines) = (bench.items(), lines.as_bytes());
        let rehearsed = bench.funil_reading("import --instance acme - --json --dry-run", lines);
        assert_eq!(bench.items(), before);
        let text = bench.funil_reading("import --instance acme - --dry-run", lines);
        assert!(text.err.ends_with("nothing is written: --dry-run\n"), "{text:?}");
        let real = bench.funil_reading("import --instance acme - --json", lines);
        let mut expected = real.document();
        expected["dryRun"] = json!(true);
        assert_eq!((rehearsed.code, rehearsed.document()), (real.code, expected));
    }
    let unknown = bench.funil("import --instance nobody --dry-run Cargo.toml");
    assert_eq!(unknown.code, 1);
}
