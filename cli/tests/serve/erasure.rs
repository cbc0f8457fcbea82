//! kill -9 during the erasure of a deleted lead. The next process completes the erasure, and until then no response
//! shows the lead (C-24).

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use database::Database;
use operator::Operator;
use operator::kinds::Calls;
use serde_json::{Value, json};
use shared::environment::Environment;
use shared::instance::InstanceName;
use shared::store::Store;

use crate::running::{Running, ask};

const PERSON: u64 = 9001;
/// Number of records of each kind of the person.
const EACH: u64 = 120;
/// Texts that only the person's records contain.
const SECRETS: [&str; 4] = ["Zulmira", "segredo.example", "77776666", "dipirona"];
/// Timeout of the service's background work.
const TIMEOUT: Duration = Duration::from_mins(1);

#[tokio::test]
async fn the_erasure_is_completed_after_a_kill() {
    let home = tempfile::tempdir().unwrap();
    let mut running = Running::with_demo(home.path());
    let (key, bearer) = (
        running.word("API key"),
        format!("Bearer {}", running.word("access token")),
    );
    let headers = [("apitoken", key.as_str()), ("authorization", bearer.as_str())];
    import(&running, home.path());
    let uri = format!("/leads/{PERSON}?i=demo&apitoken={key}");
    let (status, body) = ask(&running.url, "DELETE", &uri, &[], "").unwrap();
    assert_eq!(
        (status, body.as_str()),
        (200, "{\"msg\":\"deleted\",\"data\":{\"id\":9001}}")
    );
    let mut cut_off = 0;
    loop {
        let left = linked_calls(&running).await;
        let (status, _) = running.get(&format!("/leads/{PERSON}?i=demo"), &headers);
        assert_eq!(status, 404);
        if left == 0 {
            break;
        }
        shows_nothing(&running);
        // The service is killed twice during the erasure, and may then complete it.
        if cut_off < 2 && until(|| async { linked_calls(&running).await < left }).await {
            running.kill();
            running = Running::start(home.path(), &[]);
            cut_off += 1;
        } else {
            assert!(
                until(|| async { linked_calls(&running).await == 0 }).await,
                "it is not finished"
            );
        }
    }
    assert!(cut_off > 0, "nothing was cut off");
    shows_nothing(&running);
    let output = running.funil(&["doctor", "--instance", "demo", "--json"]);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stdout)
    );
}

/// Imports the person and its records.
fn import(running: &Running, home: &Path) {
    let mut lines = vec![
        json!({ "kind": "lead", "id": PERSON, "firstname": "Zulmira", "email": "eu@segredo.example",
        "phone": "5541977776666", "createDate": "2026-01-01T00:00:00.000Z" }),
    ];
    for at in 1..=EACH {
        let id = 9000 + at;
        lines.push(
            json!({ "kind": "opportunity", "id": id, "title": "Pedido", "crm_id": 3, "crm_column": 31,
            "lead_id": PERSON, "user": 8, "createDate": "2026-01-01T00:00:00.000Z" }),
        );
        lines.push(json!({ "kind": "meeting", "id": id, "calendarId": 1, "date": "2026-03-01T12:00:00.000Z",
            "endDate": "2026-03-01T12:30:00.000Z", "leadId": PERSON, "userId": 7, "formData": { "a": "dipirona" } }));
        lines.push(json!({ "kind": "call", "id": id, "user": 8, "leadPhone": "5541977776666", "leadName": "Zulmira",
            "type": "INCOMING", "status": "COMPLETE", "duration": 1, "record": false, "service": "x", "lead": PERSON,
            "createDate": "2026-01-01T00:00:00.000Z" }));
    }
    let mut text = lines.iter().map(Value::to_string).collect::<Vec<_>>().join("\n");
    text.push('\n');
    let file = home.join("person.ndjson");
    std::fs::write(&file, text).unwrap();
    let output = running.funil(&["import", "--instance", "demo", file.to_str().unwrap()]);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Number of calls that refer to the person.
async fn linked_calls(running: &Running) -> usize {
    let database = Database::open_directory(running.data().as_ref(), 0).unwrap();
    let store = Store::on(Arc::new(database), Environment::system());
    let operator: Operator = Operator::new(&store, InstanceName::parse("demo").unwrap());
    let mut calls = operator.records::<Calls>();
    let mut linked = 0;
    while let Some(page) = calls.next().await.unwrap() {
        let leads = page.iter().filter_map(|call| call.lead);
        linked += leads.filter(|lead| lead.get() == PERSON).count();
    }
    linked
}

/// Polls a condition until the timeout.
async fn until<F: Future<Output = bool>>(is_so: impl Fn() -> F) -> bool {
    let asking = async {
        while !is_so().await {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(TIMEOUT, asking).await.is_ok()
}

fn shows_nothing(running: &Running) {
    let output = running.funil(&["export", "--instance", "demo"]);
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    for secret in SECRETS {
        assert!(!text.contains(secret), "{secret} is in the export");
    }
    assert!(
        !text.contains(&format!("\"lead\":{PERSON}")),
        "the export names the lead"
    );
}
