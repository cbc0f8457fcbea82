//! Import and export of funnels and opportunities (C-81).

use std::collections::BTreeMap;

use serde_json::json;

use crate::import::{bench, lead, records, refused};
use crate::support::Bench;

/// Funnel 3 with these columns.
fn funnel(columns: &[u64]) -> String {
    let columns: Vec<_> = columns
        .iter()
        .map(|id| json!({ "id": id, "name": format!("Etapa {id}") }))
        .collect();
    json!({ "kind": "funnel", "id": 3, "name": "Vendas", "columns": columns }).to_string() + "\n"
}

/// An opportunity in funnel 3.
fn opportunity(id: u64, column: u64, rest: &str) -> String {
    format!(
        r#"{{"kind":"opportunity","id":{id},"title":"Pedido","crm_id":3,"crm_column":{column},"user":7,"createDate":"2026-02-01T00:00:00.000Z"{rest}}}"#
    ) + "\n"
}

/// An instance with users 7 and 8, leads 1 and 2, and funnel 3 with columns 31 and 32.
fn board() -> Bench {
    let bench = bench();
    bench
        .import(&[lead(1, ""), lead(2, ""), funnel(&[31, 32])].concat())
        .done();
    bench
}

/// The sort keys of a partition with non-zero numbers, each with its count and its cents.
fn counted(bench: &Bench, pk: &str) -> Vec<(String, u64, u64)> {
    let (mut users, mut columns) = (BTreeMap::new(), BTreeMap::<_, (u64, u64)>::new());
    for item in bench.partition(pk) {
        let number = |name: &str| item[name]["N"].as_str().unwrap().parse::<u64>().unwrap();
        let of: Vec<_> = item["sk"]["S"].as_str().unwrap().split('#').collect();
        for name in item.as_object().unwrap().keys() {
            let Some(class) = name.strip_prefix("n.").filter(|_| number(name) > 0) else {
                continue;
            };
            let counted = (number(name), number(&format!("c.{class}")));
            if of[0] == "column" {
                columns.insert(format!("{}#{class}", of[1]), counted);
            } else {
                let (column, status) = class.split_once('#').unwrap();
                users.insert(format!("{column}#{}#{status}", of[1]), counted);
            }
        }
    }
    for (class, (n, c)) in &users {
        let (column, status) = (
            class.split('#').next().unwrap(),
            class.split('#').next_back().unwrap(),
        );
        let rest = columns.get_mut(&format!("{column}#{status}")).unwrap();
        *rest = (rest.0 - n, rest.1 - c);
    }
    assert!(columns.values().all(|rest| *rest == (0, 0)), "{columns:?}");
    users.into_iter().map(|(class, (n, c))| (class, n, c)).collect()
}

