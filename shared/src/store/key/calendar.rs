//! The keys of calendars and meetings.

use super::{Key, Keys};
use crate::calendar::LinkName;
use crate::ids::{CalendarId, LeadId, MeetingId};
use crate::time::{Day, Timestamp};

impl Keys<'_> {
    /// All calendars by id.
    pub fn calendars(self) -> String {
        self.pk("calendar")
    }

    /// A calendar.
    pub fn calendar(self, id: CalendarId) -> Key {
        Key::new(self.calendars(), id.padded())
    }

    /// The calendar that a public link names (C-53).
    pub fn calendar_link(self, key_name: &LinkName) -> Key {
        Key::new(self.pk(&format!("calendar-link#{key_name}")), "calendar")
    }

    /// The calendar that has a `publicId` (C-51).
    pub fn calendar_public(self, public_id: &LinkName) -> Key {
        Key::new(self.pk(&format!("calendar-public#{public_id}")), "calendar")
    }

    /// All meetings' records by id.
    pub fn meetings(self) -> String {
        self.pk("meeting")
    }

    /// A meeting's record.
    pub fn meeting(self, id: MeetingId) -> Key {
        Key::new(self.meetings(), id.padded())
    }

    /// The meetings of a calendar by their start.
    pub fn meeting_list(self, calendar: CalendarId) -> String {
        self.pk(&format!("meetings#{calendar}"))
    }

    /// A meeting among those of its calendar.
    pub fn listed_meeting(self, calendar: CalendarId, date: Timestamp, id: MeetingId) -> Key {
        Key::new(self.meeting_list(calendar), format!("{date}#{}", id.padded()))
    }

    /// The meetings of a lead by id.
    pub fn lead_meetings(self, lead: LeadId) -> String {
        self.pk(&format!("lead-meeting#{lead}"))
    }

    /// A meeting among those of its lead.
    pub fn lead_meeting(self, lead: LeadId, id: MeetingId) -> Key {
        Key::new(self.lead_meetings(lead), id.padded())
    }

    /// The busy times of a calendar, an item for each day.
    pub fn agenda(self, calendar: CalendarId) -> String {
        self.pk(&format!("agenda#{calendar}"))
    }

    /// The busy times of a calendar on a day (UTC).
    pub fn agenda_day(self, calendar: CalendarId, day: Day) -> Key {
        Key::new(self.agenda(calendar), day.to_string())
    }

    /// How many meetings of a calendar begin on each day, an item for each month.
    pub fn meeting_months(self, calendar: CalendarId) -> String {
        self.pk(&format!("meeting-month#{calendar}"))
    }

    /// How many meetings of a calendar begin on the days of a month (UTC), written `YYYY-MM`. The key is that of its first
    /// day, so that it lies after the month's own text.
    pub fn meeting_month(self, calendar: CalendarId, month: &str) -> Key {
        Key::new(self.meeting_months(calendar), format!("{month}-01"))
    }

    /// The secret from which the keys for moving meetings are derived (C-55).
    pub fn reschedule_secret(self) -> Key {
        Key::new(self.pk("secret"), "reschedule")
    }
}

/// The meeting with this sort key among those of a calendar.
pub(crate) fn listed(sk: &str) -> Option<MeetingId> {
    let (_, id) = sk.split_once('#')?;
    id.parse().ok().and_then(MeetingId::new)
}

/// Whether a sort key is that of a month of meetings: its first day.
pub(crate) fn is_month(sk: &str) -> bool {
    sk.ends_with("-01") && Day::parse(sk).is_some()
}
