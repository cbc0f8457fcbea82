//! The body of a booking (C-54, C-55).

use serde_json::{Map, Value};
use shared::calendar::LinkName;
use shared::http::{InvalidField, parse_object, required};
use shared::ids::{LeadId, MeetingId, OpportunityId};
use shared::input::object;
use shared::integer::whole;
use shared::json::{MUST_BE_TEXT, find_inexact, levels};
use shared::meeting::{Meeting, NewContact};
use shared::store::{BookingRequest, BookingSubject, IdempotencyKey};
use shared::time::Timestamp;

use super::{MUST_BE_LINK, MUST_BE_TIME, form};
use crate::error::BookingError;

/// Maximum bytes of `properties`.
const MAX_PROPERTIES: usize = 4096;
/// Maximum levels of `properties`: with its meeting it has those of a record (C-30).
const MAX_LEVELS: usize = 7;

/// The person of a booking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Guest {
    /// A person who is not a lead yet.
    New(Box<NewContact>),
    /// The lead that the request names by `leadId`, or that of the meeting to change.
    Lead,
}

/// A parsed booking.
#[derive(Debug)]
pub struct BookMeeting {
    /// The records to read.
    pub request: BookingRequest,
    /// The person.
    pub guest: Guest,
    /// Whether an opportunity was named, possible id or not.
    pub names_opportunity: bool,
    /// The form's fields that are not fields of the lead.
    pub form_data: Map<String, Value>,
    /// Properties stored with the meeting.
    pub properties: Map<String, Value>,
    /// The key of the meeting to move or cancel; blank if it was not sent.
    pub reschedule_key: String,
}

impl BookMeeting {
    /// Parses a body. Missing fields are reported before a link that cannot be a calendar's (C-53).
    pub fn read(key: Option<&str>, bytes: &[u8]) -> Result<Self, BookingError> {
        let mut body = parse_object(bytes)?;
        let link = required(&body, "keyName", MUST_BE_LINK, link)?;
        let date = |value: &Value| value.as_str().and_then(Timestamp::parse);
        let date = required(&body, "date", MUST_BE_TIME, date)?;
        let rule = "must be the id of a lead, or null for a new one";
        let lead = required(&body, "leadId", rule, |value| id(value, LeadId::new))?;
        let form = body.shift_remove("formData");
        let free_bytes = bytes_of(form.as_ref()) + bytes_of(body.get("properties"));
        let is_change = body.get("properties").is_some_and(Change::is_in);
        let (guest, form_data) = guest(lead, form, is_change)?;
        let rule = "must be the id of an opportunity or null";
        body.entry("opportunityId").or_insert(Value::Null);
        let opportunity = required(&body, "opportunityId", rule, |value| {
            id(value, OpportunityId::new)
        })?;
        let mut properties = properties(body.shift_remove("properties"))?;
        let change = Change::take(&mut properties)?;
        if free_bytes > Meeting::MAX_FREE {
            let rule = "must have at most 16 KB together with properties";
            return Err(InvalidField::new("formData", rule).into());
        }
        Ok(Self {
            request: BookingRequest {
                claim: key.map(|key| IdempotencyKey::new("POST /calendarmeeting", &link, key, bytes)),
                link: LinkName::parse(&link).ok_or(BookingError::unknown(is_change))?,
                date,
                subject: change.subject.unwrap_or(BookingSubject::New {
                    lead: lead.flatten(),
                    opportunity: opportunity.flatten(),
                }),
            },
            guest,
            names_opportunity: opportunity.is_some(),
            form_data,
            properties,
            reschedule_key: change.key,
        })
    }
}

/// The part of `properties` that names the meeting to move or cancel. It is never stored.
struct Change {
    /// `None` for a new meeting. A key alone is the key of no meeting.
    subject: Option<BookingSubject>,
    key: String,
}

impl Change {
    const MOVES: &str = "rescheduleMeetingId";
    const CANCELS: &str = "cancelMeetingId";
    const KEY: &str = "rescheduleKey";

