//! Calendars. Only imports change them.
//!
//! No two calendars share a `keyName` or a `publicId`. The link item from such a name to its calendar is put on
//! condition that it is absent or already leads to this calendar. A calendar may take a name that another one gives up
//! in the same import. So lines with a taken name are decided again as long as a round writes any line.

use std::collections::BTreeMap;

use shared::calendar::{Calendar, LinkName};
use shared::ids::CalendarId;
use shared::store::unscoped::calendars::{self, CalendarRecord};

use super::prelude::*;

/// Maximum characters of a name.
const MAX_NAME: usize = 255;

/// The calendars.
#[derive(Debug)]
pub struct Calendars;

impl RecordKind for Calendars {
    type Record = Calendar;
    type Line = Dated<Calendar>;
    const KIND: Kind = Kind::Calendars;

    fn parse(fields: Fields) -> Result<Self::Line, String> {
        let line = Dated::<Calendar>::read(fields)?;
        if line.record.name.is_empty() {
            return Err("name: must not be empty".to_owned());
        }
        within("name", Some(&line.record.name), MAX_NAME)?;
        within("host", line.record.host.as_deref(), MAX_NAME)?;
        within("company", line.record.company.as_deref(), MAX_NAME)?;
        limits::size(&line.record)?;
        Ok(line)
    }

    fn field_names() -> &'static [&'static str] {
        faults::names_of::<Calendar>()
    }

    fn identity(calendar: &Calendar) -> u64 {
        calendar.id.get()
    }

    fn references(calendar: &Calendar, to: &mut References) {
        to.add("userId", Referent::User, [calendar.user_id]);
    }

    fn export(calendar: &Calendar) -> serde_json::Result<Fields> {
        sparse(calendar)
    }
}

impl ImportKind for Calendars {
    /// Calendars may exchange names, so they are written in one chunk. No response could contain more calendars (C-50).
    const CHUNK: usize = 10_000;

    async fn write(operator: &Operator, lines: &[&Self::Line], mode: Mode) -> Written {
        let mut outcomes = vec![Outcome::Unchanged; lines.len()];
        let mut open: Vec<_> = (0..lines.len()).collect();
        loop {
            let round: Vec<_> = open.iter().filter_map(|at| lines.get(*at).copied()).collect();
            let decided = operator.write_each::<Self>(&round, mode).await?;
            let progress = decided.contains(&Outcome::Written);
            let mut refused = Vec::new();
            for (at, outcome) in open.into_iter().zip(decided) {
                if matches!(outcome, Outcome::Refused(_)) {
                    refused.push(at);
                }
                if let Some(place) = outcomes.get_mut(at) {
                    *place = outcome;
                }
            }
            // Each round but the last writes at least one line, so there are no more rounds than lines.
            if refused.is_empty() || !progress {
                operator.explain_circles(lines, &refused, &mut outcomes).await?;
                return Ok(outcomes);
            }
            open = refused;
        }
    }
}

impl Decide for Calendars {
    const SEQUENCE: Option<(Counter, &'static str)> = Some((Counter::Calendar, "calendar"));

    fn reads(keys: Keys<'_>, calendar: &Calendar, _mode: Mode) -> Vec<Key> {
        let names = Name::BOTH.map(|name| name.key(keys, calendar));
        [vec![keys.calendar(calendar.id)], names.to_vec()].concat()
    }

    fn decide(operator: &Operator, line: &Self::Line, found: &FoundItems, _mode: Mode) -> Decision {
        let (keys, id) = (operator.keys(), line.record.id);
        let stored = found.get(&keys.calendar(id));
        let stored = stored.map(CalendarRecord::decode).transpose()?;
        let before = stored.as_ref().map(|stored| &stored.value);
        let calendar = line.onto(before, operator.now());
        if before == Some(&calendar) {
            return Err(Skip::Unchanged);
        }
        if let Some(taken) = Taken::find(keys, &calendar, found) {
            return Err(Skip::Refused(taken.reason()));
        }
        let names = Name::BOTH.map(|name| name.key(keys, &calendar));
        let record = CalendarRecord::imported(stored.as_ref(), calendar);
        let mut transaction = record.put(keys, stored.as_ref())?;
        for name in names {
            let value = id.to_string();
            transaction.require(name, Condition::AbsentOrText { name: "id", value });
        }
        Ok(transaction)
    }
}

impl ExportKind for Calendars {
    fn partitions(keys: Keys<'_>) -> Vec<String> {
        vec![keys.calendars()]
    }

    fn decode(item: Item) -> Result<Calendar, StoreError> {
        calendars::calendar(&item)
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

    /// The field of the name.
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

    /// The item that leads from the name to its calendar.
    fn key(self, keys: Keys<'_>, calendar: &Calendar) -> Key {
        match self {
            Self::Key => keys.calendar_link(&calendar.key_name),
            Self::Public => keys.calendar_public(&calendar.public_id),
        }
    }
}

/// A name of a line that another calendar already has.
#[derive(Debug, Clone, Copy)]
struct Taken {
    name: Name,
    by: CalendarId,
}

impl Taken {
    fn find(keys: Keys<'_>, calendar: &Calendar, found: &FoundItems) -> Option<Self> {
        Name::BOTH.into_iter().find_map(|name| {
            let by = calendars::linked(found.get(&name.key(keys, calendar))?)?;
            (by != calendar.id).then_some(Self { name, by })
        })
    }

    fn reason(self) -> String {
        format!("{}: calendar {} has it already", self.name.field(), self.by)
    }
}

impl Operator {
    /// Adds the remedy to the reasons of refused lines that wait in a circle for each other's names. `refused` are indices
    /// of `lines` and `outcomes`. Follows only the first taken name of a line: a circle through its second one gets no
    /// remedy.
    async fn explain_circles(
        &self,
        lines: &[&Dated<Calendar>],
        refused: &[usize],
        outcomes: &mut [Outcome],
    ) -> Result<(), OperatorError> {
        let refused_lines = || {
            refused
                .iter()
                .filter_map(|at| Some((*at, &lines.get(*at)?.record)))
        };
        let keys =
            refused_lines().flat_map(|(_, calendar)| Name::BOTH.map(|name| name.key(self.keys(), calendar)));
        let found = FoundItems::from(self.reads().get_many(keys).await?);
        let taken_name = |(_, calendar)| {
            let taken = Taken::find(self.keys(), calendar, &found)?;
            Some((calendar.id, (calendar, taken)))
        };
        let blocked: BTreeMap<_, (&Calendar, Taken)> = refused_lines().filter_map(taken_name).collect();
        let waits_for = |id: &CalendarId| {
            let (calendar, Taken { name, by }) = blocked.get(id)?;
            let (holder, _) = blocked.get(by)?;
            // A holder that keeps the name is a conflict that no order of imports resolves.
            let gives_up_name = name.of(holder) != name.of(calendar);
            gives_up_name.then_some(*by)
        };
        for (at, calendar) in refused_lines() {
            let id = calendar.id;
            // A walk may lead into a circle that does not contain this line. Its length is limited, because it would not end
            // there.
            let mut walk = std::iter::successors(waits_for(&id), waits_for).take(blocked.len());
            if !walk.any(|other| other == id) {
                continue;
            }
            if let (Some((_, taken)), Some(outcome)) = (blocked.get(&id), outcomes.get_mut(at)) {
                *outcome = Outcome::Refused(format!(
                    "{}; to swap names, import one of the calendars with a third name first",
                    taken.reason()
                ));
            }
        }
        Ok(())
    }
}
