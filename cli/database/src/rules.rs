//! Conditions and changes of items, with DynamoDB's results.

use std::cmp::Ordering;

use table::item::n;
use table::{AttributeValue, Change, Condition, Item, Update};

use crate::codec::are_equal;
use crate::number::Number;

const NO_INTEGER: &str = "an addition to a number that is no integer, or becomes too large";

/// Whether an item, if there is one, fulfils a condition.
pub fn holds(condition: &Condition, current: Option<&Item>) -> bool {
    let attribute = |name: &str| current.and_then(|item| item.get(name));
    match condition {
        Condition::Always => true,
        Condition::Absent => current.is_none(),
        Condition::Present => current.is_some(),
        Condition::Version(version) => compared(attribute("v"), *version) == Some(Ordering::Equal),
        Condition::Number { name, value } => match attribute(name) {
            None => *value == 0,
            number => compared(number, *value) == Some(Ordering::Equal),
        },
        Condition::AbsentOrText { name, value } => {
            let is_value = |stored: &AttributeValue| stored.as_s().is_ok_and(|text| text == value);
            current.is_none() || attribute(name).is_some_and(is_value)
        }
        Condition::AbsentOrUpTo { name, value } => {
            current.is_none() || compared(attribute(name), *value).is_some_and(Ordering::is_le)
        }
        Condition::Exactly { has, lacks } => {
            let is_same = |(name, value): (&String, _)| {
                let stored = attribute(name);
                stored.is_some_and(|stored| are_equal(stored, value))
            };
            has.iter().all(is_same) && lacks.iter().all(|name| attribute(name).is_none())
        }
    }
}

/// How a stored number compares with another; `None` if it is absent or no number.
fn compared(stored: Option<&AttributeValue>, other: impl Into<i128>) -> Option<Ordering> {
    let Some(AttributeValue::N(digits)) = stored else {
        return None;
    };
    let other = other.into();
    match digits.parse::<i128>() {
        Ok(number) => Some(number.cmp(&other)),
        // With a fraction, or larger than any integer that is compared.
        Err(_) => Some(Number::parse(digits)?.compare(&Number::parse(&other.to_string())?)),
    }
}

/// The item after a change of attributes. The error names the reason of a refusal.
pub fn changed(change: &Change, current: Option<Item>) -> Result<Item, &'static str> {
    let mut item = current.unwrap_or_default();
    match change {
        Change::Set { set, remove } => {
            item.retain(|name, _| !remove.contains(name));
            item.extend(set.clone());
        }
        Change::Update { add, set, .. } => {
            for (name, by) in add {
                add_to(&mut item, name, *by)?;
            }
            item.extend(set.clone());
        }
        Change::Put(_) | Change::Delete | Change::Check => {}
    }
    Ok(item)
}

/// The item after an update; `None` if its condition fails. An absent item is one without attributes.
pub fn updated(update: &Update<'_>, mut item: Item) -> Result<Option<Item>, &'static str> {
    let is_below = |item: &Item, name: &str, limit: u64| {
        !item.contains_key(name) || compared(item.get(name), limit).is_some_and(Ordering::is_lt)
    };
    match update {
        Update::Put(new) => return Ok(Some(new.clone())),
        Update::Add { names, by } => {
            for name in *names {
                add_to(&mut item, name, *by)?;
            }
        }
        Update::AddBelow {
            name,
            by,
            limit,
            until,
        } => {
            if !is_below(&item, name, *limit) {
                return Ok(None);
            }
            add_to(&mut item, name, *by)?;
            item.insert("ttl".to_owned(), n(until));
        }
        Update::Raise { name, to } => {
            if !is_below(&item, name, *to) {
                return Ok(None);
            }
            item.insert((*name).to_owned(), n(to));
        }
    }
    Ok(Some(item))
}

/// Adds to a number of an item. An absent one is 0.
fn add_to(item: &mut Item, name: &str, by: impl Into<i128>) -> Result<(), &'static str> {
    let before = match item.get(name) {
        None => 0,
        Some(AttributeValue::N(digits)) => digits.parse::<i128>().map_err(|_| NO_INTEGER)?,
        Some(_) => return Err("an addition to an attribute that is no number"),
    };
    let sum = before.checked_add(by.into()).ok_or(NO_INTEGER)?;
    item.insert(name.to_owned(), AttributeValue::N(sum.to_string()));
    Ok(())
}
