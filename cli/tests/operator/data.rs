use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Bench, KINDS, USERS, sample};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn the_sample_comes_in_once_and_twice() {
    let bench = Bench::with_instance();
    let lines = sample().lines().count();
    let first = bench.import(&sample()).done().document();
    assert_eq!(first, json!({ "imported": lines, "unchanged": 0, "refused": [] }));
    let (items, export) = (bench.items(), bench.export());
    let second = bench.import(&sample()).done().document();
    assert_eq!(
        second,
        json!({ "imported": 0, "unchanged": lines, "refused": [] })
    );
    assert_eq!(bench.items(), items, "nothing was written");
    assert_eq!(bench.export(), export);
}

/// A lead with everything that is easily lost.
const ODD: &str = r#"{"kind":"lead","id":2000,"owner":7,"points":0.1,"createDate":"2026-01-01T00:00:00Z","lastActive":"2026-02-01T00:00:00Z","archived":true,"initial_password":"p4ss","utmTags":[{"a":0.1234567890123456},null],"channelRestrictions":{"email":{"disabled":true,"frequencyValue":3}},"ips":["::1"],"vip":null,"nested":{"":[1e21,-0.0,"x\u0000y"]},"v":1,"custom":[]}"#;
/// Numbers in spellings that are not kept, and text for a number.
const FIGURES: &str = r#"{"kind":"company","id":9,"companyname":"","points":-2.50,"companynemployees":"10-50","companyannualrevenue":1e3}"#;

#[test]
fn an_export_into_an_empty_instance_gives_the_same_export() {
    let bench = Bench::with_sample();
    bench
        .funil_reading("instance set acme voip_webhook_secret -", b"s3cret")
        .done();
    bench.import(ODD).done();
    bench.import(FIGURES).done();
    let exported = bench.export();
    let other = Bench::with_instance();
    other.import(&exported).done();
    assert_eq!(other.export(), exported);
    for line in [ODD, FIGURES] {
        assert_eq!(other.import(line).done().document()["unchanged"], 1, "{line}");
    }
    let last = exported
        .lines()
        .find(|line| line.contains("\"id\":2000"))
        .unwrap();
    let last: Value = serde_json::from_str(last).unwrap();
    let sent: Value = serde_json::from_str(ODD).unwrap();
    for name in [
        "utmTags",
        "vip",
        "nested",
        "v",
        "custom",
        "initial_password",
        "points",
        "ips",
    ] {
        assert_eq!(last[name], sent[name], "{name}");
    }
}

#[test]
fn an_export_tells_first_what_the_rest_refers_to() {
    let exported = Bench::with_sample().export();
    let kind = |line: &str| serde_json::from_str::<Value>(line).unwrap()["kind"].clone();
    let mut kinds: Vec<_> = exported.lines().map(kind).collect();
    kinds.dedup();
    assert_eq!(kinds, KINDS);
}

#[test]
fn an_export_is_its_owners_alone() {
    let bench = Bench::with_sample();
    let folder = tempfile::tempdir().unwrap();
    let piped = folder.path().join("piped.ndjson");
    let written = bench
        .command("export --instance acme")
        .stdout(File::create(&piped).unwrap())
        .output()
        .unwrap();
    assert!(written.status.success());
    assert_eq!(mode(&piped), 0o600);
    let remark = String::from_utf8(written.stderr).unwrap();
    assert!(remark.contains("voip_webhook_secret") && remark.contains("initial_password"));

    let named = folder.path().join("named.ndjson");
    fs::write(&named, "old").unwrap();
    fs::set_permissions(&named, fs::Permissions::from_mode(0o644)).unwrap();
    let answer = bench
        .funil(&format!(
            "export --instance acme --json --output {}",
            named.display()
        ))
        .done()
        .document();
    assert_eq!(answer["exported"]["lead"], 12);
    assert_eq!(answer["exported"]["event"], 1);
    assert_eq!(mode(&named), 0o600);
    assert_eq!(fs::read(&named).unwrap(), fs::read(&piped).unwrap());
    assert_eq!(
        fs::read_dir(folder.path()).unwrap().count(),
        2,
        "nothing is left behind"
    );

    let nowhere = bench.funil("export --instance acme --output /nowhere/data.ndjson");
    assert_eq!((nowhere.code, nowhere.out.as_str()), (1, ""));
}

#[test]
fn an_export_holds_no_credential() {
    let bench = Bench::with_sample();
    let key = bench.funil("key issue --instance acme --user 7").done().out;
    let id = bench.funil("key list --instance acme --json").done().document()[0]["id"].clone();
    let exported = bench.export();
    assert!(!exported.contains(key.trim()) && !exported.contains(id.as_str().unwrap()));
}

#[test]
fn a_file_and_a_pipe_are_read_alike() {
    let bench = Bench::with_instance();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("data.ndjson");
    fs::write(&file, USERS).unwrap();
    let imported = bench
        .funil(&format!("import --instance acme {}", file.display()))
        .done();
    assert_eq!(imported.out, "2 imported, 0 unchanged, 0 refused\n");
    let piped = bench
        .funil_reading("import --instance acme /dev/stdin", USERS.as_bytes())
        .done();
    assert_eq!(piped.out, "0 imported, 2 unchanged, 0 refused\n");
    let absent = bench.funil("import --instance acme absent.ndjson");
    assert_eq!(absent.code, 1);
    assert!(
        absent.err.starts_with("error: absent.ndjson cannot be read: "),
        "{absent:?}"
    );
}
