//! `funil serve` runs automations by reading the outbox (C-76, C-85).

use std::time::Duration;

use serde_json::{Value, json};

use crate::running::{Running, ask};

/// Maximum number of polls, and the delay between them.
const LOOKS: u32 = 3000;
const PAUSE: Duration = Duration::from_millis(20);

/// C-12: automations run within seconds.
#[tokio::test]
async fn a_call_triggers_automations() {
    let home = tempfile::tempdir().unwrap();
    let running = Running::with_demo(home.path());
    let key = running.word("API key");
    let automation = json!({ "kind": "automation", "id": 9, "name": "Ligou", "trigger": "leadPhoneCall",
        "event": "received", "actions": [{ "type": "setOwner", "user": 11 }] });
    let file = home.path().join("automation.ndjson");
    std::fs::write(&file, automation.to_string()).unwrap();
    let output = running.funil(&["import", "--instance", "demo", file.to_str().unwrap()]);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let call = json!({ "event": "call", "data": { "user": 8, "leadPhone": "", "lead": 1001, "type": "INCOMING",
        "status": "COMPLETE", "duration": 1, "record": false, "service": "x" } });
    let headers = [("content-type", "application/json")];
    let uri = "/voip/webhook?i=demo";
    let (status, body) = ask(&running.url, "POST", uri, &headers, &call.to_string()).unwrap();
    assert_eq!(status, 201, "{body}");
    let bearer = format!("Bearer {}", running.word("access token"));
    let headers = [("apitoken", key.as_str()), ("authorization", bearer.as_str())];
    for _ in 0..LOOKS {
        let (status, body) = running.get("/leads/1001?i=demo&allFields=1", &headers);
        assert_eq!(status, 200);
        let body: Value = serde_json::from_str(&body).unwrap();
        if body.to_string().contains("\"owner\":11") {
            return;
        }
        tokio::time::sleep(PAUSE).await;
    }
    panic!("nothing follows");
}
