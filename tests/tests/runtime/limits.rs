//! Large requests and responses are unchanged; too large ones are rejected by the service, not by the
//! runtime.

use std::ops::Range;

use operator::kinds::Leads;
use serde_json::{Value, json};
use shared::environment::Environment;
use tests::people::plain_lead;
use tests::runtime::{Function, Outcome, Recorded, Stage, settled};

/// The response of a function, which must have one.
async fn answer(process: &mut Function, event: &Value) -> Value {
    match process.invoke(event).await {
        Outcome::Answered(answer) => answer,
        failed @ Outcome::Failed(_) => panic!("{failed:?}\n{}", process.log()),
    }
}

/// Leads slightly larger than 200 KB.
async fn add_long_leads(stage: &Stage, ids: Range<u64>) {
    let history = "ã".repeat(100_000);
    let leads = ids.map(|id| {
        let mut lead = plain_lead(id, "Maria", "Longa", Some(7));
        lead.custom.insert("histórico".to_owned(), json!(history));
        lead.into()
    });
    let added = stage
        .demo()
        .import::<Leads>(&leads.collect::<Vec<_>>(), false)
        .await;
    let added = added.expect("the leads are imported");
    assert!(added.iter().all(|outcome| *outcome == operator::Outcome::Written));
}

/// Lambda's limit is 6 MB; the service's is 5, and smaller responses are unchanged.
#[tokio::test]
async fn responses_over_the_limit_are_rejected() {
    const FUNCTION: &str = "LeadsFunction";
    let began = Environment::system().now();
    let (stage, twin) = Stage::twins(FUNCTION).await;
    let mut process = Function::start(FUNCTION, &stage.table()).await;
    let recorded = Recorded::named("leads-list-all-fields");
    for (leads, status) in [(500..522, 200), (522..528, 400)] {
        for stage in [&stage, &twin] {
            add_long_leads(stage, leads.clone()).await;
        }
        let told = settled(answer(&mut process, &stage.event(&recorded)).await, began);
        let routed = settled(twin.answer(&twin.event(&recorded)).await, began);
        // Too long for the message of `assert_eq!`.
        assert!(told == routed, "the answer is another");
        assert_eq!(told["statusCode"], status);
        let length = told["body"].as_str().map_or(0, str::len);
        assert_eq!(length > 4_600_000, status == 200, "{length}");
    }
}

/// C-6, plain and in base64, which adds a third.
#[tokio::test]
async fn bodies_over_the_limit_are_rejected() {
    const FUNCTION: &str = "CallWebhookFunction";
    let began = Environment::system().now();
    let (stage, twin) = Stage::twins(FUNCTION).await;
    let mut process = Function::start(FUNCTION, &stage.table()).await;
    for (name, space, status) in [
        ("call-record", " ".repeat(300_000), 413),
        // 300 KB in base64, decoded 225 KB.
        ("call-record-base64", "ICAg".repeat(75_000), 400),
        ("call-record-base64", "ICAg".repeat(100_000), 413),
        ("call-record", " ".repeat(200_000), 400),
    ] {
        let recorded = Recorded::named(name);
        let sent = |stage: &Stage| {
            let mut event = stage.event(&recorded);
            event["body"] = json!(space);
            event
        };
        let told = settled(answer(&mut process, &sent(&stage)).await, began);
        assert_eq!(told, settled(twin.answer(&sent(&twin)).await, began), "{name}");
        assert_eq!(told["statusCode"], status, "{name}");
    }
}
