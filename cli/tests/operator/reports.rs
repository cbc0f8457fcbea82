//! Import and export of reports (C-61, C-81).

use serde_json::{Value, json};

use crate::import::{bench, records};
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
