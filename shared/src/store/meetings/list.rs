//! The meetings of a calendar by start, in pages with a total (C-51).
//!
//! Meetings per day are counted by month, so totals and distant pages do not read the earlier meetings.

use super::{MeetingRecord, WITHOUT_FORM, day_of, month_and_day, read};
use crate::calendar::LinkName;
use crate::ids::{CalendarId, MeetingId};
use crate::meeting::Meeting;
use crate::store::leads::deleted_leads::FirstErasures;
use crate::store::{Reader, calendars};
use crate::time::{Day, Timestamp};
use table::StoreError;
use table::item::{self, Item};
use table::{KeyRange, Pages, key_of};

/// A request for a page of meetings.
#[derive(Debug, Clone)]
pub struct MeetingRequest {
    /// Id or `publicId` of the calendar; an ambiguous value is an id.
    pub calendar: LinkName,
    /// Earliest start.
    pub from: Timestamp,
    /// The page, from 0.
    pub page: u64,
    /// Page size.
    pub limit: u16,
}

/// A page of the list.
#[derive(Debug, Clone, PartialEq)]
pub struct MeetingPage {
    /// Number of meetings from the requested time on.
    pub total: u64,
    /// Meetings of the page, by start.
    pub meetings: Vec<Meeting>,
}

/// Prefetched reads of a list.
#[derive(Debug)]
pub struct PrefetchedMeetings {
    calendar: Option<CalendarId>,
    begun: Option<FrontEntries>,
    erasures: FirstErasures,
}

/// The start of a calendar's list from the requested time on.
#[derive(Debug)]
struct FrontEntries {
    calendar: CalendarId,
    /// Days with meetings from the requested day on, with their numbers of meetings.
    days: Vec<(Day, u64)>,
    /// Entries from the requested time on: those of the first page, or for a later page those of the rest of that day.
    front: Vec<Item>,
    /// Whether more follow.
    more: bool,
}

impl Reader {
    /// A meeting by id, without data of a deleted lead; `None` if it does not exist. A get and a query, concurrently.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be read.
    pub async fn shown_meeting(&self, id: MeetingId) -> Result<Option<Meeting>, StoreError> {
        let (stored, first) = tokio::try_join!(self.meeting(id), self.first_erasures())?;
        let Some(stored) = stored else { return Ok(None) };
        let lead = stored.meeting.lead_id.into_iter();
        let erasures = self.erasures_of(first, lead).await?;
        Ok(Some(erasures.meeting(stored.value.meeting)))
    }

    /// Finds the calendar and, if it may be named by id, reads the start of its list. A batch of gets and at most three
    /// queries, in parallel. For a later page, a query per MB of the day's entries.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be read.
    pub async fn begin_meetings(&self, request: &MeetingRequest) -> Result<PrefetchedMeetings, StoreError> {
        let id = CalendarId::parse(request.calendar.as_str());
        let begun = async {
            match id {
                Some(id) => self.front(id, request).await.map(Some),
                None => Ok(None),
            }
        };
        let calendar = self.named_calendar(id, &request.calendar);
        let (calendar, begun, erasures) = tokio::try_join!(calendar, begun, self.first_erasures())?;
        let begun = begun.filter(|begun| Some(begun.calendar) == calendar);
        Ok(PrefetchedMeetings {
            calendar,
            begun,
            erasures,
        })
    }

    /// The page; `None` if the calendar does not exist. A calendar named by its `publicId` needs two queries first. A
    /// first page that ends within the requested day, and a later page, need at most one further query. Forms that are
    /// too large for entries need a batch of gets.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be read.
    pub async fn finish_meetings(
        &self,
        start: PrefetchedMeetings,
        request: &MeetingRequest,
    ) -> Result<Option<MeetingPage>, StoreError> {
        let Some(calendar) = start.calendar else {
            return Ok(None);
        };
        let begun = match start.begun {
            Some(begun) => begun,
            None => self.front(calendar, request).await?,
        };
        let mut page = if request.page == 0 {
            self.first_page(begun, request).await?
        } else {
            self.later_page(begun, request).await?
        };
        // Data of a deleted lead is hidden (C-24).
        let leads = page.meetings.iter().filter_map(|meeting| meeting.lead_id);
        let erasures = self.erasures_of(start.erasures, leads).await?;
        let shown = page.meetings.into_iter().map(|meeting| erasures.meeting(meeting));
        page.meetings = shown.collect();
        Ok(Some(page))
    }

