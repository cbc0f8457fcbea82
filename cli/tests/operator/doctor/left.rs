//! Faults that the doctor only reports, because only a person can correct them.

use super::{assert_clean, bench, damage, doctor, found, id, repair};
use crate::support::Bench;

/// Requires that two runs, the second with `--repair`, report exactly these findings and write nothing. A reason ending
/// with `*` is a prefix.
#[track_caller]
fn assert_leaves(bench: &Bench, table: &str) {
    let expected = damage(bench, table);
    let before = bench.items();
    for seen in [doctor(bench), repair(bench)] {
        let found = found(&seen, false);
        let alike = |((item, reason), (of, begins)): (&(String, String), &(String, String))| {
            item == of
                && begins
                    .strip_suffix('*')
                    .map_or(reason == begins, |begins| reason.starts_with(begins))
        };
        let all = found.len() == expected.len() && found.iter().zip(&expected).all(alike);
        assert!(all && seen.code == 1, "{found:#?} {expected:#?}");
    }
    assert_eq!(bench.items(), before);
}

/// Unreadable records are reported, and so are records that copy them. Items that may be derived from them are not
/// changed, and their totals are not compared. An export omits and lists them.
#[test]
fn records_that_cannot_be_read() {
    let bench = bench();
    let lines = bench.export().lines().count();
    let call = bench.item("acme#call#1", &id(1)).unwrap();
    let records = r#"
set createDate {"S":"yesterday"} | acme#lead 000000000000001 | *
set points {"S":"many"} | acme#company 000000000000002 | *
set columns {"S":"31, 32"} | acme#funnel 000000000000003 | *
set card {"S":"{}"} | acme#opportunity 000000000000002 | *
set calendar {"S":"{}"} | acme#calendar 000000000000001 | *
set meeting {"S":"{}"} | acme#meeting 000000000000001 | *
set ticket {"S":"{}"} | acme#ticket 000000000000001 | *
put {} | acme#profile 5511987001122 | *
put {} | acme#report 000000000000003 | *
"#;
    let dependent = r#"
set createDate {"S":"yesterday"} | acme#call#1 000000000000001 | *
 | totals of leads | cannot be compared, because a lead cannot be read
 | totals of opportunities | cannot be compared, because a opportunity cannot be read
 | totals of calendars | cannot be compared, because a calendar cannot be read
 | totals of meetings | cannot be compared, because a meeting cannot be read
 | acme#opportunity 000000000000001 | cannot be compared with lead 1: *
 | acme#opportunity 000000000000003 | cannot be compared with lead 1: *
 | acme#lead 000000000000002 | cannot be compared with company 2: *
 | acme#file id#000000000000007 | cannot be compared with ticket 1: *
 | acme#file path#000000000000001#a#b | cannot be compared with ticket 1: *
"#;
    assert_leaves(
        &bench,
        &format!("{}\n{}", records.trim(), dependent.trim_matches('\n')),
    );
    let event = r#"
put {"id":{"N":"2"},"lead":{"N":"2"},"call":{"N":"2"}} | acme#timeline#2 event#000000000000002 | *
"#;
    damage(&bench, event);
    bench.put("acme#call#1", &id(1), &call);
    let exported = bench.funil("export --instance acme");
    assert_eq!(exported.code, 1);
    let left_out = format!("{}{event}", records.trim());
    let left_out: Vec<_> = left_out
        .lines()
        .map(|line| line.split(" | ").nth(1).unwrap())
        .collect();
    for item in &left_out {
        let line = format!("left out: {item} cannot be read");
        assert!(exported.err.contains(&line), "{line}: {}", exported.err);
    }
    assert_eq!(exported.out.lines().count() + left_out.len(), lines);
}

/// A record under another's id is not counted, and its items belong to the other record.
#[test]
fn records_under_other_ids() {
    assert_leaves(
        &bench(),
        r"
copy acme#lead 000000000000001 | acme#lead 000000000000099 | contains another lead, which no look-up finds there
copy acme#call#1 000000000000001 | acme#call#1 000000000000099 | contains another call, which no look-up finds there
copy acme#opportunity 000000000000001 | acme#opportunity 000000000000099 | contains another opportunity, which no look-up finds there
copy acme#calendar 000000000000001 | acme#calendar 000000000000099 | contains another calendar, which no look-up finds there
copy acme#meeting 000000000000001 | acme#meeting 000000000000099 | contains another meeting, which no look-up finds there
copy acme#ticket 000000000000001 | acme#ticket 000000000000099 | contains another ticket, which no look-up finds there
",
    );
}

/// No board shows opportunities in an unknown column.
#[test]
fn opportunities_in_no_column() {
    let bench = bench();
    let funnel = bench.item("acme#funnel", &id(3)).unwrap();
    let mut smaller = funnel.clone();
    smaller["columns"]["L"].as_array_mut().unwrap().pop();
    bench.put("acme#funnel", &id(3), &smaller);
    let lacks = " | acme#opportunity 000000000000003 | is in column 32, which funnel 3 does not have";
    assert_leaves(&bench, lacks);
    bench.delete("acme#funnel", &id(3));
    let gone = "is in funnel 3, which does not exist";
    let gone = [1, 2, 3].map(|at| format!(" | acme#opportunity {} | {gone}\n", id(at)));
    assert_leaves(&bench, &gone.concat());
    bench.put("acme#funnel", &id(3), &funnel);
    assert_clean(&bench);
}
