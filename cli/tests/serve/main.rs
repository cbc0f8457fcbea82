//! `funil serve` as its users start it (C-85).

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot be set up must fail, and says what it saw"
)]

// Tests run in the order of their names. This module waits for 20 s, so it begins first.
mod abuse;
mod answers;
mod automations;
mod booking_page;
mod crash;
mod docs;
mod erasure;
mod framing;
mod log;
mod moving_in;
mod pages;
mod ports;
mod running;
mod secrets;

use running::{Running, funil, serving};

/// With an empty store the demo is loaded, and the three printed command lines work as printed, if curl is installed.
#[test]
fn the_printed_lines_work() {
    let home = tempfile::tempdir().unwrap();
    let running = Running::start(home.path(), &[]);
    let lines: Vec<_> = running
        .said
        .lines()
        .filter(|line| line.starts_with("curl "))
        .collect();
    assert_eq!(lines.len(), 3, "{}", running.said);
    let page = format!("{}/book/demo/demo", running.url);
    assert_eq!(running.after("in a browser: "), page);
    assert_eq!(running.get("/book/demo/demo", &[]).0, 200);
    if std::process::Command::new("curl")
        .arg("--version")
        .output()
        .is_err()
    {
        eprintln!("skipped: there is no curl here to try the printed lines with");
        return;
    }
    let answers: Vec<_> = lines.iter().map(|line| running::shell(line)).collect();
    let expected = [
        "{\"data\":{\"total\":199,\"leads\":[{\"id\":1001,\"fullname\":\"Maria Silva\",\"email\":\"lead1001@example.com\"},\
         {\"id\":1002,\"fullname\":\"João Pereira\",\"email\":\"lead1002@example.com\"},{\"id\":1003,\
         \"fullname\":\"Antônia Gonçalves\",\"email\":\"lead1003@example.com\"}]}}\n",
        "{\"data\":{\"lead\":{\"fullname\":\"Maria Silva\",\"email\":\"lead1001@example.com\",\
         \"owner\":{\"name\":\"Bruno Lima\"}}}}\n",
        "{\"msg\":\"created\",\"id\":201}\n",
    ];
    assert_eq!(answers, expected);
}

/// A shell has SIGINT ignored for its background jobs, so a service without a handler would go on.
#[cfg(unix)]
#[test]
fn a_signal_stops_a_service_as_soon_as_it_is_ready() {
    let home = tempfile::tempdir().unwrap();
    let serving = running::serving(home.path(), &["--empty"]);
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", "trap '' INT; exec \"$0\" \"$@\""]);
    shell.arg(serving.get_program()).args(serving.get_args());
    Running::run(shell, home.path()).stop();
}