    async fn named_calendar(
        &self,
        id: Option<CalendarId>,
        name: &LinkName,
    ) -> Result<Option<CalendarId>, StoreError> {
        let by_id = id.map(|id| (id, self.keys().calendar(id)));
        let public = self.keys().calendar_public(name);
        let keys = by_id.iter().map(|(_, key)| key).chain([&public]).cloned();
        let found = self.table.get_many(keys).await?;
        if let Some((id, _)) = by_id.filter(|(_, key)| found.contains_key(key)) {
            return Ok(Some(id));
        }
        let linked =
            |item| calendars::linked(item).ok_or_else(|| item::corrupt("calendar", "its name leads nowhere"));
        found.get(&public).map(linked).transpose()
    }

    async fn front(
        &self,
        calendar: CalendarId,
        request: &MeetingRequest,
    ) -> Result<FrontEntries, StoreError> {
        let list = self.list_behind(calendar, request.from.to_string());
        let front = async {
            if request.page == 0 {
                return self.first_of(list, usize::from(request.limit)).await;
            }
            // Only the rest of the day, because later days have counts.
            let day = KeyRange {
                through: Some(format!("{}~", day_of(request.from))),
                ..list
            };
            self.table.query_all(day).await.map(|items| (items, true))
        };
        let (days, (front, more)) = tokio::try_join!(self.days_from(calendar, request.from), front)?;
        Ok(FrontEntries {
            calendar,
            days,
            front,
            more,
        })
    }

    async fn first_page(
        &self,
        begun: FrontEntries,
        request: &MeetingRequest,
    ) -> Result<MeetingPage, StoreError> {
        let requested_day = day_of(request.from);
        let places = begun.front.iter().map(|entry| key_of(entry).map(|key| key.sk));
        let places = places.collect::<Result<Vec<_>, _>>()?;
        let end_of_day = format!("{requested_day}~");
        let total = if !begun.more {
            // One consistent read, regardless of concurrent bookings.
            places.len() as u64
        } else if places.last().is_some_and(|last| *last > end_of_day) {
            places.iter().filter(|place| **place < end_of_day).count() as u64
                + behind(&begun.days, requested_day)
        } else {
            let rest = KeyRange {
                through: Some(end_of_day),
                ..self.list_behind(begun.calendar, request.from.to_string())
            };
            let rest = self.table.query_all(rest).await?;
            rest.len() as u64 + behind(&begun.days, requested_day)
        };
        let meetings = self.complete(begun.front).await?;
        Ok(MeetingPage { total, meetings })
    }

    /// A page after the first. `begun.front` contains all entries of the rest of the requested day. Later days have
    /// counts, so only the entries of the page are read, and those before them on the day at which reading begins.
    async fn later_page(
        &self,
        begun: FrontEntries,
        request: &MeetingRequest,
    ) -> Result<MeetingPage, StoreError> {
        let requested_day = day_of(request.from);
        let rest_of_day = begun.front.len() as u64;
        let total = rest_of_day + behind(&begun.days, requested_day);
        let offset = request.page.saturating_mul(u64::from(request.limit));
        let skip = usize::try_from(offset).unwrap_or(usize::MAX);
        let limit = usize::from(request.limit);
        let mut items: Vec<_> = begun.front.into_iter().skip(skip).take(limit).collect();
        let place = place(&begun.days, requested_day, offset.saturating_sub(rest_of_day));
        if let Some((day, earlier)) = place.filter(|_| items.len() < limit) {
            let missing = limit - items.len();
            let list = self.list_behind(begun.calendar, day.to_string());
            let (found, _) = self.first_of(list, earlier + missing).await?;
            items.extend(found.into_iter().skip(earlier));
        }
        let meetings = self.complete(items).await?;
        Ok(MeetingPage { total, meetings })
    }

