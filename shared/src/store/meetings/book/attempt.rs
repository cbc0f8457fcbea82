//! Optimistic-concurrency loop of bookings, moves and cancellations.

mod current_items;

use std::collections::BTreeMap;

use super::start::{LEAD, MEETING};
use super::{Attendee, Bookable, Booked, Booking, BookingReads, NewMeeting};
use crate::calendar::Unavailable;
use crate::ids::MeetingId;
use crate::meeting::{Meeting, RescheduleSecret};
use crate::store::key::{Counter, Key};
use crate::store::meetings::proof::secret_item;
use crate::store::meetings::{MeetingRecord, Occupancy};
use crate::store::sequence::Sequence;
use crate::store::{Writer, leads};
use table::StoreError;
use table::item::Item;
use table::{CommitError, Condition, Policy, Transaction};

/// Current items, from reads and failed conditions. An empty item does not exist.
type CurrentItems = BTreeMap<Key, Item>;

/// The write: a new meeting, or a change of one.
enum BookingPlan<'a> {
    New {
        new: &'a NewMeeting,
        /// The ids of the meeting and of a new lead.
        meeting: Sequence,
        lead: Sequence,
    },
    Change {
        stored: Box<MeetingRecord>,
        /// Whether its lead was deleted. The new record has no lead then.
        is_lead_deleted: bool,
    },
}

/// A booking with the items that were read so far, on which the next attempt is based.
struct Attempts<'a> {
    store: &'a Writer,
    booking: Booking<'a>,
    plan: BookingPlan<'a>,
    /// The times that take the requested start; `None` for a cancellation.
    occupancy: Option<Occupancy>,
    /// The secret of reschedule keys; `None` if the instance has none yet.
    secret: Option<RescheduleSecret>,
    /// The secret to store if the instance has none yet.
    new_secret: RescheduleSecret,
    nonce: String,
}

impl Writer {
    /// Books a meeting. One transaction; more after conflicts.
    ///
    /// # Errors
    /// [`StoreError`] if it failed or its outcome is unknown.
    pub async fn book(
        &self,
        bookable: Bookable,
        reads: BookingReads,
        new: &NewMeeting,
    ) -> Result<Booked, StoreError> {
        let plan = BookingPlan::New {
            new,
            meeting: reads.meeting_number,
            lead: reads.lead_number,
        };
        self.write_booking(bookable, Some(reads.occupancy), plan).await
    }

    /// Moves a meeting of the calendar to another time (C-55). The costs are those of a booking.
    ///
    /// # Errors
    /// [`StoreError`] if it failed or its outcome is unknown.
    pub async fn reschedule(
        &self,
        bookable: Bookable,
        reads: BookingReads,
        stored: MeetingRecord,
    ) -> Result<Booked, StoreError> {
        let plan = BookingPlan::of(stored);
        self.write_booking(bookable, Some(reads.occupancy), plan).await
    }

    /// Cancels a meeting of the calendar that starts at the requested time. The costs are at most those of a booking.
    ///
    /// # Errors
    /// [`StoreError`] if it failed or its outcome is unknown.
    pub async fn cancel(&self, bookable: Bookable, stored: MeetingRecord) -> Result<Booked, StoreError> {
        self.write_booking(bookable, None, BookingPlan::of(stored)).await
    }

    /// Runs the attempts.
    async fn write_booking(
        &self,
        bookable: Bookable,
        occupancy: Option<Occupancy>,
        plan: BookingPlan<'_>,
    ) -> Result<Booked, StoreError> {
        let Bookable {
            calendar,
            request,
            proof,
            ..
        } = bookable;
        let attempts = Attempts {
            store: self,
            booking: Booking {
                calendar: &calendar,
                date: request.date,
                now: self.reader.environment.now(),
                claim: request.claim.as_ref(),
            },
            plan,
            occupancy,
            secret: proof.secret,
            new_secret: RescheduleSecret::new(&self.reader.environment),
            nonce: self.reader.environment.token(),
        };
        attempts.run().await
    }
}

impl BookingPlan<'_> {
    fn of(stored: MeetingRecord) -> Self {
        Self::Change {
            stored: Box::new(stored),
            is_lead_deleted: false,
        }
    }
}

