//! Search by lead and by opportunity (C-43), also while copies of a lead are stale (C-12).

use serde_json::{Value, json};
use shared::lead::Lead;
use shared::opportunity::Opportunity;
use tests::World;
use tests::people::{add_leads, lead, leads};
use tests::sales::{page, plain_opportunity};

use super::{Client, ids, stocked};

/// One opportunity for each lead of `acme`: 1 of lead 1001, 2 of 1002, …, 7 of 1007, and 42 without a lead.
async fn world() -> World {
    let mut opportunities: Vec<_> = (1..=7)
        .map(|id| Opportunity {
            lead_id: Some(lead(1000 + id)),
            title: format!("Renovação {id}"),
            fields: serde_json::from_value(json!({ "Origem do Lead": "Zebra" })).expect("an object"),
            ..plain_opportunity(id, 8, 0)
        })
        .collect();
    opportunities.push(Opportunity {
        lead_id: None,
        title: "Maria".to_owned(),
        ..plain_opportunity(42, 9, 0)
    });
    stocked(opportunities).await
}

async fn by(client: &Client<'_>, searched: &str, term: &str) -> Vec<u64> {
    let more = json!({ "search": term, "searchBy": searched });
    client.found(&more).await
}

/// Beginnings of words of the linked lead's full name and e-mail, its numbers and its id; regardless of case and accents.
#[tokio::test]
async fn search_by_lead() {
    let world = world().await;
    let admin = Client::of(&world, 7).await;
    for (term, found) in [
        ("maria", vec![1]),
        ("MARIA SILVA", vec![1]),
        (" sil mar ", vec![1]),
        ("ria sil", vec![]),
        ("joao", vec![2]),
        ("JOÃO", vec![2]),
        ("goncalves", vec![3]),
        ("antonia", vec![3]),
        ("jose da conceicao", vec![4]),
        ("NÓBREGA", vec![6]),
        ("lead100", vec![6, 5, 3, 2, 1]),
        ("LEAD1002@EXAMPLE", vec![2]),
        ("97326-3471", vec![1]),
        ("+55 (11) 97326", vec![]),
        ("3471", vec![1]),
        ("471", vec![]),
        ("1171629072", vec![5]),
        ("1002", vec![2]),
        ("100", vec![]),
        ("com lead1005", vec![5]),
        ("com", vec![6, 5, 3, 2, 1]),
        ("554136782554", vec![2]),
        ("a7326", vec![]),
        // Neither title, nor custom fields, nor the lead's city.
        ("renovação", vec![]),
        ("zebra", vec![]),
        ("curitiba", vec![]),
        ("apucarana", vec![]),
        ("no such name", vec![]),
        ("((", vec![]),
    ] {
        assert_eq!(by(&admin, "lead", term).await, found, "{term:?}");
        let unsaid = admin.found(&json!({ "search": term })).await;
        assert_eq!(unsaid, found, "{term:?}");
    }
}

#[tokio::test]
async fn search_by_title_and_id() {
    let world = world().await;
    let admin = Client::of(&world, 7).await;
    for (term, found) in [
        ("renovacao", vec![7, 6, 5, 4, 3, 2, 1]),
        ("RENOVAÇÃO 3", vec![3]),
        ("3 renov", vec![3]),
        ("vação", vec![]),
        ("maria", vec![42]),
        ("2", vec![2]),
        ("4", vec![4]),
        ("42", vec![42]),
        ("042", vec![]),
        ("zebra", vec![]),
        ("joao", vec![]),
        ("lead1002", vec![]),
    ] {
        assert_eq!(by(&admin, "opportunity", term).await, found, "{term:?}");
    }
}

/// spec.md: a blank search is disabled, and `searchBy` is ignored with it.
#[tokio::test]
async fn blank_searches_are_disabled() {
    let world = world().await;
    let admin = Client::of(&world, 7).await;
    let all = [42, 7, 6, 5, 4, 3, 2, 1];
    for more in [
        json!({ "searchBy": "opportunity" }),
        json!({ "search": "", "searchBy": "lead" }),
        json!({ "search": "", "searchBy": "opportunity" }),
        json!({ "search": " \t", "searchBy": "opportunity" }),
        json!({ "search": null }),
    ] {
        assert_eq!(admin.found(&more).await, all, "{more}");
    }
}

/// C-30: users who see an opportunity may search by its lead, even if they cannot see the lead itself.
#[tokio::test]
async fn search_by_invisible_leads() {
    let world = world().await;
    let seller = Client::of(&world, 9).await;
    let of_nine = Opportunity {
        lead_id: Some(lead(1001)),
        ..plain_opportunity(50, 9, 0)
    };
    tests::sales::add_opportunities(&world.operator("acme"), vec![of_nine]).await;
    assert_eq!(by(&seller, "lead", "maria").await, [50]);
    assert_eq!(by(&seller, "lead", "joao").await, [0; 0]);
    let hidden = world.get("/leads/1001?i=acme").with(&seller.wallet).send().await;
    assert_eq!(hidden.status, 404);
}

