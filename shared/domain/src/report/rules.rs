//! The aspects and amounts of each entity, and the errors of invalid definitions.
//!
//! | Entity | Amount | Grouped by (in addition to day, week and month) and filtered by |
//! | --- | --- | --- |
//! | leads | none | user, channel |
//! | opportunities | value | status, column, funnel, user, channel |
//! | tickets | duration | status, user, channel |
//! | meetings | duration | status, user |
//! | calls | duration | status, user, service, type |
//!
//! An amount can be summed and averaged.

use serde_json::{Map, Value, json};

use super::{Amount, Aspect, AspectFilters, Measure, Question, ReportEntity};
use crate::ids::MAX_ID;

/// Rules of an entity.
struct Rules {
    amount: Option<Amount>,
    aspects: &'static [Aspect],
}

fn rules(entity: ReportEntity) -> Rules {
    use Aspect::{Channel, Column, Funnel, Service, Status, Type, User};
    let (amount, aspects): (_, &[Aspect]) = match entity {
        ReportEntity::Leads => (None, &[User, Channel]),
        ReportEntity::Opportunities => (Some(Amount::Value), &[Status, Column, Funnel, User, Channel]),
        ReportEntity::Tickets => (Some(Amount::Duration), &[Status, User, Channel]),
        ReportEntity::Meetings => (Some(Amount::Duration), &[Status, User]),
        ReportEntity::Calls => (Some(Amount::Duration), &[Status, User, Service, Type]),
    };
    Rules { amount, aspects }
}

/// The fixed values of an aspect, in order. Returns `None` if the aspect accepts other values.
pub fn fixed_values(entity: ReportEntity, aspect: Aspect) -> Option<&'static [&'static str]> {
    match (entity, aspect) {
        (ReportEntity::Opportunities, Aspect::Status) => Some(&["open", "gain", "lost"]),
        (ReportEntity::Meetings, Aspect::Status) => Some(&["scheduled", "rescheduled", "canceled"]),
        (ReportEntity::Calls, Aspect::Status) => Some(&["COMPLETE", "INCOMPLETE"]),
        (ReportEntity::Calls, Aspect::Type) => Some(&["INCOMING", "OUTGOING"]),
        _ => None,
    }
}

/// The error of a grouping that the entity lacks, which names those that it has.
#[must_use]
pub fn must_group(entity: ReportEntity) -> String {
    let allowed = Aspect::TIMES.iter().chain(rules(entity).aspects);
    format!(
        "groupBy: must be {} for {}",
        choices(allowed.map(name)),
        name(entity)
    )
}

/// A query whose parts fit its entity. `field` is the amount to sum or average [default: the entity's]. `Err` names the
/// invalid field and its valid values.
pub fn question(
    entity: ReportEntity,
    (measure, field): (Measure, Option<Amount>),
    group_by: Aspect,
    filters: &Map<String, Value>,
) -> Result<Question, String> {
    let rules = rules(entity);
    let amount = match (measure, rules.amount) {
        (Measure::Count, _) if field.is_none() => None,
        (Measure::Count, _) => return Err("field: must be absent where measure is count".to_owned()),
        (_, None) => return Err(format!("measure: must be count for {}", name(entity))),
        (_, Some(own)) if field.is_some_and(|field| field != own) => {
            return Err(format!("field: must be {} for {}", name(own), name(entity)));
        }
        (_, Some(own)) => Some(own),
    };
    if !Aspect::TIMES.contains(&group_by) && !rules.aspects.contains(&group_by) {
        return Err(must_group(entity));
    }
    Ok(Question {
        entity,
        measure,
        amount,
        group_by,
        filters: read_filters(entity, rules.aspects, filters)?,
    })
}

/// Parses filters. Each is a value or a list of values. Null is no filter. The values are returned sorted and distinct.
fn read_filters(
    entity: ReportEntity,
    aspects: &[Aspect],
    filters: &Map<String, Value>,
) -> Result<AspectFilters, String> {
    let mut read = AspectFilters::new();
    for (field, value) in filters.iter().filter(|(_, value)| !value.is_null()) {
        let aspect = aspects.iter().copied().find(|aspect| name(aspect) == *field);
        let aspect = aspect.ok_or_else(|| {
            let allowed = choices(aspects.iter().map(name));
            format!(
                "filters.{field}: is unknown; {} are filtered by {allowed}",
                name(entity)
            )
        })?;
        let listed = match value {
            Value::Array(list) => list.as_slice(),
            single => std::slice::from_ref(single),
        };
        let texts: Option<Vec<_>> = listed
            .iter()
            .map(|value| read_value(entity, aspect, value))
            .collect();
        let mut values = texts
            .filter(|texts| !texts.is_empty())
            .ok_or_else(|| format!("filters.{field}: must be {}", must_be(entity, aspect)))?;
        values.sort_unstable();
        values.dedup();
        read.insert(aspect, values);
    }
    Ok(read)
}

/// The text of a value that the aspect accepts; `None` for any other value.
fn read_value(entity: ReportEntity, aspect: Aspect, value: &Value) -> Option<String> {
    if aspect.is_id() {
        let id = value.as_u64().filter(|id| (1..=MAX_ID).contains(id));
        return id.map(|id| id.to_string());
    }
    let text = value.as_str().filter(|text| !text.is_empty())?;
    let is_accepted = fixed_values(entity, aspect).is_none_or(|values| values.contains(&text));
    is_accepted.then(|| text.to_owned())
}

/// The values that a filter accepts, for an error.
fn must_be(entity: ReportEntity, aspect: Aspect) -> String {
    let one = match fixed_values(entity, aspect) {
        Some(values) => choices(values.iter().map(|value| (*value).to_owned())),
        None if aspect.is_id() => format!("an id from 1 to {MAX_ID}"),
        None => "text that is not empty".to_owned(),
    };
    format!("{one}, or a list of such")
}

fn choices(names: impl Iterator<Item = String>) -> String {
    names.collect::<Vec<_>>().join(" or ")
}

/// The serialized text.
pub fn name(choice: impl serde::Serialize) -> String {
    json!(choice).as_str().unwrap_or_default().to_owned()
}
