//! Writing a booking, again and again while others get in between.

use std::collections::BTreeMap;

use super::start::{Ground, LEAD, MEETING, judged, secret, secret_item};
use super::{Booked, Booking, BookingStart, Guest, NewMeeting};
use crate::calendar::{Calendar, Unavailable};
use crate::id::MeetingId;
use crate::meeting::{Meeting, MeetingStatus, RescheduleSecret};
use crate::store::error::StoreError;
use crate::store::idempotency::{Claim, Claimed};
use crate::store::item::Item;
use crate::store::key::{Counter, Key};
use crate::store::meetings::agenda::{Agenda, day_keys};
use crate::store::meetings::{MeetingRecord, decode};
use crate::store::number::Number;
use crate::store::transaction::{CommitError, Condition, Transaction};
use crate::store::{InstanceStore, leads};
use crate::time::Timestamp;

/// Attempts before a contested booking is given up. Of those that want times of one day at one moment each round lets one
/// through.
const ATTEMPTS: u32 = 64;
/// The longest pause between two, in steps of [`Table::pause`](crate::store::table::Table::pause): long enough that of a
/// hundred who want times of one day only a few try at one moment.
const LONGEST_PAUSE: u32 = 5;

/// How often a number may be gone before one is taken for good.
const CHANCES: u32 = 2;

/// Items as they were found, or as they stood in the way; an empty one is not there.
type Told = BTreeMap<Key, Item>;

/// How often others took the numbers that were seen.
#[derive(Default)]
struct Beaten {
    meeting: u32,
    lead: u32,
}

/// What is written: a new meeting, or one that moves.
enum Plan<'a> {
    New(&'a NewMeeting),
    Move {
        stored: Box<MeetingRecord>,
        /// Its lead turned out to be gone.
        lead_gone: bool,
    },
}

/// A booking under way.
struct Attempts<'a> {
    store: &'a InstanceStore,
    booking: Booking<'a>,
    plan: Plan<'a>,
    agenda: Agenda,
    ground: Ground,
    /// The instance's secret from now on, if it has none yet.
    new_secret: RescheduleSecret,
    nonce: String,
    beaten: Beaten,
}

impl InstanceStore {
    /// Books a meeting. One transaction; more only where others come in between, and a read of the calendar's days where
    /// this process did not know its link yet.
    ///
    /// # Errors
    /// [`StoreError`] where it failed, or where nobody knows whether it happened.
    pub async fn book(
        &self,
        start: BookingStart,
        calendar: &Calendar,
        date: Timestamp,
        claim: Option<&Claim>,
        new: &NewMeeting,
    ) -> Result<Booked, StoreError> {
        let attempts = self.attempts(start.ground, calendar, date, claim, Plan::New(new));
        attempts.await?.carry_out().await
    }

    /// Moves a meeting of the calendar to another time (C-55). The costs are those of a booking.
    ///
    /// # Errors
    /// [`StoreError`] where it failed, or where nobody knows whether it happened.
    pub async fn reschedule(
        &self,
        start: BookingStart,
        calendar: &Calendar,
        date: Timestamp,
        claim: Option<&Claim>,
        stored: MeetingRecord,
    ) -> Result<Booked, StoreError> {
        let plan = Plan::Move {
            stored: Box::new(stored),
            lead_gone: false,
        };
        let attempts = self.attempts(start.ground, calendar, date, claim, plan);
        attempts.await?.carry_out().await
    }

    async fn attempts<'a>(
        &'a self,
        mut ground: Ground,
        calendar: &'a Calendar,
        date: Timestamp,
        claim: Option<&'a Claim>,
        plan: Plan<'a>,
    ) -> Result<Attempts<'a>, StoreError> {
        self.guesses.learn_link(&self.instance, calendar);
        let agenda = if let Some(agenda) = ground.agenda.take() {
            agenda
        } else {
            let days = day_keys(self.keys(), calendar.id, judged(calendar, date));
            Agenda::of(self.table.get_many(days).await?.values())?
        };
        let ambient = &self.table.ambient;
        Ok(Attempts {
            store: self,
            booking: Booking {
                calendar,
                date,
                now: ambient.now(),
                claim,
            },
            plan,
            agenda,
            ground,
            new_secret: RescheduleSecret::new(ambient),
            nonce: ambient.token(),
            beaten: Beaten::default(),
        })
    }
}

