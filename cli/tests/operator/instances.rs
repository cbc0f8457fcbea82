use serde_json::{Map, Value, json};

use crate::support::{Bench, Ended, kinds};

#[test]
fn an_instance_is_created_once_listed_and_shown() {
    let bench = Bench::new();
    let created = bench.funil("instance create acme --json").done().document();
    assert_eq!(created["name"], "acme");
    let again = bench.funil("instance create acme --json");
    assert_eq!(again.code, 1);
    assert_eq!(
        again.document(),
        json!({ "error": "instance acme exists already; see it with: funil instance show acme" })
    );
    bench.funil("instance create zebra").done();
    let listed = bench.funil("instance list --json").done().document();
    let names: Vec<_> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| &entry["name"])
        .collect();
    assert_eq!(names, ["acme", "zebra"]);
    assert!(
        bench
            .funil("instance list")
            .done()
            .out
            .lines()
            .all(|line| line.contains('T'))
    );
    let shown = bench.funil("instance show acme --json").done().document();
    let none: Map<_, _> = kinds()
        .iter()
        .map(|kind| ((*kind).to_owned(), json!(0)))
        .collect();
    assert_eq!(
        shown,
        json!({
            "name": "acme", "createDate": created["createDate"], "settings": {},
            "departments": 0, "groups": 0, "users": 0, "records": none,
        })
    );
}

/// C-104: each kind has as many records as the export has lines.
#[test]
fn records_are_counted_by_kind_and_users_listed() {
    let bench = Bench::with_sample();
    let mut lines = Map::new();
    for line in bench.export().lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let count = lines.entry(line["kind"].as_str().unwrap()).or_insert(json!(0));
        *count = json!(count.as_u64().unwrap() + 1);
    }
    let shown = bench.funil("instance show acme --json").done().document();
    assert_eq!(shown["records"], Value::Object(lines));
    let text = bench.funil("instance show acme").done().out;
    assert!(text.contains("30 opportunity"), "{text}");
    let users = bench.funil("user list --instance acme --json").done().document();
    assert_eq!(users.as_array().unwrap().len(), 5);
    assert_eq!(
        users[1],
        json!({ "id": 8, "name": "Bruno Lima", "email": "bruno@example.com", "admin": false, "active": true,
            "department": 2, "group": 2 })
    );
    let listed = bench.funil("user list --instance acme").done().out;
    assert_eq!(
        listed.lines().nth(1),
        Some("8   Bruno Lima    user   2  2  bruno@example.com")
    );
}

/// C-104: a deletion requires the name again, deletes every item of the instance and no other, and frees the name.
#[test]
fn an_instance_is_suspended_resumed_and_deleted() {
    let bench = Bench::with_sample();
    bench.funil("instance create zebra").done();
    let issued = bench.funil("key issue --instance acme --user 7 --json").done();
    assert!(issued.document()["key"].is_string());
    let suspended = bench.funil("instance suspend acme --json").done().document();
    assert_eq!(
        (&suspended["instance"], &suspended["changed"]),
        (&json!("acme"), &json!(true))
    );
    let shown = bench.funil("instance show acme --json").done().document();
    assert_eq!(shown["suspended"], suspended["suspended"]);
    assert!(
        bench
            .funil("instance list")
            .done()
            .out
            .contains("acme, suspended since 20")
    );
    assert_eq!(
        bench.funil("instance resume acme").done().out,
        "instance acme is served again\n"
    );
    assert_eq!(
        bench.funil("instance resume acme").done().out,
        "instance acme is not suspended\n"
    );
    for (arguments, text) in [
        ("instance delete acme", "give its name once more: --yes acme"),
        (
            "instance delete acme --yes zebra",
            "\"zebra\" is not acme, so nothing is erased",
        ),
    ] {
        let refused = bench.funil(arguments);
        assert_eq!(refused.code, 2, "{refused:?}");
        assert!(refused.err.contains(text), "{refused:?}");
    }
    let before = bench.items();
    let erased = bench
        .funil("instance delete acme --yes acme --alone --json")
        .done();
    let left = bench.items();
    assert_eq!(
        erased.document(),
        json!({ "instance": "acme", "erased": before.len() - left.len() })
    );
    let keys: Vec<_> = left
        .iter()
        .map(|item| item["pk"]["S"].as_str().unwrap())
        .collect();
    assert_eq!(keys.len(), 3, "{keys:?}");
    assert!(
        keys.iter()
            .all(|key| !key.contains("acme") && !key.contains("credential")),
        "{keys:?}"
    );
    assert_eq!(bench.funil("instance delete acme --yes acme").code, 1);
    bench.funil("instance create acme").done();
    let stopped = json!({ "S": "2026-01-01T00:00:00.000Z" });
    bench.set("#instance", "acme", "deleting", &stopped);
    bench.delete("acme#directory", "directory");
    for command in [
        "instance create acme",
        "instance show acme",
        "export --instance acme",
        "instance suspend acme",
    ] {
        let refused = bench.funil(command);
        let advice = "error: instance acme is being deleted; finish it with: funil instance delete acme\n";
        assert_eq!((refused.code, refused.err.as_str()), (1, advice), "{command}");
    }
    assert!(
        bench
            .funil("instance list")
            .done()
            .out
            .contains("acme, being deleted since 2026-01-01")
    );
    bench.funil("instance delete acme --yes acme --alone").done();
    assert_eq!(bench.items().len(), 3);
}

