//! The largest records, items beyond DynamoDB's limit, and duplicate lines (C-81, C-89).

use serde_json::json;

use crate::import::{bench, lead, records, refused};

const FUNNEL: &str = r#"{"kind":"funnel","id":3,"name":"Vendas","columns":[{"id":31,"name":"Entrada"}]}"#;

fn opportunity(id: u64, day: u32, rest: &str) -> String {
    format!(
        r#"{{"kind":"opportunity","id":{id},"title":"Pedido","crm_id":3,"crm_column":31,"user":7,"createDate":"2026-02-{day:02}T00:00:00.000Z"{rest}}}"#
    ) + "\n"
}

/// A line that a text field extends to this number of bytes.
fn padded(bytes: usize, line: impl Fn(&str) -> String) -> String {
    let bare = line("").trim_end().len();
    line(&"a".repeat(bytes - bare))
}

/// An opportunity contains copies of its lead and of the lead's company. With maximum sizes all three fit an item, also
/// after a change of any of them.
#[test]
fn the_largest_records_can_be_stored_and_changed() {
    let bench = bench();
    let company = |name: &str| {
        padded(99_900, |text| {
            format!(r#"{{"kind":"company","id":2,"companyname":"{name}{text}"}}"#) + "\n"
        })
    };
    let person = |name: &str| {
        padded(99_900, |text| {
            lead(
                1,
                &format!(r#","company":2,"firstname":"{name}","description":"{text}""#),
            )
        })
    };
    let deal = |title: &str| {
        padded(99_900, |text| {
            opportunity(5, 1, &format!(r#","lead_id":1,"campaign":"{title}{text}""#))
        })
    };
    let funnel = padded(99_900, |text| {
        FUNNEL.replace("Vendas", &format!("Vendas{text}")) + "\n"
    });
    let all = |change: &str| [company(change), person(change), funnel.clone(), deal(change)].concat();
    let first = bench.import(&all("A"));
    assert_eq!(refused(&first.document()), Vec::<String>::new());
    let second = bench.import_overwriting(&all("B"));
    assert_eq!(refused(&second.document()), Vec::<String>::new());
    let deals = records(&bench.export(), "opportunity");
    assert!(deals[0]["campaign"].as_str().unwrap().starts_with('B'));
    let seen = bench.funil("doctor --instance acme --json").done();
    assert_eq!(seen.document()["differences"], json!([]));
}

/// A number may take more bytes in the table than in the line.
#[test]
fn the_stored_size_of_a_record_counts() {
    let bench = bench();
    let tags = vec!["1e15"; 10_000].join(",");
    let line = lead(1, &format!(r#","utmTags":[{tags}]"#));
    assert!(line.len() < 60_000);
    let ended = bench.import(&line);
    assert_eq!(ended.code, 1);
    assert_eq!(
        refused(&ended.document()),
        ["line 1: the record is larger than 100 KB"]
    );
}

/// Other lines of the same transaction are written.
#[test]
fn a_too_large_item_rejects_only_its_line() {
    let bench = bench();
    bench.import(&format!("{FUNNEL}\n")).done();
    let full = json!({ "v": { "N": "1" }, "t": { "S": "a".repeat(409_555) } });
    bench.import(&opportunity(1, 1, "")).done();
    let rank = bench.partition("acme#board-rank#3#31#0")[0]["sk"]["S"].clone();
    bench.put("acme#board-rank#3#31#0", rank.as_str().unwrap(), &full);
    let lines: String = [(2, 2), (3, 1), (4, 3)]
        .map(|(id, day)| opportunity(id, day, ""))
        .concat();
    let ended = bench.import(&lines);
    let document = ended.document();
    assert_eq!((ended.code, &document["imported"]), (1, &json!(2)), "{document}");
    let refused = refused(&document);
    assert!(
        refused.len() == 1
            && refused[0].starts_with("line 2: cannot be stored, because an item has at most 400 KB"),
        "{refused:?}"
    );
}

/// A record's line with a name and a further field.
fn named(kind: &str, name: &str, rest: &str) -> String {
    let text = match kind {
        "lead" => r#""id":9,"firstname""#,
        "opportunity" => r#""id":5,"crm_id":3,"crm_column":31,"user":7,"title""#,
        "company" => r#""id":2,"companyname""#,
        "ticket" => r#""id":6,"type":"chat","name""#,
        _ => r#""id":4,"name""#,
    };
    format!("{{\"kind\":\"{kind}\",{text}:\"{name}\"{rest}}}\n")
}

/// C-81: of several lines of one record the last valid one applies, and every invalid one is reported, in any order and
/// with any references.
#[test]
fn the_last_valid_line_counts() {
    let funnel = r#"{"kind":"funnel","id":3,"name":"Vendas","columns":[{"id":31,"name":"Entrada"}]}"#;
    let before = [lead(1, ""), format!("{funnel}\n")].concat();
    for (kind, field, good, bad) in [
        ("lead", "firstname", r#","owner":7"#, r#","owner":99"#),
        ("opportunity", "title", r#","lead_id":1"#, r#","lead_id":99"#),
        ("company", "companyname", r#","owner":7"#, r#","owner":99"#),
        (
            "ticket",
            "name",
            r#","lead_relation":1"#,
            r#","lead_relation":99"#,
        ),
        ("department", "name", "", r#","parent":99"#),
    ] {
        let (a, b, bad) = (
            named(kind, "A", good),
            named(kind, "B", good),
            named(kind, "C", bad),
        );
        for (lines, refused_line) in [([&a, &b, &bad], 3), ([&a, &bad, &b], 2), ([&bad, &a, &b], 1)] {
            let bench = bench();
            bench.import(&before).done();
            for round in ["first", "again"] {
                let document = bench.import(&lines.map(String::as_str).concat()).document();
                let refused = refused(&document);
                assert!(
                    refused.len() == 1 && refused[0].starts_with(&format!("line {refused_line}: ")),
                    "{kind} {round}: {refused:?}"
                );
                let written = u64::from(round == "first");
                assert_eq!(document["imported"], written, "{kind} {round} {document}");
                assert_eq!(document["unchanged"], 2 - written, "{kind} {round} {document}");
                let stored = records(&bench.export(), kind);
                let stored = stored.iter().find(|record| record[field] == "B");
                assert!(stored.is_some(), "{kind} {round} {refused_line}");
            }
        }
    }
}

/// C-89: lines over the maximum of departments and groups are refused, and so are the lines that depend on them.
#[test]
fn an_instance_has_a_thousand_departments() {
    let bench = bench();
    let department = |id: u64, parent: u64| {
        let parent = if parent == 0 { json!(null) } else { json!(parent) };
        json!({ "kind": "department", "id": id, "name": format!("Loja {id}"), "parent": parent }).to_string()
            + "\n"
    };
    let group = |id: u64| {
        json!({ "kind": "group", "id": id, "name": "Grupo", "permissions": { "leads": "own" } }).to_string()
            + "\n"
    };
    // `USERS` contains departments and groups too.
    let (departments, groups) = (
        records(&bench.export(), "department"),
        records(&bench.export(), "group"),
    );
    let (some, few) = (1_000 - departments.len() as u64, 100 - groups.len() as u64);
    // Parents come last in the file and are written first.
    let lines: String = (1..=some)
        .map(|at| department(10_000 + at, if at < some { 10_001 + at } else { 0 }))
        .collect();
    let lines = lines + &(1..=few).map(|at| group(1_000 + at)).collect::<String>();
    bench.import(&lines).done();
    let full =
        "an instance has at most 1000 departments and 100 groups, fewer if their ids have more than 7 digits";
    let more = [
        department(10_001, 0).replace("Loja", "Filial"),
        department(20_000, 0),
        department(20_001, 20_000),
        group(2_000),
        department(10_002, 20_000),
    ];
    let answer = bench.import(&more.concat()).document();
    assert_eq!(answer["imported"], 1);
    assert_eq!(
        refused(&answer),
        [
            format!("line 2: {full}"),
            format!("line 3: {full}"),
            format!("line 4: {full}"),
            "line 5: parent: department 20000 does not exist".to_owned(),
        ]
    );
    assert_eq!(records(&bench.export(), "department").len(), 1_000);
    let long = department(1, 0).replace("Loja", &"a".repeat(255));
    assert_eq!(
        refused(&bench.import(&long).document()),
        ["line 1: name: must have at most 255 characters"]
    );
    let seen = bench.funil("doctor --instance acme --json").done();
    assert_eq!(seen.document()["differences"], json!([]));
}
