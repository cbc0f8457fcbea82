//! Outcomes and preconditions from the items that reads and failed conditions return.

use super::super::start::{judged, secret};
use super::super::{Attendee, Booked, Booking};
use super::{Attempts, BookingPlan, Told};
use crate::meeting::{Meeting, MeetingStatus};
use crate::store::idempotency::Claimed;
use crate::store::key::Counter;
use crate::store::meetings::MeetingRecord;
use crate::store::meetings::agenda::day_keys;
use table::StoreError;

impl Attempts<'_> {
    /// Updates the state from current items. Returns the outcome if they determine it.
    pub(super) fn learn(&mut self, told: &Told) -> Result<Option<Booked>, StoreError> {
        let keys = self.store.keys();
        let id = match &self.plan {
            BookingPlan::New(_) => self.preconditions.meeting.id()?,
            BookingPlan::Move { stored, .. } => stored.meeting.id,
        };
        if let Some(item) = told.get(&keys.meeting(id)).filter(|item| !item.is_empty()) {
            let there = MeetingRecord::decode(item)?;
            // An earlier attempt of unknown outcome wrote it.
            if there.nonce.as_deref() == Some(self.nonce.as_str()) {
                return Ok(Some(self.made(there.value.meeting)));
            }
            if let BookingPlan::Move { stored, .. } = &mut self.plan {
                **stored = there;
            }
            if let Some(outcome) = self.conclusion() {
                return Ok(Some(outcome));
            }
        }
        let claim = self
            .booking
            .claim
            .and_then(|claim| Some((claim, told.get(&claim.key(keys))?)));
        if let Some((claim, item)) = claim {
            let claimed = claim.judge(item, self.booking.now)?;
            if claimed != Claimed::New {
                return Ok(Some(Booked::Claimed(claimed)));
            }
        }
        self.renew_preconditions(told)?;
        Ok(self.lost_lead(told))
    }

    /// The outcome if the stored meeting determines it.
    pub(super) fn conclusion(&self) -> Option<Booked> {
        let BookingPlan::Move { stored, cancels, .. } = &self.plan else {
            return None;
        };
        let Meeting {
            status,
            calendar_id,
            date,
            ..
        } = stored.meeting;
        let is_canceled = status == MeetingStatus::Canceled;
        if calendar_id != self.booking.calendar.id || is_canceled && !cancels {
            Some(Booked::Canceled)
        } else if *cancels && date != self.booking.date {
            Some(Booked::OtherDate)
        } else if is_canceled {
            Some(self.made(stored.meeting.clone()))
        } else {
            (!cancels && !stored.can_move()).then_some(Booked::MovedOut)
        }
    }

    /// Updates the other preconditions from current items.
    fn renew_preconditions(&mut self, told: &Told) -> Result<(), StoreError> {
        let keys = self.store.keys();
        let Booking { calendar, date, .. } = self.booking;
        if let Some(item) = told.get(&keys.reschedule_secret()) {
            self.preconditions.secret = Some(secret(item)?);
        }
        for key in day_keys(keys, calendar.id, judged(calendar, date)) {
            if let Some(item) = told.get(&key) {
                self.agenda.renew(&key, item)?;
            }
        }
        // Next, the ids of contended counters are reserved.
        for counter in [Counter::Meeting, Counter::Lead] {
            if told.contains_key(&keys.counter(counter)) {
                self.store.reader.note_contention(counter);
            }
        }
        Ok(())
    }

    /// The outcome if the lead was deleted. No meeting can be booked for it, but a booked meeting can still be moved.
    fn lost_lead(&mut self, told: &Told) -> Option<Booked> {
        let keys = self.store.keys();
        let is_gone = |lead| told.contains_key(&keys.lead(lead));
        match &mut self.plan {
            BookingPlan::New(new) => match new.guest {
                Attendee::Known(lead) if is_gone(lead) => Some(Booked::LeadGone),
                _ => None,
            },
            BookingPlan::Move {
                stored, lead_gone, ..
            } => {
                *lead_gone |= stored.meeting.lead_id.is_some_and(is_gone);
                None
            }
        }
    }
}
