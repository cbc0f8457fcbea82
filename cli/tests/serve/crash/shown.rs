//! Compares the interface with an export (C-12, C-45): totals, and leads in opportunities.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::deed::mark;
use super::found::Found;
use super::house::House;
use super::ledger::{Ledger, Life};
use super::wire::Ask;

/// Number of deleted leads to request.
const MAX_GONE: usize = 12;

/// Compares while no client writes. The service may still run automations, which do not affect funnel 3.
pub fn compare(house: &House, export: &str, found: &Found) {
    for archived in [false, true] {
        let list = house.read(
            "GET",
            &format!("/leads?limit=1&archived={archived}"),
            &Value::Null,
        );
        let total = list["data"]["total"].as_u64();
        assert_eq!(
            total,
            Some(found.count_leads(archived) as u64),
            "archived: {archived}"
        );
    }
    let from = "/calendarmeeting/60?page=0&from=2020-01-01T00:00:00Z";
    let meetings = house.read("GET", from, &Value::Null);
    assert_eq!(meetings["data"]["total"], found.meetings.len());
    let board = house.read(
        "POST",
        "/crm/opportunities/3",
        &json!({ "page": 1, "limit": 100 }),
    );
    let columns = columns(export);
    for column in board.as_array().unwrap() {
        let (count, cents) = columns
            .get(&column["id"].as_u64().unwrap())
            .copied()
            .unwrap_or_default();
        let value = match &column["totalValue"] {
            Value::String(text) => text.clone(),
            none => format!("{none}.00"),
        };
        let expected = (json!(count), format!("{}.{:02}", cents / 100, cents % 100));
        assert_eq!(
            (&column["total"], value),
            (&expected.0, expected.1),
            "{}",
            column["name"]
        );
        for shown in column["items"].as_array().unwrap() {
            embeds_its_lead(shown, found);
        }
    }
}

/// Requires that the embedded lead equals the lead, including its calls.
fn embeds_its_lead(shown: &Value, found: &Found) {
    let Some(lead) = shown["lead_id"].as_u64() else {
        assert!(shown["dataLead"].is_null(), "{shown}");
        return;
    };
    let lead = &found.leads[&lead];
    for name in ["id", "lastActive"] {
        assert_eq!(shown["dataLead"][name], lead[name], "{shown}");
    }
}

/// Count and cents of each column of funnel 3, without archived opportunities.
fn columns(export: &str) -> BTreeMap<u64, (u64, u64)> {
    let mut columns = BTreeMap::<u64, (u64, u64)>::new();
    for record in export
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
    {
        if record["kind"] == "opportunity" && record["crm_id"] == 3 && record["archived"] != 1 {
            let sum = columns.entry(record["crm_column"].as_u64().unwrap()).or_default();
            let value = record["value"].as_str().unwrap_or("0.00").replace('.', "");
            *sum = (sum.0 + 1, sum.1 + value.parse::<u64>().unwrap());
        }
    }
    columns
}

impl Ledger {
    /// No endpoint shows a deleted lead (C-24).
    pub fn shows_no_deleted(&self, house: &House) {
        let gone = self.people.iter().filter(|(_, person)| person.life == Life::Gone);
        for (lead, person) in gone.rev().take(MAX_GONE) {
            let status = |path: String| {
                let ask = house.access.signed(Ask::new("GET", path, &Value::Null));
                house.ask(&ask).status
            };
            let told = (
                status(format!("/leads/{lead}?i=demo")),
                status(format!("/sac360/lead/{lead}?i=demo")),
            );
            assert_eq!(told, (404, 400), "{lead}");
            let searched = format!("/leads?limit=1&search={}", mark(person.mark));
            assert_eq!(
                house.read("GET", &searched, &Value::Null)["data"]["total"],
                0,
                "{lead}"
            );
        }
    }

    /// Compares each report of [`define_reports`](super::stage::define_reports) with a count of the export (C-61). An
    /// error contains the difference.
    pub fn reports_tell(&self, house: &House, found: &Found) -> Result<(), String> {
        let made = found.opportunities.values().filter(|made| made["archived"] != 1);
        let value = made.map(|made| made["value"].as_str().unwrap_or("0").parse::<f64>().unwrap());
        let expected = [
            (91, json!(found.calls.len())),
            (92, json!(value.sum::<f64>())),
            (93, json!(found.meetings.len())),
        ];
        // The demo's records are older.
        let from = &self.began[..10];
        for (report, expected) in expected {
            let path = format!("/reportchart/{report}?from={from}");
            let shown = &house.read("GET", &path, &Value::Null)["data"]["report"];
            if shown["total"].as_f64() != expected.as_f64() {
                return Err(format!("{expected} expected of {shown}"));
            }
        }
        Ok(())
    }
}
