//! Calendars as an import writes them (C-81): nobody else changes one.
//!
//! No two calendars share a `keyName` or a `publicId`: what leads from such a name to its calendar is put on condition
//! that it leads to no other. A calendar may take a name that another one gives up in the same import, so lines that
//! found a name taken are decided again for as long as that gets any of them on.

use std::collections::{BTreeMap, HashMap};

use super::batch::Step;
use super::{Operator, OperatorError, Outcome, dates};
use crate::calendar::{Calendar, LinkName};
use crate::id::CalendarId;
use crate::store::calendars::{self, CalendarRecord};
use crate::store::derived::Derived;
use crate::store::error::StoreError;
use crate::store::item::Item;
use crate::store::key::{Counter, Key};
use crate::store::transaction::{Condition, Transaction};
use crate::time::Timestamp;

/// A calendar as an import brings it: the times of the calendar itself count for nothing, because a line may leave them
/// out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CalendarLine {
    /// Everything but the times of creation and change.
    pub calendar: Calendar,
    /// Where it is absent the stored calendar's stays, and a new one's is now.
    pub create_date: Option<Timestamp>,
    /// Where it is absent the stored calendar's stays, and a new one's is its time of creation.
    pub update_date: Option<Timestamp>,
}

impl From<Calendar> for CalendarLine {
    fn from(calendar: Calendar) -> Self {
        Self {
            create_date: Some(calendar.create_date),
            update_date: Some(calendar.update_date),
            calendar,
        }
    }
}

impl CalendarLine {
    /// The calendar as it is to be stored.
    fn onto(&self, stored: Option<&Calendar>, now: Timestamp) -> Calendar {
        let stored = stored.map(|stored| (stored.create_date, stored.update_date));
        let (create_date, update_date) = dates((self.create_date, self.update_date), stored, now);
        Calendar {
            create_date,
            update_date,
            ..self.calendar.clone()
        }
    }
}

/// One of the two names of a calendar that no other may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Name {
    Key,
    Public,
}

impl Name {
    const BOTH: [Self; 2] = [Self::Key, Self::Public];

    /// The name of the field in which it stands.
    fn field(self) -> &'static str {
        match self {
            Self::Key => "keyName",
            Self::Public => "publicId",
        }
    }

    fn of(self, calendar: &Calendar) -> &LinkName {
        match self {
            Self::Key => &calendar.key_name,
            Self::Public => &calendar.public_id,
        }
    }
}

/// A name that a line wants and another calendar has.
#[derive(Debug, Clone, Copy)]
struct Taken {
    name: Name,
    by: CalendarId,
}

impl Taken {
    fn reason(self) -> String {
        format!("{}: calendar {} has it already", self.name.field(), self.by)
    }
}

impl Operator {
    /// Writes calendars and what leads to them, each replacing the one of its id. One whose `keyName` or `publicId`
    /// another calendar keeps is refused. The users are the caller's to check.
    ///
    /// # Errors
    /// [`OperatorError::Store`] where the table fails; what was written by then stays.
    pub async fn import_calendars(&self, lines: &[CalendarLine]) -> Result<Vec<Outcome>, OperatorError> {
        let Some(last) = lines.iter().map(|line| line.calendar.id.get()).max() else {
            return Ok(Vec::new());
        };
        // Later calendars are numbered above imported ones (C-11).
        let counter = self.keys().counter(Counter::Calendar);
        self.table().raise(&counter, "calendar", last).await?;
        let mut outcomes = vec![Outcome::Unchanged; lines.len()];
        let mut open: Vec<_> = (0..lines.len()).collect();
        loop {
            let round: Vec<_> = open.iter().filter_map(|at| lines.get(*at)).collect();
            let decided = self.calendar_round(&round).await?;
            let got_on = decided.contains(&Outcome::Written);
            let mut refused = Vec::new();
            for (at, outcome) in open.into_iter().zip(decided) {
                if matches!(outcome, Outcome::Refused(_)) {
                    refused.push(at);
                }
                if let Some(place) = outcomes.get_mut(at) {
                    *place = outcome;
                }
            }
            // Each round writes at least one line for good, so there are no more rounds than lines.
            if refused.is_empty() || !got_on {
                self.tell_circles(lines, &refused, &mut outcomes).await?;
                return Ok(outcomes);
            }
            open = refused;
        }
    }

