//! Erasure of a deleted lead (C-24): after the acknowledgement nothing shows it, and soon after nothing of it
//! is in the table.

mod crashes;
mod meanwhile;
mod nulls;
mod numbers;
mod races;
mod shown;

use indicatif::ProgressBar;
use operator::CallLine;
use operator::export::export;
use operator::kinds::Calls;
use serde_json::{Value, json};
use shared::call::Call;
use shared::instance::InstanceName;
use shared::lead::Lead;
use tests::bookings::{FREE, add_meetings, book, made, meeting, open_calendars};
use tests::people::{add_leads, lead, plain_lead};
use tests::sales::{add_opportunities, open_shop, plain_opportunity};
use tests::tickets::{add_tickets, ticket};
use tests::world::Answer;
use tests::{ACME, Wallet, World};

use crate::delete_leads_id::delete;

pub const PERSON: u64 = 2001;
/// Texts that must disappear: each occurs only in the person's records.
pub const SECRETS: [&str; 9] = [
    "zulmira",
    "quaresma",
    "segredo.example",
    "77776666",
    "apelido-raro",
    "abracadabra",
    "dipirona",
    "foto-rara",
    "maria do zap",
];
pub const PHONE: &str = "+55 41 97777-6666";

pub fn person() -> Lead {
    let text = |text: &str| Some(text.to_owned());
    let mut custom = serde_json::Map::new();
    custom.insert("apelido".to_owned(), json!("apelido-raro"));
    Lead {
        email: text("eu@segredo.example"),
        phone: text(PHONE),
        mobile: text("41977776666"),
        photo_url: text("https://photos.example/foto-rara.jpg"),
        initial_password: text("abracadabra"),
        custom,
        ..plain_lead(PERSON, "Zulmira", "Quaresma", Some(8))
    }
}

/// `acme` with a person who has an opportunity, a meeting, a ticket, a call with its event, and a call whose
/// event is not imported yet.
pub async fn stage() -> World {
    let world = World::new().await;
    furnish(&world).await;
    world
}

/// The same in a world with `acme`.
pub async fn furnish(world: &World) {
    let operator = world.operator(ACME);
    open_shop(&operator).await;
    open_calendars(&operator).await;
    add_leads(&operator, vec![person()]).await;
    let mut opportunity = plain_opportunity(1, 8, 0);
    opportunity.lead_id = Some(lead(PERSON));
    add_opportunities(&operator, vec![opportunity]).await;
    let form = json!({ "leadId": PERSON, "formData": { "alergia": "dipirona" }, "opportunityId": 1 });
    add_meetings(&operator, [meeting(&form)]).await;
    let contact = json!({
        "lead_relation": PERSON, "name": "Zulmira", "lead_name": "Quaresma", "name_contact": "Maria do Zap",
        "recipientid": "5541977776666@c", "photo": "foto-rara", "photo_larger": "foto-rara", "photo_store": "foto-rara",
    });
    add_tickets(&operator, [ticket(&contact)]).await;
    assert_eq!(call(world, &json!({})).await.status, 201);
    let stored = world.calls().await.remove(0);
    let coming = CallLine {
        with_event: true,
        ..Call {
            id: shared::ids::CallId::new(2).expect("an id"),
            ..stored
        }
        .into()
    };
    operator
        .import::<Calls>(&[coming], false)
        .await
        .expect("an import");
}

/// Records a call of the person, with changes.
pub async fn call(world: &World, changes: &Value) -> Answer {
    let mut data = json!({ "user": 8, "leadPhone": PHONE, "leadName": "Zulmira", "type": "INCOMING",
        "status": "COMPLETE", "duration": 1, "record": false, "service": "x" });
    for (name, value) in changes.as_object().expect("an object") {
        data[name] = value.clone();
    }
    world
        .webhook(&json!({ "event": "call", "data": data }))
        .send()
        .await
}

pub async fn delete_person(world: &World, wallet: &Wallet) {
    let answer = delete(world, wallet, &PERSON.to_string()).await;
    answer.is(200, &json!({ "msg": "deleted", "data": { "id": PERSON } }));
}

/// Runs maintenance.
pub async fn tend(world: &World) {
    maintenance::tend(&world.store).await.expect("it is tended");
}

/// Runs maintenance until nothing is left to do.
pub async fn erase(world: &World) {
    for _ in 0..2 {
        tend(world).await;
        world.clock.set(world.clock.get().plus_seconds(60));
    }
    tend(world).await;
}

