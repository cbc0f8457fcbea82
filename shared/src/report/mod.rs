//! Custom reports: what is counted, how it is told apart, and the answer that is plotted (C-60, C-61).
//!
//! A [`Question`] fits its entity, because it is made by a constructor that checks it against one table. Records become
//! [`Fact`]s, facts are added up by day in a [`Cube`], and a part of a cube becomes a [`Plot`]. All sums are of whole
//! numbers (cents, seconds), so that it makes no difference in which order and in which parts they are added up.

mod cube;
mod fact;
mod plot;
mod range;
mod rules;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use crate::id::ReportId;
use crate::text::hex;
use crate::time::{Timestamp, Zone};

pub use cube::{Cube, Sums};
pub use fact::{Fact, Record};
pub use plot::{Known, Plot};
pub use range::{BadRange, Range};

/// How a report is to be plotted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Chart {
    /// Bars.
    #[default]
    Bar,
    /// A line.
    Line,
    /// A pie.
    Pie,
}

/// The records that a report is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Entity {
    /// Leads.
    Leads,
    /// Opportunities.
    Opportunities,
    /// Tickets of customer service.
    Tickets,
    /// Meetings.
    Meetings,
    /// Calls.
    Calls,
}

impl Entity {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Leads,
        Self::Opportunities,
        Self::Tickets,
        Self::Meetings,
        Self::Calls,
    ];

    /// What it is called in definitions and keys.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Leads => "leads",
            Self::Opportunities => "opportunities",
            Self::Tickets => "tickets",
            Self::Meetings => "meetings",
            Self::Calls => "calls",
        }
    }
}

/// What is told of the records of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Measure {
    /// How many there are.
    Count,
    /// The sum of an amount.
    Sum,
    /// The average of an amount.
    Average,
}

/// An amount that a record has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Amount {
    /// An opportunity's `value`, counted in cents.
    Value,
    /// How long it took, in seconds: a call's `duration`, the time from a meeting's `date` to its `endDate`, from a ticket's
    /// `startDate` to its `endDate`.
    Duration,
}

/// By what records are grouped, and, but for the times, by what they are filtered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Aspect {
    /// The day.
    Day,
    /// The ISO week.
    Week,
    /// The month.
    Month,
    /// `status`.
    Status,
    /// An opportunity's `crm_column`.
    Column,
    /// An opportunity's `crm_id`.
    Funnel,
    /// Who is responsible: a lead's `owner`, a ticket's `attendant`, `user` or `userId` of the others.
    User,
    /// By which way it came: a lead's `acquisition_channel`, an opportunity's `sale_channel`, a ticket's `type`.
    Channel,
    /// A call's `service`.
    Service,
    /// A call's `type`.
    Type,
}

impl Aspect {
    /// The groupings that every entity has.
    const TIMES: [Self; 3] = [Self::Day, Self::Week, Self::Month];

    /// Whether its values are ids.
    #[must_use]
    pub fn is_id(self) -> bool {
        matches!(self, Self::Column | Self::Funnel | Self::User)
    }
}

/// The values that are let through, as text, by aspect.
type Filters = BTreeMap<Aspect, Vec<String>>;

/// What a report asks of the records: an entity, and a measure, a grouping and filters that fit it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    entity: Entity,
    measure: Measure,
    amount: Option<Amount>,
    group_by: Aspect,
    filters: Filters,
}

impl Question {
    /// The records it is about.
    #[must_use]
    pub fn entity(&self) -> Entity {
        self.entity
    }

    /// By what it groups them.
    #[must_use]
    pub fn group_by(&self) -> Aspect {
        self.group_by
    }

    /// The values of an aspect that are let through, as text; `None` where all are.
    #[must_use]
    pub fn only(&self, aspect: Aspect) -> Option<&[String]> {
        self.filters.get(&aspect).map(Vec::as_slice)
    }

    /// Stands for the question and for the zone in which its days are those of records: what was added up for another one
    /// is no answer.
    #[must_use]
    pub fn digest(&self, zone: Zone) -> String {
        let asked = json!([
            self.entity,
            self.measure,
            self.amount,
            self.group_by,
            self.filters,
            zone
        ]);
        hex(&Sha256::digest(asked.to_string())[..16])
    }

    /// The filters as a definition has them: ids as numbers, one value alone as it is.
    fn written_filters(&self) -> Map<String, Value> {
        let written = |aspect: Aspect, text: &String| match text.parse::<u64>() {
            Ok(id) if aspect.is_id() => Value::from(id),
            _ => Value::from(text.as_str()),
        };
        let filters = self.filters.iter().map(|(aspect, values)| {
            let mut values: Vec<_> = values.iter().map(|value| written(*aspect, value)).collect();
            let value = match values.len() {
                1 => values.remove(0),
                _ => Value::from(values),
            };
            (rules::name(aspect), value)
        });
        filters.collect()
    }
}

/// A report: its name, how it is plotted, and what it asks. The serialized form is that of an import's line (C-81).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Line", into = "Line")]
pub struct Definition {
    /// The report's id.
    pub id: ReportId,
    /// What it is called.
    pub name: String,
    /// How it is plotted.
    pub chart: Chart,
    /// What it asks.
    pub question: Question,
    /// When it was made.
    pub create_date: Timestamp,
    /// When its definition was last changed.
    pub update_date: Timestamp,
}

impl Definition {
    /// The fields that say something, as they are exported.
    #[must_use]
    pub fn sparse(&self) -> Map<String, Value> {
        let Ok(Value::Object(mut fields)) = serde_json::to_value(self) else {
            return Map::new();
        };
        fields.retain(|name, value| match (name.as_str(), &*value) {
            (_, Value::Null) => false,
            (_, Value::Object(map)) => !map.is_empty(),
            ("type", Value::String(chart)) => chart != "bar",
            _ => true,
        });
        fields
    }
}

/// A definition as it is written.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    id: ReportId,
    name: String,
    #[serde(rename = "type", default)]
    chart: Chart,
    entity: Entity,
    measure: Measure,
    /// Which amount is summed or averaged; the entity's own where it is absent.
    #[serde(default)]
    field: Option<Amount>,
    group_by: Aspect,
    #[serde(default)]
    filters: Map<String, Value>,
    create_date: Timestamp,
    update_date: Timestamp,
}

impl TryFrom<Line> for Definition {
    type Error = String;

    fn try_from(line: Line) -> Result<Self, String> {
        let question = rules::question(
            line.entity,
            (line.measure, line.field),
            line.group_by,
            &line.filters,
        )?;
        Ok(Self {
            id: line.id,
            name: line.name,
            chart: line.chart,
            question,
            create_date: line.create_date,
            update_date: line.update_date,
        })
    }
}

impl From<Definition> for Line {
    fn from(definition: Definition) -> Self {
        let question = definition.question;
        Self {
            filters: question.written_filters(),
            id: definition.id,
            name: definition.name,
            chart: definition.chart,
            entity: question.entity,
            measure: question.measure,
            field: question.amount,
            group_by: question.group_by,
            create_date: definition.create_date,
            update_date: definition.update_date,
        }
    }
}

#[cfg(test)]
mod tests;