    /// Decides about each line once, and writes those that can be written. Only a taken name refuses one.
    async fn calendar_round(&self, lines: &[&CalendarLine]) -> Result<Vec<Outcome>, OperatorError> {
        let keys = lines.iter().flat_map(|line| self.calendar_rests_on(line));
        let found = self.table().get_many(keys).await?;
        let steps = lines.iter().map(|line| self.calendar_step(line, &found));
        let steps = steps.collect::<Result<_, _>>()?;
        let again = async |at: usize| {
            let Some(line) = lines.get(at) else {
                return Ok(Step::Done(Outcome::Unchanged));
            };
            let found = self.table().get_many(self.calendar_rests_on(line)).await?;
            Ok(self.calendar_step(line, &found)?)
        };
        self.carry_out(steps, again).await
    }

    /// The items that decide about a line: the calendar of its id, and what leads to a calendar by its names.
    fn calendar_rests_on(&self, line: &CalendarLine) -> impl Iterator<Item = Key> + use<> {
        let names = Name::BOTH.map(|name| self.name_key(name, &line.calendar));
        std::iter::once(self.keys().calendar(line.calendar.id)).chain(names)
    }

    fn name_key(&self, name: Name, calendar: &Calendar) -> Key {
        match name {
            Name::Key => self.keys().calendar_link(&calendar.key_name),
            Name::Public => self.keys().calendar_public(&calendar.public_id),
        }
    }

    fn taken(&self, line: &CalendarLine, found: &HashMap<Key, Item>) -> Option<Taken> {
        Name::BOTH.into_iter().find_map(|name| {
            let item = found.get(&self.name_key(name, &line.calendar))?;
            let by = calendars::linked(item)?;
            (by != line.calendar.id).then_some(Taken { name, by })
        })
    }

    fn calendar_step(&self, line: &CalendarLine, found: &HashMap<Key, Item>) -> Result<Step, StoreError> {
        let keys = self.keys();
        let key = keys.calendar(line.calendar.id);
        let stored = found.get(&key).map(calendars::decode).transpose()?;
        let before = stored.as_ref().map(|stored| &stored.calendar);
        let calendar = line.onto(before, self.now());
        if before == Some(&calendar) {
            return Ok(Step::Done(Outcome::Unchanged));
        }
        if let Some(taken) = self.taken(line, found) {
            return Ok(Step::refused(taken.reason()));
        }
        let (version, condition) = match &stored {
            None => (1, Condition::Absent),
            Some(stored) => (stored.version + 1, Condition::Version(stored.version)),
        };
        let old = stored.as_ref().map(|stored| calendars::derived(keys, stored));
        let names = Name::BOTH.map(|name| self.name_key(name, &calendar));
        let record = CalendarRecord {
            calendar,
            version,
            raw: stored.map(|stored| stored.raw).unwrap_or_default(),
        };
        let new = calendars::derived(keys, &record);
        let mut transaction = Transaction::default();
        transaction.put(key, calendars::encode(&record), condition);
        Derived::change(&mut transaction, &old.unwrap_or_default(), new);
        for name in names {
            let value = line.calendar.id.to_string();
            transaction.require(name, Condition::AbsentOrText { name: "id", value });
        }
        Ok(Step::Write(transaction))
    }

    /// Says of those refused lines that only pass names around among themselves what can be done about it.
    async fn tell_circles(
        &self,
        lines: &[CalendarLine],
        refused: &[usize],
        outcomes: &mut [Outcome],
    ) -> Result<(), OperatorError> {
        let waiting = || refused.iter().filter_map(|at| Some((*at, lines.get(*at)?)));
        let keys = waiting().flat_map(|(_, line)| self.calendar_rests_on(line));
        let found = self.table().get_many(keys).await?;
        // Who waits for whom to give up a name.
        let wanted: BTreeMap<_, _> = waiting()
            .filter_map(|(_, line)| Some((line.calendar.id, (&line.calendar, self.taken(line, &found)?))))
            .collect();
        let waits_for = |id: &CalendarId| {
            let (calendar, Taken { name, by }) = wanted.get(id)?;
            let (other, _) = wanted.get(by)?;
            (name.of(other) != name.of(calendar)).then_some(*by)
        };
        for (at, line) in waiting() {
            let id = line.calendar.id;
            let behind = std::iter::successors(waits_for(&id), waits_for);
            let in_circle = behind.take(wanted.len()).any(|other| other == id);
            let taken = wanted.get(&id).map(|(_, taken)| *taken);
            if let Some((taken, place)) = taken.filter(|_| in_circle).zip(outcomes.get_mut(at)) {
                *place = Outcome::Refused(format!(
                    "{}; to swap names, import one of the calendars with a third name first",
                    taken.reason()
                ));
            }
        }
        Ok(())
    }
}
