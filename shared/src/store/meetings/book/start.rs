//! Prefetched reads of a booking, in one batch of gets if this process knows the calendar's link.

use std::collections::HashMap;

use crate::calendar::{Busy, Calendar, LinkName};
use crate::ids::{LeadId, MeetingId, OpportunityId};
use crate::meeting::{Meeting, RescheduleSecret};
use crate::store::idempotency::{Claimed, IdempotencyKey};
use crate::store::key::{Counter, Key};
use crate::store::meetings::MeetingRecord;
use crate::store::meetings::agenda::{Agenda, day_keys};
use crate::store::opportunities::OpportunityRecord;
use crate::store::sequence::Sequence;
use crate::store::{Reader, calendars};
use crate::time::Timestamp;
use table::StoreError;
use table::item::{self, Item};

/// The attributes of the counters with the last ids of meetings and leads.
pub const MEETING: &str = "meeting";
pub const LEAD: &str = "lead";
const SECRET: &str = "secret";

/// The records named by a booking.
#[derive(Debug, Clone)]
pub struct BookingRequest {
    /// The calendar's link.
    pub link: LinkName,
    /// The requested start.
    pub date: Timestamp,
    /// The lead; `None` for a new one.
    pub lead: Option<LeadId>,
    /// The opportunity.
    pub opportunity: Option<OpportunityId>,
    /// The meeting to move.
    pub meeting: Option<MeetingId>,
    /// The idempotency claim, if any.
    pub claim: Option<IdempotencyKey>,
}

/// Prefetched reads of a booking.
#[derive(Debug)]
pub struct PrefetchedBooking {
    /// Outcome of earlier requests with the same key.
    pub claimed: Claimed,
    /// The calendar named by the link, if any.
    calendar: Option<Calendar>,
    references: BookingReferences,
    date: Timestamp,
    claim: Option<IdempotencyKey>,
    preconditions: BookingPreconditions,
}

/// A booking on a published calendar, with the records to check and the prefetched preconditions of its writes.
#[derive(Debug)]
pub struct Bookable {
    /// The calendar.
    pub calendar: Calendar,
    /// The records named by the request.
    pub references: BookingReferences,
    pub(super) date: Timestamp,
    pub(super) claim: Option<IdempotencyKey>,
    pub(super) preconditions: BookingPreconditions,
}

/// The records named by a booking.
#[derive(Debug)]
pub struct BookingReferences {
    /// The lead, if it exists.
    pub lead: Option<LeadId>,
    /// The lead of the opportunity, if both exist.
    pub opportunity_of: Option<LeadId>,
    /// The meeting to move, if it exists.
    pub meeting: Option<MeetingRecord>,
}

/// The prefetched items on which a booking's writes depend.
#[derive(Debug)]
pub struct BookingPreconditions {
    /// Busy times of the checked days; `None` until the days are known.
    pub agenda: Option<Agenda>,
    /// The id of a new meeting.
    pub meeting: Sequence,
    /// The id of a new lead.
    pub lead: Sequence,
    /// The secret of reschedule keys; `None` if the instance has none yet.
    pub secret: Option<RescheduleSecret>,
}

impl PrefetchedBooking {
    /// Whether the link names a published calendar.
    #[must_use]
    pub fn is_published(&self) -> bool {
        let calendar = self.calendar.as_ref();
        calendar.is_some_and(|calendar| calendar.is_published)
    }

    /// The booking; `None` if the link names no published calendar.
    #[must_use]
    pub fn published(self) -> Option<Bookable> {
        Some(Bookable {
            calendar: self.calendar.filter(|calendar| calendar.is_published)?,
            references: self.references,
            date: self.date,
            claim: self.claim,
            preconditions: self.preconditions,
        })
    }
}

impl Bookable {
    /// The meeting to move or cancel, if `key` is its key and it belongs to this calendar (C-55).
    #[must_use]
    pub fn admits(&self, key: &str) -> Option<&MeetingRecord> {
        let secret = self.preconditions.secret.as_ref()?;
        let record = self.references.meeting.as_ref()?;
        let Meeting { id, calendar_id, .. } = record.meeting;
        (secret.admits(id, key) && calendar_id == self.calendar.id).then_some(record)
    }
}

/// The time span checked for a start: the meeting with its buffer on both sides (C-52).
pub fn checked_span(calendar: &Calendar, date: Timestamp) -> Busy {
    Busy::new(calendar.buffer_start(date), calendar.buffer_end(date))
}

