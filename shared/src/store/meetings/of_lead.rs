//! The meetings of a lead by start, in pages with a total (C-113).
//!
//! Links are in the order of ids, so a page reads all meetings of its lead, which are few.

use super::{KIND, MeetingPage, MeetingRecord};
use crate::ids::{LeadId, MeetingId};
use crate::store::Reader;
use crate::store::budget::ReadBudget;
use crate::store::key::BATCH;
use crate::store::lists::ListRequest;
use crate::viewer::Viewer;
use table::item;
use table::{KeyRange, MAX_AHEAD, Page, Pages, StoreError, key_of, readable};

/// The first links of a lead's meetings.
#[derive(Debug)]
pub struct PrefetchedLeadMeetings(Page);

impl Reader {
    /// Reads the first links of a lead's meetings. One query.
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be read.
    pub async fn begin_lead_meetings(&self, lead: LeadId) -> Result<PrefetchedLeadMeetings, StoreError> {
        let links = KeyRange::head(self.keys().lead_meetings(lead), MAX_AHEAD);
        self.table.query(links).await.map(PrefetchedLeadMeetings)
    }

    /// A page of the meetings of a lead. A batch of gets for each 100 meetings, and a query per MB of further links.
    /// Unreadable meetings are omitted.
    ///
    /// # Errors
    /// [`StoreError::OverBudget`] if all meetings are more than the read budget allows; [`StoreError`] if they cannot be
    /// read.
    pub async fn finish_lead_meetings(
        &self,
        viewer: &Viewer,
        request: &ListRequest,
        lead: LeadId,
        PrefetchedLeadMeetings(first): PrefetchedLeadMeetings,
    ) -> Result<MeetingPage, StoreError> {
        let budget = ReadBudget::of(viewer);
        let mut meetings = Vec::new();
        ReadBudget::in_time(async {
            let mut pages = Pages::of(KeyRange::whole(self.keys().lead_meetings(lead)));
            pages.advance(&first)?;
            let mut page = Some(first);
            while let Some(links) = page.take() {
                for links in links.items.chunks(BATCH) {
                    let ids = links.iter().map(|link| {
                        let id = key_of(link)?.sk.parse().ok().and_then(MeetingId::new);
                        id.ok_or_else(|| item::corrupt(KIND, "its link has no id"))
                    });
                    let keys = ids.map(|id| Ok(self.keys().meeting(id?)));
                    let keys = keys.collect::<Result<_, StoreError>>()?;
                    let records = budget.get_items(&self.table, keys).await?.into_iter();
                    let records = records.filter_map(|record| readable(record, MeetingRecord::decode));
                    meetings.extend(records.map(|record| record.value));
                }
                page = pages.next_with(|span| budget.query(&self.table, span)).await?;
            }
            Ok(())
        })
        .await?;
        // The lead of a meeting may have changed after its link was read.
        meetings.retain(|meeting| meeting.lead_id == Some(lead));
        meetings.sort_by_key(|meeting| (meeting.date, meeting.id));
        let total = meetings.len() as u64;
        let meetings = request.cut(viewer, meetings).collect();
        Ok(MeetingPage { total, meetings })
    }
}
