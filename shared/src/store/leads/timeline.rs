//! The timeline of a lead: its calls and its submissions of forms, newest first (C-113).
//!
//! Ids tell no order, because an import may bring older events later. So a page reads all events of its lead, which are few
//! and short, and orders them by time.

use crate::event::TimelineEvent;
use crate::ids::{EventId, LeadId};
use crate::store::budget::ReadBudget;
use crate::store::key::Keys;
use crate::store::lists::ListRequest;
use crate::store::{Reader, events};
use crate::viewer::Viewer;
use table::item::{self, Item};
use table::{KeyRange, MAX_AHEAD, PAGE, Pages, StoreError, readable};

/// A page of a timeline.
#[derive(Debug)]
pub struct TimelinePage {
    /// Number of all events.
    pub total: usize,
    /// Events of the page, newest first.
    pub events: Vec<TimelineEvent>,
}

/// Prefetched reads of a timeline.
#[derive(Debug)]
pub struct PrefetchedTimeline {
    calls: Begun,
    forms: Begun,
}

/// The first items of a range, and its rest.
#[derive(Debug)]
struct Begun {
    items: Vec<Item>,
    rest: Pages,
}

impl Reader {
    /// Reads the first events of a lead. Two queries in parallel.
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be read.
    pub async fn begin_timeline(&self, lead: LeadId) -> Result<PrefetchedTimeline, StoreError> {
        let keys = self.keys();
        let begin = async |range: KeyRange| {
            let mut rest = Pages::of(KeyRange {
                limit: MAX_AHEAD,
                ..range
            });
            let page = rest.next_with(|range| self.table.query(range)).await?;
            rest.limit(PAGE);
            let items = page.map(|page| page.items).unwrap_or_default();
            Ok::<_, StoreError>(Begun { items, rest })
        };
        let (calls, forms) = tokio::try_join!(
            begin(KeyRange::whole(keys.timeline(lead))),
            begin(KeyRange::beginning(keys.form_events(), Keys::of_lead(lead)))
        )?;
        Ok(PrefetchedTimeline { calls, forms })
    }

    /// A page of the timeline. A query per MB of the events beyond the prefetched ones, of both sorts in parallel. Unreadable
    /// events are omitted from their page.
    ///
    /// # Errors
    /// [`StoreError::OverBudget`] if all events are more than the read budget allows; [`StoreError`] if they cannot be read.
    pub async fn finish_timeline(
        &self,
        viewer: &Viewer,
        request: &ListRequest,
        start: PrefetchedTimeline,
    ) -> Result<TimelinePage, StoreError> {
        let budget = ReadBudget::of(viewer);
        let (calls, forms) = ReadBudget::in_time(async {
            tokio::try_join!(
                self.whole_range(&budget, start.calls),
                self.whole_range(&budget, start.forms)
            )
        })
        .await?;
        let calls = calls.into_iter().map(|item| (item, CALL));
        let forms = forms.into_iter().map(|item| (item, FORM));
        let mut events: Vec<_> = calls.chain(forms).collect();
        events.sort_by_cached_key(|(item, _)| std::cmp::Reverse(moment(item)));
        let total = events.len();
        let page = request.cut(viewer, events);
        let events = page.filter_map(|(item, decode)| readable(item, decode));
        Ok(TimelinePage {
            total,
            events: events.collect(),
        })
    }

    async fn whole_range(&self, budget: &ReadBudget, mut begun: Begun) -> Result<Vec<Item>, StoreError> {
        let read = |range| budget.query(&self.table, range);
        while let Some(page) = begun.rest.next_with(read).await? {
            begun.items.extend(page.items);
        }
        Ok(begun.items)
    }
}

type Decode = fn(Item) -> Result<TimelineEvent, StoreError>;

const CALL: Decode = |item| item::decode("event", item).map(TimelineEvent::Call);
const FORM: Decode = |item| events::decode(&item).map(TimelineEvent::Form);

/// Time and id of an event. Stored times have one form, so their texts have their order.
fn moment(item: &Item) -> (Option<String>, Option<EventId>) {
    let time = item.get("createDate").and_then(|time| time.as_s().ok());
    let id = item::number("event", item, "id").ok();
    (time.cloned(), id.and_then(EventId::new))
}
