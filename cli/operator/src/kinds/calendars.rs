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
    const FIELDS: &'static [Field] = &[
        ID,
        field(Shape::Text, "name").needed().filled().up_to(MAX_NAME),
        field(Shape::Text, "host company").up_to(MAX_NAME),
        field(Shape::Text, "keyName publicId timezone").needed(),
        field(Shape::Id, "userId").needed().refers(Kind::Users),
        field(Shape::Integer, "durationMinutes")
            .needed()
            .note("1 to 1440"),
        field(Shape::Integer, "bufferMinutes").or("0").note("to 1440"),
        field(Shape::Integer, "minimumNoticeMinutes").or("0"),
        field(Shape::Flag, "isPublished").or("false"),
        field(Shape::Flag, "sharesTime").or("true"),
        field(Shape::Object, "hours")
            .needed()
            .such_as(r#"{"mon": [["09:00", "12:00"], ["13:30", "18:00"]]}"#)
            .note("see [calendars](#calendars)"),
        field(Shape::Object, "dates").such_as(r#"{"2026-12-24": [["09:00", "12:00"]]}"#),
        field(Shape::Object, "horizon").such_as(r#"{"type": "days", "days": 30}"#),
        field(Shape::Time, "createDate updateDate"),
        field(Shape::ReadOnly, "nextMeeting"),
    ];

    fn parse(fields: Fields) -> Result<Self::Line, String> {
        Dated::read::<Self>(fields)
    }

    fn warnings(calendar: &Calendar) -> Vec<String> {
        let warning = "isPublished: is false, so nobody can book the calendar".to_owned();
        (!calendar.is_published).then_some(warning).into_iter().collect()
    }

    fn identity(calendar: &Calendar) -> u64 {
        calendar.id.get()
    }
}

impl StoredKind for Calendars {
    const STORAGE: Storage = Storage {
        sequence: Some((Counter::Calendar, "calendar")),
        unchanged: version,
        removal: Some(Removal::Linked),
        ..Storage::of(
            ["calendar", "calendars"],
            |keys| vec![keys.calendars()],
            |keys, id| Some(keys.calendar(CalendarId::parse(id)?)),
            |keys, item| CalendarRecord::decode(item)?.derived_as_read(keys),
        )
    };
    const DECODE: fn(Item) -> Result<Calendar, StoreError> = |item| calendars::calendar(&item);
    /// Calendars may exchange names, so they are written in one chunk. No response could contain more calendars (C-50).
    const MIN_CHUNK: usize = 10_000;

    async fn write(operator: &Operator, lines: &[&Self::Line], mode: Mode) -> Written {
        let mut outcomes = vec![Outcome::Unchanged; lines.len()];
        let mut undecided: Vec<_> = (0..lines.len()).collect();
        loop {
            let round: Vec<_> = undecided
                .iter()
                .filter_map(|index| lines.get(*index).copied())
                .collect();
            let round_outcomes = operator.write_each::<Self>(&round, mode).await?;
            let has_written = round_outcomes.contains(&Outcome::Written);
            let mut refused = Vec::new();
            for (index, outcome) in undecided.into_iter().zip(round_outcomes) {
                if matches!(outcome, Outcome::Refused(_)) {
                    refused.push(index);
                }
                if let Some(place) = outcomes.get_mut(index) {
                    *place = outcome;
                }
            }
            // A written line may have freed a name. Each round but the last writes a line, so the loop ends.
            if refused.is_empty() || !has_written {
                operator.add_swap_advice(lines, &refused, &mut outcomes).await?;
                return Ok(outcomes);
            }
            undecided = refused;
        }
    }
}

impl Decide for Calendars {
    fn reads(keys: Keys<'_>, calendar: &Calendar, _mode: Mode) -> Vec<Key> {
        let names = LinkField::BOTH.map(|name| name.key(keys, calendar));
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
        if let Some(taken) = TakenName::find(keys, &calendar, found) {
            return Err(Skip::Refused(taken.reason()));
        }
        let names = LinkField::BOTH.map(|name| name.key(keys, &calendar));
        let record = CalendarRecord::imported(stored.as_ref(), calendar);
        let mut transaction = record.put(keys, stored.as_ref())?;
        for name in names {
            let value = id.to_string();
            transaction.require(name, Condition::AbsentOrText { name: "id", value });
        }
        Ok(transaction)
    }
}

/// One of the two fields with a name that no two calendars may share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LinkField {
    Key,
    Public,
}

