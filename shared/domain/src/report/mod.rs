//! Custom reports: definition, aggregation, and the plotted result (C-60, C-61).
//!
//! A [`Question`] is checked against its entity by its constructor, with one table of rules. Records become
//! [`Fact`]s, facts are summed by day in a [`Cube`], and a range of a cube becomes a [`Plot`]. All sums are
//! integers (cents, seconds), so order and partition of the additions do not matter.

mod cube;
mod fact;
mod plot;
mod range;
mod rules;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use crate::ids::ReportId;
use crate::text::hex;
use crate::time::{Timestamp, Zone};

pub use cube::{Cube, Sums};
pub use fact::{Fact, Record};
pub use plot::{Known, Plot};
pub use range::{BadRange, Range};
pub use rules::must_group;

/// Kinds of charts.
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

/// Kinds of records in reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReportEntity {
    /// Leads.
    Leads,
    /// Opportunities.
    Opportunities,
    /// Customer service tickets.
    Tickets,
    /// Meetings.
    Meetings,
    /// Calls.
    Calls,
}

impl ReportEntity {
    /// All entities.
    pub const ALL: [Self; 5] = [
        Self::Leads,
        Self::Opportunities,
        Self::Tickets,
        Self::Meetings,
        Self::Calls,
    ];

    /// Name in definitions and keys.
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

/// The number computed for a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Measure {
    /// Number of records.
    Count,
    /// Sum of an amount.
    Sum,
    /// Average of an amount.
    Average,
}

/// Amounts of records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Amount {
    /// An opportunity's `value`, in cents.
    Value,
    /// Duration in seconds: a call's `duration`, a meeting's `date` to `endDate`, a ticket's `startDate` to
    /// `endDate`.
    Duration,
}

/// Fields for grouping and, except times, for filtering.
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
    /// The responsible user: a lead's `owner`, a ticket's `attendant`, `user` or `userId` of the others.
    User,
    /// Origin: a lead's `acquisition_channel`, an opportunity's `sale_channel`, a ticket's `type`.
    Channel,
    /// A call's `service`.
    Service,
    /// A call's `type`.
    Type,
}

impl Aspect {
    /// Groupings available for every entity.
    const TIMES: [Self; 3] = [Self::Day, Self::Week, Self::Month];

    /// Whether its values are ids.
    #[must_use]
    pub fn is_id(self) -> bool {
        matches!(self, Self::Column | Self::Funnel | Self::User)
    }
}

/// The accepted values by aspect, as text.
type AspectFilters = BTreeMap<Aspect, Vec<String>>;

/// The query of a report: an entity, and a measure, a grouping and filters that fit it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    entity: ReportEntity,
    measure: Measure,
    amount: Option<Amount>,
    group_by: Aspect,
    filters: AspectFilters,
}

impl Question {
    /// The entity.
    #[must_use]
    pub fn entity(&self) -> ReportEntity {
        self.entity
    }

    /// The amount to sum or average; `None` for a count.
    #[must_use]
    pub fn amount(&self) -> Option<Amount> {
        self.amount
    }

    /// The grouping.
    #[must_use]
    pub fn group_by(&self) -> Aspect {
        self.group_by
    }

    /// The accepted values of an aspect as text; `None` if all are.
    #[must_use]
    pub fn only(&self, aspect: Aspect) -> Option<&[String]> {
        self.filters.get(&aspect).map(Vec::as_slice)
    }

    /// Identifies the query and the zone of its days. Results with another digest are stale.
    #[must_use]
    pub fn digest(&self, zone: Zone) -> String {
        let content = json!([
            self.entity,
            self.measure,
            self.amount,
            self.group_by,
            self.filters,
            zone
        ]);
        hex(&Sha256::digest(content.to_string())[..16])
    }

    /// The filters as in a definition: ids as numbers, a single value without a list.
    fn serialized_filters(&self) -> Map<String, Value> {
        let to_json = |aspect: Aspect, text: &String| match text.parse::<u64>() {
            Ok(id) if aspect.is_id() => Value::from(id),
            _ => Value::from(text.as_str()),
        };
        let mut filters = Map::new();
        for (aspect, texts) in &self.filters {
            let mut values: Vec<_> = texts.iter().map(|text| to_json(*aspect, text)).collect();
            let filter = match values.len() {
                1 => values.remove(0),
                _ => Value::from(values),
            };
            filters.insert(rules::name(aspect), filter);
        }
        filters
    }
}

/// A report: name, chart and query. Its serialized form is the line of an import (C-81).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "SerializedDefinition", into = "SerializedDefinition")]
pub struct Definition {
    /// The report's id.
    pub id: ReportId,
    /// Display name.
    pub name: String,
    /// Kind of chart.
    pub chart: Chart,
    /// The query.
    pub question: Question,
    /// Time of creation.
    pub create_date: Timestamp,
    /// Time of the last change of the definition.
    pub update_date: Timestamp,
}

impl Definition {
    /// The fields that differ from their defaults, as exported.
    #[must_use]
    pub fn sparse(&self) -> Map<String, Value> {
        let Ok(Value::Object(mut fields)) = serde_json::to_value(self) else {
            return Map::new();
        };
        fields.retain(|name, value| match (name.as_str(), &*value) {
            (_, Value::Null) => false,
            (_, Value::Object(map)) => !map.is_empty(),
            // The default chart.
            ("type", Value::String(chart)) => chart != "bar",
            _ => true,
        });
        fields
    }
}

/// The serialized definition.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct SerializedDefinition {
    id: ReportId,
    name: String,
    #[serde(rename = "type", default)]
    chart: Chart,
    entity: ReportEntity,
    measure: Measure,
    /// The amount to sum or average [default: the entity's].
    #[serde(default)]
    field: Option<Amount>,
    group_by: Aspect,
    #[serde(default)]
    filters: Map<String, Value>,
    create_date: Timestamp,
    update_date: Timestamp,
}

impl TryFrom<SerializedDefinition> for Definition {
    type Error = String;

    fn try_from(line: SerializedDefinition) -> Result<Self, String> {
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

impl From<Definition> for SerializedDefinition {
    fn from(definition: Definition) -> Self {
        let question = definition.question;
        Self {
            filters: question.serialized_filters(),
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
