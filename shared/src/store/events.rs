//! The events of forms as items. They are records, while an event of a call is derived from the call.

use crate::event::{FormEvent, FormEventName};
use crate::ids::{EventId, FormId, LeadId};
use crate::time::Timestamp;
use table::StoreError;
use table::item::{self, Item, n, s};

const KIND: &str = "event";
const FORM: &str = "form";
/// The attribute with the values as JSON.
const VALUES: &str = "values";

/// The event of a form as an item.
#[must_use]
pub fn encode(event: &FormEvent) -> Item {
    Item::from([
        ("id".to_owned(), n(event.id)),
        ("lead".to_owned(), n(event.lead)),
        (FORM.to_owned(), n(event.form)),
        (VALUES.to_owned(), s(serde_json::json!(event.values).to_string())),
        ("createDate".to_owned(), s(event.create_date.to_string())),
    ])
}

/// The event of a form in an item.
///
/// # Errors
/// [`StoreError::Corrupt`] if it cannot be read.
pub fn decode(item: &Item) -> Result<FormEvent, StoreError> {
    let corrupt = |what| item::corrupt(KIND, what);
    let number = |name| item::number(KIND, item, name);
    let date = item.get("createDate").and_then(|date| date.as_s().ok());
    Ok(FormEvent {
        id: EventId::new(number("id")?).ok_or_else(|| corrupt("it has no id"))?,
        lead: LeadId::new(number("lead")?).ok_or_else(|| corrupt("it names no lead"))?,
        name: FormEventName::Received,
        form: FormId::new(number(FORM)?).ok_or_else(|| corrupt("it names no form"))?,
        values: item::need_json(KIND, item, VALUES)?,
        create_date: date
            .and_then(|date| Timestamp::parse(date))
            .ok_or_else(|| corrupt("it has no time"))?,
    })
}
