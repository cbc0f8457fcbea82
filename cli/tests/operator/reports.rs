//! Import and export of reports (C-61, C-81).

use serde_json::{Value, json};

use crate::import::{bench, records, refused};
use crate::support::Bench;

fn report(id: u64, rest: &str) -> String {
    format!(r#"{{"kind":"report","id":{id},"name":"R","entity":"opportunities","measure":"count"{rest}}}"#)
        + "\n"
}

/// An instance with users 7 and 8, and funnel 3 with column 31.
fn bench_of_reports() -> Bench {
    let bench = bench();
    let funnel = r#"{"kind":"funnel","id":3,"name":"Vendas","columns":[{"id":31,"name":"Entrada"}]}"#;
    bench.import(funnel).done();
    bench
}

#[test]
fn errors_name_the_valid_values() {
    let bench = bench_of_reports();
    let by_day = |id: u64, rest: &str| report(id, &format!(r#","groupBy":"day"{rest}"#));
    let lines = [
        by_day(1, r#","filters":{"user":99}"#),
        by_day(2, r#","filters":{"funnel":[3,99]}"#),
        by_day(3, r#","filters":{"column":99}"#),
        by_day(4, r#","filters":{"service":"x"}"#),
        by_day(5, r#","filters":{"status":"won"}"#),
        by_day(6, r#","field":"value""#),
        report(7, r#","groupBy":"service""#),
        report(8, ""),
        by_day(0, ""),
        by_day(10, r#","columns":[]"#),
        by_day(11, r#","filters":{"user":7,"funnel":3,"column":31}"#),
    ];
    let answer = bench.import(&lines.concat());
    assert_eq!(answer.code, 1);
    let document = answer.document();
    assert_eq!(
        refused(&document),
        [
            "line 1: filters.user: user 99 does not exist",
            "line 2: filters.funnel: funnel 99 does not exist",
            "line 3: filters.column: column 99 does not exist",
            "line 4: filters.service: is unknown; opportunities are filtered by status or column or funnel or user or channel",
            "line 5: filters.status: must be open or gain or lost, or a list of such",
            "line 6: field: must be absent where measure is count",
            "line 7: groupBy: must be day or week or month or status or column or funnel or user or channel for opportunities",
            "line 8: groupBy: is missing",
            "line 9: id: must be an id from 1 to 999999999999999",
            "line 10: columns: unknown field",
        ]
    );
    assert_eq!(document["imported"], 1);
}

/// Users and funnels may come after the reports that refer to them.
#[test]
fn valid_lines_are_imported() {
    let bench = Bench::with_instance();
    let lines = [
        report(
            2,
            r#","groupBy":"user","filters":{"user":[8,7,8],"funnel":3,"channel":null}"#,
        ),
        r#"{"kind":"funnel","id":3,"name":"V","columns":[{"id":31,"name":"E"}]}"#.to_owned() + "\n",
        crate::support::USERS.to_owned(),
        report(
            1,
            r#","type":"pie","groupBy":"day","createDate":"2026-01-01T00:00:00-03:00""#,
        ),
        report(
            1,
            r#","type":"bar","groupBy":"day","createDate":"2026-01-01T00:00:00-03:00""#,
        ),
    ];
    let document = bench.import(&lines.concat()).done().document();
    assert_eq!(
        (&document["imported"], &document["unchanged"]),
        (&json!(5), &json!(1))
    );
    let exported = bench.export();
    let found = records(&exported, "report");
    let date = "2026-01-01T03:00:00.000Z";
    assert_eq!(
        found[0],
        json!({ "kind": "report", "id": 1, "name": "R", "entity": "opportunities", "measure": "count", "groupBy": "day",
            "createDate": date, "updateDate": date })
    );
    assert_eq!(found[1]["filters"], json!({ "funnel": 3, "user": [7, 8] }));
    assert_eq!(found[1]["createDate"], found[1]["updateDate"]);
    let again = bench.import(&exported).done().document();
    assert_eq!(again["imported"], 0);
    assert_eq!(bench.export(), exported);
}

/// C-61: `updateDate` is the time of the definition's last change. A change without one gets the current time.
#[test]
fn changes_set_the_update_date() {
    let bench = bench_of_reports();
    let line = |rest: &str| report(1, &format!(r#","groupBy":"day"{rest}"#));
    let dates = |bench: &Bench| -> [Value; 2] {
        let record = records(&bench.export(), "report").remove(0);
        [record["createDate"].clone(), record["updateDate"].clone()]
    };
    let [old, new] = ["2026-01-01T00:00:00.000Z", "2026-02-01T00:00:00.000Z"];
    bench
        .import(&line(&format!(r#","createDate":"{old}","updateDate":"{new}""#)))
        .done();
    let unchanged = bench.import(&line("")).done().document();
    assert_eq!(
        (unchanged["unchanged"].clone(), dates(&bench)),
        (json!(1), [json!(old), json!(new)])
    );
    bench.import(&line(r#","type":"line""#)).done();
    let [created, updated] = dates(&bench);
    assert_eq!(created, old);
    assert!(updated.as_str().unwrap() > new, "{updated}");
    assert_eq!(
        bench.import(&line(r#","type":"line""#)).done().document()["unchanged"],
        1
    );
}
