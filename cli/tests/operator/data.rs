use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Bench, USERS, kinds, sample};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// The warning of the sample's calendar that is not published.
const HIDDEN: &str = "line 33: isPublished: is false, so nobody can book the calendar";

#[test]
fn a_repeated_import_of_the_sample_changes_nothing() {
    let bench = Bench::with_instance();
    let lines = sample().lines().count();
    let custom = json!([
        { "kind": "lead", "name": "filial", "lines": 6 },
        { "kind": "opportunity", "name": " Número do pedido ", "lines": 25 },
        { "kind": "opportunity", "name": "Origem do Lead", "lines": 25 },
    ]);
    let first = bench.import(&sample()).done().document();
    assert_eq!(
        first,
        json!({ "imported": lines, "unchanged": 0, "refused": [], "warnings": [HIDDEN], "customFields": custom })
    );
    let (items, export) = (bench.items(), bench.export());
    let second = bench.import(&sample()).done().document();
    assert_eq!(
        second,
        json!({ "imported": 0, "unchanged": lines, "refused": [], "warnings": [HIDDEN], "customFields": custom })
    );
    assert_eq!(bench.items(), items, "nothing was written");
    assert_eq!(bench.export(), export);
}

/// A lead with unusual values.
const ODD: &str = r#"{"kind":"lead","id":2000,"owner":7,"points":0.1,"createDate":"2026-01-01T00:00:00Z","lastActive":"2026-02-01T00:00:00Z","archived":true,"initial_password":"p4ss","utmTags":[{"a":0.1234567890123456},null],"channelRestrictions":{"email":{"disabled":true,"frequencyValue":3}},"ips":["::1"],"vip":null,"nested":{"":[1e21,-0.0,"x\u0000y"]},"v":1,"custom":[]}"#;
/// Numbers in forms that are not kept, and a text in place of a number.
const FIGURES: &str = r#"{"kind":"company","id":9,"companyname":"","points":-2.50,"companynemployees":"10-50","companyannualrevenue":1e3}"#;
/// An opportunity with unusual values. It has no empty values, because they are not kept.
const ODD_DEAL: &str = r#"{"kind":"opportunity","id":2000,"title":" É ","value":213.2,"crm_column":32,"crm_id":3,"lead_id":2000,"sequence":7,"status":"gain","loss_reason":"","gain_reason":" Prazo ","expectedCloseDate":"2026-12-01T00:00:00-03:00","sale_channel":"Loja","campaign":"Natal","user":7,"last_column_change":"2026-03-01T00:00:00Z","last_status_change":"2026-04-01T00:00:00Z","gain_date":"2026-04-01T00:00:00Z","reopen_date":"2026-03-15T00:00:00Z","await_column_approved":{"a":null},"await_column_approved_user":8,"reject_appro":false,"reject_appro_desc":{},"createDate":"2026-01-01T00:00:00Z","updateDate":"2026-05-01T00:00:00Z","archived":true,"service_permission":"departments","service_permission_user":8,"service_permission_department":1,"service_permission_users":[8,9],"service_permission_users_select":[{"id":8}],"service_permission_departments":[1],"service_permission_departments_select":[null],"dataCompanyExtra":[{"id":77,"companyname":"Extra"}],"fields":{" Número do pedido ":"","undefined":1e21,"é":-0.0,"":true,"gone":null},"files":[{"name":"a.pdf"}],"filesData":[[]],"conf_installment":[{"n":1}]}"#;

