//! Markers of leads whose copies may be stale.
//!
//! Opportunities copy their lead. A lead may have thousands, so a change of the lead does not rewrite them; it sets a
//! marker in the same transaction. While the marker exists, readers use the lead instead of its copies, so an
//! acknowledged change is visible at once (C-12). `jobs::copies` refreshes the copies and removes the marker.
//!
//! A marker's key names its lead, so an otherwise unreadable marker is still valid. A reader reads at most
//! [`MAX_READ`] markers. If there are more, it treats every lead after the last one as marked and reads the leads
//! that it shows.
//!
//! A lead to which no opportunity was ever linked contains a note of that, and a request that changes its fields sets no
//! marker. Calls and bookings do not read the lead, so they always set one.

use std::collections::BTreeSet;

use crate::environment::Environment;
use crate::ids::LeadId;
use crate::store::Reader;
use crate::store::budget::ReadBudget;
use crate::store::key::{self, Keys};
use crate::time::Timestamp;
use table::StoreError;
use table::item::{Item, n, s};
use table::{Condition, Transaction};
use table::{KeyRange, Page, Pages, key_of};

/// Maximum markers that a page reads: at most 3 read units.
const MAX_READ: usize = 100;

/// Time of the last change in Unix seconds.
pub const MARKED_AT: &str = "at";
/// Random text of each change, which distinguishes a marker from one that was deleted and set again; absent in markers
/// of deleted leads.
pub const SET: &str = "set";
/// Whether the lead was deleted.
pub const DELETED: &str = "deleted";

/// The leads whose copies may be stale.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StaleMarkers {
    leads: BTreeSet<LeadId>,
    unread: Unread,
}

/// The unread markers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Unread {
    /// None.
    #[default]
    Nothing,
    /// Markers of leads after this one.
    After(LeadId),
    /// Possibly any: a key could not be read.
    Anything,
}

/// Adds a marker to `transaction`: copies of a lead may be stale.
pub fn mark(transaction: &mut Transaction, keys: Keys<'_>, lead: LeadId, environment: &Environment) {
    let mut marked = marked_at(environment.now());
    // Eight characters distinguish markers of the same second.
    let mut nonce = environment.token();
    nonce.truncate(8);
    marked.insert(SET.to_owned(), s(nonce));
    transaction.update(keys.stale_marker(lead), "v", 1, marked, Condition::Always);
}

/// Adds a marker of a lead deleted in `transaction`: its copies must be removed.
pub fn mark_deleted(transaction: &mut Transaction, keys: Keys<'_>, lead: LeadId, now: Timestamp) {
    let mut deleted = marked_at(now);
    deleted.insert(DELETED.to_owned(), n(1));
    transaction.update(keys.stale_marker(lead), "v", 1, deleted, Condition::Always);
}

/// The time of a change as an attribute.
pub fn marked_at(now: Timestamp) -> Item {
    Item::from([(MARKED_AT.to_owned(), n(now.unix_seconds()))])
}

impl StaleMarkers {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether copies of a lead may be stale.
    pub fn covers(&self, lead: LeadId) -> bool {
        self.leads.contains(&lead)
            || match self.unread {
                Unread::Nothing => false,
                Unread::After(last) => lead > last,
                Unread::Anything => true,
            }
    }

    /// The markers in a page.
    fn of(page: &Page) -> Self {
        let (mut leads, mut has_unreadable_key) = (BTreeSet::new(), false);
        for item in &page.items {
            let key = key_of(item).ok();
            let lead = key.as_ref().and_then(key::stale_marker_lead);
            has_unreadable_key |= lead.is_none();
            leads.extend(lead);
        }
        let unread = match leads.last() {
            // No build writes such a key. Its lead is unknown, so every lead counts as marked.
            _ if has_unreadable_key => Unread::Anything,
            Some(last) if page.more => Unread::After(*last),
            _ => Unread::Nothing,
        };
        Self { leads, unread }
    }
}

impl Reader {
    /// The first markers. One query of at most 3 units.
    pub(crate) async fn stale_markers(&self) -> Result<StaleMarkers, StoreError> {
        let span = KeyRange::head(self.keys().stale_markers(), MAX_READ);
        let page = self.table.query_counters(span).await?;
        Ok(StaleMarkers::of(&page))
    }

    /// All markers, given the first ones. If the key of one cannot be read, every lead counts as marked. No call if the
    /// first ones are all; else one query per MB, within the budget.
    pub(crate) async fn all_stale_markers(
        &self,
        first: &StaleMarkers,
        budget: &ReadBudget,
    ) -> Result<StaleMarkers, StoreError> {
        if first.unread == Unread::Nothing {
            return Ok(first.clone());
        }
        let mut all = StaleMarkers::default();
        let mut pages = Pages::of(KeyRange::whole(self.keys().stale_markers()));
        while let Some(page) = pages.next_with(|span| budget.query(&self.table, span)).await? {
            let next = StaleMarkers::of(&page);
            all.leads.extend(next.leads);
            // `Unread::After` concerns the next page.
            if next.unread == Unread::Anything {
                all.unread = Unread::Anything;
            }
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use table::Key;

    /// A marker with an unknown key may belong to any lead.
    #[test]
    fn unreadable_markers_cover_every_lead() {
        let lead = LeadId::new(7).unwrap();
        for (names, more, covers) in [
            (&["lead#0000000000000003"][..], false, false),
            (&["lead#0000000000000003"], true, true),
            (&["lead#0000000000000007"], false, true),
            (&["person#3"], false, true),
            (&[], false, false),
        ] {
            let items = names
                .iter()
                .map(|name| Key::new("acme#notice", *name).complete(Item::new()));
            let items = items.collect();
            let markers = StaleMarkers::of(&Page { items, more });
            assert_eq!(markers.covers(lead), covers, "{names:?}");
            assert_eq!(markers.is_empty(), names.is_empty(), "{names:?}");
        }
    }
}
