//! The contribution of one record to a report.

use serde_json::Value;

use super::rules::name;
use super::{Aspect, Measure, Question, ReportEntity};
use crate::call::Call;
use crate::lead::Lead;
use crate::meeting::Meeting;
use crate::opportunity::{Opportunity, Status};
use crate::text::cut;
use crate::ticket::{JsonScalar, Ticket};
use crate::time::{Day, Timestamp, Zone};

/// Maximum characters of a group's text. Longer texts are cut. Texts that are equal after the cut are one group.
const MAX_GROUP: usize = 100;

/// The text of the group to which a value belongs.
pub fn group(value: &str) -> &str {
    cut(value, MAX_GROUP)
}

/// A record of any entity.
#[derive(Debug, Clone, Copy)]
pub enum Record<'a> {
    /// A lead.
    Lead(&'a Lead),
    /// An opportunity.
    Opportunity(&'a Opportunity),
    /// A ticket.
    Ticket(&'a Ticket),
    /// A meeting.
    Meeting(&'a Meeting),
    /// A call.
    Call(&'a Call),
}

/// The contribution of one record: a count of one and an amount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// The day in the instance's zone.
    pub day: Day,
    /// The value of the grouping as text; a column has its funnel as prefix (`3/31`). Empty without a value,
    /// and for groupings by time.
    pub group: String,
    /// Cents or seconds. 0 if only records are counted.
    pub amount: u64,
}

impl Record<'_> {
    fn entity(self) -> ReportEntity {
        match self {
            Self::Lead(_) => ReportEntity::Leads,
            Self::Opportunity(_) => ReportEntity::Opportunities,
            Self::Ticket(_) => ReportEntity::Tickets,
            Self::Meeting(_) => ReportEntity::Meetings,
            Self::Call(_) => ReportEntity::Calls,
        }
    }

    fn is_archived(self) -> bool {
        match self {
            Self::Lead(lead) => lead.archived,
            Self::Opportunity(opportunity) => opportunity.archived,
            Self::Ticket(ticket) => ticket.archive.as_ref().is_some_and(is_set),
            Self::Meeting(_) | Self::Call(_) => false,
        }
    }

    fn created(self) -> Timestamp {
        match self {
            Self::Lead(lead) => lead.create_date,
            Self::Opportunity(opportunity) => opportunity.create_date,
            Self::Ticket(ticket) => ticket.create_date,
            Self::Meeting(meeting) => meeting.create_date,
            Self::Call(call) => call.create_date,
        }
    }

    /// The time it was won or lost, if known.
    fn closed(self) -> Option<Timestamp> {
        match self {
            Self::Opportunity(opportunity) => match opportunity.status {
                Status::Open => None,
                Status::Gain => opportunity.gain_date,
                Status::Lost => opportunity.lost_date,
            },
            _ => None,
        }
    }

    /// The record's amount; `None` if the entity has no amount or a date of the record is absent.
    fn amount(self) -> Option<u64> {
        match self {
            Self::Lead(_) => None,
            Self::Opportunity(opportunity) => Some(opportunity.value.get()),
            Self::Ticket(ticket) => seconds(ticket.start_date?, ticket.end_date?),
            Self::Meeting(meeting) => seconds(meeting.date, meeting.end_date),
            Self::Call(call) => Some(call.duration),
        }
    }

    /// The value of an aspect as text; empty if it has none.
    fn value(self, aspect: Aspect) -> String {
        match (aspect, self) {
            (Aspect::Status, Self::Opportunity(opportunity)) => opportunity.status.as_str().to_owned(),
            (Aspect::Status, Self::Ticket(ticket)) => {
                ticket.status.as_ref().map(scalar_text).unwrap_or_default()
            }
            (Aspect::Status, Self::Meeting(meeting)) => name(meeting.status),
            (Aspect::Status, Self::Call(call)) => name(call.status),
            (Aspect::Column, Self::Opportunity(opportunity)) => {
                format!("{}/{}", opportunity.crm_id, opportunity.crm_column)
            }
            (Aspect::Funnel, Self::Opportunity(opportunity)) => opportunity.crm_id.to_string(),
            (Aspect::User, record) => record.user().map(|user| user.to_string()).unwrap_or_default(),
            (Aspect::Channel, Self::Lead(lead)) => text(lead.acquisition_channel.as_ref()),
            (Aspect::Channel, Self::Opportunity(opportunity)) => text(opportunity.sale_channel.as_ref()),
            (Aspect::Channel, Self::Ticket(ticket)) => text(ticket.channel.as_ref()),
            (Aspect::Service, Self::Call(call)) => call.service.clone(),
            (Aspect::Type, Self::Call(call)) => name(call.kind),
            // Times, and aspects that do not fit the entity.
            _ => String::new(),
        }
    }

    fn user(self) -> Option<crate::ids::UserId> {
        match self {
            Self::Lead(lead) => lead.owner,
            Self::Opportunity(opportunity) => Some(opportunity.user),
            Self::Ticket(ticket) => ticket.attendant,
            Self::Meeting(meeting) => meeting.user_id,
            Self::Call(call) => Some(call.user),
        }
    }
}

impl Question {
    /// The contribution of a record, by the days of `zone`. `None` if it is of another entity, archived,
    /// filtered out, or lacks the date or the amount.
    #[must_use]
    pub fn fact(&self, record: Record<'_>, zone: Zone) -> Option<Fact> {
        if record.entity() != self.entity || record.is_archived() || !self.passes_filters(record) {
            return None;
        }
        let time = if self.selects_only_closed() {
            record.closed()?
        } else {
            record.created()
        };
        let amount = match self.measure {
            Measure::Count => 0,
            Measure::Sum | Measure::Average => record.amount()?,
        };
        Some(Fact {
            day: zone.day_of(time),
            group: group(&record.value(self.group_by)).to_owned(),
            amount,
        })
    }

    /// Whether only won or lost opportunities are selected. They count on the day of that change (C-61).
    fn selects_only_closed(&self) -> bool {
        let statuses = self.only(Aspect::Status).unwrap_or_default();
        let is_closed = |status: &String| status != Status::Open.as_str();
        self.entity == ReportEntity::Opportunities && !statuses.is_empty() && statuses.iter().all(is_closed)
    }

    /// Whether each filter contains the record's value of its aspect.
    fn passes_filters(&self, record: Record<'_>) -> bool {
        self.filters.iter().all(|(aspect, values)| {
            let value = record.value(*aspect);
            let filtered = match aspect {
                // Filters name a column by its id alone, without its funnel.
                Aspect::Column => value.split_once('/').map_or("", |(_, column)| column),
                _ => &value,
            };
            // A binary search, because the values are sorted and there may be many.
            values
                .binary_search_by(|allowed| allowed.as_str().cmp(filtered))
                .is_ok()
        })
    }
}

/// Whole seconds between two times; `None` if the second is earlier.
fn seconds(from: Timestamp, to: Timestamp) -> Option<u64> {
    let millis = to.unix_millis().checked_sub(from.unix_millis())?;
    u64::try_from(millis).ok().map(|millis| millis / 1000)
}

fn text(value: Option<&String>) -> String {
    value.cloned().unwrap_or_default()
}

/// A verbatim scalar as text.
fn scalar_text(scalar: &JsonScalar) -> String {
    match Value::from(scalar.clone()) {
        Value::String(text) => text,
        other => other.to_string(),
    }
}

/// Whether a verbatim flag is set. The flag may be a boolean, a number or text.
fn is_set(scalar: &JsonScalar) -> bool {
    !["", "0", "0.0", "false"].contains(&scalar_text(scalar).as_str())
}
