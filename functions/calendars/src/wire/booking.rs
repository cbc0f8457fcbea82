//! The body of a booking (C-54, C-55).

use http::HeaderMap;
use serde_json::{Map, Value};
use shared::calendar::LinkName;
use shared::http::{idempotency_key, parse_json};
use shared::id::{LeadId, MeetingId, OpportunityId};
use shared::json::{MUST_BE_TEXT, find_inexact};
use shared::meeting::{Meeting, Visitor};
use shared::number::whole;
use shared::store::{BookingRequest, Claim};
use shared::time::Timestamp;

use super::{MUST_BE_TIME, form};
use crate::error::BookingError;

/// The most bytes of `properties`.
const MOST_PROPERTIES: usize = 4096;
/// The properties that move a meeting. They prove something and are never stored.
const PROOF: [&str; 2] = ["rescheduleMeetingId", "rescheduleKey"];

/// For whom a meeting is booked, as the caller says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sent {
    /// Somebody who is no lead yet.
    New(Box<Visitor>),
    /// A lead; `None` for a number that can be no id, and so no lead.
    Known(Option<LeadId>),
}

/// What is to prove that the caller booked a meeting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proof {
    /// The meeting; `None` for what can be no id.
    pub meeting: Option<MeetingId>,
    /// Its key; blank where there was none.
    pub key: String,
}

/// A booking as it was sent.
#[derive(Debug)]
pub struct NewBooking {
    /// What has to be read for it.
    pub request: BookingRequest,
    /// For whom.
    pub lead: Sent,
    /// Whether an opportunity was named, be it one that can exist or not.
    pub names_opportunity: bool,
    /// What the form held beside the lead's own fields.
    pub form_data: Map<String, Value>,
    /// What is kept with the meeting.
    pub properties: Map<String, Value>,
    /// The meeting that is to be moved.
    pub proof: Option<Proof>,
}

impl NewBooking {
    /// Reads headers and body. What the body lacks is told before a link that can be no calendar's (C-53).
    pub fn read(headers: &HeaderMap, bytes: &[u8]) -> Result<Self, BookingError> {
        let key = idempotency_key(headers)?;
        let Value::Object(mut body) = parse_json(bytes)? else {
            return Err(BookingError::NotObject);
        };
        let link = link(&body)?;
        let date = date(&body)?;
        let lead = lead(&body)?;
        let form = body.shift_remove("formData");
        let free = bytes_of(form.as_ref()) + bytes_of(body.get("properties"));
        let (lead, form_data) = person(lead, form)?;
        let opportunity = opportunity(&body)?;
        let (properties, proof) = properties(body.shift_remove("properties"))?;
        if free > Meeting::MAX_FREE {
            let must = "must have at most 16 KB together with properties";
            return Err(BookingError::field("formData", must));
        }
        let claim = key.map(|key| Claim::new("POST /calendarmeeting", &link, key, bytes));
        let request = BookingRequest {
            link: LinkName::parse(&link).ok_or(BookingError::NoCalendar)?,
            date,
            lead: match &lead {
                Sent::New(_) => None,
                Sent::Known(lead) => *lead,
            },
            opportunity: opportunity.flatten(),
            meeting: proof.as_ref().and_then(|proof| proof.meeting),
            claim,
        };
        Ok(Self {
            request,
            lead,
            names_opportunity: opportunity.is_some(),
            form_data,
            properties,
            proof,
        })
    }
}

/// How many bytes a value has as JSON; an absent one none.
fn bytes_of(value: Option<&Value>) -> usize {
    value.map_or(0, |value| value.to_string().len())
}

fn link(body: &Map<String, Value>) -> Result<String, BookingError> {
    let link = body.get("keyName").and_then(Value::as_str);
    let link = link.filter(|link| !link.trim().is_empty());
    link.map(str::to_owned)
        .ok_or_else(|| BookingError::field("keyName", "must be the last segment of the calendar's link"))
}

fn date(body: &Map<String, Value>) -> Result<Timestamp, BookingError> {
    let date = body
        .get("date")
        .and_then(Value::as_str)
        .and_then(Timestamp::parse);
    date.ok_or_else(|| BookingError::field("date", MUST_BE_TIME))
}

/// A whole number or null; `Some(None)` for a number that can be no id.
type Named<I> = Option<Option<I>>;

fn named<I>(value: &Value, new: fn(u64) -> Option<I>) -> Option<Named<I>> {
    if value.is_null() {
        return Some(None);
    }
    let negative = value
        .as_f64()
        .is_some_and(|number| number < 0.0 && number.fract() == 0.0);
    let number = whole(value).or(negative.then_some(0))?;
    Some(Some(new(number)))
}

/// `leadId`, which must be there.
fn lead(body: &Map<String, Value>) -> Result<Named<LeadId>, BookingError> {
    let lead = body.get("leadId").and_then(|value| named(value, LeadId::new));
    lead.ok_or_else(|| BookingError::field("leadId", "must be the id of a lead, or null for a new one"))
}

fn opportunity(body: &Map<String, Value>) -> Result<Named<OpportunityId>, BookingError> {
    let absent = Value::Null;
    let value = body.get("opportunityId").unwrap_or(&absent);
    let must = "must be the id of an opportunity or null";
    named(value, OpportunityId::new).ok_or_else(|| BookingError::field("opportunityId", must))
}

/// For whom it is, and what the form holds beside that.
fn person(lead: Named<LeadId>, form: Option<Value>) -> Result<(Sent, Map<String, Value>), BookingError> {
    let Some(lead) = lead else {
        let (visitor, rest) = form::read(form)?;
        return Ok((Sent::New(Box::new(visitor)), rest));
    };
    let empty = form.is_none_or(|form| form.is_null() || form.as_object().is_some_and(Map::is_empty));
    if !empty {
        return Err(BookingError::field("formData", "must not be sent with a leadId"));
    }
    Ok((Sent::Known(lead), Map::new()))
}

/// What is kept, and what moves a meeting.
fn properties(properties: Option<Value>) -> Result<(Map<String, Value>, Option<Proof>), BookingError> {
    if let Some(path) = properties
        .as_ref()
        .and_then(|value| find_inexact("properties", value))
    {
        return Err(BookingError::field(path, MUST_BE_TEXT));
    }
    let mut properties = match properties {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(properties)) => properties,
        Some(_) => return Err(BookingError::field("properties", "must be an object")),
    };
    if serde_json::json!(properties).to_string().len() > MOST_PROPERTIES {
        return Err(BookingError::field("properties", "must have at most 4 KB"));
    }
    let [meeting, key] = PROOF.map(|name| properties.shift_remove(name).filter(|value| !value.is_null()));
    let proof = (meeting.is_some() || key.is_some()).then(|| Proof {
        meeting: meeting.as_ref().and_then(whole).and_then(MeetingId::new),
        key: key
            .as_ref()
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned(),
    });
    Ok((properties, proof))
}
