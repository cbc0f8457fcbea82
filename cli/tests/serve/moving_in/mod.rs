//! Converts and imports the exports of three products, with three commands each (C-105).

mod exports;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::running::{Running, ask};
use exports::{Export, Sums};

/// Runs a shell line in a directory. `funil` in the line is the command on the service's database.
fn shell(home: &Path, running: &Running, line: &str) -> Output {
    let own = format!("{} --data {}", env!("CARGO_BIN_EXE_funil"), running.data());
    let line = line.replace("funil ", &format!("{own} "));
    let mut command = Command::new("sh");
    command
        .args(["-c", &line])
        .current_dir(home)
        .env_remove("TABLE_NAME");
    command.output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// The number and the sum of each column's opportunities, by funnel and column.
fn boards(running: &Running, instance: &str, key: &str) -> Sums {
    let read = |method, path: &str, body: &str| -> Value {
        let path = format!("{path}?i={instance}&apitoken={key}");
        let (status, answer) = ask(&running.url, method, &path, &[], body).unwrap();
        assert_eq!(status, 200, "{path}: {answer}");
        serde_json::from_str(&answer).unwrap()
    };
    let mut sums = Sums::new();
    for funnel in read("GET", "/crm", "").as_array().unwrap() {
        let path = format!("/crm/opportunities/{}", funnel["id"]);
        for column in read("POST", &path, r#"{"page":1,"limit":25}"#)
            .as_array()
            .unwrap()
        {
            let name = |of: &Value| of["name"].as_str().unwrap().to_owned();
            let cents = column["totalValue"]
                .as_str()
                .unwrap()
                .replace('.', "")
                .parse()
                .unwrap();
            sums.insert(
                (name(funnel), name(column)),
                (column["total"].as_u64().unwrap(), cents),
            );
        }
    }
    sums
}

/// The secret that a command prints last.
fn issued(home: &Path, running: &Running, line: &str) -> String {
    let printed = text(&shell(home, running, line).stdout);
    printed.split_whitespace().last().unwrap().to_owned()
}

/// Runs the three commands, and compares the board.
fn walk(running: &Running, instance: &str, export: &Export) {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path();
    for (name, bytes) in &export.files {
        fs::write(home.join(name), bytes).unwrap();
    }
    let files = export
        .files
        .iter()
        .map(|(name, _)| *name)
        .collect::<Vec<_>>()
        .join(" ");
    let convert = format!("funil convert --zone America/Sao_Paulo --admin ana@example.com {files}");
    let created = shell(home, running, &format!("funil instance create {instance}"));
    assert!(created.status.success(), "{}", text(&created.stderr));
    let line = format!("{convert} 2> shown.txt | funil import --instance {instance} -");
    let imported = shell(home, running, &line);
    let shown = fs::read_to_string(home.join("shown.txt")).unwrap();
    assert!(imported.status.success(), "{}\n{shown}", text(&imported.stderr));
    let key = &issued(
        home,
        running,
        &format!("funil key issue --instance {instance} --user 1 --label board"),
    );
    assert_eq!(boards(running, instance, key), export.board, "{shown}");
    report(&shown, export);
    assert!(
        shown.contains(&format!("columns of {}\n", export.product)),
        "{shown}"
    );
    let token = issued(
        home,
        running,
        &format!("funil token issue --instance {instance} --user 1"),
    );
    let made = make_lead(
        running,
        instance,
        &[("apitoken", key), ("authorization", &format!("Bearer {token}"))],
    );
    let convert = convert.replace("--zone America/Sao_Paulo", &format!("--instance {instance}"));
    again(home, running, &convert, instance);
    check_leads(home, export);
    assert_eq!(boards(running, instance, key), export.board, "{shown}");
    newer(home, running, &convert, instance, made);
}

/// Makes a lead through the API, and returns its id.
fn make_lead(running: &Running, instance: &str, headers: &[(&str, &str)]) -> u64 {
    let path = format!("/leads?i={instance}");
    let body = r#"{"firstname":"Visita","phone":"(11) 98765-0001"}"#;
    let (status, answer) = ask(&running.url, "POST", &path, headers, body).unwrap();
    assert_eq!(status, 200, "{answer}");
    let lead: Value = serde_json::from_str(&answer).unwrap();
    lead["id"].as_u64().unwrap()
}

/// A newer export has a person with the id of the lead that was made here. Its deal does not become that lead's.
fn newer(home: &Path, running: &Running, convert: &str, instance: &str, made: u64) {
    let people = format!("Record ID,First Name,Last Name,Email\n{made},Nova,Pessoa,nova@example.com\n");
    fs::write(home.join("newer-people.csv"), people).unwrap();
    let deals = format!(
        "Record ID,Deal Name,Deal Stage,Amount,Deal owner,Create Date,Associated Contact IDs\n77,Nova,Novo,5.00,Ana,2026-01-01,{made}\n"
    );
    fs::write(home.join("newer-deals.csv"), deals).unwrap();
    let (options, _) = convert.split_once(" --admin").unwrap();
    let line = format!(
        "{options} newer-people.csv newer-deals.csv 2> newer.txt | funil import --instance {instance} --json -"
    );
    let imported = shell(home, running, &line);
    let shown = fs::read_to_string(home.join("newer.txt")).unwrap();
    let document: Value = serde_json::from_slice(&imported.stdout).unwrap();
    assert_eq!(document["refused"], json!([]), "{shown}");
    let export = text(&shell(home, running, &format!("funil export --instance {instance}")).stdout);
    let records: Vec<Value> = export
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let lead = |name: &str| records.iter().find(|record| record["firstname"] == name).unwrap();
    let deal = records.iter().find(|record| record["title"] == "Nova").unwrap();
    assert_eq!(
        (&lead("Visita")["id"], &deal["lead_id"]),
        (&json!(made), &lead("Nova")["id"])
    );
    let doctor = shell(home, running, &format!("funil doctor --instance {instance}"));
    assert!(doctor.status.success(), "{}", text(&doctor.stdout));
}

/// Standard error names each bad row and each duplicate, and shows the mapping.
fn report(shown: &str, export: &Export) {
    for expected in export.bad.iter().chain(&export.shown) {
        assert!(shown.contains(expected), "{expected}\n{shown}");
    }
    let bad = shown.lines().filter(|line| {
        export.files.iter().any(|(name, _)| {
            let line = line.strip_prefix(name).and_then(|rest| rest.strip_prefix(':'));
            line.is_some_and(|line| line.starts_with(|first: char| first.is_ascii_digit()))
        })
    });
    assert_eq!(bad.count(), export.bad.len(), "{shown}");
    let twice = shown
        .lines()
        .filter(|line| line.starts_with("duplicate e-mail"))
        .count();
    assert_eq!(twice, export.duplicates, "{shown}");
}

/// A second conversion gives the same lines, and a second import changes nothing.
fn again(home: &Path, running: &Running, convert: &str, instance: &str) {
    let first = shell(home, running, &format!("{convert} 2> again.txt"));
    assert_eq!(first.status.code(), Some(1), "rows are left out");
    fs::write(home.join("data.ndjson"), &first.stdout).unwrap();
    let second = shell(home, running, &format!("{convert} 2> again.txt"));
    assert!(first.stdout == second.stdout);
    let line = format!("funil import --instance {instance} --json data.ndjson");
    let imported = shell(home, running, &line);
    let document: Value = serde_json::from_slice(&imported.stdout).unwrap();
    assert_eq!(
        (&document["imported"], &document["refused"]),
        (&json!(0), &json!([])),
        "{document}"
    );
}

/// The leads have the generated numbers and times.
fn check_leads(home: &Path, export: &Export) {
    let data = fs::read_to_string(home.join("data.ndjson")).unwrap();
    let lines = data
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let leads: BTreeMap<_, _> = lines
        .filter(|line| line["kind"] == "lead")
        .map(|lead| (lead["email"].as_str().unwrap_or_default().to_owned(), lead))
        .collect();
    assert!(export.phones.len() > 100);
    for (email, phone) in &export.phones {
        let lead = &leads[email];
        let own = ["phone", "mobile", "chatapp"].map(|field| &lead[field]);
        assert!(own.contains(&&json!(phone)), "{phone}: {lead}");
    }
}

/// HubSpot: three files in UTF-8, with ids.
#[test]
fn hubspot_to_a_board() {
    let home = tempfile::tempdir().unwrap();
    let running = Running::start(home.path(), &["--empty"]);
    walk(&running, "hub", &exports::hubspot(20_261_122));
}

/// Pipedrive: one Portuguese file of deals, people and organizations, in UTF-16 with tabs.
#[test]
fn pipedrive_to_a_board() {
    let home = tempfile::tempdir().unwrap();
    let running = Running::start(home.path(), &["--empty"]);
    walk(&running, "pipe", &exports::pipedrive(7));
}

/// RD Station: one file in Latin-1 with semicolons, decimal commas and local dates, without ids.
#[test]
fn rdstation_to_a_board() {
    let home = tempfile::tempdir().unwrap();
    let running = Running::start(home.path(), &["--empty"]);
    walk(&running, "rd", &exports::rdstation(99));
}

/// After the documented commands a day of a filter is one of the deals' local days: the import sets the instance's zone.
#[test]
fn days_are_those_of_the_files() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path();
    let running = Running::start(home, &["--empty"]);
    let rows = [
        ("Noite", "13/02/2026 22:30"),
        ("Dia", "13/02/2026 09:00"),
        ("Depois", "14/02/2026 00:00"),
    ];
    let rows = rows.map(|(title, at)| format!("{title};Lia;lia@example.com;10,00;Novo;{at}\n"));
    let text = "Oportunidade;Cliente;E-mail;Valor;Etapa;Criado em\n".to_owned() + &rows.concat();
    fs::write(home.join("deals.csv"), text).unwrap();
    for line in [
        "funil instance create acme",
        "funil convert --zone America/Sao_Paulo --admin ana@example.com deals.csv | funil import --instance acme -",
    ] {
        let ended = shell(home, &running, line);
        assert!(ended.status.success(), "{}", self::text(&ended.stderr));
    }
    let key = issued(
        home,
        &running,
        "funil key issue --instance acme --user 1 --label board",
    );
    let path = format!("/crm/opportunities/1?i=acme&apitoken={key}");
    for (start, end, titles) in [
        ("2026-02-13", "2026-02-13", &["Noite", "Dia"][..]),
        ("2026-02-14", "2026-02-14", &["Depois"]),
    ] {
        let day = json!({ "start": start, "end": end });
        let body = json!({ "page": 1, "limit": 25, "filterByCreateDate": day }).to_string();
        let (_, answer) = ask(&running.url, "POST", &path, &[], &body).unwrap();
        let columns: Value = serde_json::from_str(&answer).unwrap();
        let items = columns[0]["items"].as_array().unwrap();
        let found: Vec<_> = items.iter().map(|item| item["title"].as_str().unwrap()).collect();
        assert_eq!(found, titles, "{answer}");
    }
}
