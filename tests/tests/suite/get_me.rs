//! `GET /me` (C-113).

use operator::kinds::Users;
use serde_json::{Value, json};
use shared::credential::CredentialKind;
use shared::people::User;
use tests::people::user;
use tests::{ACME, World};

/// The permissions of a seller of `acme`.
fn permissions(leads: &str) -> Value {
    json!({ "leads": leads, "opportunities": "all", "wonLost": true, "deleteLeads": true, "archiveLeads": true,
        "editLeads": true, "editOpportunities": true, "calendars": true, "tickets": true, "reports": true })
}

/// Complete bodies: of an admin, whose group does not matter, and of a seller.
#[tokio::test]
async fn the_caller_is_shown() {
    let world = World::new().await;
    let operator = world.operator(ACME);
    for (name, value) in [("currency", json!("eur")), ("page_base", json!(0))] {
        operator.set_setting(name, &value).await.expect("a setting");
    }
    for (id, name, last_name, admin, leads) in [
        (7, "Ana", "Souza", true, "all"),
        (8, "Bruno", "Lima", false, "own"),
        (13, "Gina", "Rocha", false, "none"),
    ] {
        let wallet = world.known(id).await;
        let answer = world.get("/me?i=acme").with(&wallet).send().await;
        let mut body = answer.body.clone();
        let token = body["data"]["expires"]["token"].take();
        assert_eq!(token, json!("2027-02-19T12:00:00.000Z"));
        let expected = json!({ "data": { "instance": "acme", "timezone": "UTC", "currency": "EUR", "pageBase": 0,
            "expires": { "key": null, "token": null },
            "user": { "id": id, "name": name, "lastName": last_name, "admin": admin },
            "permissions": permissions(leads) } });
        assert_eq!((answer.status.as_u16(), body), (200, expected));
    }
}

/// The ends are those of the credentials that were sent; under `anywhere` the token may be absent.
#[tokio::test]
async fn ends_of_credentials_are_shown() {
    let world = World::new().await;
    let operator = world.operator(ACME);
    let days = operator.issue(CredentialKind::Key, user(9), None, Some(7)).await;
    let key = days.expect("a key").secret.reveal().to_owned();
    let wallet = world.wallet(9).await;
    let expires = async |request: tests::world::Request<'_>| {
        let answer = request.send().await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        answer.body["data"]["expires"].clone()
    };
    let both = world.get("/me?i=acme").header("apitoken", &key);
    let both = both.header("authorization", &format!("Bearer {}", wallet.token));
    let week = json!({ "key": "2026-11-28T12:00:00.000Z", "token": "2027-02-19T12:00:00.000Z" });
    assert_eq!(expires(both).await, week);
    tests::people::set(&operator, "credential_placement", &json!("anywhere")).await;
    let alone = world.get("/me?i=acme").header("apitoken", &key);
    let only = json!({ "key": "2026-11-28T12:00:00.000Z", "token": null });
    assert_eq!(expires(alone).await, only);
}

/// What changes holds from the next request (C-2).
#[tokio::test]
async fn the_state_is_that_of_now() {
    let world = World::new().await;
    let wallet = world.known(8).await;
    let operator = world.operator(ACME);
    let renamed = User {
        admin: true,
        last_name: None,
        ..User::new(user(8), "Bruna")
    };
    operator.import::<Users>(&[renamed], true).await.expect("a user");
    tests::people::set(&operator, "timezone", &json!("America/Sao_Paulo")).await;
    let answer = world.get("/me?i=acme").with(&wallet).send().await;
    let data = &answer.body["data"];
    assert_eq!(
        data["user"],
        json!({ "id": 8, "name": "Bruna", "lastName": null, "admin": true })
    );
    assert_eq!(data["permissions"], permissions("all"));
    assert_eq!(data["timezone"], "America/Sao_Paulo");
    world.is_sound().await;
}
