//! Functions without client routes: the one on the table's stream and the scheduled one (C-76).

use operator::kinds::Automations;
use serde_json::{Value, json};
use tests::raw::RawTable;
use tests::runtime::{Function, Outcome, Recorded, Stage};

const LEAD: &str = "lead-all-fields";

/// A demo with a call from a lead whose automation adds seven points.
async fn called(function: &str) -> Stage {
    let stage = Stage::new(function).await;
    let automation = json!({ "id": 1, "name": "Ligou", "trigger": "leadPhoneCall", "event": "received",
        "actions": [{ "type": "addPoints", "points": 7 }], "active": true });
    let automation = serde_json::from_value(automation).expect("an automation");
    let installed = stage.demo().import::<Automations>(&[automation], false).await;
    installed.expect("the automation can be written");
    let call = stage.answer(&stage.event(&Recorded::named("call-record"))).await;
    assert_eq!(call["statusCode"], 201, "{call}");
    stage
}

async fn points(stage: &Stage) -> i64 {
    let answer = stage.answer(&stage.event(&Recorded::named(LEAD))).await;
    let body = answer["body"].as_str().expect("a body");
    let body: Value = serde_json::from_str(body).expect("JSON");
    body["data"]["lead"]["points"].as_i64().expect("points")
}

fn outbox(table: &RawTable) -> Vec<Value> {
    let mut items = table.items();
    items.retain(|item| item["pk"]["S"] == "demo#trigger");
    items
}

/// The recorded record equals that of a call's outbox entry. An unreadable entry is quarantined and not
/// redelivered.
#[tokio::test]
async fn unreadable_records_of_a_batch_are_quarantined() {
    const FUNCTION: &str = "AutomationsFunction";
    let stage = called(FUNCTION).await;
    let table = stage.raw();
    let (before, items) = (points(&stage).await, outbox(&table));
    let recorded = Recorded::named("automations-trigger");
    let mut batch = stage.event(&recorded);
    let record = batch["Records"][0].clone();
    assert_eq!(items, [record["dynamodb"]["NewImage"].clone()]);
    let keys = json!({ "pk": items[0]["pk"], "sk": items[0]["sk"] });
    assert_eq!(record["dynamodb"]["Keys"], keys);

    let bad = "call#000000000000099";
    table.put("demo#trigger", bad, &json!({ "v": { "S": "one" } }));
    let mut poison = record;
    poison["dynamodb"]["SequenceNumber"] = json!("100000000005391461999");
    poison["dynamodb"]["Keys"]["sk"]["S"] = json!(bad);
    batch["Records"]
        .as_array_mut()
        .expect("records")
        .insert(0, poison);
    let mut process = Function::start(FUNCTION, &stage.table()).await;
    let outcome = process.invoke(&batch).await;
    assert_eq!(outcome, Outcome::Answered(json!({ "batchItemFailures": [] })));
    assert_eq!(points(&stage).await, before + 7);
    assert_eq!(outbox(&table), Vec::<Value>::new());
    let items = table.items();
    let aside: Vec<_> = items
        .iter()
        .filter(|item| item["pk"]["S"] == "demo#aside")
        .collect();
    assert_eq!(
        aside.iter().map(|item| &item["sk"]["S"]).collect::<Vec<_>>(),
        [&json!(format!("trigger#{bad}"))]
    );

    // A repeated batch does nothing.
    let again = process.invoke(&stage.event(&recorded)).await;
    let Outcome::Answered(answer) = again else {
        panic!("{again:?}\n{}", process.log());
    };
    assert!(recorded.answer.is(&answer.to_string()), "{answer}");
    assert_eq!(points(&stage).await, before + 7);
}

#[tokio::test]
async fn maintenance_completes_missed_triggers() {
    const FUNCTION: &str = "MaintenanceFunction";
    let stage = called(FUNCTION).await;
    let table = stage.raw();
    let before = points(&stage).await;
    assert_eq!(outbox(&table).len(), 1);
    let recorded = Recorded::named("maintenance-minute");
    let mut process = Function::start(FUNCTION, &stage.table()).await;
    for _ in 0..2 {
        let outcome = process.invoke(&stage.event(&recorded)).await;
        let Outcome::Answered(answer) = outcome else {
            panic!("{outcome:?}\n{}", process.log());
        };
        assert!(recorded.answer.is(&answer.to_string()), "{answer}");
        assert_eq!(points(&stage).await, before + 7);
        assert_eq!(outbox(&table), Vec::<Value>::new());
    }
}
