//! An import accepts the responses of endpoints 1 to 18 as lines (C-105).

use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::running::{Running, ask};

/// A running service with the demo.
struct Demo {
    running: Running,
    key: String,
    lines: Vec<String>,
}

impl Demo {
    fn funil(&self, arguments: &str, input: &str) -> String {
        let mut command = Command::new(env!("CARGO_BIN_EXE_funil"));
        command
            .args(["--data", self.running.data()])
            .args(arguments.split(' '));
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .env_remove("TABLE_NAME");
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
    }

    fn read(&self, method: &str, path: &str, body: &Value) -> Value {
        let mark = if path.contains('?') { '&' } else { '?' };
        let path = format!("{path}{mark}i=demo&apitoken={}", self.key);
        let body = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        let (status, answer) = ask(&self.running.url, method, &path, &[], &body).unwrap();
        assert_eq!(status, 200, "{path}: {answer}");
        serde_json::from_str(&answer).unwrap()
    }

    fn get(&self, path: &str) -> Value {
        self.read("GET", path, &Value::Null)
    }

    /// Adds records of a response with their kind.
    fn take(&mut self, kind: &str, records: &Value) {
        assert!(!records.is_null(), "{kind}");
        let one = [records.clone()];
        for record in records.as_array().map_or(&one[..], Vec::as_slice) {
            let mut line = record.clone();
            line["kind"] = json!(kind);
            self.lines.push(line.to_string());
        }
    }

    /// Adds the leads of endpoints 1 and 2, with every selection.
    fn leads(&mut self) -> Vec<u64> {
        let listed = self.get("/leads?limit=200&allFields=1")["data"]["leads"].clone();
        let ids: Vec<_> = listed
            .as_array()
            .unwrap()
            .iter()
            .map(|lead| lead["id"].as_u64().unwrap())
            .collect();
        assert!(ids.len() > 190);
        self.take("lead", &listed);
        // The list omits the archived lead 1012.
        for id in ids[..20].iter().chain(&[1012]) {
            let lead = self.get(&format!("/leads/{id}?allFields=1"))["data"]["lead"].clone();
            self.take("lead", &lead);
        }
        ids
    }

    /// Adds the opportunities of endpoints 9 and 10, the leads and companies in them, and the funnels.
    fn opportunities(&mut self) {
        let funnels = self.get("/crm");
        self.take("funnel", &funnels);
        for funnel in funnels.as_array().unwrap() {
            let path = format!("/crm/opportunities/{}", funnel["id"]);
            let board = self.read("POST", &path, &json!({ "page": 1, "limit": 25 }));
            for column in board.as_array().unwrap() {
                for (page, archived) in [(1, true), (1, false), (2, false)] {
                    let mut request = json!({ "page": page, "limit": 100, "columnId": column["id"] });
                    request["onlyArchived"] = json!(archived);
                    let items = self.read("POST", &path, &request);
                    let items = items.as_array().unwrap();
                    for item in items {
                        if !item["dataCompany"].is_null() {
                            self.take("company", &item["dataCompany"]);
                        }
                        self.take("opportunity", item);
                    }
                }
            }
        }
        let one = self.get("/crmopportunity/14");
        self.take("opportunity", &one);
    }

    /// Adds the records of leads: opportunities, tickets and files.
    fn of_leads(&mut self, leads: &[u64]) {
        for lead in leads {
            let opportunities = self.get(&format!("/listopportunitysleadcomplete/{lead}"));
            self.take("opportunity", &opportunities);
            let tickets = self.get(&format!("/sac360/lead/{lead}"));
            self.take("ticket", &tickets);
            for ticket in tickets.as_array().unwrap() {
                let mut files = self.get(&format!("/sac360/list_file_attendance/{}", ticket["id"]));
                // The response omits the ticket, which is in the path.
                files
                    .as_array_mut()
                    .unwrap()
                    .iter_mut()
                    .for_each(|file| file["ticket"] = ticket["id"].clone());
                self.take("file", &files);
            }
        }
    }

    fn meetings(&mut self) {
        for calendar in [1, 2] {
            let path = format!("/calendarmeeting/{calendar}?limit=100&from=2020-01-01T00:00:00Z");
            let meetings = self.get(&path)["data"]["meetings"].clone();
            self.take("meeting", &meetings);
        }
    }

    /// The exported lines of a kind.
    fn exported(&self, instance: &str, kind: &str) -> Vec<String> {
        let export = self.funil(&format!("export --instance {instance}"), "");
        let start = format!(r#"{{"kind":"{kind}","#);
        export
            .lines()
            .filter(|line| line.starts_with(&start))
            .map(str::to_owned)
            .collect()
    }
}

#[test]
fn answers_are_lines_of_an_import() {
    let home = tempfile::tempdir().unwrap();
    let running = Running::with_demo(home.path());
    let key = running.word("API key");
    let mut demo = Demo {
        running,
        key,
        lines: Vec::new(),
    };
    demo.funil("instance set demo credential_placement anywhere", "");
    let leads = demo.leads();
    demo.opportunities();
    demo.of_leads(&leads);
    demo.meetings();
    for kind in ["tag", "lossReason"] {
        let path = if kind == "tag" { "/tags" } else { "/crmlossreason" };
        let listed = demo.get(path);
        demo.take(kind, &listed);
    }
    // No response contains these records completely.
    demo.funil("instance create copy", "");
    let given = ["setting", "department", "group", "user", "company", "calendar"];
    let given = given
        .iter()
        .flat_map(|kind| demo.exported("demo", kind))
        .collect::<Vec<_>>()
        .join("\n");
    demo.funil("import --instance copy -", &given);
    let imported = demo.funil("import --instance copy --json -", &demo.lines.join("\n"));
    let imported: Value = serde_json::from_str(&imported).unwrap();
    assert_eq!(imported["refused"], json!([]), "{imported}");
    // Responses do not contain the access to a funnel.
    assert_eq!(demo.exported("copy", "funnel").len(), 2);
    for kind in ["opportunity", "ticket", "file", "tag", "lossReason"] {
        assert_eq!(demo.exported("copy", kind), demo.exported("demo", kind), "{kind}");
    }
    assert_eq!(demo.exported("copy", "lead").len(), leads.len() + 1);
}
