//! The list of leads (C-20): pages by id, totals, search.
//!
//! Reads begin in parallel with authentication, with a [hint](crate::store::prefetch_cache) of the caller's permissions
//! and page base. With a correct hint the list takes one round trip, and another to store the cursor of a numbered
//! page. Prefetched items are used only after authentication. A wrong hint costs another round trip and never changes
//! the response.

mod page;
mod request;
mod search;
mod words;

use super::record::LeadState;
use crate::ids::LeadId;
use crate::store::{Reader, Writer, key};
use crate::viewer::Viewer;
use table::StoreError;
use table::{KeyRange, Page};

pub use request::{LeadPage, LeadRequest, LeadSearch};

use page::PrefetchedPage;
use request::{Entries, Records};
use search::PrefetchedSearch;
use words::PrefetchedWords;

/// Prefetched reads of a list.
#[derive(Debug)]
pub struct PrefetchedLeads(Start);

#[derive(Debug)]
enum Start {
    Page(PrefetchedPage),
    Search(PrefetchedSearch),
    Words(PrefetchedWords),
}

impl Reader {
    /// Prefetches the list according to the hint about the caller. One round trip.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be read.
    pub async fn begin_leads(&self, request: &LeadRequest) -> Result<PrefetchedLeads, StoreError> {
        let guess = self.hints.of(&self.caller.credentials);
        let start = match &request.search {
            None if request.tag.is_none() => Start::Page(self.begin_page(request, guess).await?),
            None => Start::Search(self.begin_search(request, &guess).await?),
            Some(search) => Start::Words(self.begin_words(request.archived, search).await?),
        };
        Ok(PrefetchedLeads(start))
    }

    async fn entries(&self, span: KeyRange) -> Result<Entries, StoreError> {
        self.table.query(span).await.map(Entries::read)
    }

    /// The records of a page's leads, by id. Concurrently deleted leads are omitted. Large leads lack their custom
    /// fields, which [`Reader::with_custom_fields`] adds.
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be read.
    pub async fn leads_of(&self, mut page: LeadPage) -> Result<Vec<LeadState>, StoreError> {
        self.read_records(&mut page).await?;
        Ok(page.records.found)
    }

    /// Reads the records of a page's leads, unless they were read. If the leads are probably neighbours, one query
    /// reads the range of their ids, at most twice as many records, and costs their bytes. Records after its end, and
    /// those of scattered leads, are read by a batch of gets and cost a unit each.
    async fn read_records(&self, page: &mut LeadPage) -> Result<(), StoreError> {
        let ids: Vec<_> = page.entries.iter().map(|entry| entry.id).collect();
        let mut records = std::mem::take(&mut page.records);
        if let (Some(first), Some(last), true, None) = (ids.first(), ids.last(), page.neighbours, records.end)
        {
            records = self.records(first.get() - 1, *last, 2 * ids.len()).await?;
        }
        let reached = records.end.map_or(0, |end| ids.partition_point(|id| *id <= end));
        let unread = ids.iter().skip(reached).map(|id| self.keys().lead(*id));
        let mut leads = records.found;
        let rest = self.table.get_items(unread).await?.into_iter();
        leads.extend(rest.filter_map(|item| table::readable(item, LeadState::take)));
        leads.retain(|state| ids.binary_search(&state.lead.id).is_ok());
        leads.sort_unstable_by_key(|state| state.lead.id);
        page.records = Records {
            found: leads,
            end: ids.last().copied(),
        };
        Ok(())
    }

    /// At most `limit` records after the id `after`, up to `last`. One query.
    async fn records(&self, after: u64, last: LeadId, limit: usize) -> Result<Records, StoreError> {
        let span = KeyRange {
            partition: self.keys().leads(),
            after: Some(key::number(after)),
            through: Some(last.padded()),
            limit,
        };
        let Page { items, more } = self.table.query(span).await?;
        let found = items.into_iter();
        let found: Vec<_> = found
            .filter_map(|item| table::readable(item, LeadState::take))
            .collect();
        let end = found.last().filter(|_| more).map_or(last, |state| state.lead.id);
        Ok(Records {
            found,
            end: Some(end),
        })
    }
}

impl Writer {
    /// Finishes a prefetched list for an authenticated viewer.
    ///
    /// # Errors
    /// [`StoreError`] if more must be read and cannot be.
    pub async fn finish_leads(
        &self,
        viewer: &Viewer,
        request: &LeadRequest,
        start: PrefetchedLeads,
    ) -> Result<LeadPage, StoreError> {
        let truth = self.cache_access(viewer);
        match start.0 {
            Start::Page(start) => self.finish_page(viewer, request, start, truth).await,
            Start::Search(start) => self.finish_search(viewer, request, start, truth).await,
            Start::Words(start) => self.finish_words(viewer, request, start, truth).await,
        }
    }
}
