//! Departments and groups, with names and dates in separate items (C-84).

use serde_json::json;

use super::{assert_clean, assert_repairs, damage, doctor, found, repair};
use crate::import::records;
use crate::support::Bench;

/// A repair adds no permissions: the name of a restored department or group is its id, the department has no parent,
/// and the group has no permission.
#[test]
fn departments_and_groups_in_one_place_only() {
    let bench = Bench::with_sample();
    let expected = damage(
        &bench,
        r#"
set details {"S":"{}"} | acme#department 07 | lacks the name of department 2
put {"details":{"S":"{\"99\":{\"name\":\"Solto\"}}"}} | acme#department 05 | the directory lacks department 99
delete | acme#group 19 | lacks the name of group 1
put {"details":{"S":"{\"98\":{\"name\":\"Solto\"}}"}} | acme#group 18 | the directory lacks group 98
"#,
    );
    assert_repairs(&bench, &expected);
    let named = |kind: &str, id: u64| {
        let all = records(&bench.export(), kind);
        all.into_iter().find(|record| record["id"] == id).unwrap()
    };
    assert_eq!(
        named("department", 2),
        json!({ "kind": "department", "id": 2, "name": "2", "parent": 1 })
    );
    assert_eq!(
        named("department", 99),
        json!({ "kind": "department", "id": 99, "name": "Solto" })
    );
    assert_eq!(named("group", 1)["permissions"]["leads"], "all");
    let nothing = &named("group", 98)["permissions"];
    assert_eq!(
        (&nothing["leads"], &nothing["editLeads"]),
        (&json!("none"), &json!(false))
    );
}

/// An import replaces an unreadable item. Until then the departments of other items are listed.
#[test]
fn an_unreadable_department() {
    let bench = Bench::with_sample();
    let department = records(&bench.export(), "department").remove(1);
    damage(&bench, r#"put {"details":{"S":"{"}} | acme#department 07 | "#);
    for seen in [doctor(&bench), repair(&bench)] {
        let found = found(&seen, false);
        let reason = found.first().unwrap();
        assert_eq!((found.len(), reason.0.as_str()), (1, "acme#department 07"));
        assert!(
            reason.1.starts_with("the item details cannot be read: "),
            "{reason:?}"
        );
    }
    let exported = bench.funil("export --instance acme");
    assert_eq!(exported.code, 1);
    assert!(exported.err.contains("acme#department 07"), "{exported:?}");
    bench.import(&department.to_string()).done();
    assert_clean(&bench);
    assert_eq!(records(&bench.export(), "department")[1], department);
}