impl Attempts<'_> {
    async fn carry_out(mut self) -> Result<Booked, StoreError> {
        for attempt in 0..ATTEMPTS {
            if let Err(reason) = self.admits() {
                match self.unavailable(reason).await? {
                    Some(outcome) => return Ok(outcome),
                    None => continue,
                }
            }
            self.own_numbers().await?;
            let (record, transaction) = self.transaction()?;
            let refused = match self.store.table.commit(transaction).await {
                Ok(()) => return Ok(self.made(record.meeting)),
                Err(CommitError::Refused(items)) => items,
                Err(CommitError::Store(error)) => {
                    return self.made_after_all(record.meeting.id).await?.ok_or(error);
                }
            };
            let mut outcome = self.learn(&refused)?;
            if outcome.is_none() && attempt > 0 {
                self.store.table.pause((attempt - 1).min(LONGEST_PAUSE)).await;
                // What the refusal told is old by now.
                outcome = self.look_again().await?;
            }
            if let Some(outcome) = outcome {
                return Ok(outcome);
            }
        }
        Err(StoreError::Contention("booking a meeting"))
    }

    /// The outcome where a start cannot be booked; `None` where others changed meanwhile what that rests on.
    ///
    /// The items of one batch of gets are not of one moment. So what takes the time may be what an equal request has just
    /// booked, whose claim came too late into view (C-10), or the meeting itself, which another request has just moved.
    /// Where two looks at all of it are equal, it was like that in between.
    async fn unavailable(&mut self, reason: Unavailable) -> Result<Option<Booked>, StoreError> {
        let alone = self.booking.claim.is_none() && matches!(self.plan, Plan::New(_));
        if alone || reason != Unavailable::Taken {
            return Ok(Some(Booked::Unavailable(reason)));
        }
        let seen = (self.agenda.clone(), self.moving_version());
        let outcome = self.look_again().await?;
        let is_settled = seen == (self.agenda.clone(), self.moving_version());
        Ok(outcome.or(is_settled.then_some(Booked::Unavailable(reason))))
    }

    /// Takes in what the judged days, the claim and the meeting that moves are now; the outcome where that settles the
    /// matter. One batch of gets.
    async fn look_again(&mut self) -> Result<Option<Booked>, StoreError> {
        let keys = self.store.keys();
        let Booking {
            calendar,
            date,
            claim,
            ..
        } = self.booking;
        let moving = match &self.plan {
            Plan::New(_) => None,
            Plan::Move { stored, .. } => Some(keys.meeting(stored.meeting.id)),
        };
        let claim = claim.map(|claim| claim.key(keys));
        let days = day_keys(keys, calendar.id, judged(calendar, date));
        let found = self.store.table.get_many(days.chain(moving).chain(claim)).await?;
        self.learn(&found.into_iter().collect())
    }

    /// The version of the meeting that moves.
    fn moving_version(&self) -> Option<u64> {
        match &self.plan {
            Plan::New(_) => None,
            Plan::Move { stored, .. } => Some(stored.version),
        }
    }

    /// Whether there can be a meeting then, as far as is known now. One that moves is not in its own way.
    fn admits(&self) -> Result<(), Unavailable> {
        let own = match &self.plan {
            Plan::New(_) => None,
            Plan::Move { stored, .. } => stored.meeting.takes(),
        };
        let Booking {
            calendar, date, now, ..
        } = self.booking;
        calendar.admits(date, now, &self.agenda.taken(own))
    }

    /// Takes the numbers for good, where others took twice those that were seen: then the time is free, so the numbers are
    /// all but sure to be used.
    async fn own_numbers(&mut self) -> Result<(), StoreError> {
        let (table, keys) = (&self.store.table, self.store.keys());
        if self.beaten.meeting >= CHANCES && !self.ground.meeting.is_taken() {
            let counter = keys.counter(Counter::Meeting);
            self.ground.meeting = table.take_number(&counter, MEETING).await?;
        }
        if self.beaten.lead >= CHANCES && !self.ground.lead.is_taken() {
            let counter = keys.counter(Counter::Lead);
            self.ground.lead = table.take_number(&counter, LEAD).await?;
        }
        Ok(())
    }

    /// The record as it is to be, and the writes that make it so.
    fn transaction(&self) -> Result<(MeetingRecord, Transaction), StoreError> {
        let keys = self.store.keys();
        let Booking {
            calendar,
            date,
            now,
            claim,
        } = self.booking;
        let (record, mut transaction) = match &self.plan {
            Plan::New(new) => self.creation(new)?,
            Plan::Move { stored, lead_gone } => self.movement(stored, *lead_gone),
        };
        self.agenda
            .require(&mut transaction, keys, calendar.id, judged(calendar, date));
        if let Some(claim) = claim {
            claim.put(&mut transaction, keys, record.meeting.id.get(), now);
        }
        if self.ground.secret.is_none() {
            let item = secret_item(&self.new_secret);
            transaction.put(keys.reschedule_secret(), item, Condition::Absent);
        }
        Ok((record, transaction))
    }

    fn creation(&self, new: &NewMeeting) -> Result<(MeetingRecord, Transaction), StoreError> {
        let (keys, now) = (self.store.keys(), self.booking.now);
        let id: MeetingId = self.ground.meeting.id()?;
        let lead = match &new.guest {
            Guest::Known(lead) => *lead,
            Guest::New(_) => self.ground.lead.id()?,
        };
        let record = MeetingRecord::booked(self.booking.meeting(id, lead, new), &self.nonce);
        let mut transaction = self.store.put_meeting(None, &record);
        match &new.guest {
            Guest::Known(_) => leads::mark_active(&mut transaction, keys, lead, now),
            Guest::New(visitor) => {
                leads::put_new(&mut transaction, keys, visitor.lead(lead, now))?;
                let counter = keys.counter(Counter::Lead);
                self.ground.lead.take(&mut transaction, counter, LEAD);
            }
        }
        let counter = keys.counter(Counter::Meeting);
        self.ground.meeting.take(&mut transaction, counter, MEETING);
        Ok((record, transaction))
    }

    fn movement(&self, stored: &MeetingRecord, lead_gone: bool) -> (MeetingRecord, Transaction) {
        let Booking {
            calendar, date, now, ..
        } = self.booking;
        let mut meeting = stored.meeting.moved(date, calendar, now);
        if lead_gone {
            meeting = meeting.without_lead();
        }
        let record = stored.moved(meeting, &self.nonce);
        let mut transaction = self.store.put_meeting(Some(stored), &record);
        if let Some(lead) = record.meeting.lead_id {
            leads::mark_active(&mut transaction, self.store.keys(), lead, now);
        }
        (record, transaction)
    }

    /// Takes in what a refused attempt or another look tells; the outcome where it settles the matter.
    fn learn(&mut self, told: &Told) -> Result<Option<Booked>, StoreError> {
        let keys = self.store.keys();
        let id = match &self.plan {
            Plan::New(_) => self.ground.meeting.id()?,
            Plan::Move { stored, .. } => stored.meeting.id,
        };
        if let Some(item) = told.get(&keys.meeting(id)).filter(|item| !item.is_empty()) {
            let there = decode(item)?;
            // An attempt of which nobody heard had written it.
            if there.nonce.as_deref() == Some(self.nonce.as_str()) {
                return Ok(Some(self.made(there.meeting)));
            }
            if let Plan::Move { stored, .. } = &mut self.plan {
                let Meeting {
                    status, calendar_id, ..
                } = there.meeting;
                if status == MeetingStatus::Canceled || calendar_id != self.booking.calendar.id {
                    return Ok(Some(Booked::Canceled));
                }
                if !there.can_move() {
                    return Ok(Some(Booked::MovedOut));
                }
                **stored = there;
            }
        }
        let claim = self
            .booking
            .claim
            .and_then(|claim| Some((claim, told.get(&claim.key(keys))?)));
        if let Some((claim, item)) = claim {
            let claimed = claim.judge(item, self.booking.now)?;
            if claimed != Claimed::Free {
                return Ok(Some(Booked::Claimed(claimed)));
            }
        }
        self.renew_ground(told)?;
        Ok(self.lost_lead(told))
    }

    /// Takes in what stood in the way of the writes that go with the meeting.
    fn renew_ground(&mut self, told: &Told) -> Result<(), StoreError> {
        let keys = self.store.keys();
        let Booking { calendar, date, .. } = self.booking;
        if let Some(item) = told.get(&keys.reschedule_secret()) {
            self.ground.secret = Some(secret(item)?);
        }
        for key in day_keys(keys, calendar.id, judged(calendar, date)) {
            if let Some(item) = told.get(&key) {
                self.agenda.renew(&key, item)?;
            }
        }
        if let Some(item) = told.get(&keys.counter(Counter::Meeting)) {
            self.ground.meeting = Number::next(Some(item), MEETING)?;
            self.beaten.meeting += 1;
        }
        if let Some(item) = told.get(&keys.counter(Counter::Lead)) {
            self.ground.lead = Number::next(Some(item), LEAD)?;
            self.beaten.lead += 1;
        }
        Ok(())
    }

    /// What it means that the lead is gone: nothing can be booked for it, but what was booked can still be moved.
    fn lost_lead(&mut self, told: &Told) -> Option<Booked> {
        let keys = self.store.keys();
        let is_gone = |lead| told.contains_key(&keys.lead(lead));
        match &mut self.plan {
            Plan::New(new) => match new.guest {
                Guest::Known(lead) if is_gone(lead) => Some(Booked::LeadGone),
                _ => None,
            },
            Plan::Move { stored, lead_gone } => {
                *lead_gone |= stored.meeting.lead_id.is_some_and(is_gone);
                None
            }
        }
    }

    fn made(&self, meeting: Meeting) -> Booked {
        let secret = self.ground.secret.as_ref().unwrap_or(&self.new_secret);
        let key = secret.key_of(meeting.id);
        Booked::Made(Box::new(meeting), key)
    }

    /// What an attempt of unknown outcome made, if it did.
    async fn made_after_all(&self, id: MeetingId) -> Result<Option<Booked>, StoreError> {
        let stored = self.store.meeting(id).await?;
        let own = stored.filter(|record| record.nonce.as_deref() == Some(self.nonce.as_str()));
        Ok(own.map(|record| self.made(record.meeting)))
    }
}
