//! Pages of lists: where a page starts, and the records from there on.
//!
//! A page starts at the cursor that the page before it stored, or at an offset. Reads begin in parallel with the check
//! of the caller, from the start that this process expects: the head of the list for the first page, the cached cursor
//! for another. Lists with counts locate a distant offset by them ([buckets], [blocks](super::leads::blocks)); otherwise
//! the records before it are read.

pub(crate) mod buckets;
pub(crate) mod cursor;
mod list;
mod scan;

pub use list::{List, ListRequest, Listed, MAX_BYTES};

pub(crate) use cursor::{CursorKey, NumberedPage, PageCursor, StoredStart};
pub(crate) use scan::ListScan;

use super::Writer;
use super::prefetch_cache::PrefetchHint;
use crate::viewer::Viewer;

/// Number of records from which skipping them costs more than locating the start of a page by counts.
pub(crate) const FAR: u64 = 500;

impl Writer {
    /// The viewer's permissions and settings. Caches them as the hint for the caller's next request.
    pub(crate) fn cache_access(&self, viewer: &Viewer) -> PrefetchHint {
        let access = PrefetchHint::of(viewer);
        let caller = &self.reader.caller.credentials;
        self.reader.hints.cache_caller(caller, access.clone());
        access
    }
}
