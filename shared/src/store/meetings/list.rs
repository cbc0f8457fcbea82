//! The meetings of a calendar by start, in pages with a total (C-51).
//!
//! Meetings per day are counted by month, so totals and distant pages do not read the earlier meetings.

use std::collections::BTreeSet;

use super::agenda::day_of;
use super::{MeetingRecord, WITHOUT_FORM, month_and_day, read};
use crate::calendar::LinkName;
use crate::ids::{CalendarId, MeetingId};
use crate::meeting::Meeting;
use crate::store::leads::deleted_leads::FirstErasures;
use crate::store::lists::buckets::locate;
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
    /// The start of the list, if the calendar was named by id.
    front: Option<FrontEntries>,
    erasures: FirstErasures,
}

/// The start of a calendar's list from the requested time on.
#[derive(Debug)]
struct FrontEntries {
    calendar: CalendarId,
    /// Days with meetings from the requested day on, with their numbers of meetings.
    days: Vec<(Day, u64)>,
    /// Entries from the requested time on: those of the first page, or for a later page those of the rest of that day.
    entries: Vec<Item>,
    /// Whether more entries may follow in the list. Only a first page uses it.
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
        let lead = stored.lead_id.into_iter();
        let erasures = self.erasures_of(first, lead).await?;
        Ok(Some(erasures.meeting(stored.value)))
    }

    /// Finds the calendar and, if it may be named by id, reads the start of its list. A batch of gets and at most three
    /// queries, in parallel. For a later page, a query per MB of the day's entries.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be read.
    pub async fn begin_meetings(&self, request: &MeetingRequest) -> Result<PrefetchedMeetings, StoreError> {
        let front = async {
            match CalendarId::parse(request.calendar.as_str()) {
                Some(id) => self.front(id, request).await.map(Some),
                None => Ok(None),
            }
        };
        let calendar = self.named_calendar(&request.calendar);
        let (calendar, front, erasures) = tokio::try_join!(calendar, front, self.first_erasures())?;
        // Without a calendar of this id, the value is the `publicId` of another one.
        let front = front.filter(|front| Some(front.calendar) == calendar);
        Ok(PrefetchedMeetings {
            calendar,
            front,
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
        let front = match start.front {
            Some(front) => front,
            None => self.front(calendar, request).await?,
        };
        let mut page = if request.page == 0 {
            self.first_page(front, request).await?
        } else {
            self.later_page(front, request).await?
        };
        // Data of a deleted lead is hidden (C-24).
        let leads = page.meetings.iter().filter_map(|meeting| meeting.lead_id);
        let erasures = self.erasures_of(start.erasures, leads).await?;
        let shown = page.meetings.into_iter().map(|meeting| erasures.meeting(meeting));
        page.meetings = shown.collect();
        Ok(Some(page))
    }

    /// The calendar with `name` as its id, or else as its `publicId`; `None` if neither exists. One batch of gets.
    async fn named_calendar(&self, name: &LinkName) -> Result<Option<CalendarId>, StoreError> {
        let id = CalendarId::parse(name.as_str());
        let id_key = id.map(|id| self.keys().calendar(id));
        let public_key = self.keys().calendar_public(name);
        let keys = id_key.iter().chain([&public_key]).cloned();
        let found = self.table.get_many(keys).await?;
        if id_key.is_some_and(|key| found.contains_key(&key)) {
            return Ok(id);
        }
        let Some(look_up) = found.get(&public_key) else {
            return Ok(None);
        };
        let linked = calendars::linked(look_up);
        linked
            .map(Some)
            .ok_or_else(|| item::corrupt("calendar", "its name leads nowhere"))
    }

    /// The start of a calendar's list, and the counts of its days. One query for the entries of a first page, or one
    /// per MB of the day for a later page, in parallel with a query of the counts.
    async fn front(
        &self,
        calendar: CalendarId,
        request: &MeetingRequest,
    ) -> Result<FrontEntries, StoreError> {
        let entries = async {
            if request.page == 0 {
                let list = self.list_after(calendar, request.from.to_string());
                return self.first_of(list, usize::from(request.limit)).await;
            }
            // Only the rest of the day, because later days have counts.
            let rest_of_day = self.rest_of_day(calendar, request.from);
            Ok((self.table.query_all(rest_of_day).await?, true))
        };
        let (days, (entries, more)) = tokio::try_join!(self.days_from(calendar, request.from), entries)?;
        Ok(FrontEntries {
            calendar,
            days,
            entries,
            more,
        })
    }

    /// The first page. The total is the number of entries on the requested day from the requested time on, plus the
    /// counts of later days. One query if the entries read do not contain the whole day.
    async fn first_page(
        &self,
        front: FrontEntries,
        request: &MeetingRequest,
    ) -> Result<MeetingPage, StoreError> {
        let requested_day = day_of(request.from);
        let sort_keys = front.entries.iter().map(|entry| key_of(entry).map(|key| key.sk));
        let sort_keys = sort_keys.collect::<Result<Vec<_>, _>>()?;
        let day_end = end_of_day(requested_day);
        let total = if !front.more {
            // The entries are the whole list. They are one consistent read, which the counts of days are not.
            sort_keys.len() as u64
        } else if sort_keys.last().is_some_and(|last| *last > day_end) {
            let on_day = sort_keys.iter().filter(|sort_key| **sort_key < day_end).count();
            on_day as u64 + count_after(&front.days, requested_day)
        } else {
            let rest_of_day = self.rest_of_day(front.calendar, request.from);
            let on_day = self.table.query_all(rest_of_day).await?.len();
            on_day as u64 + count_after(&front.days, requested_day)
        };
        let meetings = self.meetings_of(front.entries).await?;
        Ok(MeetingPage { total, meetings })
    }

    /// A page after the first. `front.entries` contains all entries of the rest of the requested day. Later days have
    /// counts, so only the entries of the page are read, and those before them on the day at which reading begins.
    async fn later_page(
        &self,
        front: FrontEntries,
        request: &MeetingRequest,
    ) -> Result<MeetingPage, StoreError> {
        let requested_day = day_of(request.from);
        let on_day = front.entries.len() as u64;
        let total = on_day + count_after(&front.days, requested_day);
        let offset = request.page.saturating_mul(u64::from(request.limit));
        let skip = usize::try_from(offset).unwrap_or(usize::MAX);
        let limit = usize::from(request.limit);
        let mut entries: Vec<_> = front.entries.into_iter().skip(skip).take(limit).collect();
        let missing = limit - entries.len();
        let later = front.days.iter().filter(|(day, _)| *day > requested_day);
        let later = later.map(|(day, count)| (day, i64::try_from(*count).unwrap_or(i64::MAX)));
        if let Ok((day, skip)) = locate(later, offset.saturating_sub(on_day))
            && missing > 0
        {
            let skip = usize::try_from(skip).unwrap_or(usize::MAX);
            let list = self.list_after(front.calendar, day.to_string());
            let (found, _) = self.first_of(list, skip.saturating_add(missing)).await?;
            entries.extend(found.into_iter().skip(skip));
        }
        let meetings = self.meetings_of(entries).await?;
        Ok(MeetingPage { total, meetings })
    }

    /// The meetings of the readable entries. Forms that are too large for an entry are read from the records with one
    /// batch of gets.
    async fn meetings_of(&self, entries: Vec<Item>) -> Result<Vec<Meeting>, StoreError> {
        let mut meetings = Vec::with_capacity(entries.len());
        let mut without_form = BTreeSet::new();
        for entry in entries {
            let lacks_form = entry.contains_key(WITHOUT_FORM);
            let Some(meeting) = table::readable(entry, |entry| read(&entry)) else {
                continue;
            };
            if lacks_form {
                without_form.insert(meeting.id);
            }
            meetings.push(meeting);
        }
        let keys = without_form.iter().map(|id| self.keys().meeting(*id));
        let records = self.table.get_many(keys).await?;
        for meeting in &mut meetings {
            if without_form.contains(&meeting.id) {
                let record = records.get(&self.keys().meeting(meeting.id));
                let record = record.map(MeetingRecord::decode).transpose()?;
                meeting.form_data = record.and_then(|record| record.value.form_data);
            }
        }
        Ok(meetings)
    }

    /// A calendar's list after a sort key prefix: a moment or the start of a day.
    fn list_after(&self, calendar: CalendarId, prefix: String) -> KeyRange {
        KeyRange {
            after: Some(prefix),
            ..KeyRange::whole(self.keys().meeting_list(calendar))
        }
    }

    /// A calendar's list from a moment to the end of its UTC day.
    fn rest_of_day(&self, calendar: CalendarId, from: Timestamp) -> KeyRange {
        KeyRange {
            through: Some(end_of_day(day_of(from))),
            ..self.list_after(calendar, from.to_string())
        }
    }

    /// The first `count` items of a range, and whether more may follow. One query per MB.
    async fn first_of(&self, range: KeyRange, count: usize) -> Result<(Vec<Item>, bool), StoreError> {
        let (mut items, mut pages) = (Vec::new(), Pages::of(range));
        while items.len() < count {
            pages.limit(count - items.len());
            let Some(page) = pages.next(&self.table).await? else {
                break;
            };
            items.extend(page);
        }
        Ok((items, pages.rest().is_some()))
    }

    /// Days with meetings from a moment's UTC day on, in order, with their numbers of meetings. One query, which reads
    /// an item per month.
    async fn days_from(&self, calendar: CalendarId, from: Timestamp) -> Result<Vec<(Day, u64)>, StoreError> {
        let (month, _) = month_and_day(from);
        let months = KeyRange {
            // The sort key of a month is its first day, which sorts after the text of the month.
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

/// Days in a month's item, with the number of meetings that start on each. Attributes named `n.` and the day of the
/// month contain the numbers.
fn days_of(item: &Item) -> Result<Vec<(Day, u64)>, StoreError> {
    let key = key_of(item)?;
    let month = key.sk.strip_suffix("-01").unwrap_or(&key.sk);
    let mut days = Vec::new();
    for name in item.keys() {
        let Some(day) = name.strip_prefix("n.") else {
            continue;
        };
        let count = item::number("month", item, name);
        // Repairs of the doctor leave zeros under names that may not be days.
        if matches!(count, Ok(0)) {
            continue;
        }
        let day = Day::parse(&format!("{month}-{day}"));
        let day = day.ok_or_else(|| item::corrupt("month", format_args!("{name} is no day")))?;
        days.push((day, count?));
    }
    Ok(days)
}

/// A bound after all sort keys of a UTC day, which begin with the date.
fn end_of_day(day: Day) -> String {
    format!("{day}~")
}

/// Number of meetings that start on days after `day`.
fn count_after(days: &[(Day, u64)], day: Day) -> u64 {
    let later = days.iter().filter(|(later, _)| *later > day);
    later.map(|(_, count)| count).sum()
}
