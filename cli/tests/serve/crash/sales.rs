//! Sellers who make and change opportunities until the service goes away, and what they were told.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use serde_json::{Value, json};

use crate::running::{Running, ask};

/// Leads that are called while they are sold to.
pub const LEADS: [u64; 2] = [1001, 1004];
const CHANGES: u64 = 4;

/// What became of an opportunity, by its title, as far as its seller knows.
#[derive(Debug, Clone, Default)]
struct Told {
    /// Its id, once that was answered.
    id: Option<u64>,
    /// The values that it may have: the one last acknowledged, and behind it the one whose answer was cut off.
    values: Vec<u64>,
}

/// The sellers' credentials and what they were told.
pub struct Sales {
    key: String,
    bearer: String,
    told: Mutex<BTreeMap<String, Told>>,
    acknowledged: AtomicU64,
}

impl Sales {
    /// With the demo's credentials, which are printed when it is loaded.
    pub fn open(running: &Running) -> Self {
        Self {
            key: running.word("API key"),
            bearer: format!("Bearer {}", running.word("access token")),
            told: Mutex::default(),
            acknowledged: AtomicU64::new(0),
        }
    }

    /// How many requests were acknowledged.
    pub fn acknowledged(&self) -> u64 {
        self.acknowledged.load(Ordering::Relaxed)
    }

    /// Makes opportunities and changes each a few times, until told to stop or cut off.
    pub fn sell(&self, url: &str, seller: &str, stop: &AtomicBool) {
        for number in 0.. {
            let title = format!("{seller}/{number}");
            self.tell(&title, None, number);
            let Some(id) = self.make(url, &title, number) else {
                return;
            };
            self.settle(&title, Some(id), number);
            for change in 1..=CHANGES {
                if stop.load(Ordering::Relaxed) {
                    return;
                }
                let value = number + change * 1000;
                let column = 31 + (number + change) % 3;
                let status = ["open", "gain", "lost"][usize::try_from((number + change) % 3).unwrap()];
                let body = json!({ "value": value, "crm_column": column, "status": status });
                self.tell(&title, Some(id), value);
                let path = format!("/crmopportunity/{id}?id=3&i=demo");
                let Some((200, _)) = ask(url, "PUT", &path, &self.headers(&[]), &body.to_string()) else {
                    return;
                };
                self.settle(&title, Some(id), value);
            }
        }
    }

    /// Makes an opportunity, or finds the one that an equal request made (C-10).
    fn make(&self, url: &str, title: &str, value: u64) -> Option<u64> {
        let lead = LEADS[usize::try_from(value % 2).unwrap()];
        let body = json!({ "title": title, "crm_column": 31 + value % 3, "lead_id": lead, "value": value });
        let headers = self.headers(&[("idempotency-key", title)]);
        let (status, answer) = ask(
            url,
            "POST",
            "/crmopportunity?id=3&i=demo",
            &headers,
            &body.to_string(),
        )?;
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(status, 200, "{answer}");
        answer["id"].as_u64()
    }

    fn headers<'a>(&'a self, more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
        [
            &[
                ("apitoken", self.key.as_str()),
                ("authorization", self.bearer.as_str()),
            ],
            more,
        ]
        .concat()
    }

    /// A value is on its way.
    fn tell(&self, title: &str, id: Option<u64>, value: u64) {
        let mut told = self.told.lock().unwrap();
        let told = told.entry(title.to_owned()).or_default();
        told.id = id;
        told.values.push(value);
    }

    /// A value is acknowledged.
    fn settle(&self, title: &str, id: Option<u64>, value: u64) {
        let values = vec![value];
        self.told
            .lock()
            .unwrap()
            .insert(title.to_owned(), Told { id, values });
        self.acknowledged.fetch_add(1, Ordering::Relaxed);
    }

    /// Everything acknowledged is there, each opportunity once; what was cut off is there as it was to be or as it was.
    pub fn check(&self, running: &Running, records: &dyn Fn() -> Vec<Value>) {
        let told = self.told.lock().unwrap().clone();
        for (title, told) in told.iter().filter(|(_, told)| told.id.is_none()) {
            assert!(
                self.make(&running.url, title, told.values[0]).is_some(),
                "sent again"
            );
        }
        let mut found = BTreeSet::new();
        for record in records().iter().filter(|record| record["kind"] == "opportunity") {
            if let Some((title, told)) = told.get_key_value(record["title"].as_str().unwrap()) {
                let value = record["value"].as_str().unwrap();
                let may = told.values.iter().any(|known| format!("{known}.00") == value);
                assert!(may, "{title}: {value}, not {:?}", told.values);
                assert!(told.id.is_none_or(|id| record["id"] == id), "{title}");
                assert!(found.insert(title), "{title} twice");
            }
        }
        let missing: Vec<_> = told.keys().filter(|title| !found.contains(title)).collect();
        assert!(missing.is_empty(), "lost: {missing:?}");
    }

    /// What opportunities show of their leads is what the leads say.
    pub fn check_leads(&self, running: &Running) {
        let headers = self.headers(&[]);
        let path = format!("/crm/opportunities/3?i=demo&apitoken={}", self.key);
        let body = json!({ "page": 1, "limit": 100 }).to_string();
        let (status, board) = ask(&running.url, "POST", &path, &[], &body).unwrap();
        assert_eq!(status, 200, "{board}");
        let board: Value = serde_json::from_str(&board).unwrap();
        for lead in LEADS {
            let path = format!("/leads/{lead}?i=demo&query=%7Blead%7BlastActive%7D%7D");
            let (_, answer) = running.get(&path, &headers);
            let answer: Value = serde_json::from_str(&answer).unwrap();
            let columns = board.as_array().unwrap().iter();
            let shown = columns.flat_map(|column| column["items"].as_array().unwrap());
            let mut shown = shown.filter(|shown| shown["lead_id"] == lead).peekable();
            assert!(shown.peek().is_some());
            assert!(
                shown.all(|shown| shown["dataLead"]["lastActive"] == answer["data"]["lead"]["lastActive"])
            );
        }
    }
}
