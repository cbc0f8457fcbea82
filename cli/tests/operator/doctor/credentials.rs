//! Faults of credentials. A repair never gives a credential more access.

use serde_json::{Value, json};

use super::{assert_clean, bench, damage, doctor, found, id, repair};
use crate::support::Bench;

/// Issues a key, and returns its id and the partition of its item.
fn issue(bench: &Bench, user: u64) -> (String, String) {
    let issued = bench
        .funil(&format!("key issue --instance acme --user {user} --json"))
        .done();
    let id = issued.document()["id"].as_str().unwrap().to_owned();
    let entry = bench.item("acme#credential", &format!("key#{id}")).unwrap();
    let pk = format!("#credential#{}", entry["hash"]["S"].as_str().unwrap());
    (id, pk)
}

fn revoke(bench: &Bench, id: &str) {
    bench.funil(&format!("key revoke --instance acme {id}")).done();
}

/// If entry and item differ, the credential is revoked. A valid credential without an entry gets one, so that it can be
/// revoked.
#[test]
fn entries_and_items_that_disagree() {
    let bench = bench();
    let [lost, revoked, other, unlisted, damaged] = [7; 5].map(|user| issue(&bench, user));
    revoke(&bench, &revoked.0);
    let item = |pk: &str| bench.item(pk, "credential");
    bench.put(&revoked.1, "credential", &item(&lost.1).unwrap());
    bench.set(&revoked.1, "credential", "id", &json!({ "S": revoked.0 }));
    bench.delete(&lost.1, "credential");
    bench.set(&other.1, "credential", "user", &json!({ "N": "8" }));
    let table = [
        ("", &lost, "is not revoked and opens nothing"),
        ("", &revoked, "is revoked and opens the instance all the same"),
        ("", &other, "opens something else than its entry states"),
        ("delete", &unlisted, "opens the instance and is not in the list"),
    ];
    let lines =
        table.map(|(damage, (id, _), reason)| format!("{damage} | acme#credential key#{id} | {reason}\n"));
    let expected = damage(&bench, &lines.concat());
    let seen = doctor(&bench);
    assert_eq!((seen.code, found(&seen, false)), (1, expected.clone()));
    assert_eq!(found(&repair(&bench).done(), true), expected);
    assert_clean(&bench);
    for (id, pk) in [&lost, &revoked, &other] {
        let entry = bench.item("acme#credential", &format!("key#{id}")).unwrap();
        assert!(item(pk).is_none() && entry.get("revoked").is_some(), "{id}");
    }
    let listed = bench.funil("key list --instance acme --json").done().document();
    let listed = listed
        .as_array()
        .unwrap()
        .iter()
        .find(|entry| entry["id"] == unlisted.0);
    assert_eq!(listed.unwrap()["user"], 7);
    revoke(&bench, &unlisted.0);
    bench.set(&damaged.1, "credential", "user", &json!({ "S": "?" }));
    let line = (
        format!("acme#credential key#{}", damaged.0),
        "is not revoked and cannot be read".to_owned(),
    );
    assert!(found(&repair(&bench).done(), true).contains(&line));
    assert_clean(&bench);
}

#[test]
fn a_membership_that_is_not_its_users() {
    let bench = bench();
    let (key, pk) = issue(&bench, 9);
    let standing = |[department, group, flags]: [u64; 3]| json!({ "L": [{ "N": department.to_string() }, { "N": group.to_string() }, { "N": flags.to_string() }] });
    let table = format!(
        "set standing {} | {pk} credential | \n | acme#credential key#{key} | differs from the record of user 9",
        standing([7, 7, 0])
    );
    let exported = bench.export();
    let before = bench.item(&pk, "credential");
    let mut expected = damage(&bench, &table);
    expected.retain(|(_, reason)| !reason.is_empty());
    let seen = doctor(&bench);
    assert_eq!((seen.code, found(&seen, false)), (1, expected.clone()));
    assert_eq!(found(&repair(&bench).done(), true), expected);
    assert_clean(&bench);
    assert_eq!(
        (bench.export(), bench.item(&pk, "credential")),
        (exported, before.clone())
    );
    // A credential without a membership is right, and a repair adds the membership.
    damage(&bench, &format!("unset standing | {pk} credential | "));
    assert_clean(&bench);
    repair(&bench).done();
    assert_eq!(bench.item(&pk, "credential"), before);
}

/// A repair gives nobody more permissions; an import of the user does.
#[test]
fn a_credential_that_its_users_record_makes_an_admins_is_only_reported() {
    let bench = bench();
    let (key, pk) = issue(&bench, 9);
    bench.set("acme#user", &id(9), "admin", &json!({ "BOOL": true }));
    for seen in [repair(&bench), repair(&bench)] {
        let reason = "differs from the record of user 9, which lets it do more: import the user again";
        let difference =
            json!([{ "item": format!("acme#credential key#{key}"), "reason": reason, "repaired": false }]);
        assert_eq!((seen.code, &seen.document()["differences"]), (1, &difference));
        let item: Value = bench.item(&pk, "credential").unwrap();
        assert_eq!(item["standing"]["L"][2], json!({ "N": "0" }));
    }
}