#[test]
fn unknown_instances_are_reported_with_advice() {
    let bench = Bench::with_instance();
    let missing = "there is no instance nobody; create it with: funil instance create nobody";
    for command in [
        "instance show nobody",
        "instance set nobody timezone UTC",
        "key issue --instance nobody --user 7",
        "key list --instance nobody",
        "token revoke --instance nobody 0123456789ab",
        "export --instance nobody",
    ] {
        let refused = bench.funil(command);
        assert_eq!((refused.code, refused.out.as_str()), (1, ""), "{command}");
        assert_eq!(refused.err, format!("error: {missing}\n"), "{command}");
    }
    let refused = bench.funil_reading("import --instance nobody - --json", b"{}");
    assert_eq!(
        (refused.code, refused.document()),
        (1, json!({ "error": missing }))
    );
}

#[test]
fn settings_are_set_and_reset() {
    let bench = Bench::with_instance();
    let set = bench
        .funil("instance set acme timezone America/Sao_Paulo --json")
        .done();
    assert_eq!(
        set.document(),
        json!({ "instance": "acme", "setting": "timezone", "value": "America/Sao_Paulo", "changed": true })
    );
    bench.funil("instance set acme page_base 0").done();
    let shown =
        |bench: &Bench| bench.funil("instance show acme --json").done().document()["settings"].clone();
    assert_eq!(
        shown(&bench),
        json!({ "timezone": "America/Sao_Paulo", "page_base": 0 })
    );
    let unset = bench.funil("instance set acme page_base --unset").done();
    assert_eq!(unset.out, "page_base has its default\n");
    assert_eq!(shown(&bench), json!({ "timezone": "America/Sao_Paulo" }));
    for (command, reason) in [
        ("instance set acme page_base 2 --json", "page_base must be 0 or 1"),
        (
            "instance set acme timezones UTC --json",
            "unknown setting; the settings are voip_webhook_secret, timezone, currency, page_base, credential_placement, \
             requests_per_minute, public_requests_per_minute, webhook_requests_per_minute, read_budget",
        ),
    ] {
        let refused = bench.funil(command);
        assert_eq!(
            (refused.code, refused.document()),
            (1, json!({ "error": reason }))
        );
    }
}