impl Reader {
    /// Reads the records of a booking. One batch of gets, including busy times if this process knows the link.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be read.
    pub async fn begin_booking(&self, request: &BookingRequest) -> Result<PrefetchedBooking, StoreError> {
        let keys = self.keys();
        let expected = self.expected_calendar(&request.link);
        let days: Vec<_> = expected
            .iter()
            .flat_map(|calendar| day_keys(keys, calendar.id, checked_span(calendar, request.date)))
            .collect();
        let named = BookingKeys::of(self, request);
        let found = self
            .table
            .get_many(named.all().chain(days.iter().cloned()))
            .await?;
        let calendar = found.get(&named.link).map(calendars::calendar).transpose()?;
        // The days of another or outdated calendar may be too few.
        let is_as_expected = calendar.is_some() && expected == calendar;
        let agenda = is_as_expected.then(|| Agenda::of(days.iter().filter_map(|day| found.get(day))));
        let opportunity = find(&found, named.opportunity.as_ref(), OpportunityRecord::decode)?;
        let now = self.environment.now();
        let claim = request.claim.as_ref().zip(named.claim.as_ref());
        let claimed = claim.and_then(|(claim, key)| Some(claim.compare(found.get(key)?, now)));
        Ok(PrefetchedBooking {
            claimed: claimed.transpose()?.unwrap_or(Claimed::New),
            calendar,
            references: BookingReferences {
                lead: request.lead.filter(|lead| found.contains_key(&keys.lead(*lead))),
                opportunity_of: opportunity.and_then(|record| record.opportunity.lead_id),
                meeting: find(&found, named.meeting.as_ref(), MeetingRecord::decode)?,
            },
            date: request.date,
            claim: request.claim.clone(),
            preconditions: BookingPreconditions {
                agenda: agenda.transpose()?,
                meeting: Sequence::next(found.get(&named.meeting_number), MEETING)?,
                lead: Sequence::next(found.get(&named.lead_number), LEAD)?,
                secret: found.get(&named.secret).map(secret).transpose()?,
            },
        })
    }

    /// The meeting with the id that an equal request's claim contains, and its reschedule key (C-10). A get and a query
    /// of tombstones, in parallel.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be read.
    pub async fn replayed_booking(
        &self,
        found: &PrefetchedBooking,
        id: u64,
    ) -> Result<(Meeting, String), StoreError> {
        // Meetings are never deleted, and the first booking created the secret.
        let gone = || StoreError::Contention("reading the booking of an idempotency key");
        let id = MeetingId::new(id).ok_or_else(gone)?;
        let meeting = self.shown_meeting(id).await?.ok_or_else(gone)?;
        let secret = found.preconditions.secret.as_ref().ok_or_else(gone)?;
        Ok((meeting, secret.key_of(id)))
    }
}

/// The keys of the items that a booking reads, except busy times.
struct BookingKeys {
    link: Key,
    meeting_number: Key,
    lead_number: Key,
    secret: Key,
    lead: Option<Key>,
    opportunity: Option<Key>,
    meeting: Option<Key>,
    claim: Option<Key>,
}

impl BookingKeys {
    fn of(reader: &Reader, request: &BookingRequest) -> Self {
        let keys = reader.keys();
        Self {
            link: keys.calendar_link(&request.link),
            meeting_number: keys.counter(Counter::Meeting),
            lead_number: keys.counter(Counter::Lead),
            secret: keys.reschedule_secret(),
            lead: request.lead.map(|lead| keys.lead(lead)),
            opportunity: request.opportunity.map(|id| keys.opportunity(id)),
            meeting: request.meeting.map(|id| keys.meeting(id)),
            claim: request.claim.as_ref().map(|claim| claim.key(keys)),
        }
    }

    /// The keys that the request needs.
    fn all(&self) -> impl Iterator<Item = Key> + use<'_> {
        // A known lead needs no new id, and a moved meeting keeps its own.
        let numbers = [
            self.meeting.is_none().then_some(&self.meeting_number),
            (self.meeting.is_none() && self.lead.is_none()).then_some(&self.lead_number),
        ];
        let named = [&self.lead, &self.opportunity, &self.meeting, &self.claim];
        let named = named.into_iter().filter_map(Option::as_ref);
        let always = [&self.link, &self.secret].into_iter();
        always.chain(numbers.into_iter().flatten()).chain(named).cloned()
    }
}

/// Decodes the item of a key; `None` without a key or an item.
fn find<'i, T>(
    found: &'i HashMap<Key, Item>,
    key: Option<&Key>,
    decode: impl FnOnce(&'i Item) -> Result<T, StoreError>,
) -> Result<Option<T>, StoreError> {
    key.and_then(|key| found.get(key)).map(decode).transpose()
}

/// The secret in an item.
pub fn secret(item: &Item) -> Result<RescheduleSecret, StoreError> {
    let text = item.get(SECRET).and_then(|text| text.as_s().ok());
    let text = text.ok_or_else(|| item::corrupt("secret", "it has no text"))?;
    Ok(RescheduleSecret::stored(text))
}

/// The item of a secret.
pub fn secret_item(secret: &RescheduleSecret) -> Item {
    Item::from([(SECRET.to_owned(), item::s(secret.reveal()))])
}
