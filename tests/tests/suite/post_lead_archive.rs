//! `POST /lead/archive`: endpoint 6 (C-25).

use operator::kinds::Leads;
use serde_json::{Value, json};
use tests::bookings::invalid;
use tests::people::{add_leads, plain_lead};
use tests::records::{maria, with};
use tests::sales::{add_opportunities, open_shop, page, plain_opportunity};
use tests::{Answer, Wallet, World};

use crate::delete_leads_id::listed;

async fn archive(world: &World, wallet: &Wallet, body: &Value) -> Answer {
    let uri = format!("/lead/archive?i=acme&apitoken={}", wallet.key);
    world.call("POST", &uri).json(body).send().await
}

/// A lead in endpoint 6.
fn shown(id: u64, archived: bool) -> Value {
    let (fullname, email) = match id {
        1001 => ("Maria Silva", json!("lead1001@example.com")),
        1003 => ("Antônia Gonçalves", json!("lead1003@example.com")),
        _ => ("Pedro Henrique Sá", Value::Null),
    };
    json!({ "id": id, "fullname": fullname, "email": email, "archived": archived })
}

fn one(id: u64, archived: bool) -> Value {
    json!({ "data": { "lead": shown(id, archived) } })
}

fn many(leads: &[Value], not_found: &[u64]) -> Value {
    json!({ "data": { "leads": leads, "notFound": not_found } })
}

/// The stored leads.
async fn everything(world: &World) -> Vec<shared::lead::Lead> {
    world.leads().await
}

/// Repeating it changes nothing and returns the same, in both directions; only the flag changes.
#[tokio::test]
async fn a_lead_is_archived_and_unarchived() {
    let world = World::new().await;
    let wallet = world.wallet(7).await;
    let before = everything(&world).await;
    for _ in 0..2 {
        let answer = archive(&world, &wallet, &json!({ "archived": true, "id": 1001 })).await;
        answer.is(200, &one(1001, true));
        assert_eq!(listed(&world, true).await, [1001, 1003, 1012]);
        assert_eq!(listed(&world, false).await, [1002, 1004, 1005, 1006, 1007]);
        world.is_sound().await;
    }
    for _ in 0..2 {
        let answer = archive(
            &world,
            &wallet,
            &json!({ "archived": false, "id": 1001.0, "more": 1 }),
        )
        .await;
        answer.is(200, &one(1001, false));
        assert_eq!(everything(&world).await, before);
        world.is_sound().await;
    }
    let gone = json!({ "archived": true, "id": 4711 });
    archive(&world, &wallet, &gone)
        .await
        .is(404, &json!({ "error": "Not found" }));
}

#[tokio::test]
async fn unchanged_leads_are_not_written() {
    let world = World::new().await;
    let wallet = world.wallet(7).await;
    for body in [
        json!({ "archived": true, "id": 1003 }),
        json!({ "archived": true, "ids": [1003, 1012] }),
    ] {
        let answer = archive(&world, &wallet, &body).await;
        assert_eq!((answer.status.as_u16(), answer.cost.write_units()), (200, 0.0));
    }
}

/// `id` may be an array, or `ids` be used; results are in the order sent, each once.
#[tokio::test]
async fn several_leads_are_archived_in_order() {
    let world = World::new().await;
    let wallet = world.wallet(7).await;
    for name in ["id", "ids"] {
        for archived in [true, false] {
            let body = json!({ "archived": archived, (name): [1007, 4711, 1003, 1007, 1001, 4711] });
            let leads = [
                shown(1007, archived),
                shown(1003, archived),
                shown(1001, archived),
            ];
            let answer = archive(&world, &wallet, &body).await;
            answer.is(200, &many(&leads, &[4711]));
        }
        let empty = json!({ "archived": true, (name): [] });
        archive(&world, &wallet, &empty).await.is(200, &many(&[], &[]));
        let alone = json!({ "archived": false, (name): [1001] });
        archive(&world, &wallet, &alone)
            .await
            .is(200, &many(&[shown(1001, false)], &[]));
    }
    world.is_sound().await;
}

/// C-25: 120 together.
#[tokio::test]
async fn up_to_120_leads_are_archived_together() {
    let world = World::new().await;
    let wallet = world.wallet(7).await;
    let people = (2001..=2121).map(|id| plain_lead(id, "Pessoa", "de Tal", Some(8 + id % 3)));
    add_leads(&world.operator("acme"), people.collect()).await;
    let ids: Vec<u64> = (2001..=2121).collect();
    for name in ["id", "ids"] {
        let answer = archive(&world, &wallet, &json!({ "archived": true, (name): ids })).await;
        answer.is(
            400,
            &invalid(&format!("{name}: must be a list of at most 120 ids of leads")),
        );
    }
    let answer = archive(&world, &wallet, &json!({ "archived": true, "ids": ids[..120] })).await;
    let view = |id: &u64| json!({ "id": id, "fullname": "Pessoa de Tal", "email": null, "archived": true });
    let leads: Vec<_> = ids[..120].iter().map(view).collect();
    answer.is(200, &many(&leads, &[]));
    assert_eq!(listed(&world, true).await.len(), 2 + 120);
    assert_eq!(
        listed(&world, false).await,
        [1001, 1002, 1004, 1005, 1006, 1007, 2121]
    );
    world.is_sound().await;
}

