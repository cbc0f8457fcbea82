//! Reads of a booking: in one round trip if this process knows the calendar's link.

use std::collections::HashMap;

use crate::calendar::{Calendar, LinkName};
use crate::ids::{LeadId, MeetingId, OpportunityId};
use crate::meeting::Meeting;
use crate::store::Reader;
use crate::store::idempotency::{Claimed, IdempotencyKey};
use crate::store::key::{Counter, Key, Keys};
use crate::store::meetings::{MeetingRecord, Occupancy, Proof};
use crate::store::opportunities::OpportunityRecord;
use crate::store::sequence::Sequence;
use crate::time::Timestamp;
use table::StoreError;
use table::item::Item;

/// The attributes of the counters with the last ids of meetings and leads.
pub const MEETING: &str = "meeting";
pub const LEAD: &str = "lead";

/// A booking, move or cancellation.
#[derive(Debug, Clone)]
pub struct BookingRequest {
    /// The calendar's link.
    pub link: LinkName,
    /// The requested start.
    pub date: Timestamp,
    /// The records that it names.
    pub subject: BookingSubject,
    /// The idempotency claim, if any.
    pub claim: Option<IdempotencyKey>,
}

/// The records named by a booking. An invalid id is `None`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BookingSubject {
    /// A new meeting.
    New {
        /// The lead; `None` for a new one.
        lead: Option<LeadId>,
        /// The opportunity.
        opportunity: Option<OpportunityId>,
    },
    /// A meeting to move.
    Move(Option<MeetingId>),
    /// A meeting to cancel.
    Cancel(Option<MeetingId>),
}

/// Prefetched reads of a booking.
#[derive(Debug)]
pub struct PrefetchedBooking {
    /// Outcome of earlier requests with the same key.
    pub claimed: Claimed,
    request: BookingRequest,
    proof: Proof,
    /// Reads for the calendar that this process knew by the link.
    expected: Option<(Calendar, BookingReads)>,
}

/// A booking on a calendar, which may be inactive.
#[derive(Debug)]
pub struct Bookable {
    /// The calendar.
    pub calendar: Calendar,
    /// The proof of a move or a cancellation.
    pub proof: Proof,
    pub(super) request: BookingRequest,
    prefetched: Option<BookingReads>,
}

/// The reads of a booking on an active calendar.
#[derive(Debug)]
pub struct BookingReads {
    /// The lead, if it exists.
    pub lead: Option<LeadId>,
    /// The lead of the opportunity, if both exist.
    pub opportunity_of: Option<LeadId>,
    /// The id of a new meeting.
    pub(super) meeting_number: Sequence,
    /// The id of a new lead.
    pub(super) lead_number: Sequence,
    pub(super) occupancy: Occupancy,
}

impl BookingSubject {
    /// Whether it changes a meeting.
    #[must_use]
    pub fn is_change(&self) -> bool {
        !matches!(self, Self::New { .. })
    }

    /// The id of the meeting to move or cancel, if it can be one.
    fn meeting(&self) -> Option<MeetingId> {
        match self {
            Self::New { .. } => None,
            Self::Move(id) | Self::Cancel(id) => *id,
        }
    }

    /// The keys of the records and counters that a new meeting needs.
    fn keys(&self, keys: Keys<'_>) -> Vec<Key> {
        let Self::New { lead, opportunity } = self else {
            return Vec::new();
        };
        // A known lead needs no new id.
        let lead = lead.map_or_else(|| keys.counter(Counter::Lead), |lead| keys.lead(lead));
        let opportunity = opportunity.map(|id| keys.opportunity(id));
        let always = [keys.counter(Counter::Meeting), lead];
        always.into_iter().chain(opportunity).collect()
    }

