#![expect(
    clippy::too_many_lines,
    reason = "a table of cases is as long as it has cases"
)]

mod definition;
mod facts;
mod plots;
mod properties;

use serde_json::{Value, json};

use super::*;
use crate::ids::{ColumnId, FunnelId, LeadId, OpportunityId, UserId};
use crate::money::Cents;
use crate::opportunity::{Opportunity, Status};
use crate::time::Day;

/// A definition with these fields, a name and dates.
fn define(fields: &Value) -> Result<Definition, String> {
    let mut line = json!({
        "id": 1, "name": "Relatório", "createDate": "2026-01-01T00:00:00.000Z", "updateDate": "2026-01-01T00:00:00.000Z",
    });
    for (name, value) in fields.as_object().unwrap() {
        line[name] = value.clone();
    }
    serde_json::from_value(line).map_err(|error| error.to_string())
}

fn question(fields: &Value) -> Question {
    define(fields).unwrap().question
}

fn day(text: &str) -> Day {
    Day::parse(text).unwrap()
}

fn at(text: &str) -> Timestamp {
    Timestamp::parse(text).unwrap()
}

fn range(from: &str, to: &str) -> Range {
    Range::new(day(from), day(to)).unwrap()
}

fn zone(name: &str) -> Zone {
    Zone::parse(name).unwrap()
}

/// An opportunity of funnel 3 and user 7.
fn opportunity(column: u64, status: Status, cents: u64, created: &str) -> Opportunity {
    let place = (FunnelId::new(3).unwrap(), ColumnId::new(column).unwrap());
    let mut opportunity = Opportunity::new(
        OpportunityId::new(1).unwrap(),
        place,
        LeadId::new(1).unwrap(),
        UserId::new(7).unwrap(),
        at(created),
    );
    opportunity.value = Cents::new(cents).unwrap();
    opportunity.begin_as(status);
    opportunity
}