#[tokio::test]
async fn searches_are_paged() {
    let some = (1..=150).map(|id| Opportunity {
        lead_id: Some(lead(if id % 7 == 0 { 1001 } else { 1002 })),
        ..plain_opportunity(id, 7 + id % 3, 0)
    });
    let world = stocked(some).await;
    let admin = Client::of(&world, 7).await;
    let expected: Vec<u64> = (1..=150).rev().filter(|id| id % 7 == 0).collect();
    let more = json!({ "search": "maria" });
    for limit in [1, 5, 21, 100] {
        assert_eq!(admin.walk(limit, &more).await, expected, "limit {limit}");
    }
    let alone = admin.program("one page").ids(4, 5, &more).await;
    assert_eq!(alone, expected[15..20]);
}

/// A page without an unreadable copy is filled, because a short page ends the list.
#[tokio::test]
async fn an_unreadable_copy_does_not_end_the_list() {
    let some = (1..=150).map(|id| Opportunity {
        lead_id: Some(lead(1002)),
        title: if id % 25 == 0 { "Zebra" } else { "Pedido" }.to_owned(),
        ..plain_opportunity(id, 7, 0)
    });
    let world = stocked(some).await;
    world.raw().spoil_copy("acme#opportunity", "000000000000125");
    let admin = Client::of(&world, 7).await;
    let more = json!({ "search": "zebra", "searchBy": "opportunity" });
    for limit in [1, 2, 5] {
        assert_eq!(
            admin.walk(limit, &more).await,
            [150, 100, 75, 50, 25],
            "limit {limit}"
        );
    }
    let alone = admin.program("one page").ids(2, 2, &more).await;
    assert_eq!(alone, [75, 50]);
    let board = admin.ask(3, &page(1, 2, &more)).await.body;
    assert_eq!(
        (&board[0]["total"], ids(&board[0]["items"])),
        (&json!(6), vec![150, 100])
    );
}

/// The lead's field in the list and on the board.
async fn shown(client: &Client<'_>, field: &str) -> Value {
    let list = client.ask(3, &page(7, 1, &json!({ "columnId": 31 }))).await.body;
    let board = client.ask(3, &page(1, 100, &Value::Null)).await.body;
    let items = board[0]["items"].as_array().expect("items");
    let one = items
        .iter()
        .find(|item| item["id"] == list[0]["id"])
        .expect("the same one");
    assert_eq!(one["dataLead"], list[0]["dataLead"]);
    assert_eq!(list[0]["lead_id"], 1002);
    list[0]["dataLead"][field].clone()
}

/// C-12: a lead's new name is found and shown at once, the old one no more, before and after the copies are
/// refreshed.
#[tokio::test]
async fn a_changed_lead_is_found_at_once() {
    let world = world().await;
    let admin = Client::of(&world, 7).await;
    assert_eq!(shown(&admin, "fullname").await, "João Pereira");
    let renamed = leads()
        .into_iter()
        .filter(|one| one.id == lead(1002))
        .map(|before| Lead {
            firstname: Some("Beatriz".to_owned()),
            lastname: Some("Alvim".to_owned()),
            email: Some("bia@example.com".to_owned()),
            phone: Some("+55 41 3333-0000".to_owned()),
            ..before
        });
    add_leads(&world.operator("acme"), renamed.collect()).await;
    for refreshed in [false, true] {
        if refreshed {
            assert_eq!(world.store.refresh_copies().await.expect("refreshed"), 1);
        }
        for (term, found) in [
            ("beatriz", vec![2]),
            ("bia@", vec![2]),
            ("4133330000", vec![2]),
            ("joao", vec![]),
            ("lead1002", vec![]),
            ("554136782554", vec![]),
            ("maria", vec![1]),
        ] {
            assert_eq!(by(&admin, "lead", term).await, found, "{term} {refreshed}");
        }
        assert_eq!(shown(&admin, "fullname").await, "Beatriz Alvim");
        // A viewer with an own list of the column.
        let seller = Client::of(&world, 8).await;
        assert_eq!(by(&seller, "lead", "beatriz").await, [2]);
    }
    world.is_sound().await;
}

/// C-73: a call changes `lastActive`, which the lead's copies show at once.
#[tokio::test]
async fn a_called_lead_is_shown_at_once() {
    let world = world().await;
    let admin = Client::of(&world, 7).await;
    let call = json!({ "event": "call", "data": { "user": 8, "leadPhone": "", "lead": 1002, "type": "INCOMING",
        "status": "COMPLETE", "duration": 1, "record": false, "service": "x" } });
    assert_eq!(world.webhook(&call).send().await.status, 201);
    for refreshed in [false, true] {
        if refreshed {
            assert_eq!(world.store.refresh_copies().await.expect("refreshed"), 1);
        }
        assert_eq!(shown(&admin, "lastActive").await, tests::NOW);
        assert_eq!(by(&admin, "lead", "joao").await, [2]);
        assert_eq!(by(&admin, "lead", "maria").await, [1]);
    }
    world.is_sound().await;
}
