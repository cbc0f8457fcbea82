//! Addresses of `funil serve`, and its database beside other processes (C-80, C-85, C-106).

use std::path::Path;
use std::process::Command;

use database::{Database, Sync};
use shared::environment::Environment;

use crate::running::{Running, funil};

/// Status and output of a command on a directory.
fn on(directory: &str, command: &[&str]) -> (Option<i32>, String) {
    let output = funil(&[&["--data", directory][..], command].concat());
    let said = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(said).unwrap())
}

/// Links are usable on all addresses.
#[test]
fn the_service_is_bound_where_it_is_asked() {
    let home = tempfile::tempdir().unwrap();
    let bound = Running::start(home.path(), &["--bind", "127.0.0.2"]);
    assert!(bound.url.starts_with("http://127.0.0.2:"), "{}", bound.said);
    drop(bound);
    let open = Running::start(home.path(), &["--bind", "0.0.0.0"]);
    assert!(open.url.starts_with("http://0.0.0.0:"), "{}", open.said);
    let panel = open.url.replace("0.0.0.0", "127.0.0.1") + "/panel\n";
    assert!(open.said.contains(&panel), "{}", open.said);
}

#[test]
fn a_directory_is_served_by_one_process() {
    let home = tempfile::tempdir().unwrap();
    let mut running = Running::start(home.path(), &["--empty"]);
    let (process, data) = (running.process().to_string(), running.data().to_owned());
    let (_, port) = running.url.rsplit_once(':').unwrap();
    // Another port would not help a second service.
    for port in ["0", port] {
        let second = funil(&["serve", "--port", port, "--data", running.data()]);
        let said = String::from_utf8_lossy(&second.stderr).into_owned();
        assert_eq!(second.status.code(), Some(1), "{said}");
        assert!(said.contains(&process) && said.contains(&data), "{said}");
    }
    running.kill();
    Running::start(home.path(), &["--empty"]);
}

/// Commands open the directory while it is served and while it is not, and both see all that the other wrote.
#[test]
fn commands_open_the_directory_of_a_service() {
    let home = tempfile::tempdir().unwrap();
    let data = home.path().join("data");
    let data = data.to_str().unwrap();
    let absent = home.path().join("absent");
    let lines = home.path().join("data.ndjson");
    // So many that several chunks are written concurrently.
    let leads =
        (1..=1200).map(|id| format!("{{\"kind\":\"lead\",\"id\":{id},\"firstname\":\"Ana {id}\"}}\n"));
    std::fs::write(&lines, leads.collect::<String>()).unwrap();
    let (code, said) = on(absent.to_str().unwrap(), &["instance", "list"]);
    assert!(code == Some(1) && said.contains("has no database"), "{said}");
    assert!(!absent.exists());
    assert_eq!(on(data, &["instance", "create", "acme"]).0, Some(0));
    let import = ["import", "--instance", "acme", lines.to_str().unwrap()];
    let (code, said) = on(data, &import);
    assert!(code == Some(0) && said.contains("1200 imported"), "{said}");

    let running = Running::start(home.path(), &["--empty"]);
    let (code, said) = on(data, &["doctor", "--instance", "acme"]);
    assert!(code == Some(0) && said.contains("0 differences"), "{said}");
    assert_eq!(on(data, &["instance", "create", "beta"]).0, Some(0));
    let import = ["import", "--instance", "beta", lines.to_str().unwrap()];
    let (code, said) = on(data, &import);
    assert!(code == Some(0) && said.contains("1200 imported"), "{said}");
    drop(running);
    let exported = funil(&["--data", data, "export", "--instance", "beta"]);
    assert_eq!(String::from_utf8(exported.stdout).unwrap().lines().count(), 1200);
}

