//! Access to the data of `funil serve`: the DynamoDB port, its key, and the directory (C-85).

use std::process::{Command, Output};

use crate::running::{Running, funil, raw, serving};

const LISTING: &str = "POST / HTTP/1.1\r\nconnection: close\r\nx-amz-target: DynamoDB_20120810.ListTables\r\n\
                       content-type: application/x-amz-json-1.0\r\ncontent-length: 2\r\n";

/// Status and rest of a response to listing the tables with additional headers.
fn list(endpoint: &str, headers: &str) -> (u16, String) {
    let answer = raw(endpoint, format!("{LISTING}{headers}\r\n{{}}").as_bytes());
    (answer[9..12].parse().unwrap(), answer)
}

/// Requests that a web page can make a browser send are rejected, and no response permits others.
#[test]
fn the_dynamodb_port_rejects_browsers() {
    let home = tempfile::tempdir().unwrap();
    let running = Running::start(home.path(), &["--empty"]);
    let endpoint = running.endpoint();
    let host = endpoint.strip_prefix("http://").unwrap();
    let own = format!("host: {host}\r\n");
    for (headers, status) in [
        (own.clone(), 200),
        ("host: localhost:8000\r\n".to_owned(), 200),
        (format!("{own}origin: https://evil.example\r\n"), 403),
        (format!("{own}origin: null\r\n"), 403),
        (format!("{own}sec-fetch-site: cross-site\r\n"), 403),
        ("host: evil.example\r\n".to_owned(), 403),
        ("host: 127.0.0.1.evil.example:8000\r\n".to_owned(), 403),
    ] {
        let (answered, text) = list(endpoint, &headers);
        assert_eq!(answered, status, "{headers}{text}");
        assert!(!text.contains("access-control-"), "{text}");
    }
    let preflight = raw(
        endpoint,
        format!(
            "OPTIONS / HTTP/1.1\r\nconnection: close\r\n{own}access-control-request-method: POST\r\n\r\n"
        )
        .as_bytes(),
    );
    assert!(preflight.starts_with("HTTP/1.1 403 "), "{preflight}");
    assert!(!preflight.contains("access-control-"), "{preflight}");
}

