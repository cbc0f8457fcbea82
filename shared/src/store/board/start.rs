//! The reads of a request that begin concurrently with the check of its caller.

use super::totals::Totals;
use crate::funnel::Funnel;
use crate::store::leads::stale_markers::StaleMarkers;
use crate::store::lists::StoredStart;
use table::{KeyRange, Page};

/// Reads that run in parallel with authentication.
#[derive(Debug)]
pub struct PrefetchedBoard {
    pub(super) funnel: Option<Funnel>,
    pub(super) markers: StaleMarkers,
    /// The totals that a caller with the hint needs.
    pub(super) totals: Option<Totals>,
    pub(super) column: Option<PrefetchedColumn>,
}

impl PrefetchedBoard {
    /// The funnel, if there is one.
    #[must_use]
    pub fn funnel(&self) -> Option<&Funnel> {
        self.funnel.as_ref()
    }
}

/// Prefetched reads of a column.
#[derive(Debug)]
pub struct PrefetchedColumn {
    pub stored: StoredStart,
    pub list: Option<PrefetchedEntries>,
}

/// A page of the column's list, from the likely start of the requested page.
#[derive(Debug)]
pub struct PrefetchedEntries {
    pub range: KeyRange,
    pub page: Page,
}
