//! What a booking rests on, read in one batch of gets where this process knows the calendar's link already.

use std::collections::HashMap;

use crate::calendar::{Busy, Calendar, LinkName};
use crate::id::{LeadId, MeetingId, OpportunityId};
use crate::meeting::RescheduleSecret;
use crate::store::error::StoreError;
use crate::store::idempotency::{Claim, Claimed};
use crate::store::item::{self, Item};
use crate::store::key::{Counter, Key};
use crate::store::meetings::agenda::{Agenda, day_keys};
use crate::store::meetings::{MeetingRecord, decode};
use crate::store::number::Number;
use crate::store::{Reader, calendars, opportunities};
use crate::time::Timestamp;

/// The numbers of meetings and of leads in their counters.
pub const MEETING: &str = "meeting";
pub const LEAD: &str = "lead";
const SECRET: &str = "secret";

/// What a booking names.
#[derive(Debug, Clone)]
pub struct BookingRequest {
    /// The calendar's link.
    pub link: LinkName,
    /// The start that is wanted.
    pub date: Timestamp,
    /// The lead; `None` where one is to be made.
    pub lead: Option<LeadId>,
    /// The opportunity.
    pub opportunity: Option<OpportunityId>,
    /// The meeting that is to be moved.
    pub meeting: Option<MeetingId>,
    /// By which an equal request is recognised, where the caller wants that.
    pub claim: Option<Claim>,
}

/// What a booking rests on.
#[derive(Debug)]
pub struct BookingStart {
    /// The calendar that the link names, if there is one.
    pub calendar: Option<Calendar>,
    /// Whether the lead that was named exists.
    pub lead_exists: bool,
    /// The lead of the opportunity that was named, if both exist.
    pub opportunity_of: Option<LeadId>,
    /// The meeting that is to be moved, if it exists.
    pub meeting: Option<MeetingRecord>,
    /// What became of earlier requests with the same key.
    pub claimed: Claimed,
    pub(super) ground: Ground,
}

/// What the writes of a booking depend on.
#[derive(Debug)]
pub struct Ground {
    /// What is taken of the days that are judged; `None` until it is known which those are.
    pub agenda: Option<Agenda>,
    pub meeting: Number,
    pub lead: Number,
    pub secret: Option<RescheduleSecret>,
}

impl BookingStart {
    /// Whether a text is the key of a meeting (C-55).
    #[must_use]
    pub fn admits(&self, meeting: MeetingId, key: &str) -> bool {
        let secret = self.ground.secret.as_ref();
        secret.is_some_and(|secret| secret.admits(meeting, key))
    }

    /// The key of a meeting that was booked; `None` where none ever was.
    #[must_use]
    pub fn key_of(&self, meeting: MeetingId) -> Option<String> {
        self.ground.secret.as_ref().map(|secret| secret.key_of(meeting))
    }
}

/// The stretch of time that is judged for a start: the meeting, and its buffer on both sides (C-52).
pub fn judged(calendar: &Calendar, date: Timestamp) -> Busy {
    Busy::new(calendar.buffer_start(date), calendar.buffer_end(date))
}

impl Reader {
    /// Reads what a booking rests on. One batch of gets; what is taken is among them where this process knows the link.
    ///
    /// # Errors
    /// [`StoreError`] where it cannot be read.
    pub async fn begin_booking(&self, request: &BookingRequest) -> Result<BookingStart, StoreError> {
        let keys = self.keys();
        let known = self.guesses.link(&self.instance, &request.link);
        let days: Vec<_> = known
            .iter()
            .flat_map(|calendar| day_keys(keys, calendar.id, judged(calendar, request.date)))
            .collect();
        let named = Named::of(self, request);
        let found = self
            .table
            .get_many(named.all().chain(days.iter().cloned()))
            .await?;
        let calendar = found.get(&named.link).map(calendars::calendar).transpose()?;
        let agenda = (calendar.is_some() && known == calendar)
            .then(|| Agenda::of(days.iter().filter_map(|day| found.get(day))));
        let opportunity = find(&found, named.opportunity.as_ref(), opportunities::decode)?;
        let now = self.table.ambient.now();
        let claimed = request.claim.as_ref().zip(named.claim.as_ref());
        let claimed = claimed.and_then(|(claim, key)| Some(claim.judge(found.get(key)?, now)));
        Ok(BookingStart {
            calendar,
            lead_exists: named.lead.is_some_and(|lead| found.contains_key(&lead)),
            opportunity_of: opportunity.and_then(|record| record.card.opportunity.lead_id),
            meeting: find(&found, named.meeting.as_ref(), decode)?,
            claimed: claimed.transpose()?.unwrap_or(Claimed::Free),
            ground: Ground {
                agenda: agenda.transpose()?,
                meeting: Number::next(found.get(&named.meeting_number), MEETING)?,
                lead: Number::next(found.get(&named.lead_number), LEAD)?,
                secret: found.get(&named.secret).map(secret).transpose()?,
            },
        })
    }
}

/// The items that a request names.
struct Named {
    link: Key,
    meeting_number: Key,
    lead_number: Key,
    secret: Key,
    lead: Option<Key>,
    opportunity: Option<Key>,
    meeting: Option<Key>,
    claim: Option<Key>,
}

impl Named {
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

    fn all(&self) -> impl Iterator<Item = Key> + use<'_> {
        // A known lead takes no number of its own, and a meeting that is moved has one.
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

fn find<T>(
    found: &HashMap<Key, Item>,
    key: Option<&Key>,
    decode: impl FnOnce(&Item) -> Result<T, StoreError>,
) -> Result<Option<T>, StoreError> {
    key.and_then(|key| found.get(key)).map(decode).transpose()
}

/// The secret that an item holds.
pub fn secret(item: &Item) -> Result<RescheduleSecret, StoreError> {
    let text = item.get(SECRET).and_then(|text| text.as_s().ok());
    let text = text.ok_or_else(|| item::corrupt("secret", "it has no text"))?;
    Ok(RescheduleSecret::stored(text))
}

/// The item of a secret.
pub fn secret_item(secret: &RescheduleSecret) -> Item {
    Item::from([(SECRET.to_owned(), item::s(secret.reveal()))])
}