#[test]
fn a_line_replaces_the_opportunity_in_every_list() {
    let bench = board();
    let first = r#","lead_id":1,"value":10.5,"sequence":4,"fields":{"a":1}"#;
    bench
        .import(
            &[
                opportunity(5, 31, first),
                opportunity(6, 31, r#","value":"1.00""#),
            ]
            .concat(),
        )
        .done();
    let total = |class: &str, n, cents| (class.to_owned(), n, cents);
    assert_eq!(
        counted(&bench, "acme#board-total#3#0"),
        [total("31#7#open", 2, 1150)]
    );
    let changed = opportunity(5, 32, r#","lead_id":2,"value":7,"status":"gain","archived":true"#);
    bench
        .import(&changed.replace(r#""user":7"#, r#""user":8"#))
        .done();
    assert_eq!(
        counted(&bench, "acme#board-total#3#0"),
        [total("31#7#open", 1, 100)]
    );
    assert_eq!(
        counted(&bench, "acme#board-total#3#1"),
        [total("32#8#gain", 1, 700)]
    );
    assert_listed(&bench);
    assert_eq!(
        records(&bench.export(), "opportunity")[0],
        json!({
            "kind": "opportunity", "id": 5, "title": "Pedido", "value": "7.00", "crm_column": 32, "crm_id": 3,
            "lead_id": 2, "status": "gain", "user": 8, "createDate": "2026-02-01T00:00:00.000Z",
            "updateDate": "2026-02-01T00:00:00.000Z", "archived": 1,
        })
    );
    let numbers = bench.item("acme#counter", "opportunity").unwrap();
    assert_eq!(numbers["opportunity"]["N"], "6", "later ones are numbered above");
}

/// Opportunity 6 is at its old position, and 5 at its new one.
#[track_caller]
fn assert_listed(bench: &Bench) {
    for (pk, entries) in [
        ("acme#board#3#31#0#-#-", 1),
        ("acme#board#3#31#0#7#open", 1),
        ("acme#board#3#32#1#-#-", 1),
        ("acme#board#3#32#1#8#gain", 1),
        ("acme#lead-opportunity#1", 0),
        ("acme#lead-opportunity#2", 1),
    ] {
        assert_eq!(bench.partition(pk).len(), entries, "{pk}");
    }
}

#[test]
fn columns_with_opportunities_cannot_be_removed() {
    let bench = board();
    let standing = [
        opportunity(5, 32, ""),
        opportunity(6, 32, r#","archived":1,"status":"lost""#),
        // A column whose id has the same prefix.
        funnel(&[31, 32, 320]),
        opportunity(7, 320, ""),
    ];
    bench.import(&standing.concat()).done();
    let reason = ["line 1: columns: column 32 still has opportunities; move them first"];
    let without = funnel(&[31, 320]);
    assert_eq!(refused(&bench.import(&without).document()), reason);
    bench.import(&opportunity(5, 31, "")).done();
    assert_eq!(
        refused(&bench.import_overwriting(&without).document()),
        reason,
        "an archived one stands in it"
    );
    bench.import(&opportunity(6, 31, "")).done();
    // A form, a report or an automation with the column would silently do less.
    let form = json!({ "kind": "hook", "id": 4, "name": "site", "token": "t", "opportunity": { "column": 32, "title": "a" } });
    bench.import(&format!("{form}\n")).done();
    assert_eq!(
        refused(&bench.import(&without).document()),
        ["line 1: columns: column 32 is in opportunity.column of hook 4; change that first"]
    );
    bench.funil("remove --instance acme --alone --kind hook 4").done();
    assert_eq!(bench.import(&without).done().document()["imported"], 1);
    let gone = bench.import(&opportunity(5, 32, "")).document();
    assert_eq!(
        refused(&gone),
        ["line 1: crm_column: column 32 is not one of funnel 3"]
    );
    // Names, sequence and custom fields can always change.
    let renamed = without
        .replace("Etapa", "Fase")
        .replace("]}", r#"],"fields":[{"name":" Nº "}]}"#);
    bench.import(&renamed).done();
    assert_eq!(
        records(&bench.export(), "funnel"),
        [json!({
            "kind": "funnel", "id": 3, "name": "Vendas",
            "columns": [{ "id": 31, "name": "Fase 31", "sequence": 0 }, { "id": 320, "name": "Fase 320", "sequence": 0 }],
            "fields": [{ "name": " Nº ", "type": "text" }],
        })]
    );
}

/// A funnel without columns takes no opportunities, so neither an import nor a removal leaves one.
#[test]
fn a_funnel_has_a_column() {
    let bench = bench();
    for line in [
        r#"{"kind":"funnel","id":3,"name":"Vendas","columns":[]}"#,
        r#"{"kind":"funnel","id":3,"name":"Vendas"}"#,
    ] {
        let reason = &refused(&bench.import(line).document())[0];
        assert!(reason.starts_with("line 1: columns: "), "{reason}");
    }
    bench.import(&funnel(&[31])).done();
    let kept = bench.funil("remove --instance acme --kind column 31");
    assert_eq!(kept.code, 1);
    assert!(
        kept.err
            .contains("column 31 is the only one of funnel 3; remove the funnel"),
        "{}",
        kept.err
    );
    assert_eq!(records(&bench.export(), "funnel").len(), 1);
}

#[test]
fn hundreds_of_opportunities_of_few_leads_are_imported() {
    let bench = board();
    let line = |id: u64| {
        let rest = format!(r#","lead_id":{},"value":"0.01""#, 1 + id % 2);
        opportunity(id, 31 + id % 2, &rest)
    };
    let lines: String = (1..=500).map(line).collect();
    assert_eq!(bench.import(&lines).done().document()["imported"], 500);
    let total = |column: u64| (format!("{column}#7#open"), 250, 250);
    assert_eq!(counted(&bench, "acme#board-total#3#0"), [total(31), total(32)]);
    assert_eq!(bench.partition("acme#lead-opportunity#1").len(), 250);
    assert_eq!(bench.import(&lines).done().document()["unchanged"], 500);
}