#[test]
fn the_webhook_secret_is_read_from_standard_input_and_hidden() {
    let bench = Bench::with_instance();
    let set = |input: &[u8]| {
        bench
            .funil_reading("instance set acme voip_webhook_secret -", input)
            .done()
    };
    assert_eq!(set(b"s3cret-1\n").out, "voip_webhook_secret is set\n");
    assert!(bench.export().contains(r#""value":"s3cret-1"}"#));
    let long = set(b"s3cret-2-of-16-ch");
    assert_eq!(long.err, "");
    let weak = set(b"s3cret-3");
    assert!(
        weak.err.contains("fewer than 16 characters can be guessed"),
        "{weak:?}"
    );
    let weak = bench.funil_reading("instance set acme voip_webhook_secret - --json", b"s3cret-3");
    assert!(weak.done().document()["warning"].is_string());
    // A header cannot contain a line break (C-83).
    let refused = bench.funil_reading("instance set acme voip_webhook_secret -", b"s3cret-2\n\n");
    assert!(
        refused.code == 1 && refused.err.contains("that a header can carry"),
        "{refused:?}"
    );
    for command in [
        "instance show acme",
        "instance show acme --json",
        "instance list --json",
    ] {
        let shown = bench.funil(command).done();
        assert!(!shown.out.contains("s3cret"), "{shown:?}");
    }
    let shown = bench.funil("instance show acme --json").done().document();
    assert_eq!(shown["settings"], json!({ "voip_webhook_secret": "set" }));

    let literal = bench.funil("instance set acme voip_webhook_secret s3cret-4 --json");
    assert_eq!(literal.code, 2);
    let reason = literal.document()["error"].as_str().unwrap().to_owned();
    assert!(
        reason.contains("voip_webhook_secret - <") && !reason.contains("s3cret-4"),
        "{reason}"
    );
    assert!(!bench.export().contains("s3cret-4"));
}

#[test]
fn wrong_usage_exits_with_2_and_an_example() {
    let bench = Bench::new();
    for command in [
        "",
        "instances",
        "instance create Acme",
        "instance set acme timezone",
        "key issue --instance acme",
        "key issue --instance acme --user 0",
        "key issue --instance acme --user 7 --days 0",
        "import --instance acme",
        "export --instance acme --json",
    ] {
        let refused = bench.funil(command);
        assert_eq!(refused.code, 2, "{command}: {refused:?}");
    }
    let refused = bench.funil("instance create Acme --json");
    assert!(refused.document()["error"].as_str().unwrap().contains("Acme"));
    for command in [
        "",
        "instance",
        "instance create",
        "instance list",
        "instance show",
        "instance set",
        "key",
        "key issue",
        "key list",
        "key revoke",
        "token",
        "token issue",
        "token list",
        "token revoke",
        "import",
        "export",
    ] {
        let help = bench.funil(&format!("{command} --help")).done();
        assert!(help.out.contains("Example"), "{command}");
        assert!(help.out.contains(&format!("\n  funil {command}")), "{command}");
    }
}

#[test]
fn unreachable_tables_are_reported_briefly() {
    let bench = Bench::new();
    let absent = bench.funil("instance list --json");
    assert_eq!(absent.code, 1);
    assert!(
        absent.document()["error"]
            .as_str()
            .unwrap()
            .starts_with("there is no such table")
    );
    let nowhere: Ended = std::process::Command::new(env!("CARGO_BIN_EXE_funil"))
        .args(["--endpoint", "http://127.0.0.1:1", "instance", "list"])
        .output()
        .unwrap()
        .into();
    assert_eq!(nowhere.code, 1);
    assert_eq!(
        nowhere.err,
        "error: DynamoDB cannot be reached; check the network and --endpoint\n"
    );
}

#[test]
fn the_table_is_set_by_option_or_environment() {
    let bench = Bench::new();
    bench.funil("instance create acme --table other").done();
    let from_environment = bench
        .command("instance list --json")
        .env("TABLE_NAME", "other")
        .output()
        .unwrap();
    let listed = Ended::from(from_environment).done().document();
    assert_eq!(listed[0]["name"], "acme");
    assert_eq!(bench.funil("instance list").code, 1);
    // C-106: both options have variables, which precede `TABLE_NAME`.
    let listed = std::process::Command::new(env!("CARGO_BIN_EXE_funil"))
        .args(["instance", "list"])
        .envs([
            ("FUNIL_ENDPOINT", &*bench.endpoint()),
            ("FUNIL_TABLE", "other"),
            ("TABLE_NAME", "none"),
        ])
        .output();
    assert!(Ended::from(listed.unwrap()).done().out.ends_with("  acme\n"));
    // Empty variables are the same as none.
    let empty = bench
        .command("instance list")
        .envs([
            ("FUNIL_ENDPOINT", ""),
            ("FUNIL_TABLE", ""),
            ("TABLE_NAME", "other"),
        ])
        .output();
    assert!(Ended::from(empty.unwrap()).done().out.ends_with("  acme\n"));
    bench.funil("instance create zebra").done();
    let unnamed = bench.command("instance list").env("TABLE_NAME", "").output();
    assert!(Ended::from(unnamed.unwrap()).done().out.ends_with("  zebra\n"));
}

/// C-88: commands report the format with advice; functions do not start.
#[test]
fn every_command_rejects_tables_of_other_formats() {
    let bench = Bench::with_sample();
    for format in ["0", "7", "99"] {
        bench.put("#format", "format", &json!({ "format": { "N": format } }));
        for command in [
            "instance list",
            "instance create zebra",
            "instance show acme",
            "instance set acme timezone UTC",
            "key issue --instance acme --user 7",
            "token list --instance acme",
            "export --instance acme",
            "import --instance acme Cargo.toml",
            "doctor --instance acme --repair",
            "serve --port 0",
        ] {
            let refused = bench.funil(command);
            assert_eq!((refused.code, refused.out.as_str()), (1, ""), "{command}");
            let reason = format!(
                "error: the table has format {format}, and this build reads format 11 only; export its instances with \
                 the build that wrote it, and import them into a new table with this build"
            );
            assert!(refused.err.contains(&reason), "{command}: {}", refused.err);
        }
    }
}
