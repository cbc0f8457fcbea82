//! Optimistic-concurrency loop of bookings, moves and cancellations.

mod learn;

use std::collections::BTreeMap;

use super::start::{BookingPreconditions, LEAD, MEETING, judged, secret_item};
use super::{Attendee, Bookable, Booked, Booking, NewMeeting};
use crate::calendar::Unavailable;
use crate::ids::MeetingId;
use crate::meeting::{Meeting, RescheduleSecret};
use crate::store::key::{Counter, Key};
use crate::store::meetings::MeetingRecord;
use crate::store::meetings::agenda::{Agenda, day_keys};
use crate::store::{Writer, leads};
use table::StoreError;
use table::item::Item;
use table::{CommitError, Condition, Policy, Transaction};

/// Current items, from reads and failed conditions. An empty item does not exist.
type Told = BTreeMap<Key, Item>;

/// The write: a new meeting, or a change of one.
enum BookingPlan<'a> {
    New(&'a NewMeeting),
    Move {
        stored: Box<MeetingRecord>,
        /// Cancelled instead of moved.
        cancels: bool,
        /// Whether its lead was deleted.
        lead_gone: bool,
    },
}

/// A booking with the state that its attempts share.
struct Attempts<'a> {
    store: &'a Writer,
    booking: Booking<'a>,
    plan: BookingPlan<'a>,
    agenda: Agenda,
    preconditions: BookingPreconditions,
    /// The secret to store if the instance has none yet.
    new_secret: RescheduleSecret,
    nonce: String,
}

impl Writer {
    /// Books a meeting. One transaction; more after conflicts. A batch of gets of the calendar's days first, if this
    /// process did not know its link.
    ///
    /// # Errors
    /// [`StoreError`] if it failed or its outcome is unknown.
    pub async fn book(&self, found: Bookable, new: &NewMeeting) -> Result<Booked, StoreError> {
        self.write_booking(found, BookingPlan::New(new)).await
    }

    /// Moves a meeting of the calendar to another time (C-55). The costs are those of a booking.
    ///
    /// # Errors
    /// [`StoreError`] if it failed or its outcome is unknown.
    pub async fn reschedule(&self, found: Bookable, stored: MeetingRecord) -> Result<Booked, StoreError> {
        let plan = BookingPlan::of(stored, false);
        self.write_booking(found, plan).await
    }

    /// Cancels a meeting of the calendar that starts at the requested time. A cancelled meeting stays unchanged. The
    /// costs are at most those of a booking.
    ///
    /// # Errors
    /// [`StoreError`] if it failed or its outcome is unknown.
    pub async fn cancel(&self, found: Bookable, stored: MeetingRecord) -> Result<Booked, StoreError> {
        let plan = BookingPlan::of(stored, true);
        self.write_booking(found, plan).await
    }

    async fn write_booking(&self, found: Bookable, plan: BookingPlan<'_>) -> Result<Booked, StoreError> {
        let Bookable {
            calendar,
            date,
            claim,
            mut preconditions,
            ..
        } = found;
        self.reader.learn_link(&calendar);
        let agenda = if let Some(agenda) = preconditions.agenda.take() {
            agenda
        } else {
            let days = day_keys(self.keys(), calendar.id, judged(&calendar, date));
            Agenda::of(self.reader.table.get_many(days).await?.values())?
        };
        let attempts = Attempts {
            store: self,
            booking: Booking {
                calendar: &calendar,
                date,
                now: self.reader.environment.now(),
                claim: claim.as_ref(),
            },
            plan,
            agenda,
            preconditions,
            new_secret: RescheduleSecret::new(&self.reader.environment),
            nonce: self.reader.environment.token(),
        };
        attempts.carry_out().await
    }
}

impl BookingPlan<'_> {
    fn of(stored: MeetingRecord, cancels: bool) -> Self {
        Self::Move {
            stored: Box::new(stored),
            cancels,
            lead_gone: false,
        }
    }

    fn cancels(&self) -> bool {
        matches!(self, Self::Move { cancels: true, .. })
    }
}

