use serde_json::{Value, json};
use shared::credential::{CredentialKind, Secret};
use shared::ids::UserId;

use crate::support::{Bench, USERS};

fn bench() -> Bench {
    let bench = Bench::with_instance();
    bench.import(USERS).done();
    bench
        .import(r#"{"kind":"user","id":9,"name":"Carla","active":false}"#)
        .done();
    bench
}

fn text(document: &Value, name: &str) -> String {
    document[name].as_str().unwrap().to_owned()
}

#[test]
fn a_key_is_shown_once_and_stored_as_a_hash() {
    let bench = bench();
    let issued = bench
        .funil("key issue --instance acme --user 7 --label erp --json")
        .done()
        .document();
    let names: Vec<_> = issued.as_object().unwrap().keys().collect();
    assert_eq!(names, ["id", "key"]);
    let (id, key) = (text(&issued, "id"), text(&issued, "key"));
    let secret = Secret::parse(&key).unwrap();
    assert_eq!((secret.kind(), id.len()), (CredentialKind::Key, 12));

    let listed = bench.funil("key list --instance acme --json").done();
    assert!(!listed.out.contains(&key) && !listed.out.contains(secret.hash().as_str()));
    let listed = listed.document();
    assert_eq!(
        listed,
        json!([{
            "id": id, "user": 7, "label": "erp", "createDate": listed[0]["createDate"],
            "expires": null, "revoked": null, "requestsPerMinute": null,
        }])
    );
    let raw = Value::from(bench.items()).to_string();
    assert!(!raw.contains(&key) && raw.contains(secret.hash().as_str()));
    let token = bench.funil("token list --instance acme").done();
    assert_eq!(token.out, "", "a key is no token");
}

#[test]
fn without_json_standard_output_is_the_secret_alone() {
    let bench = bench();
    let issued = bench.funil("key issue --instance acme --user 7").done();
    let key = issued.out.trim_end();
    assert!(Secret::parse(key).is_some() && issued.out.lines().count() == 1);
    assert!(!issued.err.contains(key));
    let listed = bench.funil("key list --instance acme").done();
    assert!(
        !listed.out.contains(key) && listed.out.contains("  7  -  "),
        "{listed:?}"
    );
}

#[test]
fn tokens_expire_and_keys_may() {
    let bench = bench();
    let issue = |command: &str| bench.funil(&format!("{command} --json")).done().document();
    let days = |document: &Value| {
        let time = |text: &Value| {
            shared::time::Timestamp::parse(text.as_str().unwrap())
                .unwrap()
                .unix_seconds()
        };
        let id = &document["id"];
        let lists = ["key", "token"].map(|kind| issue(&format!("{kind} list --instance acme")));
        let entries = lists.iter().flat_map(|list| list.as_array().unwrap());
        let entry = entries.clone().find(|entry| entry["id"] == *id).unwrap();
        assert_eq!(entry["expires"], document["expires"]);
        (time(&document["expires"]) - time(&entry["createDate"])) / 86_400
    };
    let token = issue("token issue --instance acme --user 7");
    assert_eq!(
        Secret::parse(&text(&token, "token")).unwrap().kind(),
        CredentialKind::Token
    );
    assert_eq!(days(&token), 90);
    assert_eq!(days(&issue("token issue --instance acme --user 7 --days 30")), 30);
    assert_eq!(days(&issue("key issue --instance acme --user 7 --days 365")), 365);
}

#[test]
fn credentials_require_an_active_user() {
    let bench = bench();
    for (user, reason) in [
        (
            99,
            "there is no user 99 in instance acme; add it with: funil user add --instance acme",
        ),
        (
            9,
            r#"user 9 of instance acme is inactive; import it with "active": true first"#,
        ),
    ] {
        let refused = bench.funil(&format!("key issue --instance acme --user {user} --json"));
        assert_eq!(
            (refused.code, refused.document()),
            (1, json!({ "error": reason }))
        );
    }
    assert_eq!(
        bench.funil("key list --instance acme --json").done().document(),
        json!([])
    );
}

#[test]
fn revoking_marks_the_hash_and_the_entry() {
    let bench = bench();
    let issued = bench
        .funil("key issue --instance acme --user 7 --json")
        .done()
        .document();
    let (id, hash) = (
        text(&issued, "id"),
        Secret::parse(&text(&issued, "key")).unwrap().hash(),
    );
    let partition = format!("#credential#{}", hash.as_str());
    assert_eq!(bench.partition(&partition).len(), 1);

    let as_token = bench.funil(&format!("token revoke --instance acme {id}"));
    assert_eq!(as_token.code, 1);
    assert!(
        as_token
            .err
            .contains(&format!("there is no token {id} in instance acme"))
    );

    let revoked = bench
        .funil(&format!("key revoke --instance acme {id} --json"))
        .done()
        .document();
    // C-106: a revoked credential stays as a mark. Builds that do not know the mark treat it as expired.
    let [mark] = &bench.partition(&partition)[..] else {
        panic!("one mark");
    };
    assert_eq!(mark["revoked"]["S"], revoked["revoked"]);
    assert_eq!(mark["expires"]["S"], "1970-01-01T00:00:00.000Z");
    let listed = bench.funil("key list --instance acme --json").done().document();
    assert_eq!(listed, json!([revoked]));
    assert!(revoked["revoked"].is_string());

    let again = bench.funil(&format!("key revoke --instance acme {id}"));
    assert_eq!(again.code, 1);
    assert!(again.err.contains("was revoked already"), "{again:?}");
    for unknown in ["0123456789ab", "x", &"é#".repeat(2000)] {
        let refused = bench.funil(&format!("key revoke --instance acme {unknown}"));
        assert_eq!(refused.code, 1);
        assert!(refused.err.contains("there is no key"), "{refused:?}");
    }
}

/// C-9: the limit is stored in the item that requests read by hash, and shown in lists.
#[test]
fn a_key_may_have_its_own_limit() {
    let bench = bench();
    let issue = |command: &str| bench.funil(&format!("{command} --json")).done().document();
    let issued = issue("key issue --instance acme --user 7 --requests-per-minute 600");
    let (id, hash) = (
        text(&issued, "id"),
        Secret::parse(&text(&issued, "key")).unwrap().hash(),
    );
    let partition = format!("#credential#{}", hash.as_str());
    let limit = || {
        let listed = bench.funil("key list --instance acme --json").done().document();
        let stored = bench.partition(&partition);
        (
            listed[0]["requestsPerMinute"].clone(),
            stored[0]["requests_per_minute"].clone(),
        )
    };
    assert_eq!(limit(), (json!(600), json!({ "N": "600" })));
    let set = |limit: &str| {
        let set = format!("key set --instance acme {id} --requests-per-minute {limit}");
        bench.funil(&set)
    };
    assert_eq!(
        set("30").done().out,
        format!("key {id} may make 30 requests a minute\n")
    );
    assert_eq!(limit(), (json!(30), json!({ "N": "30" })));
    let lines = bench.funil("key list --instance acme").done().out;
    assert!(lines.ends_with("  30 a minute  valid\n"), "{lines}");
    assert_eq!(
        set("none").done().out,
        format!("key {id} has no limit of its own\n")
    );
    assert_eq!(limit(), (Value::Null, Value::Null));
    for wrong in ["0", "1000001", "-1", "1.5", "many"] {
        let refused = set(wrong);
        assert_eq!(refused.code, 2, "{refused:?}");
    }
}

/// Unknown, expired and revoked keys cannot get a limit, and do not become valid again.
#[test]
fn only_a_valid_key_gets_a_limit() {
    let bench = bench();
    let issued = bench.funil("key issue --instance acme --user 7 --json");
    let issued = issued.done().document();
    let (id, hash) = (
        text(&issued, "id"),
        Secret::parse(&text(&issued, "key")).unwrap().hash(),
    );
    let partition = format!("#credential#{}", hash.as_str());
    let unknown = bench.funil("key set --instance acme 0123456789ab --requests-per-minute 5");
    assert_eq!(unknown.code, 1);
    assert!(
        unknown
            .err
            .contains("there is no key 0123456789ab in instance acme"),
        "{unknown:?}"
    );
    bench.funil(&format!("key revoke --instance acme {id}")).done();
    let revoked = bench.funil(&format!("key set --instance acme {id} --requests-per-minute 5"));
    assert_eq!(revoked.code, 1);
    assert!(bench.partition(&partition)[0]["revoked"]["S"].is_string());
    assert!(revoked.err.contains("was revoked already"), "{revoked:?}");
    bench.funil("doctor --instance acme").done();
}

/// The limit lets one transaction update the membership in all credentials of a user.
#[tokio::test]
async fn a_user_has_at_most_fifty_valid_credentials() {
    let bench = bench();
    let (operator, user) = (bench.operator().await, UserId::new(8).unwrap());
    let mut last = None;
    for _ in 0..50 {
        last = Some(
            operator
                .issue(CredentialKind::Token, user, None, Some(9))
                .await
                .unwrap(),
        );
    }
    let refused = bench.funil("key issue --instance acme --user 8");
    assert_eq!(refused.code, 1);
    assert!(refused.err.contains("has 50 valid credentials"), "{refused:?}");
    bench.funil("key issue --instance acme --user 7").done();
    operator
        .revoke(CredentialKind::Token, &last.unwrap().entry.id)
        .await
        .unwrap();
    // A sign-in link needs two, so it takes none.
    assert_eq!(bench.funil("user link --instance acme --user 8").code, 1);
    bench.funil("key issue --instance acme --user 8").done();
    let changed = r#"{"kind":"user","id":8,"name":"Bruno","admin":true}"#;
    bench.import(changed).done();
    let items = bench.items();
    let admin = json!({ "L": [{ "N": "0" }, { "N": "0" }, { "N": "1" }] });
    let carried = items.iter().filter(|item| item["standing"] == admin);
    assert_eq!(carried.count(), 51, "50 of user 8 and one of user 7");
}
