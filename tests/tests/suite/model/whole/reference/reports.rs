//! Endpoints 14 and 15, and stored results (C-60, C-61).

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::board::cents;
use super::clock::{date, day, local_day, seconds};
use super::{Asked, Reference, Said, error, number, text};

/// Lifetime of a result in seconds.
const LIFETIME: i64 = 6 * 3600;

/// Contribution of a record: day, group and amount.
type Fact = (i64, String, u64);

/// The definitions by id, with the stored time and facts of each.
#[derive(Debug, Clone, Default)]
pub struct Reports {
    definitions: BTreeMap<u64, Value>,
    stored: BTreeMap<u64, (String, Vec<Fact>)>,
}

impl Reports {
    pub fn add(&mut self, line: &Value) {
        let id = line["id"].as_u64().expect("an id");
        self.definitions.insert(id, line.clone());
    }
}

impl Reference {
    /// Recomputes expired and missing results.
    pub fn refresh_reports(&mut self) {
        for id in self.reports.definitions.keys().copied().collect::<Vec<_>>() {
            let since = self.reports.stored.get(&id).map(|(since, _)| seconds(since));
            if since.is_none_or(|since| seconds(&self.now) >= since + LIFETIME) {
                let result = (self.now.clone(), self.facts(&self.reports.definitions[&id]));
                self.reports.stored.insert(id, result);
            }
        }
    }

    /// The contributions of all records. Archived ones do not count.
    fn facts(&self, definition: &Value) -> Vec<Fact> {
        let on = |date: &str| local_day(seconds(date));
        let counts = |one: &&super::Record| one["archived"] == json!(false) || one["archived"] == json!(0);
        let opportunities = self.opportunities.values().filter(counts);
        match definition["id"].as_u64() {
            Some(1) => opportunities
                .map(|one| (on(text(one, "createDate")), text(one, "status").to_owned(), 1))
                .collect(),
            Some(2) => opportunities
                .filter(|one| text(one, "status") == "gain")
                .map(|one| {
                    (
                        on(text(one, "gain_date")),
                        number(one, "crm_column").to_string(),
                        cents(one),
                    )
                })
                .collect(),
            Some(3) => {
                let leads = self.leads.values().filter(counts);
                let days = leads.map(|lead| on(text(lead, "createDate")));
                days.map(|day| (day, date(day), 1)).collect()
            }
            _ => self
                .calls
                .iter()
                .map(|call| (on(&call.date), call.kind.clone(), 1))
                .collect(),
        }
    }

    /// The groups with labels, including empty ones.
    fn groups(&self, definition: &Value, days: impl Iterator<Item = i64>) -> Vec<(String, String)> {
        let same = |text: &str| (text.to_owned(), text.to_owned());
        match definition["id"].as_u64() {
            Some(1) => ["open", "gain", "lost"].map(same).to_vec(),
            Some(2) => self
                .funnels
                .keys()
                .flat_map(|funnel| self.columns(*funnel))
                .map(|column| {
                    (
                        column["id"].to_string(),
                        column["name"].as_str().expect("a name").to_owned(),
                    )
                })
                .collect(),
            Some(3) => days.map(|day| same(&date(day))).collect(),
            _ => ["INCOMING", "OUTGOING"].map(same).to_vec(),
        }
    }

    pub fn list_reports(&self, asked: &Asked<'_>) -> Said {
        if !self.people.may(asked.by, "reports") {
            return error(403);
        }
        let reports = self.reports.definitions.values().map(|report| {
            json!({ "id": report["id"], "name": report["name"], "type": chart_of(report),
                "updateDate": report["updateDate"] })
        });
        let reports: Vec<_> = reports.collect();
        (200, json!({ "data": { "reports": reports } }))
    }

    pub fn chart(&self, asked: &Asked<'_>, id: u64) -> Said {
        if !self.people.may(asked.by, "reports") {
            return error(403);
        }
        let Some(definition) = self.reports.definitions.get(&id) else {
            return error(404);
        };
        let on = |name| match asked.param(name) {
            "" => None,
            date => Some(day(seconds(&format!("{date}T00:00:00.000Z")))),
        };
        let to = on("to").unwrap_or_else(|| local_day(seconds(&self.now)));
        let from = on("from").unwrap_or(to - 29);
        let computed = || (self.now.clone(), self.facts(definition));
        let (since, facts) = self.reports.stored.get(&id).cloned().unwrap_or_else(computed);
        let facts: Vec<_> = facts
            .into_iter()
            .filter(|(day, ..)| (from..=to).contains(day))
            .collect();
        let (mut labels, mut data) = (Vec::new(), Vec::new());
        for (group, label) in self.groups(definition, from..=to) {
            data.push(sum(definition, facts.iter().filter(|(_, of, _)| *of == group)));
            labels.push(label);
        }
        (
            200,
            json!({ "data": { "report": {
            "id": id, "name": definition["name"], "type": chart_of(definition), "from": date(from), "to": date(to),
            "generatedAt": since, "labels": labels, "series": [{ "name": definition["name"], "data": data }],
            "total": sum(definition, facts.iter()),
        } } }),
        )
    }
}

fn chart_of(definition: &Value) -> Value {
    definition.get("type").cloned().unwrap_or_else(|| json!("bar"))
}

fn sum<'a>(definition: &Value, facts: impl Iterator<Item = &'a Fact>) -> Value {
    let sum: u64 = facts.map(|(_, _, amount)| amount).sum();
    if definition["measure"] == json!("sum") {
        return money(sum);
    }
    json!(sum)
}

/// An amount as a number, whole without cents.
fn money(cents: u64) -> Value {
    if cents.is_multiple_of(100) {
        return json!(cents / 100);
    }
    serde_json::from_str(&format!("{}.{:02}", cents / 100, cents % 100)).expect("a number")
}
