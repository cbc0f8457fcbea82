//! Fixtures of the booking page's tests: a service with calendars, and a browser.

use serde_json::{Map, Value, json};
use tempfile::TempDir;

use super::browser::{Browser, Visitor};
use crate::running::{Running, ask};

/// A published calendar with six times on every day, and one with a horizon in the past.
const CALENDARS: [(u64, &str, &str); 2] = [
    (50, "conversa", r#"{"type": "unlimited"}"#),
    (
        51,
        "passado",
        r#"{"type": "between", "start": "2020-01-01", "end": "2020-01-31"}"#,
    ),
];

pub const PAULISTA: Visitor = Visitor {
    languages: "pt-BR,pt,en",
    zone: "America/Sao_Paulo",
};
pub const JAPANESE: Visitor = Visitor {
    languages: "ja-JP,en-GB,pt",
    zone: "Asia/Tokyo",
};

pub const CHOOSING: &str = "!document.getElementById('choose').hidden";
pub const CONFIRMING: &str = "!document.getElementById('details').hidden";
pub const BOOKED: &str = "!document.getElementById('done').hidden";
pub const TOLD: &str = "!document.getElementById('alert').hidden";
pub const FAILED: &str = "!document.getElementById('failed').hidden";

/// A service with the calendars, and a browser.
pub struct Stage {
    pub running: Running,
    pub browser: Browser,
    _home: TempDir,
}

impl Stage {
    /// Starts both; `None` without a browser.
    pub fn set() -> Option<Self> {
        let browser = Browser::start()?;
        let home = tempfile::tempdir().unwrap();
        let running = Running::with_demo(home.path());
        let lines = home.path().join("calendars.ndjson");
        std::fs::write(&lines, CALENDARS.map(calendar).join("\n")).unwrap();
        let lines = lines.to_str().unwrap();
        let imported = running.funil(&["import", "--instance", "demo", lines]);
        assert!(imported.status.success(), "{imported:?}");
        Some(Self {
            running,
            browser,
            _home: home,
        })
    }

    /// Opens the calendar's link with this suffix.
    pub fn open(&mut self, visitor: Visitor, behind: &str) {
        self.open_link(visitor, &format!("demo/conversa{behind}"), CHOOSING);
    }

    /// Opens a link and waits for a condition.
    pub fn open_link(&mut self, visitor: Visitor, link: &str, condition: &str) {
        let url = format!("{}/book/{link}", self.running.url);
        self.browser.open(visitor, &url, condition);
    }

    /// All free times, from the service.
    pub fn free(&self) -> Vec<String> {
        let (status, body) = self
            .running
            .get("/calendarmeeting/slots?i=demo&keyName=conversa", &[]);
        assert_eq!(status, 200, "{body}");
        let body: Value = serde_json::from_str(&body).unwrap();
        serde_json::from_value(body["data"]["slots"].clone()).unwrap()
    }

    /// Books a time for another visitor.
    pub fn take(&self, slot: &str) {
        let body = json!({ "keyName": "conversa", "date": slot, "leadId": null,
            "formData": { "firstname": "Outra" }, "properties": {} });
        let headers = [("content-type", "application/json")];
        let answer = ask(
            &self.running.url,
            "POST",
            "/calendarmeeting?i=demo",
            &headers,
            &body.to_string(),
        );
        assert_eq!(answer.map(|(status, _)| status), Some(200));
    }

    /// Opens the fifth day of the next month, because its times do not pass during the test. Returns its fourth and
    /// fifth time.
    pub fn next_month(&mut self) -> [String; 2] {
        self.browser
            .evaluate("window.before = document.getElementById('month').textContent");
        self.browser.click("#later", 1);
        self.browser
            .until("document.getElementById('month').textContent !== before && !working");
        self.browser.click("#grid label:nth-of-type(5)", 1);
        let times = self
            .browser
            .evaluate("[...document.querySelectorAll('#list button')].map(button => button.value)");
        let times: Vec<String> = serde_json::from_value(times).unwrap();
        assert!(times.len() > 4, "{times:?}");
        [times[3].clone(), times[4].clone()]
    }

    pub fn choose(&mut self, slot: &str) {
        self.browser.click(&format!("#list button[value=\"{slot}\"]"), 1);
        self.browser.until(CONFIRMING);
    }

    pub fn fill_in(&mut self) {
        for (name, text) in [("firstname", "Zoé"), ("email", "zoe@example.com")] {
            self.browser.click(&format!("input[name={name}]"), 1);
            self.browser.write(text);
        }
    }

    pub fn book(&mut self, slot: &str) {
        self.choose(slot);
        self.fill_in();
        self.browser.click("#send", 1);
        self.browser.until(BOOKED);
    }

    /// The fragment of the link that moves the meeting, without its date.
    pub fn link(&mut self) -> String {
        let link = "document.getElementById('link').hash.replace(/\\.\\d+$/, '')";
        self.browser.evaluate(link).as_str().unwrap().to_owned()
    }

    /// The date in the fragment of that link.
    pub fn date_of_link(&mut self) -> String {
        let date = "new Date(Number(document.getElementById('link').hash.split('.').at(-1))).toISOString()";
        self.browser.evaluate(date).as_str().unwrap().to_owned()
    }

    /// The details of the confirmation, by name.
    pub fn facts(&mut self) -> Value {
        self.browser.evaluate(
            "[...document.querySelectorAll('#facts div')].map(fact => [...fact.children].map(part => part.textContent))",
        )
    }

    /// The booking number, which is the last detail of the confirmation.
    pub fn number(&mut self) -> String {
        let number = self
            .browser
            .evaluate("document.querySelector('#facts div:last-child dd').textContent");
        number.as_str().unwrap().to_owned()
    }

    #[track_caller]
    pub fn is_sound(&mut self) {
        assert_eq!(self.browser.faults(), Vec::<Value>::new());
    }
}

/// The import line of a calendar.
fn calendar((id, name, horizon): (u64, &str, &str)) -> String {
    let days = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
    let hours: Map<_, _> = days
        .map(|day| (day.to_owned(), json!([["09:00", "12:00"]])))
        .into_iter()
        .collect();
    let horizon: Value = serde_json::from_str(horizon).unwrap();
    let line = json!({ "kind": "calendar", "id": id, "name": "Conversa", "host": "Bruno Lima", "keyName": name, "publicId": name,
        "isPublished": true, "userId": 7, "timezone": "America/Sao_Paulo", "durationMinutes": 30, "hours": hours,
        "horizon": horizon, "createDate": "2026-01-05T12:00:00.000Z", "updateDate": "2026-01-05T12:00:00.000Z" });
    line.to_string()
}

/// The times in `before` that are not in `after`.
pub fn gone(before: &[String], after: &[String]) -> Vec<String> {
    let gone = before.iter().filter(|slot| !after.contains(slot));
    gone.cloned().collect()
}
