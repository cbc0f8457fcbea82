//! Unreadable entries fail once, delay nothing, and can be restored.

use serde_json::{Value, json};
use shared::jobs::webhook_client::WebhookClient;
use tests::raw::RawTable;
use tests::sales::open_shop;
use tests::{ACME, World, people};

use crate::item_sizes::fill;

use super::{MARIA, automation, call, call_for, install, lead_of, nobody, outbox, receive, run};

const OUTBOX: &str = "acme#trigger";
const ASIDE: &str = "acme#aside";
const FIRST: &str = "call#000000000000001";
const NOTICE: &str = "notify#000000000000001#000000000000001#00";

/// Two calls of two leads, and an automation with these actions.
async fn shop(actions: &Value) -> (World, RawTable) {
    let world = World::own().await;
    people::settle(&world.operator(ACME)).await;
    open_shop(&world.operator(ACME)).await;
    install(&world, &[automation(1, true, actions)]).await;
    receive(&world, &call("INCOMING", MARIA)).await;
    receive(&world, &call_for(1006)).await;
    let table = world.raw();
    (world, table)
}

async fn points(world: &World) -> [serde_json::Number; 2] {
    [
        lead_of(world, 1001).await.points,
        lead_of(world, 1006).await.points,
    ]
}

fn seven() -> Value {
    json!([{ "type": "addPoints", "points": 7 }])
}

/// The doctor's findings: text, and whether it was repaired.
async fn told(world: &World, repair: bool) -> Vec<(String, String, bool)> {
    let seen = world.operator(ACME).doctor(repair, &|_| {}).await;
    let differences = seen.expect("the doctor comes to an end").differences.into_iter();
    differences
        .map(|found| (found.item, found.reason, found.repaired))
        .collect()
}

/// The sort key of an outbox entry after it was set aside.
fn aside_sort(sk: &str) -> String {
    format!("trigger#{sk}")
}

#[tokio::test]
async fn unreadable_triggers_are_quarantined() {
    let (world, table) = shop(&seven()).await;
    table.put(
        OUTBOX,
        FIRST,
        &json!({ "v": { "S": "poison" }, "action": { "N": "0" } }),
    );
    run(&world).await;
    assert_eq!(points(&world).await, [0.into(), 7.into()]);
    assert_eq!(table.get(OUTBOX, FIRST), None);
    let aside = table.get(ASIDE, &aside_sort(FIRST)).expect("it is aside");
    assert_eq!(
        aside,
        json!({ "pk": { "S": ASIDE }, "sk": { "S": aside_sort(FIRST) }, "v": { "S": "poison" }, "action": { "N": "0" },
            "unreadable": { "S": "trigger" } })
    );
    // The next run finds nothing.
    run(&world).await;
}

/// C-89: an action whose write would exceed DynamoDB's limit fails once.
#[tokio::test]
async fn actions_that_do_not_fit_are_quarantined() {
    let access = json!([{ "type": "addAccess", "users": [7, 8, 9, 10, 11], "departments": [1, 2, 3] }]);
    let (world, table) = shop(&access).await;
    fill(&table, "acme#lead", "000000000001001");
    run(&world).await;
    let (full, other) = (lead_of(&world, 1001).await, lead_of(&world, 1006).await);
    assert_eq!((full.user_access.len(), other.user_access.len()), (0, 5));
    let aside = table.get(ASIDE, &aside_sort(FIRST)).expect("it is aside");
    assert_eq!(aside["unreadable"], json!({ "S": "oversize" }));
    assert_eq!(table.get(OUTBOX, FIRST), None);
    run(&world).await;
}

#[tokio::test]
async fn unreadable_triggers_do_not_block_the_stream() {
    let (world, table) = shop(&seven()).await;
    table.put(OUTBOX, FIRST, &json!({ "v": { "S": "poison" } }));
    let records = [FIRST, "call#000000000000002"].map(|sk| {
        json!({ "eventName": "INSERT", "dynamodb": { "SequenceNumber": "1",
            "Keys": { "pk": { "S": OUTBOX }, "sk": { "S": sk } } } })
    });
    let batch = serde_json::from_value(json!({ "Records": records })).expect("a batch");
    let failures = automations::run(&world.store, &nobody(), batch).await;
    assert_eq!(json!(failures), json!({ "batchItemFailures": [] }));
    assert_eq!(points(&world).await, [0.into(), 7.into()]);
    assert!(table.get(ASIDE, &aside_sort(FIRST)).is_some());
}

#[tokio::test]
async fn unreadable_notifications_are_quarantined() {
    let notify = json!([{ "type": "notify", "url": "https://erp.example/", "secret": "s" }]);
    let (world, table) = shop(&notify).await;
    run(&world).await;
    assert_eq!(outbox(&world).await, 2);
    table.put(
        OUTBOX,
        NOTICE,
        &json!({ "v": { "N": "1" }, "due": { "S": "poison" } }),
    );
    world.clock.set(world.clock.get().plus_seconds(10));
    let webhook_client = WebhookClient::plain(|_, _| Vec::new(), |_| true);
    maintenance::automate(&world.store, &webhook_client)
        .await
        .expect("it does not fail");
    assert_eq!(table.get(OUTBOX, NOTICE), None);
    let aside = table.get(ASIDE, &aside_sort(NOTICE)).expect("it is aside");
    assert_eq!(aside["unreadable"], json!({ "S": "notification" }));
}

/// If an automation is unreadable, its triggers are quarantined; the doctor reports and restores them.
#[tokio::test]
async fn the_doctor_restores_quarantined_entries() {
    let (world, table) = shop(&seven()).await;
    let (pk, sk) = ("acme#automation", "000000000000001");
    let sound = table.get(pk, sk).expect("the automation");
    let mut poison = sound.clone();
    poison["automation"] = json!({ "S": r#"{"id":1,"name":"x","secret":"s3gr3do"}"# });
    table.put(pk, sk, &poison);
    run(&world).await;
    assert_eq!((outbox(&world).await, table.get(OUTBOX, FIRST)), (0, None));
    assert!(table.get(ASIDE, &aside_sort(FIRST)).is_some());
    assert_eq!(points(&world).await, [0.into(), 0.into()]);
    table.put(pk, sk, &sound);
    let reason = "was set aside, because the automation could not be read";
    let both = |repaired| {
        ["1", "2"].map(|call| {
            let item = format!("{ASIDE} trigger#call#00000000000000{call}");
            (item, reason.to_owned(), repaired)
        })
    };
    assert_eq!(told(&world, false).await, both(false));
    assert_eq!(told(&world, true).await, both(true));
    assert_eq!(told(&world, false).await, []);
    run(&world).await;
    assert_eq!(points(&world).await, [7.into(), 7.into()]);
    assert_eq!(outbox(&world).await, 0);
}

#[tokio::test]
async fn the_doctor_reports_unreadable_automations_without_secrets() {
    let (world, table) = shop(&seven()).await;
    let text = r#"{"id":1,"name":["s3gr3do"]}"#;
    let poison = json!({ "id": { "N": "1" }, "automation": { "S": text } });
    table.put("acme#automation", "000000000000001", &poison);
    let told = told(&world, true).await;
    let unread = "the item automation cannot be read: its text is none of an automation from column 15 on";
    assert_eq!(
        told,
        [
            (
                "acme#directory directory".to_owned(),
                format!("cannot be compared with the users and the automations: {unread}"),
                false
            ),
            (
                "acme#automation 000000000000001".to_owned(),
                unread.to_owned(),
                false
            )
        ]
    );
}
