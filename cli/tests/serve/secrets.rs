//! The log of `funil serve` contains no secrets and no personal data at any level (C-21).

use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::running::{Running, ask, serving};

const WEBHOOK: &str = "webhook-sigilo-4711";
const PASSWORD: &str = "s3nh4-inicial-4711";
const PRIVATE: [&str; 3] = ["Sigilosa", "sigilo@example.com", "97777"];

/// A text as it is, and as a list of bytes, which is the form in which libraries print buffers.
fn forms(text: &str) -> [String; 2] {
    let bytes: Vec<_> = text.bytes().map(|byte| byte.to_string()).collect();
    [text.to_owned(), bytes.join(", ")]
}

/// Runs an operator's command on a service, with this standard input.
fn feed(running: &Running, arguments: &[&str], input: &str) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_funil"))
        .args(["--data", running.data()])
        .args(arguments)
        .env_remove("TABLE_NAME")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success(), "{arguments:?}");
}

#[test]
fn the_most_detailed_log_has_no_secret() {
    let home = tempfile::tempdir().unwrap();
    let mut command = serving(home.path(), &[]);
    command.env("FUNIL_LOG", "trace");
    let running = Running::run(command, home.path());
    let (key, token) = (running.word("API key"), running.word("access token"));
    feed(
        &running,
        &["instance", "set", "demo", "voip_webhook_secret", "-"],
        WEBHOOK,
    );
    let lead = json!({ "kind": "lead", "id": 4711, "firstname": "Sigilosa", "email": "sigilo@example.com",
        "phone": "+55 41 97777-1234", "initial_password": PASSWORD });
    feed(
        &running,
        &["import", "--instance", "demo", "-"],
        &lead.to_string(),
    );
    let bearer = format!("Bearer {token}");
    let credentials = [("apitoken", key.as_str()), ("authorization", bearer.as_str())];
    let (status, read) = running.get("/leads/4711?i=demo&allFields=1", &credentials);
    assert!(status == 200 && read.contains(PASSWORD), "{read}");
    let (_, found) = running.get("/leads?i=demo&search=sigilo@example.com", &credentials);
    assert!(found.contains("4711"), "{found}");
    let call = json!({ "event": "call", "data": { "user": 8, "leadPhone": "+55 41 97777-1234", "type": "INCOMING",
        "status": "COMPLETE", "duration": 65, "record": false, "service": "acme" } });
    let called = ask(
        &running.url,
        "POST",
        "/voip/webhook?i=demo",
        &[("x-voip-signature", WEBHOOK)],
        &call.to_string(),
    );
    assert_eq!(called.expect("an answer").0, 201);
    let log = running.stop();
    assert!(log.contains("\"route\":\"POST /voip/webhook\""), "{log}");
    let secrets = [key.as_str(), &token, WEBHOOK, PASSWORD];
    for secret in secrets.iter().chain(&PRIVATE) {
        for form in forms(secret) {
            assert!(!log.contains(&form), "{secret} is in the log as {form}");
        }
    }
}
