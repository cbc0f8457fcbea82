//! Outcomes and preconditions from the items that reads and failed conditions return.

use super::super::{Attendee, Booked};
use super::{Attempts, BookingPlan, CurrentItems};
use crate::store::idempotency::Claimed;
use crate::store::key::Counter;
use crate::store::meetings::MeetingRecord;
use crate::store::meetings::proof::secret;
use table::StoreError;

impl Attempts<'_> {
    /// Updates the state from current items. Returns the outcome if they determine it: an earlier attempt was written,
    /// the meeting cannot be changed any more, another request has the claim, or the lead was deleted.
    pub(super) fn apply(&mut self, current: &CurrentItems) -> Result<Option<Booked>, StoreError> {
        let keys = self.store.keys();
        let id = match &self.plan {
            BookingPlan::New { meeting, .. } => meeting.id()?,
            BookingPlan::Change { stored, .. } => stored.id,
        };
        if let Some(item) = current.get(&keys.meeting(id)).filter(|item| !item.is_empty()) {
            let written = MeetingRecord::decode(item)?;
            // An earlier attempt of unknown outcome wrote it.
            if written.nonce.as_deref() == Some(self.nonce.as_str()) {
                return Ok(Some(self.made(written.value)));
            }
            if let BookingPlan::Change { stored, .. } = &mut self.plan {
                **stored = written;
            }
            if let Some(outcome) = self.outcome_of_stored() {
                return Ok(Some(outcome));
            }
        }
        let claim = self
            .booking
            .claim
            .and_then(|claim| Some((claim, current.get(&claim.key(keys))?)));
        if let Some((claim, item)) = claim {
            let claimed = claim.outcome(item, self.booking.now)?;
            if claimed != Claimed::New {
                return Ok(Some(Booked::Claimed(claimed)));
            }
        }
        self.renew_preconditions(current)?;
        Ok(self.note_deleted_lead(current))
    }

    /// The outcome of a change if the stored meeting determines it: it belongs to another calendar, was cancelled, has
    /// begun, starts at another time than the one to cancel, or was moved too often.
    pub(super) fn outcome_of_stored(&self) -> Option<Booked> {
        let BookingPlan::Change { stored, .. } = &self.plan else {
            return None;
        };
        let is_cancellation = self.occupancy.is_none();
        if stored.calendar_id != self.booking.calendar.id {
            Some(Booked::Elsewhere)
        } else if let Err(closed) = stored.check_open(self.booking.now) {
            Some(Booked::Closed(closed))
        } else if is_cancellation && stored.date != self.booking.date {
            Some(Booked::OtherDate)
        } else if !is_cancellation && !stored.can_move() {
            Some(Booked::MovedOut)
        } else {
            None
        }
    }

    /// Updates secret, checked days and contended counters from current items.
    fn renew_preconditions(&mut self, current: &CurrentItems) -> Result<(), StoreError> {
        let keys = self.store.keys();
        if let Some(item) = current.get(&keys.reschedule_secret()) {
            self.secret = Some(secret(item)?);
        }
        if let Some(occupancy) = &mut self.occupancy {
            occupancy.renew(keys, current)?;
        }
        // The next attempt reserves the ids of contended counters.
        for counter in [Counter::Meeting, Counter::Lead] {
            if current.contains_key(&keys.counter(counter)) {
                self.store.reader.note_contention(counter);
            }
        }
        Ok(())
    }

    /// The outcome of a new meeting if its lead was deleted. A booked meeting can still be changed, so this only notes
    /// that the lead is deleted. A condition on a lead fails only if it does not exist.
    fn note_deleted_lead(&mut self, current: &CurrentItems) -> Option<Booked> {
        let keys = self.store.keys();
        let is_deleted = |lead| current.contains_key(&keys.lead(lead));
        match &mut self.plan {
            BookingPlan::New { new, .. } => match new.guest {
                Attendee::Known(lead) if is_deleted(lead) => Some(Booked::LeadGone),
                _ => None,
            },
            BookingPlan::Change {
                stored,
                is_lead_deleted,
            } => {
                *is_lead_deleted |= stored.lead_id.is_some_and(is_deleted);
                None
            }
        }
    }
}
