//! `funil setup`, `user add`, `funnel add`, `calendar add` and `user link` (C-107, C-111), and the customer of docs/records.md.

use std::fs;

use serde_json::{Value, json};

use crate::support::{Bench, Ended};

/// The import of lines with its report as text.
fn plain(bench: &Bench, lines: &str) -> Ended {
    bench.funil_reading("import --instance acme -", lines.as_bytes())
}

/// The lines that a command printed before its secrets and links.
fn lines(out: &str) -> String {
    let lines = out.lines().take_while(|line| line.starts_with('{'));
    lines.map(|line| line.to_owned() + "\n").collect()
}

fn kinds(lines: &str) -> Vec<String> {
    let read = |line: &str| serde_json::from_str::<Value>(line).unwrap()["kind"].clone();
    lines
        .lines()
        .map(|line| read(line).as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn setup_makes_a_whole_instance_and_prints_its_lines() {
    let bench = Bench::new();
    let done = bench
        .funil("setup acme --yes --admin Ana --email ana@example.com --timezone America/Recife --stages Entrada,Fim --form site")
        .done();
    let brought = lines(&done.out);
    assert_eq!(
        kinds(&brought),
        [
            "setting",
            "group",
            "user",
            "funnel",
            "lossReason",
            "lossReason",
            "lossReason",
            "lossReason",
            "calendar",
            "hook"
        ]
    );
    assert!(brought.contains(
        r#""columns":[{"id":1,"name":"Entrada","sequence":1},{"id":2,"name":"Fim","sequence":2}]"#
    ));
    let fact = |name: &str| {
        let line = done.out.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap_or_else(|| panic!("{name}: {}", done.out))
            .trim()
            .to_owned()
    };
    assert!(fact("API key").starts_with("fk_"));
    assert!(fact("access token").starts_with("fa_"));
    assert!(fact("panel").starts_with("http://127.0.0.1:3000/panel#i=acme&k=fk_"));
    assert_eq!(fact("booking page"), "http://127.0.0.1:3000/book/acme/reuniao");
    assert!(fact("form").starts_with("http://127.0.0.1:3000/api/hook/site?i=acme&access_token="));
    // The printed lines are what the instance has.
    let again = plain(&bench, &brought).done();
    assert_eq!(
        again.out,
        format!("0 imported, {} unchanged, 0 refused\n", brought.lines().count())
    );
    assert_eq!(bench.funil("doctor --instance acme").code, 0);
    let refused = bench.funil("setup acme --yes --json");
    assert_eq!(
        (refused.code, refused.document()),
        (
            1,
            json!({ "error": "instance acme exists already; see it with: funil instance show acme; if an interrupted setup \
                left it, delete it and begin again: funil instance delete acme" })
        )
    );
}

/// Without a terminal nobody can answer, and a wrong value writes nothing.
#[test]
fn nothing_is_written_before_every_answer_is_good() {
    let bench = Bench::new();
    let asked = bench.funil("setup acme --json");
    assert_eq!(asked.code, 2, "{}", asked.out);
    assert!(asked.out.contains("add --yes"), "{}", asked.out);
    for (option, rule) in [
        (
            "--timezone Recife",
            "Time zone: must be an IANA time zone such as America/Sao_Paulo",
        ),
        (
            "--email ana",
            "Administrator's e-mail: must be an e-mail address such as ana@example.com",
        ),
        (
            "--stages ,",
            "Stages of the funnel: must be names separated by commas, such as Entrada, Proposta",
        ),
        ("--stages Novo,Novo", "Stages of the funnel: Novo is there twice"),
        (
            "--hours 9-18",
            "Hours of the calendar: must be openings such as 09:00-12:00, 13:30-18:00",
        ),
        (
            "--form a/b",
            "Name of the form: must be 1 to 64 characters of A-Z, a-z, 0-9, _ and -",
        ),
    ] {
        let refused = bench.funil(&format!("setup acme --yes --json {option}"));
        assert_eq!((refused.code, refused.document()), (2, json!({ "error": rule })));
    }
    assert_eq!(bench.funil("setup acme --yes").code, 0);
}

#[test]
fn the_lines_go_to_a_new_file() {
    let bench = Bench::new();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("acme.ndjson");
    let done = bench
        .funil(&format!("setup acme --yes --json --output {}", file.display()))
        .done();
    let document = done.document();
    assert!(document["panel"].as_str().unwrap().contains("/panel#i=acme&k="));
    let kept = fs::read_to_string(&file).unwrap();
    let records: Vec<Value> = kept
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(document["records"], json!(records));
    let again = bench.funil(&format!("setup other --yes --output {}", file.display()));
    assert_eq!(again.code, 1);
    assert_eq!(fs::read_to_string(&file).unwrap(), kept);
    // No instance is left that a second attempt would refuse.
    let nowhere = folder.path().join("none").join("third.ndjson");
    let refused = bench.funil(&format!("setup third --yes --output {}", nowhere.display()));
    assert!(refused.err.contains("there is no directory"), "{}", refused.err);
    assert_eq!(bench.funil("instance show third").code, 1);
}

#[test]
fn single_records_are_added_above_those_that_exist() {
    let bench = Bench::new();
    bench.funil("setup acme --yes").done();
    let user = bench
        .funil("user add --instance acme --yes --name Bia --email bia@example.com")
        .done();
    let line = json!({ "kind": "user", "id": 2, "name": "Bia", "email": "bia@example.com", "group": 1 });
    assert_eq!(lines(&user.out), format!("{line}\n"));
    assert!(user.out.contains("/panel#i=acme&k=fk_"), "{}", user.out);
    let refused = bench.funil("user add --instance acme --yes --group 9 --json");
    assert_eq!(
        refused.document(),
        json!({ "error": "Group: must be the id of a group: 1" })
    );
    let again = bench.funil("user add --instance acme --yes --email BIA@example.com --json");
    let error = "user 2 has the e-mail address BIA@example.com already";
    assert_eq!(again.document(), json!({ "error": error }));
    let funnel = bench
        .funil("funnel add --instance acme --yes --name Parcerias --stages Contato,Acordo")
        .done();
    assert!(
        lines(&funnel.out).starts_with(r#"{"kind":"funnel","id":2,"name":"Parcerias","columns":[{"id":1,"#)
    );
    let calendar = bench
        .funil("calendar add --instance acme --yes --user 2 --hours 08:00-12:00")
        .done();
    assert!(
        calendar.out.contains(r#""keyName":"reuniao-2""#),
        "{}",
        calendar.out
    );
    assert!(
        calendar.out.contains("http://127.0.0.1:3000/book/acme/reuniao-2"),
        "{}",
        calendar.out
    );
    let taken = bench.funil("calendar add --instance acme --yes --link reuniao");
    assert_eq!(taken.code, 1);
    assert_eq!(bench.funil("doctor --instance acme").code, 0);
}

/// C-11: concurrent commands take different ids, and the id of a removed record is not taken again.
#[test]
fn no_id_is_taken_twice() {
    let bench = Bench::new();
    bench.funil("setup acme --yes").done();
    let add = |name: &str| {
        let added = bench.funil(&format!("user add --instance acme --yes --json --name {name}"));
        added.done().document()["records"][0]["id"].as_u64().unwrap()
    };
    let names = ["Bia", "Caio", "Davi", "Eva"];
    let mut ids = std::thread::scope(|scope| {
        let threads = names.map(|name| scope.spawn(move || add(name)));
        threads.map(|thread| thread.join().unwrap())
    });
    ids.sort_unstable();
    assert!(
        ids[0] > 1 && ids.windows(2).all(|pair| pair[0] < pair[1]),
        "{ids:?}"
    );
    let last = ids[3];
    for kind in ["key", "token"] {
        let listed = bench
            .funil(&format!("{kind} list --instance acme --json"))
            .document();
        let of_last = listed
            .as_array()
            .unwrap()
            .iter()
            .find(|one| one["user"] == last)
            .unwrap();
        let id = of_last["id"].as_str().unwrap();
        bench.funil(&format!("{kind} revoke --instance acme {id}")).done();
    }
    bench
        .funil(&format!("remove --instance acme --kind user {last} --alone"))
        .done();
    assert!(add("Gil") > last);
    bench.funil("doctor --instance acme").done();
}

/// An instance without groups gets one, so that the user may work.
#[test]
fn a_user_without_a_group_gets_one() {
    let bench = Bench::with_instance();
    let user = bench.funil("user add --instance acme --yes --name Bia").done();
    assert_eq!(kinds(&lines(&user.out)), ["group", "user"]);
    let admin = bench
        .funil("user add --instance acme --yes --name Ana --admin")
        .done();
    assert_eq!(
        lines(&admin.out),
        "{\"kind\":\"user\",\"id\":2,\"name\":\"Ana\",\"admin\":true}\n"
    );
}

/// A new link ends the former one and no other credential.
#[test]
fn a_link_replaces_the_former_one() {
    let bench = Bench::new();
    bench.funil("setup acme --yes").done();
    let link = |arguments: &str| {
        bench
            .funil(&format!("user link --instance acme --user 1 {arguments}"))
            .done()
            .out
    };
    for url in ["https://crm.example.com/", "https://crm.example.com/panel/"] {
        assert!(link(&format!("--url {url}")).starts_with("https://crm.example.com/panel#i=acme&k=fk_"));
    }
    link("--days 30");
    for kind in ["key", "token"] {
        let listed = bench
            .funil(&format!("{kind} list --instance acme --json"))
            .done()
            .document();
        let entries = listed.as_array().unwrap();
        let valid = |label: &str| {
            entries
                .iter()
                .filter(|one| one["label"] == label && one["revoked"].is_null())
                .count()
        };
        assert_eq!((valid("panel"), valid("setup")), (1, 1), "{entries:?}");
        assert!(
            entries
                .iter()
                .all(|one| one["label"] != "panel" || !one["expires"].is_null())
        );
    }
    for bad in [
        "--url crm.example.com",
        "--url https://crm.example.com/?a",
        "--days 0",
    ] {
        assert_eq!(
            bench
                .funil(&format!("user link --instance acme --user 1 {bad}"))
                .code,
            2,
            "{bad}"
        );
    }
    assert_eq!(bench.funil("user link --instance acme --user 9").code, 1);
}

/// `FUNIL_INSTANCE` stands for `--instance`; a typed option precedes (C-106).
#[test]
fn the_instance_may_be_a_variable() {
    let bench = Bench::new();
    bench.funil("setup acme --yes").done();
    let listed = |arguments: &str, instance: &str| {
        let mut command = bench.command(arguments);
        command
            .env("FUNIL_INSTANCE", instance)
            .output()
            .unwrap()
            .status
            .code()
    };
    assert_eq!(listed("user list", "acme"), Some(0));
    assert_eq!(listed("user list --instance acme", "nobody"), Some(0));
    assert_eq!(listed("user list", "nobody"), Some(1));
    assert_eq!(listed("user list", ""), Some(2));
}

/// The whole customer of docs/records.md is imported without a remark.
#[test]
fn the_documented_customer_can_be_imported() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/records.md");
    let page = fs::read_to_string(page).unwrap();
    let (_, rest) = page.split_once("## A whole customer").unwrap();
    let (_, rest) = rest.split_once("```json\n").unwrap();
    let (customer, _) = rest.split_once("```").unwrap();
    let bench = Bench::with_instance();
    let done = plain(&bench, customer).done();
    assert_eq!(
        done.out,
        format!("{} imported, 0 unchanged, 0 refused\n", customer.lines().count())
    );
    assert_eq!(
        done.err,
        "custom field of lead: filial (1 lines)\ncustom field of opportunity: Origem (1 lines)\n"
    );
    let again = plain(&bench, customer).done();
    assert_eq!(
        again.out,
        format!("0 imported, {} unchanged, 0 refused\n", customer.lines().count())
    );
    assert_eq!(bench.funil("doctor --instance acme").code, 0);
}

/// Each message has the form to write, and each element of a list its own faults (C-105).
#[test]
fn messages_have_the_form_to_write() {
    let bench = Bench::with_sample();
    for (line, reason) in [
        (
            r#"{"kind":"usuario","id":1}"#,
            r#"unknown kind "usuario"; the kinds are setting, department, group, user, profile, tag, lossReason, company, lead, funnel, opportunity, calendar, meeting, ticket, file, hook, call, event, report, automation"#,
        ),
        (
            r#"{"kind":"usr","id":1}"#,
            r#"unknown kind "usr"; did you mean user?"#,
        ),
        (
            r#"{"kind":"user","id":90,"name":"Bia","group":"Vendedores"}"#,
            "group: must be a whole number that is not negative, such as group: the id of a group: 1",
        ),
        (
            r#"{"kind":"calendar","id":90,"name":"A","keyName":"a90","publicId":"p90","userId":7,"timezone":"UTC","durationMinutes":30,"hours":{"mon":"09:00-18:00"}}"#,
            r#"hours.mon: must be a list, such as hours: {"mon": [["09:00", "12:00"], ["13:30", "18:00"]]}"#,
        ),
        (
            r#"{"kind":"calendar","id":90,"name":"A","keyName":"a90","publicId":"p90","userId":7,"timezone":"UTC","durationMinutes":30,"hours":{"thursday":[]}}"#,
            "hours.thursday: unknown field, did you mean thu?",
        ),
        (
            r#"{"kind":"report","id":90,"name":"A","entity":"calls","measure":"count","groupBy":"etapa"}"#,
            "groupBy: must be day or week or month or status or user or service or type for calls",
        ),
        (
            r#"{"kind":"report","id":90,"name":"A","entity":"opportunities","measure":"sum","groupBy":"day"}"#,
            r#"field: is missing; write "value""#,
        ),
        (
            r#"{"kind":"automation","id":90,"name":"A","trigger":"lead","event":"created","actions":[{"type":"addPoints","points":"x"},{"type":"setOwner"}]}"#,
            r#"actions[0]: must be a whole number, such as actions: [{"type": "addPoints", "points": 10}]; actions[1].user: is missing"#,
        ),
    ] {
        let refused = plain(&bench, line);
        assert_eq!(
            refused.err.lines().next().unwrap(),
            format!("line 1: {reason}"),
            "{line}"
        );
    }
}
