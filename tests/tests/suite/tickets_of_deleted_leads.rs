//! Tickets of a deleted lead (C-24): tickets and files remain, without personal data.

use dynamodb::faults::Fault;
use operator::kinds::{Files, Tickets};
use serde_json::{Value, json};
use shared::ticket::{Ticket, TicketFile};
use tests::tickets::{add_files, add_tickets, ask, assert_invalid, file, shown_file, ticket};
use tests::world::over_sdk;
use tests::{Wallet, World};

use crate::faults::behind;

/// Every personal field of a ticket.
fn personal() -> Value {
    json!({
        "name": "Maria", "lead_name": "Maria", "name_contact": "Maria", "recipientid": "Maria", "photo": "Maria",
        "photo_larger": "Maria", "photo_store": "Maria", "obs": "note",
    })
}

/// Ticket 501 of lead 1001 with two files, 120 more of it with a file each, and 502 of lead 1002.
async fn world() -> (World, Wallet) {
    let world = World::new().await;
    let operator = world.operator("acme");
    let many = (601..=720).map(|id| ticket(&json!({ "id": id })));
    let tickets = [
        ticket(&personal()),
        ticket(&json!({ "id": 502, "lead_relation": 1002 })),
    ];
    add_tickets(&operator, many.chain(tickets)).await;
    let files = (601..=720).map(|id| file(&json!({ "ticket": id })));
    let more = [
        file(&Value::Null),
        file(&json!({ "id": 9 })),
        file(&json!({ "ticket": 502 })),
    ];
    add_files(&operator, files.chain(more)).await;
    let admin = world.wallet(7).await;
    (world, admin)
}

async fn delete(world: &World, admin: &Wallet) {
    let answer = world
        .call("DELETE", &format!("/leads/1001?i=acme&apitoken={}", admin.key))
        .send()
        .await;
    assert_eq!(answer.status, 200, "{}", answer.body);
}

/// The tickets and files of `acme`.
async fn records(world: &World) -> (Vec<Ticket>, Vec<TicketFile>) {
    let operator = world.operator("acme");
    let (mut tickets, mut files) = (Vec::new(), Vec::new());
    let mut pages = operator.records::<Tickets>();
    while let Some(page) = pages.next().await.expect("the tickets can be read") {
        tickets.extend(page);
    }
    let mut pages = operator.records::<Files>();
    while let Some(page) = pages.next().await.expect("the files can be read") {
        files.extend(page);
    }
    (tickets, files)
}

async fn is_shown(world: &World, admin: &Wallet) {
    for path in ["lead/1001", "list_file_lead/1001"] {
        let answer = ask(world, admin, path).await;
        assert_invalid(&answer, "lead_id: lead 1001 does not exist");
    }
    let expected = json!([shown_file(&Value::Null), shown_file(&Value::Null)]);
    let path = "list_file_attendance/501";
    for user in [7, 14] {
        let wallet = world.wallet(user).await;
        ask(world, &wallet, path).await.is(200, &expected);
    }
    // A deletion does not make anything visible.
    for user in [8, 13] {
        let answer = ask(world, &world.wallet(user).await, path).await;
        assert_invalid(&answer, "ticket_id: ticket 501 does not exist");
    }
}

/// After the acknowledgement nothing of the lead is shown; soon after no personal data remains.
#[tokio::test]
async fn tickets_remain_without_personal_data() {
    let (world, admin) = world().await;
    let (_, files) = records(&world).await;
    delete(&world, &admin).await;
    is_shown(&world, &admin).await;
    world.is_sound().await;
    world
        .store
        .refresh_copies()
        .await
        .expect("what is left can be erased");
    is_shown(&world, &admin).await;
    let (tickets, left) = records(&world).await;
    assert_eq!(left, files, "the files stay");
    let first = tickets
        .iter()
        .find(|ticket| ticket.id.get() == 501)
        .expect("it stays");
    assert_eq!(*first, ticket(&personal()).without_lead());
    assert_eq!(first.obs.as_deref(), Some("note"));
    let linked: Vec<_> = tickets
        .iter()
        .filter(|ticket| ticket.lead_relation.is_some())
        .collect();
    assert_eq!(linked, [&ticket(&json!({ "id": 502, "lead_relation": 1002 }))]);
    let other = ask(&world, &admin, "list_file_lead/1002").await;
    other.is(200, &json!([shown_file(&Value::Null)]));
    world.is_sound().await;
}

/// A file added in between belongs to the ticket and to no list of the lead, which is consistent (C-84).
#[tokio::test]
async fn a_file_added_before_the_erasure_is_consistent() {
    let (world, admin) = world().await;
    delete(&world, &admin).await;
    add_files(&world.operator("acme"), [file(&json!({ "store_path": "late" }))]).await;
    world.is_sound().await;
    world
        .store
        .refresh_copies()
        .await
        .expect("what is left can be erased");
    let answer = ask(&world, &admin, "list_file_attendance/501").await;
    assert_eq!(answer.body.as_array().map(Vec::len), Some(3));
    world.is_sound().await;
}

#[tokio::test]
async fn an_interrupted_erasure_is_completed() {
    let _sdk = over_sdk();
    // 121 tickets are written, then 122 files.
    for done in [0, 1, 100, 121, 122, 240] {
        let (world, admin) = world().await;
        delete(&world, &admin).await;
        let plan = behind("TransactWriteItems", Fault::FailedBefore, done);
        let ended = world.faulty(plan).refresh_copies().await;
        assert!(ended.is_err(), "{done}");
        is_shown(&world, &admin).await;
        world
            .store
            .refresh_copies()
            .await
            .expect("what is left can be erased");
        let (tickets, files) = records(&world).await;
        let linked = tickets.iter().filter(|ticket| ticket.lead_relation.is_some());
        assert_eq!((linked.count(), files.len()), (1, 123), "{done}");
        world.is_sound().await;
    }
}
