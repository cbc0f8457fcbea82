//! A run with `--state` goes on where it was interrupted.

use std::collections::BTreeSet;

use operator::import::CancellationToken;
use operator::{Diagnosis, OperatorError, ResumeFile};
use serde_json::json;

use super::{bench, id};
use crate::support::Bench;

/// A lost entry, an item without a record, a wrong total and an unreadable record: found by different parts of a run.
fn damaged() -> Bench {
    let bench = bench();
    let items = bench.items();
    let of = |prefix: &str| {
        let mut keys = items
            .iter()
            .filter_map(|item| Some((item["pk"]["S"].as_str()?, item["sk"]["S"].as_str()?)));
        keys.find(|(pk, _)| pk.starts_with(prefix)).unwrap()
    };
    let (pk, sk) = of("acme#board#3#31");
    bench.delete(pk, sk);
    bench.put("acme#lead-opportunity#1", &id(77), &json!({}));
    let (pk, sk) = of("acme#board-total#");
    bench.set(pk, sk, "n", &json!({ "N": "9" }));
    bench.put("acme#profile", "5511987001122", &json!({}));
    bench
}

/// A run that stops after each page and goes on until it is complete, and the number of its interruptions.
async fn in_pages(bench: &Bench, path: &std::path::Path) -> (Diagnosis, usize) {
    let operator = bench.operator().await;
    let stop = CancellationToken::default();
    stop.ask();
    let resume_file = ResumeFile {
        path: path.to_owned(),
        table: "funil".to_owned(),
        stop,
    };
    for stops in 0.. {
        assert!(stops < 100, "no progress");
        match operator
            .resumable_doctor(false, &|_| {}, Some(&resume_file))
            .await
        {
            Ok(diagnosis) => return (diagnosis, stops),
            Err(OperatorError::Stopped) => assert!(path.exists()),
            Err(error) => panic!("{error}"),
        }
    }
    unreachable!("the loop has no end")
}

/// Every part is checked once: counts of a repeated part would be doubled, and differences of a lost one missing.
#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_stops_after_each_page_finds_the_same() {
    let bench = damaged();
    let whole = bench.operator().await.doctor(false, &|_| {}).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    let (resumed, stops) = in_pages(&bench, &path).await;
    let sorted = |diagnosis: &Diagnosis| {
        let found = diagnosis.differences.iter();
        found
            .map(|difference| (difference.item.clone(), difference.reason.clone()))
            .collect::<BTreeSet<_>>()
    };
    assert_eq!(sorted(&resumed), sorted(&whole));
    assert_eq!(
        (&resumed.checked, resumed.remaining),
        (&whole.checked, whole.remaining)
    );
    assert!(whole.remaining >= 4 && stops > 16, "{whole:#?} {stops}");
    assert!(!path.exists(), "a complete run leaves no file");
}

/// The file of another run and a damaged one are refused, and stay.
#[test]
fn an_unusable_file_is_refused() {
    let bench = bench();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let stop = CancellationToken::default();
        stop.ask();
        let resume_file = ResumeFile {
            path: path.clone(),
            table: "funil".to_owned(),
            stop,
        };
        let operator = bench.operator().await;
        let stopped = operator
            .resumable_doctor(false, &|_| {}, Some(&resume_file))
            .await;
        assert!(matches!(stopped, Err(OperatorError::Stopped)));
    });
    let path = path.to_str().unwrap();
    let other = bench.funil(&format!("doctor --instance acme --repair --state {path}"));
    assert_eq!(other.code, 1);
    assert!(other.err.contains("belongs to another run"), "{other:?}");
    let same = bench
        .funil(&format!("doctor --instance acme --state {path}"))
        .done();
    assert!(same.out.starts_with("0 differences"), "{same:?}");
    std::fs::write(path, "{").unwrap();
    let damaged = bench.funil(&format!("doctor --instance acme --state {path}"));
    assert!(
        damaged
            .err
            .trim_end()
            .ends_with("delete it, or name another file"),
        "{damaged:?}"
    );
}
