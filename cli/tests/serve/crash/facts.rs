//! Notifications of writes (C-102): each write raises those of its events exactly once, in spite of kills.
//!
//! Their receiver does not exist, so no notification is delivered and removed from the table. Each write remains as an
//! entry of the outbox or as the notifications created from it, under the record's version after the write.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::found::Found;
use super::ledger::{Ledger, Life};
use super::verdict::Faults;

/// The automations by id, and the event of each.
const WATCHED: [(u64, &str); 8] = [
    (91, "lead.created"),
    (92, "lead.updated"),
    (93, "lead.archived"),
    (94, "opportunity.created"),
    (95, "opportunity.updated"),
    (96, "opportunity.columnChanged"),
    (97, "meeting.booked"),
    (98, "meeting.moved"),
];

/// Automation, kind and id of the record.
type NotifiedRecord = (u64, String, u64);
/// A notified record with its version after the write.
type NotifiedWrite = (NotifiedRecord, u64);

/// The lines of the automations.
pub fn automations() -> impl Iterator<Item = Value> {
    WATCHED.into_iter().map(|(id, event)| {
        let (trigger, event) = event.split_once('.').unwrap();
        json!({ "kind": "automation", "id": id, "name": "Avisar", "trigger": trigger, "event": event,
            "actions": [{ "type": "notify", "url": "https://nobody.example/hook", "secret": "whsec_crash" }] })
    })
}

/// The notified writes of an item of the table.
pub fn facts_of(item: &str) -> BTreeSet<NotifiedWrite> {
    let item: Value = serde_json::from_str(item).unwrap();
    if item["pk"]["S"] != "demo#trigger" {
        return BTreeSet::new();
    }
    let key: Vec<_> = item["sk"]["S"].as_str().unwrap().split('#').collect();
    let fact = |automation, kind: &str, id: &str, version: &str| {
        let told = (automation, kind.to_owned(), id.parse().unwrap());
        (told, version.parse().unwrap())
    };
    match key[..] {
        ["send", kind, id, version, automation, _] => {
            let automation = automation.parse().unwrap();
            let own = WATCHED.into_iter().any(|(id, _)| id == automation);
            own.then(|| fact(automation, kind, id, version))
                .into_iter()
                .collect()
        }
        ["fact", kind, id, version] => {
            let text = item["fact"]["S"].as_str().unwrap();
            let raised: Value = serde_json::from_str(text).unwrap();
            let events = raised["events"].as_array().unwrap();
            let automations = WATCHED
                .into_iter()
                .filter(|(_, event)| events.contains(&json!(event)));
            automations
                .map(|(automation, _)| fact(automation, kind, id, version))
                .collect()
        }
        _ => BTreeSet::new(),
    }
}

/// An item with a notification without a write.
pub fn made_up(((automation, kind, id), _): &NotifiedWrite) -> String {
    let key = format!("send#{kind}#{id:015}#{:015}#{automation:015}#00", u32::MAX);
    json!({ "pk": { "S": "demo#trigger" }, "sk": { "S": key } }).to_string()
}

/// The number of writes with pending automations.
pub fn waiting(items: &[String]) -> usize {
    items.iter().filter(|item| item.contains("\"fact#")).count()
}

impl Ledger {
    /// Compares the notified writes of a table with the acknowledged ones, after every request is resolved. `found`
    /// contains the leads of calls.
    pub fn judge_facts(&self, items: &[String], found: Option<&Found>) -> Faults {
        let mut faults = Faults::default();
        let raised: BTreeSet<_> = items.iter().flat_map(|item| facts_of(item)).collect();
        let mut counts = BTreeMap::<NotifiedRecord, u64>::new();
        for (told, _) in raised.into_iter().filter(|fact| self.is_judged(fact, found)) {
            *counts.entry(told).or_default() += 1;
        }
        let mut expected = self.expected_facts();
        let called = |record: &&Value| record["createdByType"] == "voip";
        for record in found.iter().flat_map(|found| found.leads.values()).filter(called) {
            expected.insert((91, "lead".to_owned(), record["id"].as_u64().unwrap()), 1);
        }
        expected.retain(|_, count| *count > 0);
        let all: BTreeSet<_> = counts.keys().chain(expected.keys()).collect();
        for told in all {
            let (raised, expected) = (counts.get(told).copied(), expected.get(told).copied());
            faults.unless(raised == expected, || {
                format!("{told:?}: {raised:?} facts of {expected:?} writes")
            });
        }
        faults
    }

    /// Whether a notified write is compared. Those of deleted leads are not, and those of leads created by calls only
    /// with an export.
    pub fn is_judged(&self, ((_, kind, id), _): &NotifiedWrite, found: Option<&Found>) -> bool {
        match (kind.as_str(), self.people.get(id), found) {
            ("lead", Some(person), _) => person.life == Life::Here,
            ("lead", None, Some(found)) => found.leads.contains_key(id),
            ("lead", None, None) => false,
            _ => true,
        }
    }

    fn expected_facts(&self) -> BTreeMap<NotifiedRecord, u64> {
        let here = self.people.iter().filter(|(_, person)| person.life == Life::Here);
        let leads = here.flat_map(|(id, person)| {
            let counts = [person.created, person.archived_or_back, person.archivals];
            (91..)
                .zip(counts)
                .map(|(automation, count)| (automation, "lead", *id, count))
        });
        let opportunities = self.opportunities.iter().flat_map(|(id, known)| {
            let counts = [1, known.changes, known.moves];
            (94..)
                .zip(counts)
                .map(|(automation, count)| (automation, "opportunity", *id, count))
        });
        let meetings = self.meetings.iter().flat_map(|(id, known)| {
            (97..)
                .zip([1, known.moves])
                .map(|(automation, count)| (automation, "meeting", *id, count))
        });
        let all = leads.chain(opportunities).chain(meetings);
        all.map(|(automation, kind, id, count)| ((automation, kind.to_owned(), id), count))
            .collect()
    }
}