/// `--bind` applies to the service only. The DynamoDB port has its own option and a warning, and `none` opens no such
/// port.
#[test]
fn the_dynamodb_port_is_bound_separately() {
    let (home, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let bound = Running::start(home.path(), &["--bind", "127.0.0.2"]);
    assert!(bound.url.starts_with("http://127.0.0.2:"), "{}", bound.said);
    assert!(
        bound.endpoint().starts_with("http://127.0.0.1:"),
        "{}",
        bound.said
    );
    assert!(!bound.stop().contains("requires no credentials"));

    let known = Running::start(home.path(), &["--dynamodb-port", "none", "--bind", "0.0.0.0"]);
    assert!(known.url.starts_with("http://0.0.0.0:"), "{}", known.said);
    let panel = known.url.replace("0.0.0.0", "127.0.0.1") + "/panel\n";
    assert!(known.said.contains(&panel), "links are usable: {}", known.said);
    assert!(!known.said.contains("DynamoDB API on"), "{}", known.said);
    assert!(
        known.said.contains("once the DynamoDB port is open"),
        "{}",
        known.said
    );
    assert_eq!(
        known.get("/book/demo/demo", &[]).0,
        200,
        "the engine runs without a port"
    );

    let open = Running::start(other.path(), &["--empty", "--dynamodb-bind", "127.0.0.2"]);
    assert!(open.url.starts_with("http://127.0.0.1:"), "{}", open.said);
    let endpoint = open.endpoint().to_owned();
    assert!(endpoint.starts_with("http://127.0.0.2:"), "{}", open.said);
    assert_eq!(list(&endpoint, "host: 127.0.0.2\r\n").0, 200);
    assert!(open.stop().contains("requires no credentials"));
}

/// The port accepts only requests that the AWS SDK signed with the right key and secret.
#[test]
fn the_dynamodb_port_requires_its_key() {
    let home = tempfile::tempdir().unwrap();
    let arguments = "--empty --dynamodb-bind 127.0.0.2 --dynamodb-key KEY1 --dynamodb-secret -";
    let command = serving(home.path(), &arguments.split(' ').collect::<Vec<_>>());
    let running = Running::run(command, "s3cret/+x\n");
    let endpoint = running.endpoint().to_owned();
    let signed = |id: &str, secret: &str| -> Output {
        Command::new(env!("CARGO_BIN_EXE_funil"))
            .args(["--endpoint", &endpoint, "instance", "list", "--json"])
            .env("AWS_ACCESS_KEY_ID", id)
            .env("AWS_SECRET_ACCESS_KEY", secret)
            .env("AWS_REGION", "sa-east-1")
            .env_remove("TABLE_NAME")
            .output()
            .unwrap()
    };
    let right = signed("KEY1", "s3cret/+x");
    assert!(right.status.success(), "{right:?}");
    for (id, secret, name) in [
        ("KEY2", "s3cret/+x", "does not know these credentials"),
        ("KEY1", "other", "does not accept these credentials"),
    ] {
        let wrong = signed(id, secret);
        let said = String::from_utf8_lossy(&wrong.stdout).into_owned();
        assert!(wrong.status.code() == Some(1) && said.contains(name), "{wrong:?}");
    }
    assert_eq!(list(&endpoint, "host: 127.0.0.2\r\n").0, 403);
    let log = running.stop();
    assert!(
        !log.contains("requires no credentials") && !log.contains("s3cret"),
        "{log}"
    );
}

/// A secret is not accepted as an argument, and a key not without its secret.
#[test]
fn a_key_comes_with_a_secret_from_standard_input() {
    for arguments in [
        &["serve", "--dynamodb-key", "KEY1", "--dynamodb-secret", "s3cret"][..],
        &["serve", "--dynamodb-key", "KEY1"],
        &["serve", "--dynamodb-secret", "-"],
    ] {
        assert_eq!(funil(arguments).status.code(), Some(2), "{arguments:?}");
    }
}

/// Two processes on one file would corrupt it.
#[test]
fn a_directory_is_served_by_one_process() {
    let home = tempfile::tempdir().unwrap();
    let mut running = Running::start(home.path(), &["--empty"]);
    let data = home.path().join("data");
    let data = data.to_str().unwrap();
    let second = funil(&["serve", "--port", "0", "--dynamodb-port", "0", "--data", data]);
    let said = String::from_utf8_lossy(&second.stderr).into_owned();
    assert_eq!(second.status.code(), Some(1), "{said}");
    let holder = format!("another funil (process {}) uses {data}", running.process());
    assert!(said.contains(&holder), "{said}");
    running.kill();
    Running::start(home.path(), &["--empty"]);
}

/// Commands open the directory of a stopped service themselves, and what they write is served.
#[test]
fn commands_open_the_directory_of_a_stopped_service() {
    let home = tempfile::tempdir().unwrap();
    let data = home.path().join("data");
    let data = data.to_str().unwrap();
    let absent = home.path().join("absent");
    let lines = home.path().join("data.ndjson");
    // So many that several chunks are written concurrently.
    let leads =
        (1..=1200).map(|id| format!("{{\"kind\":\"lead\",\"id\":{id},\"firstname\":\"Ana {id}\"}}\n"));
    std::fs::write(&lines, leads.collect::<String>()).unwrap();
    let import = ["import", "--instance", "acme", lines.to_str().unwrap()];
    let on = |directory: &str, command: &[&str]| {
        let output = funil(&[&["--data", directory][..], command].concat());
        let said = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8(said).unwrap())
    };
    let (code, said) = on(absent.to_str().unwrap(), &["instance", "list"]);
    assert!(code == Some(1) && said.contains("has no database"), "{said}");
    assert!(!absent.exists());
    let (code, said) = on(data, &["--endpoint", "http://127.0.0.1:1", "instance", "list"]);
    assert!(code == Some(2) && said.contains("give one of them"), "{said}");
    assert_eq!(on(data, &["instance", "create", "acme"]).0, Some(0));
    let (code, said) = on(data, &import);
    assert!(code == Some(0) && said.contains("1200 imported"), "{said}");
    let (code, said) = on(data, &["doctor", "--instance", "acme"]);
    assert!(code == Some(0) && said.contains("0 differences"), "{said}");
    let running = Running::start(home.path(), &["--empty"]);
    let (code, said) = on(data, &["export", "--instance", "acme"]);
    assert!(
        code == Some(1) && said.contains("reached with --endpoint"),
        "{said}"
    );
    let exported = funil(&["--endpoint", running.endpoint(), "export", "--instance", "acme"]);
    let exported = String::from_utf8(exported.stdout).unwrap();
    assert_eq!(exported.lines().count(), 1200);
}
