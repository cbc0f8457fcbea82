//! `funil remove` (C-104) removes a record with all its derived items, unless other records depend on it.

use operator::kinds::Kind;
use operator::{Removable, Removal};
use serde_json::{Value, json};

use crate::support::{Bench, call, command, event};

/// A record of every kind. Other records refer to each of them.
const RECORDS: &str = r#"{"kind":"department","id":1,"name":"Vendas"}
{"kind":"user","id":7,"name":"Ana","admin":true}
{"kind":"user","id":8,"name":"Bruno","department":1}
{"kind":"tag","id":5,"tag":"Quente"}
{"kind":"company","id":1,"companyname":"Estrela"}
{"kind":"lead","id":1,"firstname":"Maria","owner":8,"company":1,"tags":[5]}
{"kind":"funnel","id":3,"name":"Vendas","columns":[{"id":31,"name":"A"},{"id":32,"name":"B"}]}
{"kind":"opportunity","id":1,"title":"Pedido","crm_id":3,"crm_column":31,"lead_id":1,"user":8,"createDate":"2026-01-01T00:00:00Z"}
{"kind":"calendar","id":5,"name":"Demo","keyName":"demo","publicId":"pub_5","userId":8,"timezone":"UTC","durationMinutes":30,"hours":{}}
{"kind":"calendar","id":6,"name":"Outro","keyName":"outro","publicId":"pub_6","userId":7,"timezone":"UTC","durationMinutes":30,"hours":{}}
{"kind":"meeting","id":1,"calendarId":5,"date":"2027-03-01T12:00:00Z","endDate":"2027-03-01T12:30:00Z","opportunityId":1,"userId":8}
{"kind":"ticket","id":501,"attendant":8,"opportunity":1,"lead_relation":1}
{"kind":"file","id":9,"ticket":501,"type":"audio","url":"https://media.example/9"}
{"kind":"file","ticket":501,"type":"audio","url":"https://media.example/1","store_path":"s/1"}
{"kind":"report","id":1,"name":"Etapas","entity":"opportunities","measure":"count","groupBy":"column","filters":{"column":[31],"user":[8]}}
{"kind":"automation","id":1,"name":"Ligou","trigger":"leadPhoneCall","event":"received","actions":[{"type":"createOpportunity","funnel":3,"column":31,"title":"x"},{"type":"setOwner","user":8}]}
{"kind":"hook","id":1,"name":"site","token":"a-token","fields":[{"name":"nome","to":"firstname"}],"owner":8,"tags":[5],"opportunity":{"column":31,"title":"x"}}
"#;

/// Lines of a meeting and a lead that no longer refer to the records to remove.
const UNLINKED: &str = r#"{"kind":"meeting","id":1,"calendarId":6,"date":"2027-03-01T12:00:00Z","endDate":"2027-03-01T12:30:00Z","opportunityId":null,"userId":7}
{"kind":"lead","id":1,"firstname":"Maria"}
"#;

fn shop() -> Bench {
    let bench = Bench::with_instance();
    let lines = RECORDS.to_owned() + &call(1, Some(1)) + &event(1, 1, 1);
    bench.import(&lines).done();
    bench
}

/// Tries to remove a record, and returns its dependents; none if the record is removed.
fn remove(bench: &Bench, arguments: &str) -> Vec<String> {
    let ended = bench.funil(&format!(
        "remove --instance acme --alone --json --kind {arguments}"
    ));
    let document = ended.document();
    assert_eq!(document["removed"] == json!(true), ended.code == 0, "{ended:?}");
    let dependents = document["dependents"].as_array().cloned().unwrap_or_default();
    let told = |dependent: &Value| {
        let part = |name: &str| dependent[name].as_str().unwrap_or_default().to_owned();
        format!("{} {} {}", part("kind"), part("id"), part("field"))
    };
    dependents.iter().map(told).collect()
}

