//! Cost of the check of a request (C-86), by the departments and groups of the instance.

use serde_json::json;
use shared::credential::CredentialKind;
use shared::directory::{Department, Group};
use shared::ids::GroupId;
use shared::permissions::Permissions;
use tests::bookings::{FREE, booking, open_calendars};
use tests::forms::add_form;
use tests::people::department;
use tests::sales::open_shop;
use tests::world::Request;
use tests::{ACME, World};

use super::{read, within};
use crate::isolation::unknown;

/// An instance with this many departments and groups, the largest ids of 7 digits, and every setting.
async fn instance(departments: u64, groups: u64) -> World {
    let world = World::new().await;
    let operator = world.operator(ACME);
    open_shop(&operator).await;
    open_calendars(&operator).await;
    add_form(&operator, &json!({})).await;
    let before = operator.directory().await.expect("the directory");
    let more = departments - before.departments.len() as u64;
    let more_groups = groups - before.groups.len() as u64;
    let put = operator.put_directory(|directory| {
        let (step, top) = (9_999_000 / departments, department(9_999_999));
        let shop = |parent| Department::new("Loja do Centro", parent);
        directory.departments.insert(top, shop(None));
        for at in 1..more {
            directory
                .departments
                .insert(department(at * step), shop(Some(top)));
        }
        for at in 1..=more_groups {
            let id = GroupId::new(9_000_000 + at * 1_000).expect("a group id");
            let (name, permissions) = ("Vendedores".to_owned(), Permissions::EVERYTHING);
            directory.groups.insert(id, Group { name, permissions });
        }
    });
    put.await.expect("the directory");
    let after = operator.directory_head().await.expect("the directory");
    assert_eq!(after.departments.len() as u64, departments);
    assert_eq!(after.groups.len() as u64, groups);
    for (name, value) in [
        ("voip_webhook_secret", json!("s".repeat(256))),
        ("timezone", json!("America/Argentina/ComodRivadavia")),
        ("requests_per_minute", json!(1_000_000)),
        ("public_requests_per_minute", json!(1)),
        ("webhook_requests_per_minute", json!(1_000_000)),
    ] {
        operator.set_setting(name, &value).await.expect("a setting");
    }
    world
}

fn book(world: &World) -> Request<'_> {
    let call = world.call("POST", "/calendarmeeting?i=acme");
    call.json(&booking(FREE[1], &json!({})))
}

/// Units of each stranger's request, and of the list of departments; a known key is checked for the units of a made-up one.
#[tokio::test]
async fn check_costs() {
    for (departments, groups, head, listed) in [(100, 20, 1.0, 3.0), (1_000, 100, 2.0, 13.0)] {
        let world = instance(departments, groups).await;
        let [key, token] = [CredentialKind::Key, CredentialKind::Token].map(unknown);
        let bearer = format!("Bearer {token}");
        let slots = "/calendarmeeting/slots?i=acme&keyName=demo";
        // The one request of this minute.
        book(&world).send().await;
        world.get(slots).send().await;
        let elsewhere = world.elsewhere();
        for (what, request, status, units) in [
            (
                "a made-up key",
                world.get(&format!("/crm?i=acme&apitoken={key}")),
                401,
                1.0,
            ),
            (
                "a made-up key and token",
                world
                    .get("/user?i=acme")
                    .header("apitoken", &key)
                    .header("authorization", &bearer),
                401,
                2.0,
            ),
            (
                "three made-up credentials",
                world
                    .get(&format!("/crm?i=acme&apitoken={key}"))
                    .header("apitoken", &unknown(CredentialKind::Key))
                    .header("authorization", &bearer),
                401,
                2.0,
            ),
            (
                "a form with a wrong token",
                world
                    .call("POST", "/api/hook/contact?i=acme&access_token=wrong")
                    .json(&json!({ "nome": "Bia" })),
                404,
                1.0,
            ),
            (
                "the webhook with a wrong secret",
                world.webhook(&json!({})).header("x-voip-signature", "wrong"),
                401,
                0.0,
            ),
            // The directory, the link and its user.
            ("a booking beyond the limit", book(&elsewhere), 429, 2.0),
            ("free times beyond the limit", elsewhere.get(slots), 429, 2.0),
        ] {
            let answer = request.send().await;
            assert_eq!(answer.status, status, "{what}: {}", answer.body);
            println!("{what}: {:?}", answer.cost);
            let read = answer.cost.read_units();
            assert!(
                read <= 4.0,
                "{what} of {departments} departments: {:?}",
                answer.cost
            );
            assert!(
                (read - units - head).abs() < 0.1,
                "{what} of {departments} departments: {:?}",
                answer.cost
            );
        }
        let wallet = world.known(7).await;
        let answer = world
            .get(&format!("/crm?i=acme&apitoken={}", wallet.key))
            .send()
            .await;
        let check = answer
            .cost
            .calls
            .iter()
            .find(|call| call.operation == "BatchGetItem");
        let check = check.expect("the check").read_units;
        assert!((check - head - 1.0).abs() < 0.1, "{:?}", answer.cost);
        let answer = world.get("/departament?i=acme").with(&wallet).send().await;
        assert_eq!(answer.status, 200);
        within(
            &format!("{departments} departments"),
            &answer,
            &read(1, 2.0 + 2.0 * head + listed),
        );
    }
}