/// The export of `acme`.
pub async fn exported(world: &World) -> String {
    let mut text = Vec::new();
    let done = export(&world.operator(ACME), &mut text, &ProgressBar::hidden()).await;
    done.expect("an export");
    String::from_utf8(text).expect("text")
}

/// The secrets that a text contains.
pub fn betrayed(text: &str) -> Vec<&'static str> {
    let text = text.to_lowercase();
    SECRETS
        .into_iter()
        .filter(|secret| text.contains(secret))
        .collect()
}

/// The items of `acme` as text.
async fn items(world: &World) -> Vec<String> {
    let acme = InstanceName::parse(ACME).expect("a name");
    world.store.dump(&acme).await.expect("the table can be read")
}

/// Requires that the table contains nothing of the person, nor the fact of the deletion, and that the rest is
/// consistent.
pub async fn is_erased(world: &World) {
    // The used id stays used.
    let items = items(world)
        .await
        .into_iter()
        .filter(|item| !item.contains("acme#counter"));
    for item in items {
        assert_eq!(betrayed(&item), [""; 0], "{item}");
        let padded = format!("{PERSON:015}");
        let partition = format!("#{PERSON}\"");
        for left in ["acme#notice", "acme#erasure", &padded, &partition] {
            assert!(!item.contains(left), "{item}");
        }
        let plain = item.replace('\\', "");
        for link in ["lead\": N(\"", "lead_id\":", "leadId\":", "lead_relation\":"] {
            assert!(!plain.contains(&format!("{link}{PERSON}")), "{item}");
        }
    }
    world.is_sound().await;
}

/// Records remain, with null links (C-24), and can be imported.
#[tokio::test]
async fn records_remain_with_null_links() {
    let world = stage().await;
    let wallet = world.wallet(7).await;
    delete_person(&world, &wallet).await;
    erase(&world).await;
    is_erased(&world).await;
    let calls = world.calls().await;
    assert_eq!(calls.len(), 2);
    for call in &calls {
        assert_eq!(
            (call.lead, &call.lead_phone, &call.lead_name),
            (None, &None, &None)
        );
    }
    assert!(world.events().await.is_empty());
    let record = crate::erasure::shown::opportunity(&world, 1).await;
    assert_eq!(
        (
            &record["title"],
            &record["lead_id"],
            &record["dataLead"],
            &record["value"]
        ),
        (&json!("Pedido 001"), &Value::Null, &Value::Null, &json!("1.01"))
    );
    let meeting = tests::bookings::meetings(&world, &wallet, 5).await[0].clone();
    assert_eq!(
        (
            &meeting["leadId"],
            &meeting["formData"],
            &meeting["opportunityId"]
        ),
        (&Value::Null, &Value::Null, &json!(1))
    );
    // Its time stays occupied.
    let taken = book(&world, &tests::bookings::booking(FREE[0], &json!({}))).await;
    taken.is(409, &tests::bookings::unavailable(tests::bookings::TAKEN));
    made(&book(&world, &tests::bookings::booking(FREE[1], &json!({}))).await);
}

#[tokio::test]
async fn a_lead_without_records_is_erased() {
    let world = World::new().await;
    let wallet = world.wallet(7).await;
    for id in [1004, 1012] {
        assert_eq!(delete(&world, &wallet, &id.to_string()).await.status, 200);
    }
    erase(&world).await;
    is_erased(&world).await;
}

/// They are kept until every earlier request has ended.
#[tokio::test]
async fn markers_outlive_earlier_requests() {
    let world = stage().await;
    let wallet = world.wallet(7).await;
    delete_person(&world, &wallet).await;
    let marks = async || {
        let items = items(&world).await;
        let marks = items
            .iter()
            .filter(|item| item.contains("acme#notice") || item.contains("acme#erasure"));
        marks.count()
    };
    for seconds in [0, 0, 59] {
        world.clock.set(world.clock.get().plus_seconds(seconds));
        assert_eq!(marks().await, 2, "after {seconds} seconds");
        // Also if an import refreshes copies at once.
        world.operator(ACME).refresh_copies().await.expect("refreshed");
        tend(&world).await;
    }
    world.clock.set(world.clock.get().plus_seconds(1));
    tend(&world).await;
    assert_eq!(marks().await, 0);
}
