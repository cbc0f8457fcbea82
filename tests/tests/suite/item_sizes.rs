//! Items at DynamoDB's limit of 400 KB (C-89): a write that would exceed it is refused, whatever filled the item, and
//! background work sets it aside.

use serde_json::{Value, json};
use tests::bookings::{add_meetings, meeting, open_calendars};
use tests::people::lead;
use tests::raw::RawTable;
use tests::sales::{add_opportunities, open_shop, plain_opportunity};
use tests::tickets::{add_tickets, ticket};
use tests::world::at;
use tests::{ACME, Answer, NOW, World};

use crate::put_leads::put;

const MAX_ITEM: usize = 400 * 1024;
const LEAD: &str = "000000000001001";
const FIRST: &str = "000000000000001";

/// An instance with a record of each kind that requests change.
async fn stocked() -> World {
    let world = World::new().await;
    let operator = world.operator(ACME);
    open_shop(&operator).await;
    open_calendars(&operator).await;
    let mut opportunity = plain_opportunity(1, 8, 0);
    opportunity.lead_id = Some(lead(1001));
    // A new one is counted in the same item of the day.
    opportunity.create_date = at(NOW);
    add_opportunities(&operator, vec![opportunity]).await;
    add_meetings(&operator, [meeting(&Value::Null)]).await;
    add_tickets(&operator, [ticket(&Value::Null)]).await;
    world
}

fn size(value: &Value) -> usize {
    let (kind, value) = value
        .as_object()
        .and_then(|value| value.iter().next())
        .expect("a value");
    match (kind.as_str(), value) {
        ("S", Value::String(text)) => text.len(),
        ("N", Value::String(digits)) => digits.len().div_ceil(2) + 1,
        ("L", Value::Array(list)) => 3 + list.iter().map(|value| 1 + size(value)).sum::<usize>(),
        ("M", Value::Object(map)) => {
            let values = map.iter().map(|(name, value)| 1 + name.len() + size(value));
            3 + values.sum::<usize>()
        }
        _ => 1,
    }
}

/// Fills an item up to the limit with an attribute of a later build, except for a few bytes.
pub fn fill(table: &RawTable, pk: &str, sk: &str) {
    let mut item = table.get(pk, sk).unwrap_or_else(|| json!({ "v": { "N": "1" } }));
    item["pk"] = json!({ "S": pk });
    item["sk"] = json!({ "S": sk });
    let fields = item.as_object().expect("an item").iter();
    let bytes: usize = fields.map(|(name, value)| name.len() + size(value)).sum();
    item["later"] = json!({ "S": "x".repeat(MAX_ITEM - bytes - 6) });
    table.put(pk, sk, &item);
}

/// The text of a refusal, wherever the endpoint has it.
fn said(answer: &Answer) -> String {
    let header = answer.headers.get("x-error-details");
    let header = header.and_then(|text| text.to_str().ok()).unwrap_or_default();
    format!("{} {} {header}", answer.status.as_u16(), answer.body)
}

/// Partition and sort key of a full item (`-` for the only one), and a request that makes it grow.
const GROWING: &str = r#"
acme#lead 000000000001001 PUT /leads/1001? {"city":"LONG"}
acme#lead 000000000001001 PUT /leads? {"id":1001,"campo":"LONG"}
acme#lead 000000000001001 POST /lead/archive? {"id":[1001,1002],"archived":true}
acme#leads#0 000000000001001 PUT /leads/1001? {"firstname":"LONG"}
acme#board-rank#3#31#0 - POST /crmopportunity?id=3& {"title":"LONG","crm_column":31,"lead_id":1001}
acme#opportunity 000000000000001 PUT /crmopportunity/1?id=3& {"title":"LONG"}
acme#board#3#31#0#-#- - PUT /crmopportunity/1?id=3& {"title":"LONG"}
acme#ticket 000000000000501 POST /sac360/relaction? {"lead":1002,"attendance":501}
acme#agenda#5 - POST /calendarmeeting? {"keyName":"demo","date":"2026-11-23T09:40:00.000Z","leadId":null,"formData":{"firstname":"Bia"}}
acme#user-agenda#7 - POST /calendarmeeting? {"keyName":"demo","date":"2026-11-23T09:40:00.000Z","leadId":null,"formData":{"firstname":"Bia"}}
"#;

/// Every route that makes an item grow: a 400 that names the limit, and nothing is written.
#[tokio::test]
async fn writes_beyond_the_limit_are_refused() {
    for case in GROWING.trim().lines() {
        let case = case.replace("LONG", &"x".repeat(250));
        let parts: Vec<_> = case.splitn(5, ' ').collect();
        let [pk, sk, method, path, body] = parts[..] else {
            panic!("{case}");
        };
        let world = stocked().await;
        let table = world.raw();
        let only = || {
            let items = table.items();
            let item = items.iter().find(|item| item["pk"]["S"] == pk).expect(pk);
            item["sk"]["S"].as_str().expect("a key").to_owned()
        };
        fill(&table, pk, &if sk == "-" { only() } else { sk.to_owned() });
        let wallet = world.wallet(7).await;
        let before = table.items().len();
        let call = world.call(method, &format!("{path}i=acme&apitoken={}", wallet.key));
        let answer = call.with(&wallet).bytes(body.to_owned()).send().await;
        let text = said(&answer);
        let limit = "body: the record, or an item that counts or lists it, would be larger than 400 KB";
        assert!(text.starts_with("400 ") && text.contains(limit), "{case}: {text}");
        // Of several leads, another one may be archived.
        let others = usize::from(path.contains("archive"));
        assert!(table.items().len() <= before + others, "{case}");
    }
}

