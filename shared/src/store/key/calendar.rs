//! The keys of calendars and meetings.

use super::base::Keys;
use crate::calendar::LinkName;
use crate::ids::{CalendarId, LeadId, MeetingId, UserId};
use crate::time::{Day, Timestamp};
use table::Key;

/// The owner of an agenda.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgendaOf {
    /// The meetings of a calendar.
    Calendar(CalendarId),
    /// The meetings with a user, of any calendar.
    User(UserId),
}

impl Keys<'_> {
    /// All calendars by id.
    pub fn calendars(self) -> String {
        self.pk("calendar")
    }

    /// A calendar.
    pub fn calendar(self, id: CalendarId) -> Key {
        Key::new(self.calendars(), id.padded())
    }

    /// The look-up of a calendar by the name of its public link (C-53).
    pub fn calendar_link(self, key_name: &LinkName) -> Key {
        Key::new(self.pk(&format!("calendar-link#{key_name}")), "calendar")
    }

    /// The look-up of a calendar by its `publicId` (C-51).
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

    /// The meetings of a calendar by start, then id.
    pub fn meeting_list(self, calendar: CalendarId) -> String {
        self.pk(&format!("meetings#{calendar}"))
    }

    /// The entry of a meeting in its calendar's list.
    pub fn listed_meeting(self, calendar: CalendarId, date: Timestamp, id: MeetingId) -> Key {
        Key::new(self.meeting_list(calendar), format!("{date}#{}", id.padded()))
    }

    /// The meetings of a lead by id.
    pub fn lead_meetings(self, lead: LeadId) -> String {
        self.pk(&format!("lead-meeting#{lead}"))
    }

    /// The link from a lead to a meeting.
    pub fn lead_meeting(self, lead: LeadId, id: MeetingId) -> Key {
        Key::new(self.lead_meetings(lead), id.padded())
    }

    /// The busy times of a calendar or a user, an item for each UTC day.
    pub fn agenda(self, of: AgendaOf) -> String {
        match of {
            AgendaOf::Calendar(id) => self.pk(&format!("agenda#{id}")),
            AgendaOf::User(id) => self.pk(&format!("user-agenda#{id}")),
        }
    }

    /// The busy times of a calendar or a user on a UTC day.
    pub fn agenda_day(self, of: AgendaOf, day: Day) -> Key {
        Key::new(self.agenda(of), day.to_string())
    }

    /// The buffers of the calendars that share their user's time (C-52).
    pub fn calendar_buffers(self) -> Key {
        Key::new(self.pk("shared-buffers"), "buffers")
    }

    /// The numbers of a calendar's meetings by UTC day of their start, an item for each month.
    pub fn meeting_months(self, calendar: CalendarId) -> String {
        self.pk(&format!("meeting-month#{calendar}"))
    }

    /// The numbers of a calendar's meetings by day of a month, written `YYYY-MM`. The sort key is the month's first
    /// day, so that it sorts after the text of the month.
    pub fn meeting_month(self, calendar: CalendarId, month: &str) -> Key {
        Key::new(self.meeting_months(calendar), format!("{month}-01"))
    }

    /// The secret from which reschedule keys are derived (C-55).
    pub fn reschedule_secret(self) -> Key {
        Key::new(self.pk("secret"), "reschedule")
    }
}

/// The meeting in the sort key of an entry.
pub(crate) fn listed(sk: &str) -> Option<MeetingId> {
    let (_, id) = sk.split_once('#')?;
    id.parse().ok().and_then(MeetingId::new)
}

/// Whether a sort key is a month's first day.
pub(crate) fn is_month(sk: &str) -> bool {
    sk.ends_with("-01") && Day::parse(sk).is_some()
}
