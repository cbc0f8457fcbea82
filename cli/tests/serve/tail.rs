//! `funil tail` (C-106).

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::running::{Running, ask};

/// Starts the command and waits until it follows records.
fn tail(running: &Running, arguments: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_funil"));
    command.args([
        "--endpoint",
        running.endpoint(),
        "tail",
        "--instance",
        "demo",
        "--every",
        "1",
    ]);
    command.args(arguments).env_remove("TABLE_NAME");
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut note = String::new();
    BufReader::new(child.stderr.take().unwrap())
        .read_line(&mut note)
        .unwrap();
    assert_eq!(note, "waiting for new records; Ctrl-C ends it\n");
    child
}

/// Returns the next lines of the output, then interrupts the command and requires success.
fn lines(mut child: Child, count: usize) -> Vec<String> {
    let output = BufReader::new(child.stdout.take().unwrap());
    let lines: Vec<_> = output.lines().take(count).map(Result::unwrap).collect();
    let interrupted = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(interrupted.unwrap().success());
    assert!(child.wait().unwrap().success());
    lines
}

/// Creates a lead, changes another, and reports a call.
fn work(running: &Running) {
    let (key, token) = (running.word("API key"), running.word("access token"));
    let bearer = format!("Bearer {token}");
    let headers = [("apitoken", key.as_str()), ("authorization", &bearer)];
    let call = r#"{"event":"call","data":{"user":8,"leadPhone":"+55 11 97326-3471","type":"INCOMING","status":"COMPLETE","duration":65,"record":false,"service":"demo"}}"#;
    for (method, path, headers, body, expected) in [
        (
            "POST",
            "/leads?i=demo",
            &headers[..],
            r#"{"firstname":"Ada"}"#,
            200,
        ),
        ("PUT", "/leads/1001?i=demo", &headers, r#"{"city":"Natal"}"#, 200),
        ("POST", "/voip/webhook?i=demo", &[], call, 201),
    ] {
        let (status, answer) = ask(&running.url, method, path, headers, body).unwrap();
        assert_eq!(status, expected, "{path}: {answer}");
    }
}

/// Created records are shown, and changed ones are not.
#[test]
fn new_records_are_lines() {
    let home = tempfile::tempdir().unwrap();
    let running = Running::with_demo(home.path());
    let (people, machines) = (tail(&running, &[]), tail(&running, &["--json"]));
    work(&running);
    let shown = lines(people, 2);
    for (begins, contains) in [
        ("lead ", "  firstname=Ada"),
        ("call 201", "  type=INCOMING  status=COMPLETE  duration=65  lead="),
    ] {
        let is_it = |line: &&String| {
            let (_, rest) = line.split_once("  ").unwrap();
            rest.starts_with(begins) && rest.contains(contains)
        };
        assert_eq!(shown.iter().filter(is_it).count(), 1, "{shown:?}");
    }
    let documents = lines(machines, 2);
    let documents: Vec<Value> = documents
        .iter()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let of = |kind: &str| {
        documents
            .iter()
            .find(|document| document["kind"] == kind)
            .unwrap()
    };
    assert_eq!(of("lead")["firstname"], json!("Ada"));
    assert_eq!(of("call")["id"], json!(201));
}

#[test]
fn the_instance_must_exist() {
    let home = tempfile::tempdir().unwrap();
    let running = Running::start(home.path(), &["--empty"]);
    let ended = crate::funil(&["--endpoint", running.endpoint(), "tail", "--instance", "demo"]);
    assert_eq!(ended.status.code(), Some(1));
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(said.starts_with("error: there is no instance demo;"), "{said}");
}
