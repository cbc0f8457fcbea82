//! Leads that exist already: found, completed, never overwritten.

use std::collections::BTreeSet;

use futures_util::future::join_all;
use serde_json::{Value, json};
use tests::World;
use tests::forms::{add_form, received, submission, submit};

use super::{NEW, lead, world};

#[tokio::test]
async fn an_existing_lead_keeps_what_it_has() {
    let world = world(&json!({ "owner": 8 })).await;
    let before = lead(&world, 1001).await;
    let sent = json!({ "nome": "Outra", "email": "LEAD1001@example.com", "whatsapp": "5541988880001",
        "cidade": "Recife", "cargo": "CEO", "utm_source": "ads", "utm_campaign": "natal" });
    for _ in 0..2 {
        submit(&world, &sent).await.is(200, &received(1001));
        let mut expected = before.clone();
        expected["chatapp"] = "5541988880001".into();
        expected["whatsapp"] = "5541988880001".into();
        expected["cargo"] = "CEO".into();
        expected["lastActive"] = "2026-11-21T12:00:00.000Z".into();
        expected["utmTags"] =
            json!([{ "utm_source": "ads" }, { "utm_source": "ads", "utm_campaign": "natal" }]);
        assert_eq!(lead(&world, 1001).await, expected);
    }
    world.is_sound().await;
}

/// `unique` decides: by number in every written form, by e-mail in every case, or not at all.
#[tokio::test]
async fn unique_fields_find_a_lead() {
    let (phone, email) = ("+55 (11) 7326-3471", "Lead1001@Example.com");
    for (unique, sent, found) in [
        (
            json!(["phone", "email"]),
            json!({ "nome": "X", "whatsapp": phone }),
            true,
        ),
        (json!(["phone"]), json!({ "nome": "X", "whatsapp": phone }), true),
        (json!(["email"]), json!({ "nome": "X", "whatsapp": phone }), false),
        (json!(["email"]), json!({ "nome": "X", "email": email }), true),
        (json!(["phone"]), json!({ "nome": "X", "email": email }), false),
        (
            json!([]),
            json!({ "nome": "X", "whatsapp": phone, "email": email }),
            false,
        ),
        (json!(["phone", "email"]), json!({ "nome": "Maria" }), false),
    ] {
        let world = world(&json!({ "unique": unique })).await;
        let expected = if found { 1001 } else { NEW };
        submit(&world, &sent).await.is(200, &received(expected));
    }
}

/// Of any number of equal submissions one makes the lead and one the opportunity.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_storm_makes_one_lead() {
    let world =
        world(&json!({ "opportunity": { "column": 31, "title": "Pedido do site" }, "owner": 7 })).await;
    let sent = json!({ "nome": "Bia", "email": "bia@example.com", "whatsapp": "5541988880001" });
    let answers = join_all((0..30).map(|_| submission(&world, &sent).send())).await;
    let leads: BTreeSet<_> = answers
        .iter()
        .map(|answer| {
            assert_eq!(answer.status, 200, "{}", answer.body);
            answer.body["data"]["lead"].as_u64()
        })
        .collect();
    assert_eq!(leads.len(), 1);
    let made = world.leads().await;
    let made = made
        .iter()
        .filter(|lead| lead.created_by_type.as_deref() == Some("form"));
    assert_eq!(made.count(), 1);
    assert_eq!(titles(&world).await, ["Pedido do site"]);
    world.is_sound().await;
}

/// A number that a lead had is free for another one as soon as it has it no more, or is gone.
#[tokio::test]
async fn a_number_that_nobody_has_any_more_is_taken() {
    for is_deleted in [false, true] {
        let world = world(&json!({})).await;
        let admin = world.wallet(7).await;
        let number = "41 98888-0001";
        let first = json!({ "nome": "Bia", "email": "bia@example.com", "whatsapp": number });
        submit(&world, &first).await.is(200, &received(NEW));
        let uri = format!("/leads/{NEW}?i=acme");
        let call = if is_deleted {
            world.call("DELETE", &format!("{uri}&apitoken={}", admin.key))
        } else {
            let call = world.call("PUT", &uri).with(&admin);
            call.json(&json!({ "chatapp": null }))
        };
        let done = call.send().await;
        assert_eq!(done.status, 200, "{}", done.body);
        let second = json!({ "nome": "X", "email": "lead1001@example.com", "whatsapp": number });
        submit(&world, &second).await.is(200, &received(1001));
        let leads = world.leads().await;
        let lead = leads.iter().find(|lead| lead.id.get() == 1001).expect("the lead");
        assert_eq!(lead.chatapp.as_deref(), Some(number), "deleted: {is_deleted}");
        world.is_sound().await;
    }
}

/// Titles of the opportunities in column 31.
async fn titles(world: &World) -> Vec<String> {
    let key = world.wallet(7).await.key;
    let uri = format!("/crm/opportunities/3?i=acme&apitoken={key}");
    let body = tests::sales::page(1, 100, &json!({ "columnId": 31 }));
    let answer = world.call("POST", &uri).json(&body).send().await;
    let items = answer.body.as_array().expect("a list").iter();
    items
        .map(|item| item["title"].as_str().expect("a title").to_owned())
        .collect()
}

/// A replaced form holds from the next submission (C-12).
#[tokio::test]
async fn a_changed_form_applies_at_once() {
    let world = world(&json!({})).await;
    let sent = json!({ "nome": "Bia" });
    submit(&world, &sent).await.is(200, &received(NEW));
    let operator = world.operator("acme");
    add_form(&operator, &json!({ "active": false })).await;
    submit(&world, &sent)
        .await
        .is(404, &json!({ "error": "Not found" }));
    add_form(&operator, &json!({ "token": "another" })).await;
    submit(&world, &sent)
        .await
        .is(404, &json!({ "error": "Not found" }));
    add_form(&operator, &json!({ "tags": Value::Null })).await;
    submit(&world, &sent).await.is(200, &received(NEW + 1));
    world.is_sound().await;
}