#[tokio::test]
async fn refusals() {
    let world = World::new().await;
    let wallet = world.wallet(7).await;
    let (flag, id) = (
        "archived: must be true or false",
        "id: must be a whole number from 1 to 999999999999999",
    );
    let ids = "ids: must be a list of at most 120 ids of leads";
    for (body, details) in [
        (json!({}), flag),
        (json!({ "id": 1001 }), flag),
        (json!({ "archived": null, "id": 1001 }), flag),
        (json!({ "archived": 2, "id": 1001 }), flag),
        (json!({ "archived": "yes", "id": 1001 }), flag),
        (json!({ "archived": true }), id),
        (json!({ "archived": true, "id": null }), id),
        (json!({ "archived": true, "id": "x" }), id),
        (json!({ "archived": true, "id": 0 }), id),
        (json!({ "archived": true, "id": -1 }), id),
        (json!({ "archived": true, "id": 1.5 }), id),
        (json!({ "archived": true, "id": 1e15 }), id),
        (json!({ "archived": true, "id": { "id": 1001 } }), id),
        (
            json!({ "archived": true, "id": [1001, "x"] }),
            "id[1]: must be an id",
        ),
        (
            json!({ "archived": true, "id": [[1001]] }),
            "id[0]: must be an id",
        ),
        (json!({ "archived": true, "ids": null }), id),
        (json!({ "archived": true, "ids": 1001 }), ids),
        (json!({ "archived": true, "ids": [0] }), "ids[0]: must be an id"),
        (
            json!({ "archived": true, "id": 1001, "ids": [1001] }),
            "ids: must not be sent with id",
        ),
    ] {
        archive(&world, &wallet, &body).await.is(400, &invalid(details));
    }
    assert_eq!(listed(&world, false).await.len(), 6);
}

/// C-12: before and after their copies are written; the opportunities themselves do not change.
#[tokio::test]
async fn opportunities_show_the_archived_lead_at_once() {
    let world = World::new().await;
    let operator = world.operator("acme");
    open_shop(&operator).await;
    add_opportunities(&operator, vec![plain_opportunity(1, 8, 0)]).await;
    let (admin, seller) = (world.wallet(7).await, world.wallet(8).await);
    let uri = format!("/crm/opportunities/3?i=acme&apitoken={}", seller.key);
    let column = page(1, 25, &json!({ "columnId": 31 }));
    let embedded = async || {
        let answer = world.call("POST", &uri).json(&column).send().await;
        let record = answer.body[0].clone();
        (record["dataLead"].clone(), record["archived"].clone())
    };
    for archived in [true, false] {
        let body = json!({ "archived": archived, "id": 1001 });
        assert_eq!(archive(&world, &admin, &body).await.status, 200);
        let expected = (with(maria(), &json!({ "archived": archived })), json!(0));
        assert_eq!(embedded().await, expected);
        maintenance::tend(&world.store).await.expect("it is tended");
        world.clock.set(world.clock.get().plus_seconds(60));
        maintenance::tend(&world.store).await.expect("it is tended");
        assert_eq!(embedded().await, expected);
        world.is_sound().await;
    }
}

/// C-72: of leads that share a number, one that is not archived, then the lowest id.
#[tokio::test]
async fn calls_prefer_leads_that_are_not_archived() {
    let world = World::new().await;
    let wallet = world.wallet(7).await;
    let twin = shared::lead::Lead {
        phone: Some("11973263471".to_owned()),
        ..plain_lead(2001, "Outra", "Pessoa", Some(8))
    };
    add_leads(&world.operator("acme"), vec![twin]).await;
    let call = json!({ "event": "call", "data": { "user": 8, "leadPhone": "+55 11 97326-3471", "type": "INCOMING",
        "status": "COMPLETE", "duration": 1, "record": false, "service": "x" } });
    for (archived, lead, found) in [
        (false, 1001, 1001),
        (true, 1001, 2001),
        (true, 2001, 1001),
        (false, 2001, 2001),
        (false, 1001, 1001),
    ] {
        let body = json!({ "archived": archived, "id": lead });
        assert_eq!(archive(&world, &wallet, &body).await.status, 200);
        assert_eq!(world.webhook(&call).send().await.status, 201);
        let calls = world.calls().await;
        assert_eq!(
            calls
                .last()
                .and_then(|call| call.lead)
                .map(shared::ids::LeadId::get),
            Some(found)
        );
    }
    world.is_sound().await;
}

/// C-81: a repeated import does not replace changes through the API, unless requested.
#[tokio::test]
async fn a_repeated_import_keeps_the_archived_flag() {
    let world = World::new().await;
    let wallet = world.wallet(7).await;
    let answer = archive(&world, &wallet, &json!({ "archived": true, "id": 1001 })).await;
    answer.is(200, &one(1001, true));
    let operator = world.operator("acme");
    let lines = || vec![tests::people::leads().remove(0).into()];
    let refused = operator
        .import::<Leads>(&lines(), false)
        .await
        .expect("an import");
    assert!(
        matches!(refused[..], [operator::Outcome::Refused(_)]),
        "{refused:?}"
    );
    assert_eq!(listed(&world, true).await, [1001, 1003, 1012]);
    operator.import::<Leads>(&lines(), true).await.expect("an import");
    assert_eq!(listed(&world, true).await, [1003, 1012]);
}
