//! Deleted leads with data that is not yet erased. Readers hide that data.

use std::collections::BTreeSet;

use crate::call::Call;
use crate::ids::LeadId;
use crate::meeting::Meeting;
use crate::opportunity::Opportunity;
use crate::store::Reader;
use crate::store::key;
use crate::ticket::Ticket;
use table::{KeyRange, Page, StoreError, key_of};

/// Deleted leads with data that is not yet erased.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PendingErasures(BTreeSet<LeadId>);

impl PendingErasures {
    /// Whether the data of a record's lead must be hidden.
    #[must_use]
    pub fn cover(&self, lead: Option<LeadId>) -> bool {
        lead.is_some_and(|lead| self.0.contains(&lead))
    }

    /// A meeting without data of a deleted lead.
    #[must_use]
    pub fn meeting(&self, meeting: Meeting) -> Meeting {
        if self.cover(meeting.lead_id) {
            meeting.without_lead()
        } else {
            meeting
        }
    }

    /// A ticket without data of a deleted lead.
    #[must_use]
    pub fn ticket(&self, ticket: Ticket) -> Ticket {
        if self.cover(ticket.lead_relation) {
            ticket.without_lead()
        } else {
            ticket
        }
    }

    /// An opportunity without data of a deleted lead.
    #[must_use]
    pub fn opportunity(&self, opportunity: Opportunity) -> Opportunity {
        let lead_id = opportunity.lead_id.filter(|lead| !self.cover(Some(*lead)));
        Opportunity {
            lead_id,
            ..opportunity
        }
    }

    /// A call without data of a deleted lead.
    #[must_use]
    pub fn call(&self, call: Call) -> Call {
        if self.cover(call.lead) {
            call.without_lead()
        } else {
            call
        }
    }
}

/// Maximum tombstones read by a page: 3 read units.
const MAX_READ: usize = 100;

/// The first tombstones by lead.
#[derive(Debug)]
pub struct FirstErasures {
    first: PendingErasures,
    /// The lead after which more may follow; `None` if these are all.
    after: Option<LeadId>,
}

impl Reader {
    /// The first tombstones. One query of at most 3 units.
    pub(crate) async fn first_erasures(&self) -> Result<FirstErasures, StoreError> {
        let span = KeyRange::head(self.keys().tombstones(), MAX_READ);
        let Page { items, more } = self.table.query_counters(span).await?;
        let keys = items.iter().map(key_of).collect::<Result<Vec<_>, _>>()?;
        let first = PendingErasures(keys.iter().filter_map(key::tombstone_lead).collect());
        let after = first.0.last().copied().filter(|_| more);
        Ok(FirstErasures { first, after })
    }

    /// The first tombstones, and those of these leads. No call if the first ones are all or include all of these leads;
    /// else a batch of gets.
    pub(crate) async fn erasures_of(
        &self,
        FirstErasures { first, after }: FirstErasures,
        leads: impl Iterator<Item = LeadId>,
    ) -> Result<PendingErasures, StoreError> {
        let PendingErasures(mut deleted) = first;
        if let Some(after) = after {
            let unread = leads
                .filter(|lead| *lead > after)
                .map(|lead| self.keys().tombstone(lead));
            let found = self.table.get_many(unread).await?;
            deleted.extend(found.keys().filter_map(key::tombstone_lead));
        }
        Ok(PendingErasures(deleted))
    }

    /// All tombstones. One query per MB.
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be read.
    pub async fn erasures(&self) -> Result<PendingErasures, StoreError> {
        let span = KeyRange::whole(self.keys().tombstones());
        let items = self.table.query_all(span).await?;
        // A key without a lead covers none; the doctor reports it.
        let keys = items.iter().map(key_of).collect::<Result<Vec<_>, _>>()?;
        Ok(PendingErasures(
            keys.iter().filter_map(key::tombstone_lead).collect(),
        ))
    }
}
