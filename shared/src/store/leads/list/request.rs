//! A request for a page of leads, and the page.

use crate::ids::{LeadId, TagId};
use crate::store::leads::record::{LeadEntry, LeadState};
use crate::store::prefetch_cache::PrefetchHint;
use table::{ListEntry as _, Page};

/// The term of a search over leads (C-20).
pub use crate::words::WordSearch as LeadSearch;

/// A request for a page of leads.
#[derive(Debug, Clone)]
pub struct LeadRequest {
    /// Whether archived leads are requested; otherwise the others.
    pub archived: bool,
    /// Only leads that a term finds.
    pub search: Option<LeadSearch>,
    /// Only leads with this tag (C-98).
    pub tag: Option<TagId>,
    /// Number of the page, in the instance's page base; `None` for the first.
    pub page: Option<u64>,
    /// Whether pages are counted from 0 regardless of the instance's page base (C-93).
    pub from_zero: bool,
    /// Leads on a page.
    pub limit: u16,
    /// Whether the whole records are requested too.
    pub whole: bool,
}

impl LeadRequest {
    /// All leads that a term finds.
    pub fn of_all(archived: bool, term: LeadSearch) -> Self {
        Self {
            archived,
            search: Some(term),
            tag: None,
            page: None,
            from_zero: false,
            limit: 0,
            whole: false,
        }
    }

    /// Number of leads before the page.
    pub fn skipped(&self, caller: &PrefetchHint) -> u64 {
        if self.from_zero {
            return self.page.unwrap_or(0).saturating_mul(self.limit.into());
        }
        caller.skipped(self.page, self.limit)
    }
}

/// A page of the list.
#[derive(Debug, Clone, PartialEq)]
pub struct LeadPage {
    /// The leads on it, by id.
    pub entries: Vec<LeadEntry>,
    /// Number of leads that the viewer sees on all pages.
    pub total: u64,
    /// Whether there are more leads than `total`. The total of a search is exact up to 10,000.
    pub more: bool,
    /// Whether few other records are between those of the page, so one query reads them.
    pub(super) neighbours: bool,
    pub(super) records: Records,
}

/// All records by id, up to [`end`](Self::end).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Records {
    pub(super) found: Vec<LeadState>,
    pub(super) end: Option<LeadId>,
}

/// Entries of a list, from one query.
#[derive(Debug)]
pub struct Entries {
    pub(super) leads: Vec<LeadEntry>,
    /// Whether there may be more entries after the last.
    pub(super) more: bool,
    /// The read units that they consumed.
    pub(super) units: f64,
}

impl Entries {
    pub fn read(page: Page) -> Self {
        let units = page.units();
        let entries = page.items.into_iter();
        let entries = entries.filter_map(|item| table::readable(item, LeadEntry::read));
        Self {
            leads: entries.collect(),
            more: page.more,
            units,
        }
    }
}