/// A calendar with unusual values.
const ODD_CALENDAR: &str = r#"{"kind":"calendar","id":2000,"name":" É ","keyName":"-_odd_-","publicId":"0","isPublished":true,"userId":7,"timezone":"Asia/Kathmandu","durationMinutes":1440,"bufferMinutes":5,"minimumNoticeMinutes":4294967295,"hours":{"sun":[["00:00","09:00"],["09:00","24:00"]]},"dates":{"2027-01-02":[["10:00","10:30"]],"2027-01-01":[]},"horizon":{"type":"between","start":"2027-01-01","end":"2027-01-01"},"createDate":"2026-01-01T00:00:00-03:00","updateDate":"2026-05-01T00:00:00Z"}"#;
/// A meeting over several days. Its free-form fields keep their order.
const ODD_MEETING: &str = r#"{"kind":"meeting","id":2000,"calendarId":2000,"date":"2027-01-01T12:00:00.001Z","endDate":"2027-01-22T12:00:00.001Z","leadId":2000,"opportunityId":2000,"userId":8,"status":"rescheduled","formData":{"z":null," a ":[1e21,-0.0,4.0,12345678901234567890],"":{"y":[],"x":"x\u0000y"},"0":0.1234567890123456},"properties":{"b":{},"a":false},"moves":3,"createDate":"2026-01-01T00:00:00Z","updateDate":"2026-05-01T00:00:00Z"}"#;
/// A meeting of a deleted lead (C-24): a null form was erased, and an absent form was empty.
const ERASED: &str = r#"{"kind":"meeting","id":1999,"calendarId":2000,"date":"2027-01-01T12:00:00.000Z","endDate":"2027-01-01T12:00:00.000Z","leadId":null,"userId":7,"status":"canceled","formData":null,"createDate":"2026-01-01T00:00:00Z"}"#;

/// A ticket and its files with unusual values, and a ticket with the nulls of an erased person (C-24).
const ODD_TICKETS: [&str; 5] = [
    r#"{"kind":"ticket","id":2000,"status":0,"attendant":8,"attendantName":"","department":" é ","name":"N","star":4.0,"evaluation":"5","chatGroup":false,"isGroup":"0","type":"chatapp","lead_relation":2000,"comment_txt":"a\u0000b","unread":18446744073709551615,"lastMesssageUser":"1969-12-31T23:59:59.999Z","pin":-0.0,"archive":12345678901234567890,"opportunity":2000,"sequence":3,"createDate":"2026-05-01T10:00:00.000Z","updateDate":"2026-05-02T10:00:00.000Z"}"#,
    r#"{"kind":"ticket","id":2001,"name":null,"lead_name":null,"name_contact":null,"recipientid":null,"photo":null,"accid":"a","lead_relation":null,"createDate":"2026-05-01T10:00:00.000Z"}"#,
    r#"{"kind":"file","ticket":2000,"type":"audio","url":"u","mimetype":"m","store_url":"s","store_path":"a#b/é ~","ext":"e"}"#,
    r#"{"kind":"file","ticket":2001,"store_path":""}"#,
    r#"{"kind":"file","id":7,"ticket":2001}"#,
];

/// Record 2000 of a kind.
fn odd(export: &str, kind: &str) -> Value {
    let lines = export
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut lines = lines.filter(|line| line["kind"] == kind && line["id"] == 2000);
    lines.next().unwrap()
}

#[test]
fn an_export_imported_into_an_empty_instance_is_exported_equally() {
    let bench = Bench::with_sample();
    bench
        .funil_reading("instance set acme voip_webhook_secret -", b"s3cret")
        .done();
    let lines = [ODD, FIGURES, ODD_DEAL, ODD_CALENDAR, ODD_MEETING, ERASED];
    let lines = [&lines[..], &ODD_TICKETS].concat();
    bench.import(&lines.join("\n")).done();
    let exported = bench.export();
    // The others get times or lose nulls.
    for line in [0, 2, 3, 4].map(|at| ODD_TICKETS[at]) {
        assert!(
            exported.lines().any(|exported| exported == line),
            "{line}: {exported}"
        );
    }
    let other = Bench::with_instance();
    other.import(&exported).done();
    assert_eq!(other.export(), exported);
    for line in lines {
        assert_eq!(other.import(line).done().document()["unchanged"], 1, "{line}");
    }
    let kept = odd(&exported, "lead");
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
        assert_eq!(kept[name], sent[name], "{name}");
    }
}