/// A call is stored without its lead, and a deletion is possible.
#[tokio::test]
async fn full_items_do_not_stop_calls_and_deletions() {
    let world = stocked().await;
    let table = world.raw();
    fill(&table, "acme#lead", LEAD);
    let body = json!({ "event": "call", "data": { "user": 8, "leadPhone": "", "lead": 1001, "type": "INCOMING",
        "status": "COMPLETE", "duration": 1, "record": false, "service": "x" } });
    assert_eq!(world.webhook(&body).send().await.status, 201);
    let wallet = world.wallet(7).await;
    let uri = format!("/leads/1001?i=acme&apitoken={}", wallet.key);
    assert_eq!(world.call("DELETE", &uri).send().await.status, 200);
}

/// Endpoint 19 names the limit in the form of its other 400s.
#[tokio::test]
async fn calls_beyond_the_limit_are_refused() {
    let world = World::new().await;
    fill(&world.raw(), "acme#counter", "call");
    let body = json!({ "event": "call", "data": { "user": 8, "leadPhone": "", "type": "INCOMING",
        "status": "COMPLETE", "duration": 1, "record": false, "service": "x" } });
    let message = "the record, or an item that counts or lists it, would be larger than 400 KB";
    let err = json!({ "instancePath": "", "keyword": "size", "message": message });
    let expected = json!({ "msg": "invalid_body", "err": err });
    world.webhook(&body).send().await.is(400, &expected);
}

/// Custom fields grow request by request up to the limit of a record, far below that of an item.
#[tokio::test]
async fn a_lead_grows_up_to_its_own_limit() {
    let world = World::new().await;
    let wallet = world.wallet(7).await;
    let field = |at: usize| json!({ format!("campo{at}"): "x".repeat(9_000) });
    let mut grown = 0;
    let refused = loop {
        let answer = put(&world, &wallet, 1001, &field(grown)).await;
        if answer.status != 200 {
            break answer;
        }
        grown += 1;
        assert!(grown < 12, "a lead of {grown} fields");
    };
    let details = "body: the record must not be larger than 100 KB";
    refused.is(400, &json!({ "error": "Invalid request", "details": details }));
    assert_eq!(grown, 10);
    assert_eq!(
        put(&world, &wallet, 1001, &json!({ "city": "Ibiporã" }))
            .await
            .status,
        200
    );
    world.is_sound().await;
}

/// The record of a key has the size of two digests, for any key and body.
#[tokio::test]
async fn idempotency_records_are_small() {
    let world = World::new().await;
    let wallet = world.wallet(7).await;
    let field = |at: usize| (format!("campo{at}"), json!("x".repeat(9_000)));
    let body: serde_json::Map<_, _> = (0..10)
        .map(field)
        .chain([("firstname".to_owned(), json!("Nara"))])
        .collect();
    let call = world.call("POST", "/leads?i=acme").with(&wallet);
    let answer = call
        .header("idempotency-key", &"k".repeat(255))
        .json(&json!(body))
        .send()
        .await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    let items = world.raw().items();
    let record = items
        .iter()
        .find(|item| item["pk"].to_string().contains("#idempotency#"))
        .expect("a record");
    assert!(record.to_string().len() < 400, "{record}");
}

/// A copy that does not fit stops no other: its lead is set aside, shown from its record, and named by the doctor.
#[tokio::test]
async fn copies_that_do_not_fit_are_set_aside() {
    let world = stocked().await;
    let table = world.raw();
    let operator = world.operator(ACME);
    let mut other = plain_opportunity(2, 8, 0);
    other.lead_id = Some(lead(1002));
    add_opportunities(&operator, vec![other]).await;
    fill(&table, "acme#opportunity", FIRST);
    let wallet = world.wallet(7).await;
    for id in [1001, 1002] {
        let answer = put(&world, &wallet, id, &json!({ "city": "x".repeat(900) })).await;
        assert_eq!(answer.status, 200);
    }
    let copied = |id: &str| {
        let item = table.get("acme#opportunity", id).expect("an opportunity");
        item["card"].to_string().contains("xxxx")
    };
    let refresh = async || {
        let refreshed = world.store.refresh_copies().await;
        refreshed.expect("the round does not fail");
    };
    refresh().await;
    assert_eq!((copied(FIRST), copied("000000000000002")), (false, true));
    refresh().await;
    let notice = table
        .get("acme#notice", &format!("lead#{LEAD}"))
        .expect("a notice");
    assert_eq!(notice["unreadable"], json!({ "S": "oversize" }));
    let uri = "/crmopportunity/1?id=3&i=acme";
    let shown = world.get(uri).with(&wallet).send().await;
    assert!(shown.body.to_string().contains("xxxx"), "{}", shown.body);
    let seen = operator.doctor(false, &|_| {}).await.expect("a diagnosis");
    let reasons: Vec<_> = seen.differences.iter().map(|found| &found.reason).collect();
    assert!(
        reasons.contains(&&"is stuck, because an item would be larger than 400 KB".to_owned()),
        "{reasons:?}"
    );
}