impl Attempts<'_> {
    /// Repeats check and transaction until one succeeds or the current items determine another outcome. The items that
    /// a failed condition returns update the state of the next attempt.
    async fn run(mut self) -> Result<Booked, StoreError> {
        let store = self.store;
        if let Some(outcome) = self.outcome_of_stored() {
            return Ok(outcome);
        }
        let mut retry = store.reader.table.retry(Policy::CROWDED, "booking a meeting");
        loop {
            if let Err(reason) = self.check_start() {
                if let Some(outcome) = self.confirm_unavailable(reason).await? {
                    return Ok(outcome);
                }
                // The items changed, so the start is checked again without a pause.
                retry.count()?;
                continue;
            }
            self.reserve_contended_ids().await?;
            let (record, transaction) = self.transaction()?;
            let refused_items = match self.store.table.commit(transaction).await {
                Ok(()) => return Ok(self.made(record.value)),
                Err(CommitError::Refused(items)) => items,
                Err(CommitError::Store(error)) => {
                    return self.find_own_write(record.id).await?.ok_or(error);
                }
            };
            let mut outcome = self.apply(&refused_items)?;
            // After a pause, the items of the failed conditions are outdated too.
            if outcome.is_none() && retry.again().await? {
                outcome = self.read_again().await?;
            }
            if let Some(outcome) = outcome {
                return Ok(outcome);
            }
        }
    }

    /// The outcome if the calendar does not allow the start; `None` if the items changed concurrently, so that it must
    /// be checked again.
    ///
    /// The time may be taken by this very booking: an equal request may have booked it after its claim was read (C-10),
    /// or a concurrent request may have moved this meeting to the time. Reads of several items are no consistent snapshot,
    /// but two equal reads of all items are. So the items are read once more, unless neither case is possible.
    async fn confirm_unavailable(&mut self, reason: Unavailable) -> Result<Option<Booked>, StoreError> {
        let is_new = matches!(self.plan, BookingPlan::New { .. });
        let may_be_own = self.booking.claim.is_some() || !is_new;
        if reason != Unavailable::Taken || !may_be_own {
            return Ok(Some(Booked::Unavailable(reason)));
        }
        let before = (self.occupancy.clone(), self.stored_version());
        let outcome = self.read_again().await?;
        let is_unchanged = before == (self.occupancy.clone(), self.stored_version());
        Ok(outcome.or(is_unchanged.then_some(Booked::Unavailable(reason))))
    }

    /// Reads the checked times, the claim and the changed meeting again. Returns the outcome if they determine it. A batch
    /// of gets, in parallel with those of the times.
    async fn read_again(&mut self) -> Result<Option<Booked>, StoreError> {
        let keys = self.store.keys();
        let Booking {
            calendar,
            date,
            claim,
            ..
        } = self.booking;
        let meeting = match &self.plan {
            BookingPlan::New { .. } => None,
            BookingPlan::Change { stored, .. } => Some(keys.meeting(stored.id)),
        };
        let claim = claim.map(|claim| claim.key(keys));
        let reader = &self.store.reader;
        let occupancy = async {
            match &self.occupancy {
                Some(_) => reader.occupancy(calendar, date, date).await.map(Some),
                None => Ok(None),
            }
        };
        let found = reader.table.get_many(meeting.into_iter().chain(claim));
        let (occupancy, found) = tokio::try_join!(occupancy, found)?;
        self.occupancy = occupancy;
        self.apply(&found.into_iter().collect())
    }

    /// The version of the meeting to change; `None` for a new one.
    fn stored_version(&self) -> Option<u64> {
        match &self.plan {
            BookingPlan::New { .. } => None,
            BookingPlan::Change { stored, .. } => Some(stored.version),
        }
    }

    /// Checks that the calendar allows the requested start, according to the items read so far. A cancellation is
    /// always allowed. The stored time of a moved meeting does not block its new one. The error is the reason.
    fn check_start(&self) -> Result<(), Unavailable> {
        let Some(occupancy) = &self.occupancy else {
            return Ok(());
        };
        let own = match &self.plan {
            BookingPlan::New { .. } => None,
            BookingPlan::Change { stored, .. } => stored.busy_time(),
        };
        let Booking {
            calendar, date, now, ..
        } = self.booking;
        calendar.check_start(date, now, &occupancy.busy_times(calendar, own))
    }

    /// Reserves the ids that a new meeting, and a new lead, need from contended counters, unless they are reserved.
    /// Called after the time was found free, so reserved ids are rarely wasted.
    async fn reserve_contended_ids(&mut self) -> Result<(), StoreError> {
        let BookingPlan::New { new, meeting, lead } = &mut self.plan else {
            return Ok(());
        };
        let store = self.store;
        if !meeting.is_reserved() {
            *meeting = store.first_id(*meeting, Counter::Meeting, MEETING).await?;
        }
        let is_new_lead = matches!(new.guest, Attendee::New(_));
        if is_new_lead && !lead.is_reserved() {
            *lead = store.first_id(*lead, Counter::Lead, LEAD).await?;
        }
        Ok(())
    }

    /// The new record and its writes. The conditions are that the checked days are unchanged and that the claim and the
    /// secret, if they are written, do not exist.
    fn transaction(&self) -> Result<(MeetingRecord, Transaction), StoreError> {
        let keys = self.store.keys();
        let Booking {
            calendar,
            date,
            now,
            claim,
        } = self.booking;
        let (record, mut transaction) = match &self.plan {
            BookingPlan::New { new, meeting, lead } => self.creation(new, *meeting, *lead)?,
            BookingPlan::Change {
                stored,
                is_lead_deleted,
            } => self.change(stored, *is_lead_deleted)?,
        };
        if let Some(occupancy) = &self.occupancy {
            occupancy.require(&mut transaction, keys, calendar, date);
        }
        if let Some(claim) = claim {
            claim.put(&mut transaction, keys, record.id.get(), now);
        }
        if self.secret.is_none() {
            let item = secret_item(&self.new_secret);
            transaction.put(keys.reschedule_secret(), item, Condition::Absent);
        }
        Ok((record, transaction))
    }

    /// The record of a new meeting, and the writes of it, its lead and the ids.
    fn creation(
        &self,
        new: &NewMeeting,
        meeting_number: Sequence,
        lead_number: Sequence,
    ) -> Result<(MeetingRecord, Transaction), StoreError> {
        let (keys, now) = (self.store.keys(), self.booking.now);
        let id: MeetingId = meeting_number.id()?;
        let lead = match &new.guest {
            Attendee::Known(lead) => *lead,
            Attendee::New(_) => lead_number.id()?,
        };
        let record = MeetingRecord::booked(self.booking.meeting(id, lead, new), &self.nonce);
        let mut transaction = self.store.put_record(&record, None)?;
        match &new.guest {
            Attendee::Known(_) => {
                leads::mark_active(
                    &mut transaction,
                    keys,
                    (lead, now),
                    &self.store.reader.environment,
                );
            }
            Attendee::New(contact) => {
                self.store.add_lead(&mut transaction, contact.lead(lead, now))?;
                lead_number.take(&mut transaction, keys.counter(Counter::Lead), LEAD);
            }
        }
        meeting_number.take(&mut transaction, keys.counter(Counter::Meeting), MEETING);
        Ok((record, transaction))
    }

    /// The record of the moved or cancelled meeting, and its writes.
    fn change(
        &self,
        stored: &MeetingRecord,
        is_lead_deleted: bool,
    ) -> Result<(MeetingRecord, Transaction), StoreError> {
        let Booking {
            calendar, date, now, ..
        } = self.booking;
        let mut meeting = match self.occupancy {
            Some(_) => stored.moved(date, calendar, now),
            None => stored.canceled(now),
        };
        if is_lead_deleted {
            meeting = meeting.without_lead();
        }
        let record = stored.changed(meeting, &self.nonce);
        let mut transaction = self.store.put_record(&record, Some(stored))?;
        if let Some(lead) = record.lead_id {
            let (keys, environment) = (self.store.keys(), &self.store.reader.environment);
            leads::mark_active(&mut transaction, keys, (lead, now), environment);
        }
        Ok((record, transaction))
    }

    /// The outcome of a written meeting, with its reschedule key.
    fn made(&self, meeting: Meeting) -> Booked {
        let secret = self.secret.as_ref().unwrap_or(&self.new_secret);
        let key = secret.key_of(meeting.id);
        Booked::Made(Box::new(meeting), key)
    }

    /// The outcome of a transaction that returned an error: the meeting, if it was written all the same.
    async fn find_own_write(&self, id: MeetingId) -> Result<Option<Booked>, StoreError> {
        let stored = self.store.reader.meeting(id).await?;
        let own = stored.filter(|record| record.nonce.as_deref() == Some(self.nonce.as_str()));
        Ok(own.map(|record| self.made(record.value)))
    }
}
