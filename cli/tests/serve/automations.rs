//! `funil serve` runs automations by reading the outbox (C-76, C-85).

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::running::{Running, ask};

/// Maximum number of polls, and the delay between them.
const LOOKS: u32 = 3000;
const PAUSE: Duration = Duration::from_millis(20);

/// Imports automations, and returns the remarks.
fn import(running: &Running, home: &Path, lines: &[Value]) -> String {
    let text: String = lines.iter().map(|line| line.to_string() + "\n").collect();
    let file = home.join("automations.ndjson");
    std::fs::write(&file, text).unwrap();
    let output = running.funil(&["import", "--instance", "demo", file.to_str().unwrap()]);
    let remarks = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{remarks}");
    remarks
}

/// An automation of calls with one action.
fn automation(id: u64, action: &Value) -> Value {
    json!({ "kind": "automation", "id": id, "name": "Ligou", "trigger": "leadPhoneCall", "event": "received",
        "actions": [action] })
}

/// Records a call of lead 1001.
fn call(running: &Running) {
    let call = json!({ "event": "call", "data": { "user": 8, "leadPhone": "", "lead": 1001, "type": "INCOMING",
        "status": "COMPLETE", "duration": 1, "record": false, "service": "x" } });
    let (headers, uri) = ([("content-type", "application/json")], "/voip/webhook?i=demo");
    let (status, body) = ask(&running.url, "POST", uri, &headers, &call.to_string()).unwrap();
    assert_eq!(status, 201, "{body}");
}

/// C-12: automations run within seconds.
#[tokio::test]
async fn a_call_triggers_automations() {
    let home = tempfile::tempdir().unwrap();
    let running = Running::with_demo(home.path());
    let key = running.word("API key");
    let set_owner = automation(9, &json!({ "type": "setOwner", "user": 11 }));
    import(&running, home.path(), &[set_owner]);
    call(&running);
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

/// C-102: a service sends to a plain receiver on this machine that it admits, and to no other.
#[test]
fn admitted_receivers_may_be_plain_and_private() {
    let home = tempfile::tempdir().unwrap();
    let [admitted, other] = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    let hosts = [&admitted, &other].map(|listener| listener.local_addr().unwrap().to_string());
    let host = &hosts[0];
    Running::with_demo(home.path()).stop();
    let running = Running::start(home.path(), &["--notify-host", host]);
    let line = format!("Notifications of every instance may be http or private at {host} (--notify-host)");
    assert!(running.said.contains(&line), "{}", running.said);
    let notify =
        |host: &String| json!({ "type": "notify", "url": format!("http://{host}/hook"), "secret": "s" });
    let automations = [(9, &hosts[0]), (10, &hosts[1])].map(|(id, host)| automation(id, &notify(host)));
    let remarks = import(&running, home.path(), &automations);
    let warning =
        format!("warning: line 1: actions[0].url: delivered by `funil serve --notify-host {host}` alone");
    assert!(remarks.contains(&warning), "{remarks}");
    call(&running);
    let (mut stream, _) = admitted.accept().unwrap();
    let mut head = [0; 20];
    stream.read_exact(&mut head).unwrap();
    assert_eq!(&head, b"POST /hook HTTP/1.1\r");
    stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").unwrap();
    for _ in 0..LOOKS {
        let found = running.funil(&["automation", "deliveries", "--instance", "demo", "--json"]);
        let found: Value = serde_json::from_slice(&found.stdout).unwrap();
        if found.as_array().unwrap().len() == 1 && found[0]["reason"] != "" {
            let reason = "the address is http, and `funil serve --notify-host` does not name its host";
            assert_eq!(
                (&found[0]["automation"], &found[0]["reason"]),
                (&json!(10), &json!(reason))
            );
            other.set_nonblocking(true).unwrap();
            assert!(other.accept().is_err());
            return;
        }
        std::thread::sleep(PAUSE);
    }
    panic!("the refused notification does not wait");
}
