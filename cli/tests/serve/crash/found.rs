//! The records of an export, by their references.

use std::collections::BTreeMap;
use std::fmt::Debug;

use serde_json::Value;

use super::deed::marks;

/// The records of an export.
#[derive(Debug, Default)]
pub struct Found {
    pub leads: BTreeMap<u64, Value>,
    /// By title, except those created by automations.
    pub opportunities: BTreeMap<String, Value>,
    pub made_by_automations: Vec<Value>,
    /// By the reference in their properties.
    pub meetings: BTreeMap<String, Value>,
    /// By `callId`.
    pub calls: BTreeMap<String, Value>,
    /// The lead of each call's event.
    pub events: BTreeMap<u64, u64>,
    /// The tickets of each lead.
    pub tickets: BTreeMap<u64, usize>,
    /// Persons whose data occurs anywhere.
    pub marks: Vec<u64>,
}

/// Title of opportunities created by automations.
pub const MADE: &str = "Ligou";

impl Found {
    /// Parses an export, without the demo's records except its leads.
    ///
    /// # Panics
    /// If a record occurs twice.
    pub fn read(export: &str) -> Self {
        let mut found = Self::default();
        for line in export.lines() {
            let record: Value = serde_json::from_str(line).unwrap();
            found.note(record);
        }
        found.marks = marks(export).collect();
        found
    }

    fn note(&mut self, record: Value) {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let own = |reference: &str| reference.starts_with('r') && reference.ends_with('.');
        match record["kind"].as_str().unwrap() {
            "lead" => once(&mut self.leads, id(&record), record),
            "opportunity" => {
                let title = text(&record["title"]);
                if title == MADE {
                    self.made_by_automations.push(record);
                } else if own(&title) {
                    once(&mut self.opportunities, title, record);
                }
            }
            "meeting" if record["calendarId"] == 60 => {
                once(&mut self.meetings, text(&record["properties"]["ref"]), record);
            }
            "call" if own(&text(&record["callId"])) => once(&mut self.calls, text(&record["callId"]), record),
            "event" if own(&text(&record["callId"])) => {
                let call = record["call"].as_u64().unwrap();
                once(&mut self.events, call, record["lead"].as_u64().unwrap());
            }
            "ticket" => {
                if let Some(lead) = record["lead_relation"].as_u64() {
                    *self.tickets.entry(lead).or_default() += 1;
                }
            }
            _ => {}
        }
    }

    /// Number of incoming calls of each lead. Those of erased leads are under 0.
    pub fn incoming(&self) -> BTreeMap<u64, u64> {
        let incoming = self.calls.values().filter(|call| call["type"] == "INCOMING");
        count(incoming.map(|call| call["lead"].as_u64()))
    }

    /// Number of opportunities that automations created for each lead.
    pub fn made(&self) -> BTreeMap<u64, u64> {
        count(
            self.made_by_automations
                .iter()
                .map(|made| made["lead_id"].as_u64()),
        )
    }

    /// Number of leads, archived or not.
    pub fn count_leads(&self, archived: bool) -> usize {
        let of = |lead: &&Value| (lead["archived"] == true) == archived;
        self.leads.values().filter(of).count()
    }
}

pub fn id(record: &Value) -> u64 {
    record["id"].as_u64().unwrap()
}

fn count(leads: impl Iterator<Item = Option<u64>>) -> BTreeMap<u64, u64> {
    let mut counts = BTreeMap::new();
    for lead in leads {
        *counts.entry(lead.unwrap_or(0)).or_default() += 1;
    }
    counts
}

fn once<K: Ord + Debug, R: Debug>(known: &mut BTreeMap<K, R>, key: K, record: R) {
    let before = known.insert(key, record);
    assert!(before.is_none(), "there is another of {before:?}");
}