    /// The meetings of entries. Forms that are too large for an entry are read from the records with one batch of gets.
    async fn complete(&self, entries: Vec<Item>) -> Result<Vec<Meeting>, StoreError> {
        let keys = self.keys();
        let entries = entries.into_iter();
        let (mut meetings, whole): (Vec<_>, Vec<_>) = entries
            .filter_map(|entry| {
                let whole = !entry.contains_key(WITHOUT_FORM);
                Some((table::readable(entry, |entry| read(&entry))?, whole))
            })
            .unzip();
        let cut = meetings.iter_mut().zip(whole).filter(|(_, whole)| !whole);
        let cut: Vec<_> = cut
            .map(|(meeting, _)| (keys.meeting(meeting.id), meeting))
            .collect();
        let records = self
            .table
            .get_many(cut.iter().map(|(key, _)| key.clone()))
            .await?;
        for (key, meeting) in cut {
            let record = records.get(&key).map(MeetingRecord::decode).transpose()?;
            meeting.form_data = record.and_then(|record| record.value.meeting.form_data);
        }
        Ok(meetings)
    }

    /// The list after a sort key prefix: a moment or the start of a day.
    fn list_behind(&self, calendar: CalendarId, after: String) -> KeyRange {
        KeyRange {
            after: Some(after),
            ..KeyRange::whole(self.keys().meeting_list(calendar))
        }
    }

    /// The first `count` items of a range, and whether more may follow.
    async fn first_of(&self, span: KeyRange, count: usize) -> Result<(Vec<Item>, bool), StoreError> {
        let (mut items, mut pages) = (Vec::new(), Pages::of(span));
        while items.len() < count {
            pages.limit(count - items.len());
            let Some(page) = pages.next(&self.table).await? else {
                break;
            };
            items.extend(page);
        }
        Ok((items, pages.rest().is_some()))
    }

    /// Days with meetings from a moment on, with their numbers of meetings. One query, which reads an item per month.
    async fn days_from(&self, calendar: CalendarId, from: Timestamp) -> Result<Vec<(Day, u64)>, StoreError> {
        let (month, _) = month_and_day(from);
        let months = KeyRange {
            after: Some(month),
            ..KeyRange::whole(self.keys().meeting_months(calendar))
        };
        let mut days = Vec::new();
        for item in self.table.query_all(months).await? {
            days.extend(days_of(&item)?);
        }
        days.retain(|(day, count)| *day >= day_of(from) && *count > 0);
        days.sort_unstable();
        Ok(days)
    }
}

/// Days in a month's item, with the number of meetings that start on each.
fn days_of(item: &Item) -> Result<Vec<(Day, u64)>, StoreError> {
    let key = key_of(item)?;
    let month = key.sk.strip_suffix("-01").unwrap_or(&key.sk);
    let names = item
        .keys()
        .filter_map(|name| Some((name, name.strip_prefix("n.")?)));
    let days = names.filter(|(name, _)| {
        // Repairs of the doctor leave zeros under names that may not be days.
        item::number("month", item, name).map_or(true, |count| count > 0)
    });
    let days = days.map(|(name, day)| {
        let day = Day::parse(&format!("{month}-{day}"));
        let day = day.ok_or_else(|| item::corrupt("month", format_args!("{name} is no day")))?;
        Ok((day, item::number("month", item, name)?))
    });
    days.collect()
}

/// Number of meetings that start on later days.
fn behind(days: &[(Day, u64)], day: Day) -> u64 {
    let later = days.iter().filter(|(later, _)| *later > day);
    later.map(|(_, count)| count).sum()
}

/// The day after `today` of the meeting at an offset, and the number of that day's meetings before it.
fn place(days: &[(Day, u64)], today: Day, offset: u64) -> Option<(Day, usize)> {
    let mut skip = offset;
    for (day, count) in days.iter().filter(|(day, _)| *day > today) {
        if skip < *count {
            return Some((*day, usize::try_from(skip).ok()?));
        }
        skip -= count;
    }
    None
}