/// Every column of the demo has opportunities, and every report has values in the last 30 days.
#[test]
fn the_demo_fills_every_board_and_report() {
    let home = tempfile::tempdir().unwrap();
    let running = Running::start(home.path(), &[]);
    let key = running.word("API key");
    let read = |method, path: &str, body: &str| -> serde_json::Value {
        let path = format!("{path}?i=demo&apitoken={key}");
        let (status, answer) = running::ask(&running.url, method, &path, &[], body).unwrap();
        assert_eq!(status, 200, "{path}: {answer}");
        serde_json::from_str(&answer).unwrap()
    };
    for funnel in read("GET", "/crm", "").as_array().unwrap() {
        let path = format!("/crm/opportunities/{}", funnel["id"]);
        for column in read("POST", &path, r#"{"page":1,"limit":25}"#)
            .as_array()
            .unwrap()
        {
            assert!(column["total"].as_u64() > Some(20), "{}", column["name"]);
        }
    }
    let reports = read("GET", "/advancedreports", "");
    let reports = reports["data"]["reports"].as_array().unwrap();
    assert_eq!(reports.len(), 8);
    for report in reports {
        let path = format!("/reportchart/{}", report["id"]);
        let shown = read("GET", &path, "");
        assert!(shown["data"]["report"]["total"].as_f64() > Some(0.0), "{shown}");
    }
}

/// The demo's credentials are printed once and remain valid after a restart. The operator can issue others.
#[test]
fn a_restart_keeps_everything_and_shows_no_secret() {
    let home = tempfile::tempdir().unwrap();
    let first = Running::start(home.path(), &[]);
    let (key, token) = (first.word("API key"), first.word("access token"));
    drop(first);
    let second = Running::start(home.path(), &[]);
    assert!(!second.said.contains(&key) && !second.said.contains(&token));
    assert!(
        second.said.contains("key issue --instance demo --user 7"),
        "{}",
        second.said
    );
    let answer = second.get(
        "/leads?i=demo&limit=1",
        &[("apitoken", &key), ("Authorization", &format!("Bearer {token}"))],
    );
    assert_eq!(answer.0, 200, "{}", answer.1);
    let listed = second.funil(&["key", "list", "--instance", "demo"]);
    assert!(listed.status.success() && !String::from_utf8_lossy(&listed.stdout).contains(&key));
    let log = second.stop();
    assert!(
        log.contains("\"route\":\"GET /leads\"") && !log.contains(&key) && !log.contains(&token),
        "{log}"
    );
}

/// `--empty` loads no demo; `--json` prints one document; `--endpoint` opens no directory.
#[test]
fn options() {
    let (home, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let hosts = ["--notify-host", "ERP.local:8080", "--notify-host", "::1"];
    let empty = Running::start(home.path(), &[&["--empty", "--json"], &hosts[..]].concat());
    let said: serde_json::Value = serde_json::from_str(&empty.said).unwrap();
    assert_eq!(
        (&said["demo"], said["url"].as_str()),
        (&serde_json::Value::Null, Some(empty.url.as_str()))
    );
    assert_eq!(
        said["notifyHosts"],
        serde_json::json!(["erp.local:8080", "[::1]"])
    );
    assert_eq!(empty.get("/leads?i=demo", &[]).0, 401);
    let table = dynamodb::Served::start();
    let first = Running::start(other.path(), &["--endpoint", &table.endpoint()]);
    let second = Running::start(other.path(), &["--endpoint", &table.endpoint(), "--empty"]);
    let (key, token) = (first.word("API key"), first.word("access token"));
    let headers = [
        ("apitoken", key.as_str()),
        ("Authorization", &format!("Bearer {token}")),
    ];
    assert_eq!(
        second.get("/leads?i=demo", &headers).0,
        200,
        "both serve from one table"
    );
    assert!(!other.path().join("data").exists());
}

/// The engine's files are readable by their owner only.
#[cfg(unix)]
#[test]
fn the_data_is_private() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = tempfile::tempdir().unwrap();
    let _running = Running::start(home.path(), &[]);
    let mut files = 0;
    for entry in std::fs::read_dir(home.path().join("data")).unwrap() {
        let mode = entry.unwrap().metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{mode:o}");
        files += 1;
    }
    assert!(files > 0);
}

/// Errors contain advice.
#[test]
fn errors_contain_advice() {
    let home = tempfile::tempdir().unwrap();
    let running = Running::start(home.path(), &["--empty"]);
    let port = running.url.rsplit(':').next().unwrap();
    let taken = funil(&[
        "serve",
        "--port",
        port,
        "--data",
        home.path().join("x").to_str().unwrap(),
    ]);
    let said = String::from_utf8_lossy(&taken.stderr).into_owned();
    assert_eq!(taken.status.code(), Some(1));
    assert!(
        said.contains("cannot listen on") && said.contains("--port PORT"),
        "{said}"
    );
    let file = home.path().join("file");
    std::fs::write(&file, "").unwrap();
    let no_directory = funil(&["serve", "--port", "0", "--data", file.to_str().unwrap()]);
    let said = String::from_utf8_lossy(&no_directory.stderr).into_owned();
    assert_eq!(no_directory.status.code(), Some(1));
    assert!(said.contains("--data DIR"), "{said}");
    assert_eq!(funil(&["serve", "--port", "many"]).status.code(), Some(2));
    assert_eq!(
        funil(&["serve", "--notify-host", "*.local"]).status.code(),
        Some(2)
    );
}

/// C-109: rules of a directory that lack a zone in use would be another zone's in silence.
#[test]
fn a_directory_needs_the_zones_in_use() {
    let home = tempfile::tempdir().unwrap();
    let zones = home.path().join("zones");
    std::fs::create_dir_all(zones.join("Etc")).unwrap();
    // One type of time, `UTC`, and no transitions.
    let mut compiled = b"TZif".to_vec();
    compiled.resize(39, 0);
    compiled.extend([1, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0]);
    compiled.extend(b"UTC\0");
    std::fs::write(zones.join("Etc/UTC"), compiled).unwrap();
    let data = home.path().join("data");
    for command in [
        "instance create acme",
        "instance set acme timezone America/Vancouver",
    ] {
        let arguments: Vec<_> = command
            .split(' ')
            .chain(["--data", data.to_str().unwrap()])
            .collect();
        let done = funil(&arguments);
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }
    let refused = serving(home.path(), &["--empty"])
        .env("FUNIL_TZDATA", &zones)
        .output()
        .unwrap();
    let said = String::from_utf8(refused.stderr).unwrap();
    let lacks = "FUNIL_TZDATA lacks the time zone America/Vancouver, which the instance acme uses";
    assert!(!refused.status.success() && said.contains(lacks), "{said}");
}