    /// Whether properties have one of the members. Null counts as absent.
    fn is_in(properties: &Value) -> bool {
        let members = [Self::MOVES, Self::CANCELS, Self::KEY];
        members
            .iter()
            .any(|name| properties.get(name).is_some_and(|value| !value.is_null()))
    }

    /// Removes the members from `properties`.
    fn take(properties: &mut Map<String, Value>) -> Result<Self, InvalidField> {
        let mut take_member = |name| {
            let value = properties.shift_remove(name);
            value.filter(|value: &Value| !value.is_null())
        };
        let moved = take_member(Self::MOVES);
        let canceled = take_member(Self::CANCELS);
        let key = take_member(Self::KEY);
        let id = |value: &Value| whole(value).and_then(MeetingId::new);
        let subject = match (&moved, &canceled) {
            (Some(_), Some(_)) => {
                let rule = "must not be sent with rescheduleMeetingId";
                return Err(InvalidField::new(Self::CANCELS, rule));
            }
            (Some(moved), None) => Some(BookingSubject::Move(id(moved))),
            (None, Some(canceled)) => Some(BookingSubject::Cancel(id(canceled))),
            (None, None) => key.as_ref().map(|_| BookingSubject::Move(None)),
        };
        let key = key
            .as_ref()
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned();
        Ok(Self { subject, key })
    }
}

/// Bytes of a value as JSON; 0 if absent.
fn bytes_of(value: Option<&Value>) -> usize {
    value.map_or(0, |value| value.to_string().len())
}

/// Text that is not blank.
fn link(value: &Value) -> Option<String> {
    let link = value.as_str().filter(|link| !link.trim().is_empty());
    link.map(str::to_owned)
}

/// An optional id: `None` if it is null, and `Some(None)` if it is a whole number that cannot be an id. Such a number
/// is answered like the id of a missing record.
type OptionalId<I> = Option<Option<I>>;

/// Parses an id or null. `None` if the value is neither null nor a whole number.
fn id<I>(value: &Value, new: fn(u64) -> Option<I>) -> Option<OptionalId<I>> {
    if value.is_null() {
        return Some(None);
    }
    if let Some(number) = whole(value) {
        return Some(Some(new(number)));
    }
    let number = value.as_f64()?;
    let is_negative_whole = number < 0.0 && number.fract() == 0.0;
    is_negative_whole.then_some(Some(None))
}

/// Returns the person and the remaining fields of the form. A change needs no form, because its meeting keeps its lead.
fn guest(
    lead: OptionalId<LeadId>,
    form: Option<Value>,
    is_change: bool,
) -> Result<(Guest, Map<String, Value>), InvalidField> {
    let empty = |form: &Value| form.is_null() || object(form.clone()).is_ok_and(|form| form.is_empty());
    let is_empty = form.as_ref().is_none_or(empty);
    if lead.is_none() && !(is_change && is_empty) {
        let (contact, rest) = form::read(form)?;
        return Ok((Guest::New(Box::new(contact)), rest));
    }
    if !is_empty {
        return Err(InvalidField::new("formData", "must not be sent with a leadId"));
    }
    Ok((Guest::Lead, Map::new()))
}

/// The properties, within their size; empty if absent or null.
fn properties(properties: Option<Value>) -> Result<Map<String, Value>, InvalidField> {
    let properties = properties.unwrap_or_default();
    if let Some(path) = find_inexact("properties", &properties) {
        return Err(InvalidField::new(path, MUST_BE_TEXT));
    }
    if levels(&properties) > MAX_LEVELS {
        return Err(InvalidField::new("properties", "must be nested at most 7 levels"));
    }
    if bytes_of(Some(&properties)) > MAX_PROPERTIES {
        return Err(InvalidField::new("properties", "must have at most 4 KB"));
    }
    match properties {
        Value::Null => Ok(Map::new()),
        properties => object(properties).map_err(|_| InvalidField::new("properties", "must be an object")),
    }
}
