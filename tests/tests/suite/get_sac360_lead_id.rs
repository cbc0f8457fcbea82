//! `GET /sac360/lead/{id}`: endpoint 16.

use serde_json::{Value, json};
use tests::people::{add_leads, plain_lead};
use tests::tickets::{add_files, add_tickets, ask, assert_invalid, file, shown, ticket};
use tests::{Answer, Wallet, World};

/// C-62: in the order of spec.md.
#[tokio::test]
async fn a_ticket_with_every_field() {
    let world = World::new().await;
    tests::sales::open_shop(&world.operator("acme")).await;
    let opportunity = tests::sales::plain_opportunity(9, 7, 0);
    tests::sales::add_opportunities(&world.operator("acme"), vec![opportunity]).await;
    let texts = [
        "attendantName",
        "userAttendance",
        "userClient",
        "department",
        "name",
        "lead_name",
        "name_contact",
        "type",
        "recipientid",
        "accid",
        "photo",
        "photo_larger",
        "photo_store",
        "obs",
        "post_id",
        "page_id",
        "comment_id",
        "comment_txt",
        "chatapp_acc",
        "chatapp_number",
        "chatapp_oficial",
    ];
    let mut full = json!({
        "status": "aberto", "star": 5, "evaluation": 4.0, "chatGroup": true, "isGroup": 0, "pin": "1", "archive": false,
        "opportunity": 9, "unread": 3, "sequence": 7, "endDate": "2026-05-01T11:00:00.000Z",
        "lastMesssageAttendance": "2026-05-01T10:31:00.000Z",
    });
    for name in texts {
        full[name] = json!(format!("{name} é 😀"));
    }
    add_tickets(&world.operator("acme"), [ticket(&full)]).await;
    let answer = ask(&world, &world.wallet(7).await, "lead/1001").await;
    answer.is(200, &json!([shown(&full)]));
    assert_eq!(answer.headers["content-type"], "application/json; charset=utf-8");
    let names = |record: &Value| {
        record
            .as_object()
            .expect("a record")
            .keys()
            .cloned()
            .collect::<Vec<_>>()
    };
    assert_eq!(names(&answer.body[0]), names(&shown(&full)));
}

/// C-62: newest first, then highest id; derived fields are null if their dates are.
#[tokio::test]
async fn tickets_are_ordered_newest_first() {
    let world = World::new().await;
    let at = |id: u64, date: &str| json!({ "id": id, "createDate": date });
    let (old, new) = ("1969-12-31T23:59:58.500Z", "2026-05-02T10:00:00.000Z");
    let lines = [
        at(501, new),
        at(502, old),
        at(503, new),
        at(504, "2026-05-01T10:00:00.000Z"),
    ];
    let mut tickets: Vec<_> = lines.iter().map(ticket).collect();
    tickets[1].last_message_user = None;
    tickets.push(ticket(&json!({ "id": 505, "lead_relation": 1006 })));
    add_tickets(&world.operator("acme"), tickets).await;
    let with = |id: u64, date: &str, unix: i64| {
        shown(&json!({ "id": id, "createDate": date, "createDateUnix": unix }))
    };
    let mut oldest = with(502, old, -2);
    oldest["lastMesssageUser"] = Value::Null;
    oldest["lastMesssageUserUnix"] = Value::Null;
    let expected = json!([
        with(503, new, 1_777_716_000),
        with(501, new, 1_777_716_000),
        shown(&json!({ "id": 504 })),
        oldest,
    ]);
    ask(&world, &world.wallet(7).await, "lead/1001")
        .await
        .is(200, &expected);
    let none = ask(&world, &world.wallet(7).await, "lead/1002").await;
    none.is(200, &json!([]));
}

/// C-12, C-81: imports apply at once.
#[tokio::test]
async fn moved_tickets_are_shown_at_their_new_lead() {
    let world = World::new().await;
    let (operator, admin) = (world.operator("acme"), world.wallet(7).await);
    add_tickets(&operator, [ticket(&Value::Null)]).await;
    let moved = json!({ "lead_relation": 1002, "createDate": "2026-05-02T10:00:00.000Z", "name": null });
    add_tickets(&operator, [ticket(&moved)]).await;
    ask(&world, &admin, "lead/1001").await.is(200, &json!([]));
    let mut expected = shown(&moved);
    expected["createDateUnix"] = json!(1_777_716_000);
    ask(&world, &admin, "lead/1002").await.is(200, &json!([expected]));
    add_tickets(&operator, [ticket(&json!({ "lead_relation": null }))]).await;
    ask(&world, &admin, "lead/1002").await.is(200, &json!([]));
    world.is_sound().await;
}

#[tokio::test]
async fn more_than_a_thousand_tickets_are_listed() {
    let world = World::new().await;
    let obs = "x".repeat(1000);
    let tickets = (1..=2100).map(|id| ticket(&json!({ "id": id, "obs": obs })));
    add_tickets(&world.operator("acme"), tickets).await;
    let answer = ask(&world, &world.wallet(7).await, "lead/1001").await;
    let ids = answer
        .body
        .as_array()
        .expect("an array")
        .iter()
        .map(|ticket| ticket["id"].as_u64());
    assert!(ids.eq((1..=2100).rev().map(Some)));
}

