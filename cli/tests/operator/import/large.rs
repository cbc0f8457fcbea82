//! Imports of many lines, which the embedded engine writes in large transactions.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::process::Stdio;

use serde_json::{Value, json};

use super::{assert_sound, bench, lead};
use crate::support::{Bench, sample};

/// More lines than a short import has.
fn tags() -> String {
    (1..=1000).fold(String::new(), |mut lines, id| {
        let _ = writeln!(lines, r#"{{"kind":"tag","id":{id},"tag":"T"}}"#);
        lines
    })
}

/// All items by key, without the version of leads, which counts the transactions that linked opportunities, and without
/// the creation time of the instance.
fn comparable(bench: &Bench) -> BTreeMap<String, Value> {
    let items = bench.items().into_iter().map(|mut item| {
        let key = format!("{} {}", item["pk"]["S"], item["sk"]["S"]);
        let fields = item.as_object_mut().unwrap();
        if key.starts_with("\"acme#lead\" ") {
            fields.remove("v");
            fields.retain(|name, value| name != "u" || value["N"] != "0");
        }
        if key.starts_with("\"#instance\" ") {
            fields.remove("createDate");
        }
        (key, item)
    });
    items.collect()
}

/// Requires that both tables have the same items.
#[track_caller]
fn assert_same(one: &Bench, other: &Bench) {
    let (one, other) = (comparable(one), comparable(other));
    let keys: BTreeSet<_> = one.keys().chain(other.keys()).collect();
    let differing = keys.into_iter().filter(|key| one.get(*key) != other.get(*key));
    let differing: Vec<_> = differing.map(|key| (key, one.get(key), other.get(key))).collect();
    assert_eq!(differing, []);
}

/// The sample, with creation times in lines that omit them, and leads with custom fields in items of their own.
fn dated_sample() -> String {
    let fields = format!(r#","historico":"{}""#, "Ligou. ".repeat(700));
    let large = (9001..9061).map(|id| lead(id, &fields));
    let sample = large.fold(sample(), |lines, line| lines + &line);
    ["meeting", "report"].iter().fold(sample, |lines, kind| {
        let begins = format!(r#"{{"kind": "{kind}", "#);
        assert!(lines.contains(&begins));
        lines.replace(
            &begins,
            &format!(r#"{begins}"createDate": "2026-01-01T00:00:00Z", "#),
        )
    })
}

#[test]
fn large_transactions_leave_the_table_that_small_ones_do() {
    let (large, small) = (Bench::with_instance(), Bench::with_instance());
    let all = tags() + &dated_sample();
    large.import(&all).done();
    let tags = tags();
    let (first, second) = tags.split_at(tags.len() / 2 + tags[tags.len() / 2..].find('\n').unwrap() + 1);
    for part in [first, second, &dated_sample()] {
        small.import(part).done();
    }
    assert_same(&large, &small);
    assert_sound(&large);
    let again = large.import(&all).done().document();
    assert_eq!(again["imported"], 0);
    assert_same(&large, &small);
}

/// Leads, and for each an opportunity.
fn pairs(count: u64) -> String {
    let funnel = r#"{"kind":"funnel","id":1,"name":"V","columns":[{"id":11,"name":"C"}]}"#;
    (1..=count).fold(format!("{funnel}\n"), |mut lines, id| {
        lines += &lead(id, r#","firstname":"Ana","owner":7"#);
        let _ = writeln!(
            lines,
            r#"{{"kind":"opportunity","id":{id},"title":"Pedido","crm_id":1,"crm_column":11,"user":7,"lead_id":{},"value":"2.50"}}"#,
            id / 3 + 1
        );
        lines
    })
}

/// The import includes existing records, bad lines and duplicates in concurrent chunks.
#[test]
fn a_long_import_judges_lines_as_a_short_one_does() {
    let bench = bench();
    bench.import(&pairs(3)).done();
    bench.set("acme#lead", "000000000000002", "edited", &json!({ "N": "1" }));
    let lines = pairs(900) + &lead(2, r#","firstname":"Bia""#) + &lead(5, r#","owner":99"#);
    let ended = bench.import(&lines);
    let document = ended.document();
    assert_eq!(
        (&document["imported"], &document["unchanged"]),
        (&json!(1794), &json!(7)),
        "{document}"
    );
    let refused: Vec<_> = document["refused"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| &line["line"])
        .collect();
    assert_eq!(refused, [1802, 1803]);
    assert_sound(&bench);
}

/// Every record of a killed import is complete, and the next import writes the rest.
#[test]
fn a_killed_long_import_can_be_repeated() {
    let bench = bench();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pairs.ndjson");
    std::fs::write(&file, pairs(2000)).unwrap();
    let mut import = bench.command("import --instance acme");
    let mut import = import
        .arg(&file)
        .stderr(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let is_begun = || {
        bench.table(
            "Query",
            &json!({
                "TableName": "funil", "KeyConditionExpression": "pk = :pk", "Limit": 1,
                "ExpressionAttributeValues": { ":pk": { "S": "acme#opportunity" } },
            }),
        )["Count"]
            == 1
    };
    while !is_begun() {
        assert!(import.try_wait().unwrap().is_none(), "the import ended by itself");
    }
    import.kill().unwrap();
    import.wait().unwrap();
    assert_sound(&bench);
    let again = bench.import(&pairs(2000)).done().document();
    let [imported, unchanged] = ["imported", "unchanged"].map(|name| again[name].as_u64().unwrap());
    assert_eq!(imported + unchanged, 4001);
    assert!(unchanged > 2000, "{again}");
    assert_sound(&bench);
}