    fn reads(
        &self,
        keys: Keys<'_>,
        found: &HashMap<Key, Item>,
        occupancy: Occupancy,
    ) -> Result<BookingReads, StoreError> {
        let (lead, opportunity) = match self {
            Self::New { lead, opportunity } => (*lead, *opportunity),
            Self::Move(_) | Self::Cancel(_) => (None, None),
        };
        let opportunity = opportunity.and_then(|id| found.get(&keys.opportunity(id)));
        let opportunity = opportunity.map(OpportunityRecord::decode).transpose()?;
        Ok(BookingReads {
            lead: lead.filter(|lead| found.contains_key(&keys.lead(*lead))),
            opportunity_of: opportunity.and_then(|record| record.opportunity.lead_id),
            meeting_number: Sequence::next(found.get(&keys.counter(Counter::Meeting)), MEETING)?,
            lead_number: Sequence::next(found.get(&keys.counter(Counter::Lead)), LEAD)?,
            occupancy,
        })
    }
}

impl PrefetchedBooking {
    /// The booking on the calendar that the link names now.
    #[must_use]
    pub fn on(self, calendar: Calendar) -> Bookable {
        // The times of another or outdated calendar may be too few.
        let expected = self.expected.filter(|(expected, _)| *expected == calendar);
        Bookable {
            calendar,
            proof: self.proof,
            request: self.request,
            prefetched: expected.map(|(_, reads)| reads),
        }
    }
}

impl Reader {
    /// Reads claim, secret and the meeting to change and, if this process knows the link's calendar, everything else. A
    /// batch of gets, in parallel with those of [`occupancy`](Self::occupancy).
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be read.
    pub async fn begin_booking(&self, request: &BookingRequest) -> Result<PrefetchedBooking, StoreError> {
        let (keys, subject) = (self.keys(), &request.subject);
        let may_be_inactive = subject.is_change() || request.claim.is_some();
        let expected = self.expected_calendar(&request.link, may_be_inactive).await?;
        let is_cancellation = matches!(subject, BookingSubject::Cancel(_));
        let expected = expected.filter(|_| !is_cancellation);
        let occupancy = async {
            match &expected {
                Some(calendar) => self
                    .occupancy(calendar, request.date, request.date)
                    .await
                    .map(Some),
                None => Ok(None),
            }
        };
        let claim = request.claim.as_ref().map(|claim| claim.key(keys));
        let mut named: Vec<_> = Proof::keys(keys, subject.meeting())
            .chain(claim.clone())
            .collect();
        if expected.is_some() {
            named.extend(subject.keys(keys));
        }
        let (found, occupancy) = tokio::try_join!(self.table.get_many(named), occupancy)?;
        let reads = occupancy.map(|occupancy| subject.reads(keys, &found, occupancy));
        let now = self.environment.now();
        let claim = request.claim.as_ref().zip(claim);
        let claimed = claim.and_then(|(claim, key)| Some(claim.outcome(found.get(&key)?, now)));
        Ok(PrefetchedBooking {
            claimed: claimed.transpose()?.unwrap_or(Claimed::New),
            request: request.clone(),
            proof: Proof::of(keys, subject.meeting(), &found)?,
            expected: expected.zip(reads.transpose()?),
        })
    }

    /// The rest of the reads of a booking; `None` if its calendar is not active. No call if they were prefetched; else a
    /// batch of gets, in parallel with those of [`occupancy`](Self::occupancy).
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be read.
    pub async fn finish_booking(&self, bookable: &mut Bookable) -> Result<Option<BookingReads>, StoreError> {
        if !bookable.calendar.is_published {
            return Ok(None);
        }
        let reads = if let Some(reads) = bookable.prefetched.take() {
            reads
        } else {
            let (
                keys,
                Bookable {
                    calendar, request, ..
                },
            ) = (self.keys(), &*bookable);
            let occupancy = self.occupancy(calendar, request.date, request.date);
            let named = self.table.get_many(request.subject.keys(keys));
            let (occupancy, found) = tokio::try_join!(occupancy, named)?;
            request.subject.reads(keys, &found, occupancy)?
        };
        let is_active = reads.occupancy.is_active(&bookable.calendar);
        Ok(is_active.then_some(reads))
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
        let secret = found.proof.secret.as_ref().ok_or_else(gone)?;
        Ok((meeting, secret.key_of(id)))
    }
}

impl Bookable {
    /// The meeting to move or cancel, if `key` is its key and it belongs to this calendar (C-55).
    #[must_use]
    pub fn admits(&self, key: &str) -> Option<&MeetingRecord> {
        self.proof.admits(&self.calendar, key)
    }
}