#[test]
fn opportunities_are_exported_unchanged() {
    let bench = Bench::with_sample();
    bench.import(&[ODD, ODD_DEAL].join("\n")).done();
    let mut kept = odd(&bench.export(), "opportunity");
    // Exports contain all fields of companies, and times with milliseconds.
    let company = kept["dataCompanyExtra"][0].as_object_mut().unwrap();
    company.retain(|_, value| !value.is_null());
    for value in kept.as_object_mut().unwrap().values_mut() {
        if let Some(time) = value.as_str().and_then(|text| text.strip_suffix(".000Z")) {
            *value = json!(format!("{time}Z"));
        }
    }
    let mut sent: Value = serde_json::from_str(ODD_DEAL).unwrap();
    sent["value"] = json!("213.20");
    sent["archived"] = json!(1);
    sent["expectedCloseDate"] = json!("2026-12-01T03:00:00Z");
    sent["fields"].as_object_mut().unwrap().shift_remove("gone");
    sent.as_object_mut().unwrap().shift_remove("reject_appro_desc");
    assert_eq!(kept, sent);
}

#[test]
fn meetings_are_exported_unchanged() {
    let bench = Bench::with_sample();
    bench
        .import(&[ODD, ODD_DEAL, ODD_CALENDAR, ODD_MEETING, ERASED].join("\n"))
        .done();
    let exported = bench.export();
    let line = |id: &str| exported.lines().find(|line| line.starts_with(id)).unwrap();
    assert_eq!(
        line(r#"{"kind":"meeting","id":2000,"#),
        ODD_MEETING
            .replace("00:00Z", "00:00.000Z")
            .replace("1e21", "1e+21")
    );
    assert_eq!(
        line(r#"{"kind":"meeting","id":1999,"#),
        ERASED.replace(r#""leadId":null,"#, "").replace(
            r#""2026-01-01T00:00:00Z"}"#,
            r#""2026-01-01T00:00:00.000Z","updateDate":"2026-01-01T00:00:00.000Z"}"#
        )
    );
}

#[test]
fn calendars_are_exported_unchanged() {
    let bench = Bench::with_sample();
    bench.import(ODD_CALENDAR).done();
    let mut sent: Value = serde_json::from_str(ODD_CALENDAR).unwrap();
    for closed in ["mon", "tue", "wed", "thu", "fri", "sat"] {
        sent["hours"][closed] = json!([]);
    }
    sent["createDate"] = json!("2026-01-01T03:00:00.000Z");
    sent["updateDate"] = json!("2026-05-01T00:00:00.000Z");
    assert_eq!(odd(&bench.export(), "calendar"), sent);
}

#[test]
fn exports_write_referenced_records_first() {
    let exported = Bench::with_sample().export();
    let kind = |line: &str| serde_json::from_str::<Value>(line).unwrap()["kind"].clone();
    let mut exported_kinds: Vec<_> = exported.lines().map(kind).collect();
    exported_kinds.dedup();
    assert_eq!(exported_kinds, kinds());
}

#[test]
fn export_files_are_private() {
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
    let kept = bench.funil(&format!("export --instance acme --output {}", named.display()));
    let advice = format!(
        "error: {} exists; name another file, or add --force to replace it\n",
        named.display()
    );
    assert_eq!(
        (kept.code, kept.err, fs::read(&named).unwrap()),
        (1, advice, b"old".to_vec())
    );
    let dashed = bench.funil("export --instance acme --output -").done().out;
    assert_eq!(dashed.as_bytes(), fs::read(&piped).unwrap());
    let answer = bench
        .funil(&format!(
            "export --instance acme --json --force --output {}",
            named.display()
        ))
        .done()
        .document();
    assert_eq!(answer["exported"]["lead"], 12);
    assert_eq!(answer["exported"]["funnel"], 2);
    assert_eq!(answer["exported"]["opportunity"], 30);
    assert_eq!(answer["exported"]["calendar"], 4);
    assert_eq!(answer["exported"]["meeting"], 1);
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
fn exports_contain_no_credential() {
    let bench = Bench::with_sample();
    let key = bench.funil("key issue --instance acme --user 7").done().out;
    let id = bench.funil("key list --instance acme --json").done().document()[0]["id"].clone();
    let exported = bench.export();
    assert!(!exported.contains(key.trim()) && !exported.contains(id.as_str().unwrap()));
}

#[test]
fn files_and_pipes_are_imported_alike() {
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