#[test]
fn every_kind_is_removed_once_nothing_depends_on_it() {
    let bench = shop();
    let key = bench
        .funil("key issue --instance acme --user 8 --label erp --json")
        .done();
    let key = key.document()["id"].as_str().unwrap().to_owned();
    let in_use = [
        ("ticket 501", vec!["file 9 ticket", "file 501:s/1 ticket"]),
        (
            "opportunity 1",
            vec!["meeting 1 opportunityId", "ticket 501 opportunity"],
        ),
        ("calendar 5", vec!["meeting 1 calendarId"]),
        ("company 1", vec!["lead 1 company"]),
        ("tag 5", vec!["lead 1 tags", "hook 1 tags"]),
        (
            "column 31",
            vec![
                "opportunity 1 crm_column",
                "hook 1 opportunity.column",
                "report 1 filters.column",
                "automation 1 actions[0].column",
            ],
        ),
        (
            "funnel 3",
            vec![
                "opportunity 1 crm_id",
                "hook 1 opportunity.funnel",
                "report 1 filters.column",
                "automation 1 actions[0].funnel",
            ],
        ),
    ];
    for (arguments, dependents) in in_use {
        assert_eq!(remove(&bench, arguments), dependents, "{arguments}");
    }
    let of_user = [
        &*format!("key {key} user"),
        "lead 1 owner",
        "opportunity 1 user",
        "calendar 5 userId",
        "meeting 1 userId",
        "ticket 501 attendant",
        "hook 1 owner",
        "call 1 user",
        "event 1 operator",
        "report 1 filters.user",
        "automation 1 actions[1].user",
    ];
    assert_eq!(remove(&bench, "user 8"), of_user);
    let other = call(1, Some(1)).replace(r#""user":8"#, r#""user":7"#)
        + &event(1, 1, 1).replace(r#""operator":8"#, r#""operator":7"#);
    for arguments in [
        "file 9",
        "file 501:s/1",
        "ticket 501",
        "report 1",
        "automation 1",
        "hook 1",
    ] {
        assert_eq!(remove(&bench, arguments), Vec::<String>::new(), "{arguments}");
        sound(&bench, arguments);
    }
    bench.import_overwriting(UNLINKED).done();
    for arguments in [
        "opportunity 1",
        "calendar 5",
        "column 31",
        "funnel 3",
        "tag 5",
        "company 1",
    ] {
        assert_eq!(remove(&bench, arguments), Vec::<String>::new(), "{arguments}");
        sound(&bench, arguments);
    }
    bench.funil(&format!("key revoke --instance acme {key}")).done();
    bench.import_overwriting(&other).done();
    assert_eq!(remove(&bench, "user 8"), Vec::<String>::new());
    sound(&bench, "user 8");
    let left = bench.export();
    for gone in [
        "\"ticket\"",
        "\"file\"",
        "\"report\"",
        "\"automation\"",
        "\"hook\"",
        "\"opportunity\"",
        "\"funnel\"",
        "\"tag\"",
        "\"company\"",
        "\"id\":8",
        "\"keyName\":\"demo\"",
    ] {
        let gone = if gone.starts_with("\"id") || gone.starts_with("\"key") {
            gone.to_owned()
        } else {
            format!("{{\"kind\":{gone}")
        };
        assert!(!left.contains(&gone), "{gone}: {left}");
    }
}

#[track_caller]
fn sound(bench: &Bench, after: &str) {
    let found = bench.funil("doctor --instance acme --json").document();
    assert_eq!(found["differences"], json!([]), "{after}");
}

#[test]
fn records_that_are_not_there_are_told() {
    let bench = shop();
    let second =
        r#"{"kind":"funnel","id":4,"name":"Outro","columns":[{"id":32,"name":"B"},{"id":41,"name":"C"}]}"#;
    bench.import(second).done();
    for (arguments, code, text) in [
        ("tag 404", 1, "there is no tag 404 in instance acme"),
        ("opportunity x", 1, "there is no opportunity x in instance acme"),
        ("file 501:none", 1, "there is no file 501:none in instance acme"),
        ("column 404", 1, "there is no column 404 in instance acme"),
        (
            "column 32",
            1,
            "column 32 is in funnels 3, 4; name one of them with --funnel",
        ),
        ("tag --funnel 3 5", 2, "--funnel goes with --kind column only"),
        ("lead 1", 2, "invalid value 'lead'"),
    ] {
        let ended = bench.funil(&format!("remove --instance acme --alone --kind {arguments}"));
        assert_eq!(
            (ended.code, ended.out.as_str()),
            (code, ""),
            "{arguments}: {ended:?}"
        );
        assert!(ended.err.contains(text), "{arguments}: {}", ended.err);
    }
    assert_eq!(remove(&bench, "column --funnel 4 32"), Vec::<String>::new());
    let told = bench.funil("remove --instance acme --alone --kind company 1");
    assert_eq!((told.code, told.out.as_str()), (1, "lead 1: company\n"));
    assert_eq!(
        told.err,
        "company 1 is not removed: these records depend on it; change or remove them first\n"
    );
    sound(&bench, "refusals");
}

/// A record is put back if another process linked to it before the removal was written.
#[tokio::test]
async fn a_record_that_is_linked_concurrently_is_put_back() {
    let lead = r#"{"kind":"lead","id":2,"firstname":"Rui","owner":8,"tags":[5],"company":1}"#;
    let placed = r#"{"kind":"opportunity","id":2,"title":"Novo","crm_id":3,"crm_column":32,"lead_id":1,"user":7,"createDate":"2026-01-01T00:00:00Z"}"#;
    let booked = r#"{"kind":"meeting","id":2,"calendarId":6,"date":"2027-03-02T12:00:00Z","endDate":"2027-03-02T12:30:00Z","userId":7}"#;
    for (kind, id, line) in [
        (Removable::Record(Kind::Tags), "6", lead.replace("[5]", "[6]")),
        (
            Removable::Record(Kind::Companies),
            "2",
            lead.replace(r#""company":1"#, r#""company":2"#),
        ),
        (
            Removable::Record(Kind::Users),
            "9",
            lead.replace(r#""owner":8"#, r#""owner":9"#),
        ),
        (Removable::Column, "32", placed.to_owned()),
        (
            Removable::Record(Kind::Funnels),
            "4",
            placed.replace(r#""crm_id":3,"crm_column":32"#, r#""crm_id":4,"crm_column":41"#),
        ),
        (Removable::Record(Kind::Calendars), "6", booked.to_owned()),
    ] {
        let bench = shop();
        let unused = r#"{"kind":"tag","id":6,"tag":"Frio"}
{"kind":"company","id":2,"companyname":"Lua"}
{"kind":"user","id":9,"name":"Caio","department":1}
{"kind":"funnel","id":4,"name":"Outro","columns":[{"id":41,"name":"B"}]}"#;
        bench.import(unused).done();
        let before = bench.export();
        let added = line.clone();
        let operator = bench
            .operator_late(move |endpoint| {
                let file = tempfile::NamedTempFile::new().unwrap();
                std::fs::write(file.path(), added).unwrap();
                let path = file.path().display().to_string();
                let imported = command(endpoint, &format!("import --instance acme {path}")).output();
                assert!(imported.unwrap().status.success());
            })
            .await;
        let removal = Removal {
            kind,
            id: id.to_owned(),
            funnel: None,
        };
        let removed = operator.remove(&removal, true, &|_| ()).await.unwrap();
        assert!(!removed.removed && removed.dependents.len() == 1, "{removed:?}");
        let after = bench.export();
        assert!(
            before.lines().all(|line| after.contains(line)),
            "{removed:?}: {after}"
        );
        sound(&bench, id);
    }
}

/// C-81, C-104: an event and a filter refer to their form, so it must exist, and stays while they do.
#[test]
fn forms_are_removed_once_nothing_names_them() {
    let bench = shop();
    let lines = |form: u64| {
        let event = json!({ "kind": "event", "id": 2, "lead": 1, "name": "form.received", "form": form,
            "createDate": "2026-01-01T00:00:00Z" });
        let automation = json!({ "kind": "automation", "id": 2, "name": "Site", "trigger": "form", "event": "received",
            "filters": { "form": form }, "actions": [{ "type": "addPoints", "points": 5 }] });
        format!("{event}\n{automation}\n")
    };
    let refused = bench.import(&lines(99)).document();
    assert_eq!(
        refused["refused"],
        json!([{ "line": 1, "reason": "form: hook 99 does not exist" },
            { "line": 2, "reason": "filters.form: hook 99 does not exist" }])
    );
    bench.import(&lines(1)).done();
    assert_eq!(
        remove(&bench, "hook 1"),
        ["event 2 form", "automation 2 filters.form"]
    );
}