impl Attempts<'_> {
    async fn carry_out(mut self) -> Result<Booked, StoreError> {
        let store = self.store;
        if let Some(outcome) = self.conclusion() {
            return Ok(outcome);
        }
        let mut retry = store.reader.table.retry(Policy::CROWDED, "booking a meeting");
        loop {
            if let Err(reason) = self.admits() {
                if let Some(outcome) = self.unavailable(reason).await? {
                    return Ok(outcome);
                }
                retry.count()?;
                continue;
            }
            self.own_numbers().await?;
            let (record, transaction) = self.transaction()?;
            let refused = match self.store.table.commit(transaction).await {
                Ok(()) => return Ok(self.made(record.value.meeting)),
                Err(CommitError::Refused(items)) => items,
                Err(CommitError::Store(error)) => {
                    return self.made_after_all(record.meeting.id).await?.ok_or(error);
                }
            };
            let mut outcome = self.learn(&refused)?;
            if outcome.is_none() && retry.again().await? {
                outcome = self.look_again().await?;
            }
            if let Some(outcome) = outcome {
                return Ok(outcome);
            }
        }
    }

    /// The outcome if a start cannot be booked; `None` if the items changed concurrently.
    ///
    /// A batch of gets is no consistent snapshot. An equal request may have booked the time after its claim was read
    /// (C-10), or a concurrent request may have moved this meeting to the time. Two equal reads of all items are a
    /// consistent snapshot.
    async fn unavailable(&mut self, reason: Unavailable) -> Result<Option<Booked>, StoreError> {
        let alone = self.booking.claim.is_none() && matches!(self.plan, BookingPlan::New(_));
        if alone || reason != Unavailable::Taken {
            return Ok(Some(Booked::Unavailable(reason)));
        }
        let seen = (self.agenda.clone(), self.moving_version());
        let outcome = self.look_again().await?;
        let is_settled = seen == (self.agenda.clone(), self.moving_version());
        Ok(outcome.or(is_settled.then_some(Booked::Unavailable(reason))))
    }

    /// Reads the checked days, the claim and the changed meeting again. Returns the outcome if they determine it. One
    /// batch of gets.
    async fn look_again(&mut self) -> Result<Option<Booked>, StoreError> {
        let keys = self.store.keys();
        let Booking {
            calendar,
            date,
            claim,
            ..
        } = self.booking;
        let moving = match &self.plan {
            BookingPlan::New(_) => None,
            BookingPlan::Move { stored, .. } => Some(keys.meeting(stored.meeting.id)),
        };
        let claim = claim.map(|claim| claim.key(keys));
        let days = day_keys(keys, calendar.id, judged(calendar, date));
        let found = self
            .store
            .reader
            .table
            .get_many(days.chain(moving).chain(claim))
            .await?;
        self.learn(&found.into_iter().collect())
    }

    /// The version of the changed meeting.
    fn moving_version(&self) -> Option<u64> {
        match &self.plan {
            BookingPlan::New(_) => None,
            BookingPlan::Move { stored, .. } => Some(stored.version),
        }
    }

    /// Whether the calendar allows the requested start, according to the items read so far. A cancellation is always
    /// allowed. The stored time of a moved meeting does not block its new one.
    fn admits(&self) -> Result<(), Unavailable> {
        if self.plan.cancels() {
            return Ok(());
        }
        let own = match &self.plan {
            BookingPlan::New(_) => None,
            BookingPlan::Move { stored, .. } => stored.meeting.busy_time(),
        };
        let Booking {
            calendar, date, now, ..
        } = self.booking;
        calendar.admits(date, now, &self.agenda.taken(own))
    }

    /// Reserves the ids of contended counters. The time was free when checked, so ids are rarely wasted.
    async fn own_numbers(&mut self) -> Result<(), StoreError> {
        let BookingPlan::New(new) = &self.plan else {
            return Ok(());
        };
        let BookingPreconditions { meeting, lead, .. } = &mut self.preconditions;
        let store = self.store;
        let numbers = [
            (meeting, Counter::Meeting, MEETING, true),
            (lead, Counter::Lead, LEAD, matches!(new.guest, Attendee::New(_))),
        ];
        for (number, counter, name, is_taken) in numbers {
            if is_taken && !number.is_reserved() {
                *number = store.first_number(*number, counter, name).await?;
            }
        }
        Ok(())
    }

    /// The new record and its writes.
    fn transaction(&self) -> Result<(MeetingRecord, Transaction), StoreError> {
        let keys = self.store.keys();
        let Booking {
            calendar,
            date,
            now,
            claim,
        } = self.booking;
        let (record, mut transaction) = match &self.plan {
            BookingPlan::New(new) => self.creation(new)?,
            BookingPlan::Move {
                stored, lead_gone, ..
            } => self.movement(stored, *lead_gone)?,
        };
        if !self.plan.cancels() {
            self.agenda
                .require(&mut transaction, keys, calendar.id, judged(calendar, date));
        }
        if let Some(claim) = claim {
            claim.put(&mut transaction, keys, record.meeting.id.get(), now);
        }
        if self.preconditions.secret.is_none() {
            let item = secret_item(&self.new_secret);
            transaction.put(keys.reschedule_secret(), item, Condition::Absent);
        }
        Ok((record, transaction))
    }

    fn creation(&self, new: &NewMeeting) -> Result<(MeetingRecord, Transaction), StoreError> {
        let (keys, now) = (self.store.keys(), self.booking.now);
        let id: MeetingId = self.preconditions.meeting.id()?;
        let lead = match &new.guest {
            Attendee::Known(lead) => *lead,
            Attendee::New(_) => self.preconditions.lead.id()?,
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
            Attendee::New(visitor) => {
                let number = self.preconditions.lead;
                self.store
                    .add_lead(&mut transaction, visitor.lead(lead, now), number)?;
                let counter = keys.counter(Counter::Lead);
                number.take(&mut transaction, counter, LEAD);
            }
        }
        let counter = keys.counter(Counter::Meeting);
        self.preconditions
            .meeting
            .take(&mut transaction, counter, MEETING);
        Ok((record, transaction))
    }

    fn movement(
        &self,
        stored: &MeetingRecord,
        lead_gone: bool,
    ) -> Result<(MeetingRecord, Transaction), StoreError> {
        let Booking {
            calendar, date, now, ..
        } = self.booking;
        let mut meeting = if self.plan.cancels() {
            stored.meeting.canceled(now)
        } else {
            stored.meeting.moved(date, calendar, now)
        };
        if lead_gone {
            meeting = meeting.without_lead();
        }
        let record = stored.changed(meeting, &self.nonce);
        let mut transaction = self.store.put_record(&record, Some(stored))?;
        if let Some(lead) = record.meeting.lead_id {
            let (keys, environment) = (self.store.keys(), &self.store.reader.environment);
            leads::mark_active(&mut transaction, keys, (lead, now), environment);
        }
        Ok((record, transaction))
    }

    fn made(&self, meeting: Meeting) -> Booked {
        let secret = self.preconditions.secret.as_ref().unwrap_or(&self.new_secret);
        let key = secret.key_of(meeting.id);
        Booked::Made(Box::new(meeting), key)
    }

    /// Looks up whether an attempt of unknown outcome succeeded.
    async fn made_after_all(&self, id: MeetingId) -> Result<Option<Booked>, StoreError> {
        let stored = self.store.reader.meeting(id).await?;
        let own = stored.filter(|record| record.nonce.as_deref() == Some(self.nonce.as_str()));
        Ok(own.map(|record| self.made(record.value.meeting)))
    }
}
