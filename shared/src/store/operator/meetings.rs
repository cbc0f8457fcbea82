//! Meetings as an import writes them (C-81). They may lie over each other: they are what the former system had.

use std::collections::HashMap;

use super::batch::Step;
use super::{Operator, OperatorError, Outcome, dates};
use crate::meeting::Meeting;
use crate::store::calendars;
use crate::store::error::StoreError;
use crate::store::item::Item;
use crate::store::key::{Counter, Key};
use crate::store::meetings::{self, MeetingRecord};
use crate::store::transaction::Condition;
use crate::time::Timestamp;

/// A meeting as an import brings it: the times of creation and change of the meeting itself count for nothing, because a
/// line may leave them out.
#[derive(Debug, Clone, PartialEq)]
pub struct MeetingLine {
    /// Everything but the times of creation and change. Without a user it is with the calendar's.
    pub meeting: Meeting,
    /// Where it is absent the stored meeting's stays, and a new one's is now.
    pub create_date: Option<Timestamp>,
    /// Where it is absent the stored meeting's stays, and a new one's is its time of creation.
    pub update_date: Option<Timestamp>,
}

impl From<Meeting> for MeetingLine {
    fn from(meeting: Meeting) -> Self {
        Self {
            create_date: Some(meeting.create_date),
            update_date: Some(meeting.update_date),
            meeting,
        }
    }
}

impl MeetingLine {
    /// The meeting as it is to be stored.
    fn onto(&self, stored: Option<&Meeting>, now: Timestamp) -> Meeting {
        let stored = stored.map(|stored| (stored.create_date, stored.update_date));
        let (create_date, update_date) = dates((self.create_date, self.update_date), stored, now);
        Meeting {
            create_date,
            update_date,
            ..self.meeting.clone()
        }
    }
}

impl Operator {
    /// Writes meetings and all that is derived from them, each replacing the meeting of its id. One that was made or moved
    /// through the interface since it was last imported is replaced only where `overwrite` says so. One of a calendar, a
    /// lead or an opportunity that does not exist is refused; the user, and that a meeting takes at most
    /// [`Meeting::MOST_DAYS`] days, are the caller's to check. Imported meetings are no activity of their leads.
    ///
    /// # Errors
    /// [`OperatorError::Store`] where the table fails; what was written by then stays.
    pub async fn import_meetings(
        &self,
        lines: Vec<MeetingLine>,
        overwrite: bool,
    ) -> Result<Vec<Outcome>, OperatorError> {
        let Some(last) = lines.iter().map(|line| line.meeting.id.get()).max() else {
            return Ok(Vec::new());
        };
        // Later meetings are numbered above imported ones (C-11); raised first, so that no booking takes such a number.
        let counter = self.keys().counter(Counter::Meeting);
        self.table().raise(&counter, "meeting", last).await?;
        let keys = lines.iter().flat_map(|line| self.meeting_rests_on(line));
        let found = self.table().get_many(keys).await?;
        let steps = lines
            .iter()
            .map(|line| Step::decided(self.meeting_step(line, &found, overwrite)));
        let steps = steps.collect::<Result<_, _>>()?;
        let again = async |at: usize| {
            let Some(line) = lines.get(at) else {
                return Ok(Step::Done(Outcome::Unchanged));
            };
            let found = self.table().get_many(self.meeting_rests_on(line)).await?;
            Ok(Step::decided(self.meeting_step(line, &found, overwrite))?)
        };
        self.carry_out(steps, again).await
    }

    /// The records that decide about a line: the meeting of its id, and what it refers to.
    fn meeting_rests_on(&self, line: &MeetingLine) -> impl Iterator<Item = Key> + use<> {
        let (keys, meeting) = (self.keys(), &line.meeting);
        let lead = meeting.lead_id.map(|lead| keys.lead(lead));
        let opportunity = meeting
            .opportunity_id
            .map(|opportunity| keys.opportunity(opportunity));
        [keys.meeting(meeting.id), keys.calendar(meeting.calendar_id)]
            .into_iter()
            .chain(lead)
            .chain(opportunity)
    }

    fn meeting_step(
        &self,
        line: &MeetingLine,
        found: &HashMap<Key, Item>,
        overwrite: bool,
    ) -> Result<Step, StoreError> {
        let keys = self.keys();
        let stored = found.get(&keys.meeting(line.meeting.id));
        let stored = stored.map(meetings::decode).transpose()?;
        let mut meeting = line.onto(stored.as_ref().map(|stored| &stored.meeting), self.now());
        if let Some(reason) = self.missing(&meeting, found) {
            return Ok(Step::refused(reason));
        }
        if let Some(calendar) = found.get(&keys.calendar(meeting.calendar_id)) {
            let user = calendars::calendar(calendar)?.user_id;
            meeting.user_id.get_or_insert(user);
        }
        let settled = stored
            .as_ref()
            .and_then(|stored| settled(stored, &meeting, overwrite));
        if let Some(outcome) = settled {
            return Ok(Step::Done(outcome));
        }
        let record = MeetingRecord {
            meeting,
            version: stored.as_ref().map_or(1, |stored| stored.version + 1),
            edited: false,
            nonce: stored.as_ref().and_then(|stored| stored.nonce.clone()),
            moves: stored.as_ref().map_or(0, |stored| stored.moves),
            raw: stored
                .as_ref()
                .map(|stored| stored.raw.clone())
                .unwrap_or_default(),
        };
        let mut transaction = self.0.put_meeting(stored.as_ref(), &record);
        if let Some(lead) = record.meeting.lead_id {
            // C-24: what links a lead checks in its own transaction that it exists.
            transaction.check(keys.lead(lead), Condition::Present);
        }
        Ok(Step::Write(transaction))
    }

    /// What a meeting refers to that does not exist.
    fn missing(&self, meeting: &Meeting, found: &HashMap<Key, Item>) -> Option<String> {
        let (keys, calendar) = (self.keys(), meeting.calendar_id);
        if !found.contains_key(&keys.calendar(calendar)) {
            return Some(format!("calendarId: calendar {calendar} does not exist"));
        }
        let lead = meeting
            .lead_id
            .filter(|lead| !found.contains_key(&keys.lead(*lead)));
        if let Some(lead) = lead {
            return Some(format!("leadId: lead {lead} does not exist"));
        }
        let opportunity = meeting.opportunity_id;
        let opportunity = opportunity.filter(|id| !found.contains_key(&keys.opportunity(*id)))?;
        Some(format!("opportunityId: opportunity {opportunity} does not exist"))
    }
}

/// What an import has to do with a stored meeting without writing it, if that is so.
fn settled(stored: &MeetingRecord, meeting: &Meeting, overwrite: bool) -> Option<Outcome> {
    if stored.meeting == *meeting {
        return Some(Outcome::Unchanged);
    }
    (stored.edited && !overwrite).then(|| {
        Outcome::Refused(format!(
            "meeting {} was changed through the API since it was imported; use --overwrite to replace it",
            meeting.id
        ))
    })
}
