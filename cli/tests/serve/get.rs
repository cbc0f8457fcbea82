//! `funil get` against a running service (C-106).

use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::running::Running;

/// Runs `funil get` with these arguments and this environment.
fn get(arguments: &[&str], environment: &[(&str, &str)]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_funil"));
    command.arg("get").args(arguments);
    for name in ["FUNIL_URL", "FUNIL_INSTANCE", "FUNIL_KEY", "FUNIL_TOKEN"] {
        command.env_remove(name);
    }
    let Output {
        status,
        stdout,
        stderr,
    } = command.envs(environment.iter().copied()).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code().unwrap(), text(stdout), text(stderr))
}

fn document(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn every_read_answers_with_the_credentials_of_the_environment() {
    let home = tempfile::tempdir().unwrap();
    let running = Running::with_demo(home.path());
    let (key, token) = (running.word("API key"), running.word("access token"));
    let environment = [
        ("FUNIL_URL", running.url.as_str()),
        ("FUNIL_INSTANCE", "demo"),
        ("FUNIL_KEY", &key),
        ("FUNIL_TOKEN", &token),
    ];
    // The endpoints require the key in the header, in the query, or in either.
    for (path, pointer, value) in [
        ("/leads/1001?query={lead{id}}", "/data/lead/id", json!(1001)),
        ("crm", "/0/id", json!(3)),
        ("/sac360/lead/1001?page=1", "/error", Value::Null),
        ("/pcalendar", "/error", Value::Null),
    ] {
        let (code, out, err) = get(&[path], &environment);
        assert_eq!((code, err.as_str()), (0, ""), "{path}: {out}");
        assert_eq!(
            document(&out).pointer(pointer).cloned().unwrap_or_default(),
            value,
            "{path}: {out}"
        );
        assert_eq!(out.lines().count(), 1, "it is unchanged in a pipe");
    }
    let (_, yaml, _) = get(&["/openapi.yaml"], &environment[..1]);
    assert!(yaml.contains("\nopenapi: "), "{}", &yaml[..200]);
    let (_, text, _) = get(&["/openapi.yaml", "--json"], &environment[..1]);
    assert_eq!(document(&text).as_str(), Some(yaml.trim_end()));
}

#[test]
fn refusals_have_the_message_and_the_next_step() {
    let home = tempfile::tempdir().unwrap();
    let running = Running::with_demo(home.path());
    let key = running.word("API key");
    let (url, key) = (("FUNIL_URL", running.url.as_str()), ("FUNIL_KEY", key.as_str()));
    let place = "authorization: the access token belongs in the header Authorization, after Bearer";
    for (path, environment, reason) in [
        (
            "/crm?i=demo",
            &[url][..],
            "401: Unauthorized: apitoken: the API key belongs in the query parameter apitoken; set FUNIL_KEY, and FUNIL_TOKEN for \
             endpoints that require both; issue them with: funil key issue, funil token issue"
                .to_owned(),
        ),
        (
            "/leads?i=demo",
            &[url, key],
            format!(
                "401: Unauthorized: {place}; check FUNIL_KEY, FUNIL_TOKEN and --instance; funil key list and funil token list show \
                 which are valid"
            ),
        ),
        ("/absent", &[url, key], "404: Not found: no such route".to_owned()),
        ("/crm", &[url, key], "400: Invalid request: i: must name the instance, once; check the path and --instance".to_owned()),
    ] {
        let told = (1, String::new(), format!("error: {reason}\n"));
        assert_eq!(get(&[path], environment), told, "{path}");
        let (code, out, _) = get(&[path, "--json"], environment);
        assert_eq!((code, document(&out)), (1, json!({ "error": reason })), "{path}");
    }
    let (code, _, err) = get(&["/crm", "--url", "http://127.0.0.1:1"], &[]);
    assert_eq!(code, 1);
    assert!(
        err.starts_with("error: the service cannot be reached: ")
            && err.ends_with("check --url and that it runs\n"),
        "{err}"
    );
    for (arguments, environment) in [
        (&["/crm", "--url", "127.0.0.1:3000"][..], &[][..]),
        (&["/crm"], &[("FUNIL_KEY", "fk_1\n")]),
        (&[], &[]),
    ] {
        assert_eq!(get(arguments, environment).0, 2, "{arguments:?}");
    }
}
