//! The ids of a call, its event and its lead (C-11).

use super::Link;
use crate::store::key::{Counter, Key, Keys};
use crate::store::sequence::Sequence;
use crate::store::{Reader, Writer};
use table::StoreError;
use table::Transaction;

/// The ids of a call to write. Attempts with the same values write the same key, so at most one succeeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallIds {
    pub(super) call: Sequence,
    pub(super) event: Sequence,
    /// Unused unless the call creates a lead.
    pub(super) lead: Sequence,
}

impl CallIds {
    /// The key of the call with these ids.
    pub(super) fn key(self, keys: Keys<'_>) -> Result<Key, StoreError> {
        Ok(keys.call(self.call.id()?))
    }
}

impl Reader {
    /// The next ids of calls and events. One get.
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be read.
    pub async fn next_call_ids(&self) -> Result<CallIds, StoreError> {
        let item = self.table.get(&self.keys().counter(Counter::Call)).await?;
        Ok(CallIds {
            call: Sequence::next(item.as_ref(), "call")?,
            event: Sequence::next(item.as_ref(), "event")?,
            lead: Sequence::Expect(0),
        })
    }

    /// `ids` with the next id of a lead. One get.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be read.
    pub async fn with_next_lead_id(&self, ids: CallIds) -> Result<CallIds, StoreError> {
        let item = self.table.get(&self.keys().counter(Counter::Lead)).await?;
        Ok(CallIds {
            lead: Sequence::next(item.as_ref(), "lead")?,
            ..ids
        })
    }
}

impl Writer {
    /// Reserves the ids that a call with this link needs, by additions, which cannot conflict. At most one write for a
    /// call with its event and one for a new lead, in parallel.
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be taken.
    pub async fn reserve_call_ids(&self, link: &Link) -> Result<CallIds, StoreError> {
        let [calls, leads] = [Counter::Call, Counter::Lead].map(|counter| self.keys().counter(counter));
        let call_and_event = async {
            if *link == Link::Nobody {
                // A call without a lead has no event.
                let call = Sequence::reserve(&self.table, &calls, "call").await?;
                return Ok([call, Sequence::Expect(0)]);
            }
            self.reserve_in_blocks(&calls, ["call", "event"]).await
        };
        let lead = async {
            match link {
                Link::New(_) => Sequence::reserve(&self.table, &leads, "lead").await,
                _ => Ok(Sequence::Expect(0)),
            }
        };
        let ([call, event], lead) = tokio::try_join!(call_and_event, lead)?;
        Ok(CallIds { call, event, lead })
    }

    /// Whether this process met a conflict at a counter of the call within the last seconds, so that ids are reserved at once.
    pub(super) fn has_contended_counter(&self, link: &Link) -> bool {
        counters(link).any(|counter| self.reader.is_contended(counter))
    }

    /// Remembers a conflict at the counters of the call.
    pub(super) fn note_contended(&self, link: &Link) {
        counters(link).for_each(|counter| self.reader.note_contention(counter));
    }

    /// Adds the taking of ids that are not reserved to `transaction`. Submissions of forms take ids of events too.
    pub(super) fn take_ids(&self, transaction: &mut Transaction, link: &Link, ids: CallIds) {
        let calls = self.keys().counter(Counter::Call);
        match (link, ids.call, ids.event) {
            (Link::Nobody, call, _) => call.take(transaction, calls, "call"),
            (_, Sequence::Expect(call), Sequence::Expect(event)) => {
                transaction.take_numbers(calls, [("call", call), ("event", event)]);
            }
            // Both are reserved together.
            _ => {}
        }
        if matches!(link, Link::New(_)) {
            ids.lead
                .take(transaction, self.keys().counter(Counter::Lead), "lead");
        }
    }
}

/// The counters of a call with this link.
fn counters(link: &Link) -> impl Iterator<Item = Counter> {
    let lead = matches!(link, Link::New(_)).then_some(Counter::Lead);
    [Counter::Call].into_iter().chain(lead)
}
