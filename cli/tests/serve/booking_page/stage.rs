//! Fixtures of the booking page's tests: a service with calendars, and a browser.

use serde_json::{Map, Value, json};
use tempfile::TempDir;

use super::browser::{Browser, Visitor};
use crate::running::{Running, ask};

/// A published calendar with six times on every day, one with a horizon in the past, and one with times in the night.
const CALENDARS: [(u64, &str, &str, [&str; 2], &str); 3] = [
    (50, "conversa", "America/Sao_Paulo", ["09:00", "12:00"], UNLIMITED),
    (
        51,
        "passado",
        "America/Sao_Paulo",
        ["09:00", "12:00"],
        r#"{"type": "between", "start": "2020-01-01", "end": "2020-01-31"}"#,
    ),
    (52, "noite", "America/New_York", ["00:00", "03:00"], UNLIMITED),
];
const UNLIMITED: &str = r#"{"type": "unlimited"}"#;

pub const PAULISTA: Visitor = Visitor {
    languages: "pt-BR,pt,en",
    zone: "America/Sao_Paulo",
};
pub const JAPANESE: Visitor = Visitor {
    languages: "ja-JP,en-GB,pt",
    zone: "Asia/Tokyo",
};
pub const NEW_YORKER: Visitor = Visitor {
    languages: "en-US",
    zone: "America/New_York",
};
pub const WITHOUT_ZONE: Visitor = Visitor {
    languages: "pt-BR",
    zone: "",
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
    home: TempDir,
}

impl Stage {
    /// Starts both; `None` without a browser.
    pub fn set() -> Option<Self> {
        let browser = Browser::start()?;
        let home = tempfile::tempdir().unwrap();
        let running = Running::with_demo(home.path());
        let stage = Self {
            running,
            browser,
            home,
        };
        stage.import(&CALENDARS.map(calendar));
        Some(stage)
    }

    /// Makes the first calendar inactive.
    pub fn unpublish(&self) {
        let published = calendar(CALENDARS[0]);
        self.import(&[published.replace(r#""isPublished":true"#, r#""isPublished":false"#)]);
    }

    fn import(&self, lines: &[String]) {
        let file = self.home.path().join("calendars.ndjson");
        std::fs::write(&file, lines.join("\n")).unwrap();
        let file = file.to_str().unwrap();
        let imported = self.running.funil(&["import", "--instance", "demo", file]);
        assert!(imported.status.success(), "{imported:?}");
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
        self.post(slot, &json!({ "firstname": "Outra" }), &json!({}));
    }

    /// Cancels the meeting of a link elsewhere.
    pub fn cancel(&self, slot: &str, link: &str) {
        let mut parts = link.trim_start_matches('#').split('.');
        let id: u64 = parts.next().unwrap().parse().unwrap();
        let proof = json!({ "cancelMeetingId": id, "rescheduleKey": parts.next().unwrap() });
        self.post(slot, &Value::Null, &proof);
    }

    fn post(&self, slot: &str, form: &Value, properties: &Value) {
        let body = json!({ "keyName": "conversa", "date": slot, "leadId": null, "formData": form,
            "properties": properties });
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

    /// The fragment of the meeting's link.
    pub fn link(&mut self) -> String {
        let link = self.browser.evaluate("document.getElementById('link').hash");
        link.as_str().unwrap().to_owned()
    }

    /// The unfolded lines of the file for the visitor's own calendar, without those of the change's time. Checks that
    /// lines have at most 75 bytes and are folded only where the next character would not fit.
    #[track_caller]
    pub fn file(&mut self) -> Vec<String> {
        let file = "decodeURIComponent(document.getElementById('file').href.split(',')[1])";
        let file = self.browser.evaluate(file);
        let file = file.as_str().unwrap().strip_suffix("\r\n").unwrap();
        let lines: Vec<_> = file.split("\r\n").collect();
        for (line, next) in lines.iter().zip(lines.iter().skip(1).chain([&""])) {
            let continued = next.strip_prefix(' ').and_then(|next| next.chars().next());
            let is_full = continued.is_none_or(|first| line.len() + first.len_utf8() > 75);
            assert!(line.len() <= 75 && is_full, "{lines:#?}");
        }
        let (file, mut changes) = (file.replace("\r\n ", ""), 0);
        let is_kept = |line: &&str| {
            let change = line
                .strip_prefix("DTSTAMP:")
                .or(line.strip_prefix("LAST-MODIFIED:"));
            // The calendar was changed before.
            let is_time = change.is_some_and(|time| time.len() == 16 && time > "20260105T120000Z");
            changes += usize::from(is_time);
            !is_time
        };
        let kept = file.split("\r\n").filter(is_kept).map(str::to_owned).collect();
        assert_eq!(changes, 2, "{file}");
        kept
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
fn calendar((id, name, zone, opening, horizon): (u64, &str, &str, [&str; 2], &str)) -> String {
    let days = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
    let hours: Map<_, _> = days
        .map(|day| (day.to_owned(), json!([opening])))
        .into_iter()
        .collect();
    let horizon: Value = serde_json::from_str(horizon).unwrap();
    let line = json!({ "kind": "calendar", "id": id, "name": "Conversa", "host": "Bruno Lima", "keyName": name, "publicId": name,
        "isPublished": true, "userId": 7, "timezone": zone, "durationMinutes": 30, "hours": hours,
        "horizon": horizon, "createDate": "2026-01-05T12:00:00.000Z", "updateDate": "2026-01-05T12:00:00.000Z" });
    line.to_string()
}

/// The times in `before` that are not in `after`.
pub fn gone(before: &[String], after: &[String]) -> Vec<String> {
    let gone = before.iter().filter(|slot| !after.contains(slot));
    gone.cloned().collect()
}