/// C-106: a typed option precedes variables, and two variables name two databases.
#[test]
fn an_option_precedes_variables() {
    let home = tempfile::tempdir().unwrap();
    let data = home.path().join("data").to_str().unwrap().to_owned();
    assert_eq!(on(&data, &["instance", "create", "acme"]).0, Some(0));
    let run = |arguments: &[&str], variables: &[(&str, &str)]| {
        let output = Command::new(env!("CARGO_BIN_EXE_funil"))
            .args(arguments)
            .args(["instance", "list", "--json"])
            .env_remove("TABLE_NAME")
            .envs(variables.iter().copied())
            .output()
            .unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let nowhere = "http://127.0.0.1:1";
    let both = [("FUNIL_DATA", data.as_str()), ("FUNIL_ENDPOINT", nowhere)];
    for (arguments, variables) in [
        (&[][..], &both[..1]),
        (&["--data", &data], &both[1..]),
        (&["--data", &data], &both),
    ] {
        let (code, said) = run(arguments, variables);
        assert!(code == Some(0) && said.contains("acme"), "{arguments:?} {said}");
    }
    let (code, said) = run(&["--endpoint", nowhere], &both[..1]);
    assert!(code == Some(1) && said.contains("cannot be reached"), "{said}");
    let (code, said) = run(&[], &both);
    let names = ["FUNIL_DATA", "FUNIL_ENDPOINT"];
    assert!(
        code == Some(2) && names.iter().all(|name| said.contains(name)),
        "{said}"
    );
    let (code, said) = run(&["--data", &data, "--endpoint", nowhere], &[]);
    assert!(code == Some(2) && said.contains("give one of them"), "{said}");
}

/// `serve` opens the directory, also where a variable names an endpoint (C-85).
#[test]
fn a_variable_sends_the_service_to_no_endpoint() {
    let home = tempfile::tempdir().unwrap();
    let mut command = crate::running::serving(home.path(), &["--empty"]);
    command.env("FUNIL_ENDPOINT", "http://127.0.0.1:1");
    let running = Running::run(command, home.path());
    assert_eq!(running.get("/leads?i=demo", &[]).0, 401);
    assert!(home.path().join("data").is_dir());
}

/// A suggested command can be typed as it stands.
#[test]
fn suggested_commands_name_the_typed_database() {
    let home = tempfile::tempdir().unwrap();
    let data = home.path().to_str().unwrap();
    assert_eq!(on(data, &["instance", "create", "acme"]).0, Some(0));
    let (_, said) = on(data, &["instance", "show", "none"]);
    let command = format!("create it with: funil --data {data} instance create none");
    assert!(said.contains(&command), "{said}");
}

/// The copy of a running service's database starts, and is no service's file that it could replace.
#[test]
fn a_backup_of_a_running_service_starts() {
    let (home, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let running = Running::with_demo(home.path());
    let data = other.path().join("data");
    std::fs::create_dir(&data).unwrap();
    let file = data.join("funil.db");
    let (code, said) = on(running.data(), &["backup", file.to_str().unwrap()]);
    assert_eq!(code, Some(0), "{said}");
    let (code, said) = on(running.data(), &["backup", file.to_str().unwrap()]);
    assert!(code == Some(1) && said.contains("exists"), "{said}");
    let export = |running: &Running| running.funil(&["export", "--instance", "demo"]).stdout;
    let restored = Running::start(other.path(), &[]);
    assert_eq!(export(&restored), export(&running));
}

/// The doctor says when deleted data could not be overwritten for ten minutes.
#[test]
fn the_doctor_tells_of_data_that_is_not_overwritten() {
    let now = Environment::system().now().unix_seconds();
    for (minutes, is_told) in [(9, false), (12, true)] {
        let home = tempfile::tempdir().unwrap();
        let data = home.path().to_str().unwrap();
        assert_eq!(on(data, &["instance", "create", "acme"]).0, Some(0));
        let served = Database::serve_directory(Path::new(data), Sync::Off, now).unwrap();
        // A pass begins some minutes after the change that it follows.
        served.scrub(now - 60 * minutes, false).unwrap();
        served.renew(now).unwrap();
        let (status, said) = on(data, &["doctor", "--instance", "acme"]);
        assert_eq!(
            (status, said.contains("minutes ago is still in the files")),
            (Some(0), is_told),
            "{said}"
        );
    }
}