impl LinkField {
    const BOTH: [Self; 2] = [Self::Key, Self::Public];

    /// The name of the field.
    fn name(self) -> &'static str {
        match self {
            Self::Key => "keyName",
            Self::Public => "publicId",
        }
    }

    fn value(self, calendar: &Calendar) -> &LinkName {
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
struct TakenName {
    field: LinkField,
    holder: CalendarId,
}

impl TakenName {
    /// The first name of a calendar that another one has, according to the link items in `found`.
    fn find(keys: Keys<'_>, calendar: &Calendar, found: &FoundItems) -> Option<Self> {
        LinkField::BOTH.into_iter().find_map(|field| {
            let holder = calendars::linked(found.get(&field.key(keys, calendar))?)?;
            (holder != calendar.id).then_some(Self { field, holder })
        })
    }

    fn reason(self) -> String {
        format!("{}: calendar {} has it already", self.field.name(), self.holder)
    }
}

/// A refused line of a calendar, and its name that another calendar has.
struct NameConflict<'a> {
    calendar: &'a Calendar,
    taken: TakenName,
}

type NameConflicts<'a> = BTreeMap<CalendarId, NameConflict<'a>>;

impl Operator {
    /// Adds advice to the reasons of refused lines whose calendars wait in a circle for each other's names. `refused`
    /// are indices of `lines` and `outcomes`. Follows only the first taken name of a line, so a circle through a second
    /// one gets no advice.
    async fn add_swap_advice(
        &self,
        lines: &[&Dated<Calendar>],
        refused: &[usize],
        outcomes: &mut [Outcome],
    ) -> Result<(), OperatorError> {
        let refused_lines: Vec<_> = refused
            .iter()
            .filter_map(|index| Some((*index, &lines.get(*index)?.record)))
            .collect();
        let taken_keys = refused_lines
            .iter()
            .flat_map(|(_, calendar)| LinkField::BOTH.map(|field| field.key(self.keys(), calendar)));
        let found = FoundItems::from(self.reads().get_many(taken_keys).await?);
        let mut conflicts = NameConflicts::new();
        for &(_, calendar) in &refused_lines {
            if let Some(taken) = TakenName::find(self.keys(), calendar, &found) {
                conflicts.insert(calendar.id, NameConflict { calendar, taken });
            }
        }
        for (index, calendar) in refused_lines {
            if !waits_for_itself(calendar.id, &conflicts) {
                continue;
            }
            if let (Some(conflict), Some(outcome)) = (conflicts.get(&calendar.id), outcomes.get_mut(index)) {
                *outcome = Outcome::Refused(format!(
                    "{}; to swap names, import one of the calendars with a third name first",
                    conflict.taken.reason()
                ));
            }
        }
        Ok(())
    }
}

/// Whether a calendar waits for a name of a calendar that waits, directly or through others, for a name of this one.
fn waits_for_itself(id: CalendarId, conflicts: &NameConflicts<'_>) -> bool {
    let mut current = id;
    // The number of steps is limited, because the chain may lead into a circle without this calendar.
    for _ in 0..conflicts.len() {
        match waits_for(current, conflicts) {
            None => return false,
            Some(next) if next == id => return true,
            Some(next) => current = next,
        }
    }
    false
}

/// The calendar for whose name a refused line waits; `None` unless the line of that calendar is refused too and gives
/// up the name. If the other calendar keeps the name, no order of imports resolves the conflict.
fn waits_for(id: CalendarId, conflicts: &NameConflicts<'_>) -> Option<CalendarId> {
    let NameConflict { calendar, taken } = conflicts.get(&id)?;
    let holder = conflicts.get(&taken.holder)?.calendar;
    let gives_up_name = taken.field.value(holder) != taken.field.value(calendar);
    gives_up_name.then_some(taken.holder)
}