async fn page(world: &World, wallet: &Wallet, path: &str, query: &str) -> Answer {
    let call = world.get(&format!("/sac360/{path}?i=acme&{query}"));
    call.header("apitoken", &wallet.key).send().await
}

/// C-62: the pages of endpoints 16 to 18 in order show everything once and equal the whole list, and can be
/// read individually. Concurrent additions repeat nothing.
#[tokio::test]
async fn pages_of_tickets_and_files_are_the_whole_list() {
    let world = World::new().await;
    let (operator, admin) = (world.operator("acme"), world.wallet(7).await);
    add_tickets(&operator, (1..=130).map(|id| ticket(&json!({ "id": id })))).await;
    add_files(
        &operator,
        (1..=65).map(|id| file(&json!({ "ticket": id, "id": id }))),
    )
    .await;
    let of_one =
        (66..=130).map(|id| file(&json!({ "ticket": 1, "id": id, "store_path": format!("p/{id}") })));
    add_files(&operator, of_one).await;
    for (path, count) in [
        ("lead/1001", 130),
        ("list_file_attendance/1", 66),
        ("list_file_lead/1001", 130),
    ] {
        let all = ask(&world, &admin, path).await.body;
        assert_eq!(all.as_array().map(Vec::len), Some(count), "{path}");
        let (mut walked, mut alone) = (Vec::new(), Vec::new());
        for number in 1..=4 {
            let query = format!("limit=40&page={number}");
            let answer = page(&world, &admin, path, &query).await;
            walked.extend(answer.body.as_array().expect("an array").clone());
            let other = page(&world.elsewhere(), &world.wallet(7).await, path, &query).await;
            alone.extend(other.body.as_array().expect("an array").clone());
        }
        assert_eq!([&json!(walked), &json!(alone)], [&all, &all], "{path}");
        // Without a limit all are on the first page.
        page(&world, &admin, path, "page=0").await.is(200, &all);
        page(&world, &admin, path, "page=2").await.is(200, &json!([]));
        page(&world, &admin, path, "limit=1000&page=999999999999")
            .await
            .is(200, &json!([]));
    }
    let first = page(&world, &admin, "lead/1001", "limit=100").await.body;
    let newer = (201..=203).map(|id| ticket(&json!({ "id": id, "createDate": "2026-06-01T10:00:00.000Z" })));
    add_tickets(&operator, newer).await;
    let rest = page(&world, &admin, "lead/1001", "limit=100&page=2").await.body;
    assert_eq!(
        (first[99]["id"].as_u64(), rest[0]["id"].as_u64()),
        (Some(31), Some(30))
    );
    let new = page(&world, &admin, "lead/1001", "limit=100&page=3").await.body;
    let ids: Vec<_> = new
        .as_array()
        .expect("an array")
        .iter()
        .map(|ticket| ticket["id"].as_u64())
        .collect();
    assert_eq!(ids, [Some(203), Some(202), Some(201)]);
}

/// C-62, C-86: more than 5 MB are a 400 that names `limit`, and a far page without a cursor one that names
/// the alternative.
#[tokio::test]
async fn too_large_responses_are_rejected() {
    let world = World::new().await;
    let (operator, admin) = (world.operator("acme"), world.wallet(7).await);
    let obs = "x".repeat(10_000);
    add_tickets(
        &operator,
        (1..=700).map(|id| ticket(&json!({ "id": id, "obs": obs }))),
    )
    .await;
    let too_large = "limit: this exceeds 5 MB; ask for less at a time";
    let all = page(&world, &admin, "lead/1001", "").await;
    assert_invalid(&all, too_large);
    assert!(all.cost.read_units() < 1_800.0, "{:?}", all.cost);
    assert_invalid(&page(&world, &admin, "lead/1001", "limit=600").await, too_large);
    let last = page(&world, &admin, "lead/1001", "limit=100&page=7").await;
    assert_eq!(last.body[99]["id"], 1);
    tests::people::set(&operator, "read_budget", &json!(900)).await;
    let far = page(&world, &admin, "lead/1001", "limit=99&page=7").await;
    assert_invalid(
        &far,
        "page: is too far from the start to be read on its own; read the pages in order",
    );
    assert!(far.cost.read_units() <= 903.0, "{:?}", far.cost);
    for (query, details) in [
        ("limit=0", "limit: must be a whole number from 1 to 1000"),
        ("limit=1001", "limit: must be a whole number from 1 to 1000"),
        ("limit=x", "limit: must be a whole number"),
        ("limit=9&page=-1", "page: must be a whole number"),
        ("limit=9&limit=9", "limit: must not be repeated"),
    ] {
        assert_invalid(&page(&world, &admin, "lead/1001", query).await, details);
    }
}

/// C-12: its tickets are visible to the new owner.
#[tokio::test]
async fn tickets_follow_a_change_of_owner() {
    let world = World::new().await;
    let operator = world.operator("acme");
    add_leads(&operator, vec![plain_lead(2000, "Nova", "Pessoa", Some(9))]).await;
    add_tickets(&operator, [ticket(&json!({ "lead_relation": 2000 }))]).await;
    let seller = world.wallet(8).await;
    assert_eq!(ask(&world, &seller, "lead/2000").await.status, 400);
    add_leads(&operator, vec![plain_lead(2000, "Nova", "Pessoa", Some(8))]).await;
    assert_eq!(ask(&world, &seller, "lead/2000").await.status, 200);
}
