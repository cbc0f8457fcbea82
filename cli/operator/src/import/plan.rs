//! The first pass of an import: judges every line by itself and notes, in a few bytes per line, the lines of the later
//! passes.
//!
//! Of several lines of one record the last good one is imported. The earlier ones are superseded, and are checked too.
//! If all later lines turn out to be bad, a superseded line is imported.
//!
//! Only this memory grows with the number of lines: 17 bytes per line, 24 more for an event, and 8 for an opportunity.
//! Afterwards it is one byte per line, eight for an event or a lead with opportunities, and up to 32 for a superseded
//! line.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use indicatif::ProgressBar;
use shared::ids::{CallId, EventId, LeadId};

use super::report::ImportTally;
use super::source::{LineStart, Source};
use super::stop::CancellationToken;
use crate::kinds::{self, CheckedLine, Kind};

/// The lines of each pass.
#[derive(Debug, Default)]
pub struct ImportPlan {
    /// By line number; index 0 is unused.
    kinds: Vec<Option<Kind>>,
    /// The range of lines of each kind, so that a pass reads no others.
    ranges: BTreeMap<Kind, LineRange>,
    /// Calls whose event has a line of its own, in order.
    with_event: Vec<CallId>,
    last_event: Option<EventId>,
    /// Leads of opportunities, in order.
    linked: Vec<LeadId>,
    superseded: BTreeMap<Kind, SupersededLines>,
    /// Lines with `merge`.
    merging: BTreeSet<u64>,
}

/// Lines of records that a later line describes again.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct SupersededLines {
    /// The identity of the record of each superseded line.
    pub lines: BTreeMap<u64, u64>,
    /// The last line of each such record, and its identity.
    pub last: BTreeMap<u64, u64>,
}

/// The range of lines of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineRange {
    /// The start of the first.
    pub first: LineStart,
    /// The number of the last.
    pub last: u64,
}

impl LineRange {
    fn joined(self, other: Self) -> Self {
        Self {
            first: if other.first.number < self.first.number {
                other.first
            } else {
                self.first
            },
            last: self.last.max(other.last),
        }
    }
}

/// Properties of the lines that are needed until all lines are read.
#[derive(Debug, Default)]
struct Seen {
    /// By kind, the identity of each line's record, and the line.
    records: BTreeMap<Kind, Vec<(u64, u64)>>,
    /// The number of each event, and the line.
    events: Vec<(EventId, u64)>,
    /// Leads of opportunities.
    linked: Vec<LeadId>,
}

impl ImportPlan {
    /// Reads all lines, or those until `stop` is set.
    pub fn read(
        source: &Source,
        tally: &mut ImportTally,
        bar: &ProgressBar,
        stop: &CancellationToken,
    ) -> io::Result<Self> {
        let (mut plan, mut seen) = (Self::default(), Seen::default());
        let mut lines = source.lines(LineStart::START)?;
        while !stop.is_asked()
            && let Some((number, line)) = lines.next()?
        {
            let parsed = line.map_err(str::to_owned).and_then(kinds::check_line);
            let start = lines.last_start();
            bar.set_position(start.offset);
            match parsed {
                Ok(line) => {
                    plan.add(start, line.kind);
                    plan.merging.extend(line.merges.then_some(number));
                    tally.note_custom(line.kind, &line.custom);
                    tally.warn(number, &line.warnings);
                    seen.note(number, &line);
                }
                Err(reason) => tally.refuse(number, reason),
            }
        }
        seen.linked.sort_unstable();
        seen.linked.dedup();
        plan.linked = std::mem::take(&mut seen.linked);
        plan.set_superseded_aside(&mut seen.records, tally);
        plan.check_event_ids(seen, tally);
        Ok(plan)
    }

    /// Plans to import the line that starts at `start`. Lines are added in order.
    fn add(&mut self, start: LineStart, kind: Kind) {
        let (at, number) = (index(start.number), start.number);
        self.kinds.resize(self.kinds.len().max(at + 1), None);
        self.kinds[at] = Some(kind);
        let range = LineRange {
            first: start,
            last: number,
        };
        self.ranges.entry(kind).or_insert(range).last = number;
    }

    /// Whether an existing record gets from the line only what it lacks.
    pub fn merges(&self, number: u64) -> bool {
        self.merging.contains(&number)
    }

    /// Removes a line from those that are imported.
    fn remove(&mut self, number: u64) {
        if let Some(kind) = self.kinds.get_mut(index(number)) {
            *kind = None;
        }
    }

    /// Removes each line that a later line of the same record supersedes from those that are imported. `records`
    /// contains the identity and number of each line, by kind.
    fn set_superseded_aside(
        &mut self,
        records: &mut BTreeMap<Kind, Vec<(u64, u64)>>,
        tally: &mut ImportTally,
    ) {
        for (kind, lines) in records {
            lines.sort_unstable();
            let mut superseded = SupersededLines::default();
            // Lines of one record are neighbours now, in the order of the file.
            for pair in lines.windows(2) {
                if let [(id, line), (next, later)] = pair
                    && id == next
                {
                    self.remove(*line);
                    superseded.lines.insert(*line, *id);
                    // Of three lines, the second one is the last line of the first pair only.
                    superseded.last.remove(line);
                    superseded.last.insert(*later, *id);
                }
            }
            // Settings and groups refer to nothing, so their lines are completely checked.
            if matches!(kind, Kind::Settings | Kind::Groups) {
                superseded.lines.keys().for_each(|_| tally.count_unchanged());
            } else if !superseded.lines.is_empty() {
                self.superseded.insert(*kind, superseded);
            }
        }
    }

    /// Refuses the later of two events with one id, and notes the calls with events and the largest id. A superseded
    /// line may have the id of the line that supersedes it.
    fn check_event_ids(&mut self, seen: Seen, tally: &mut ImportTally) {
        let Seen { records, events, .. } = seen;
        let is_imported = |(_, line): &(EventId, u64)| self.kind(*line) == Some(Kind::Events);
        let (mut events, superseded): (Vec<_>, Vec<_>) = events.into_iter().partition(is_imported);
        events.sort_unstable();
        let mut previous: Option<(EventId, u64)> = None;
        for &(id, line) in &events {
            if let Some((_, first)) = previous.filter(|(other, _)| *other == id) {
                self.remove(line);
                tally.refuse(line, format!("id: line {first} has event {id} already"));
                continue;
            }
            previous = Some((id, line));
            self.last_event = Some(id);
        }
        if let Some(SupersededLines { lines, last }) = self.superseded.get_mut(&Kind::Events) {
            for (id, line) in superseded {
                if let Ok(at) = events.binary_search_by_key(&id, |(id, _)| *id)
                    && let (_, other) = events[at]
                    && lines.get(&line) != last.get(&other)
                {
                    lines.remove(&line);
                    tally.refuse(line, format!("id: line {other} has event {id} already"));
                }
                self.last_event = self.last_event.max(Some(id));
            }
        }
        let calls = records.get(&Kind::Events).into_iter().flatten();
        let calls = calls.filter(|(_, line)| self.kind(*line) == Some(Kind::Events));
        self.with_event = calls.filter_map(|(call, _)| CallId::new(*call)).collect();
    }

    /// The kind of line `number`, if the line is imported.
    pub fn kind(&self, number: u64) -> Option<Kind> {
        self.kinds.get(index(number)).copied().flatten()
    }

    /// The range of the lines of some kinds; `None` if there are none.
    pub fn range(&self, kinds: &[Kind]) -> Option<LineRange> {
        let ranges = kinds.iter().filter_map(|kind| self.ranges.get(kind));
        ranges.copied().reduce(LineRange::joined)
    }

    /// The number of lines that are imported or superseded.
    pub fn len(&self) -> u64 {
        let superseded = self.superseded.values().map(|superseded| superseded.lines.len());
        (self.kinds.iter().flatten().count() + superseded.sum::<usize>()) as u64
    }

    /// The superseded of a kind.
    pub fn take_superseded(&mut self, kind: Kind) -> Option<SupersededLines> {
        self.superseded.remove(&kind)
    }

    /// Whether the event of `call` has a line of its own.
    pub fn brings_event_of(&self, call: CallId) -> bool {
        self.with_event.binary_search(&call).is_ok()
    }

    /// Whether an opportunity refers to the lead.
    pub fn is_linked(&self, lead: LeadId) -> bool {
        self.linked.binary_search(&lead).is_ok()
    }

    /// The largest number of an event.
    pub fn last_event(&self) -> Option<EventId> {
        self.last_event
    }
}

impl Seen {
    fn note(&mut self, number: u64, line: &CheckedLine) {
        let lines = self.records.entry(line.kind).or_default();
        lines.push((line.identity, number));
        self.events.extend(line.event.map(|event| (event, number)));
        self.linked.extend(line.lead);
    }
}

fn index(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(id: u64, call: u64) -> String {
        format!(
            r#"{{"kind":"event","id":{id},"lead":1,"name":"voip.call_incoming","operator":8,"status":"COMPLETE","duration":1,"service":"x","call":{call},"createDate":"2026-01-01T00:00:00Z"}}"#
        )
    }

    fn read(lines: &[String]) -> (ImportPlan, ImportTally) {
        let mut tally = ImportTally::default();
        let source = Source::spool(lines.join("\n").as_bytes()).unwrap();
        let plan = ImportPlan::read(
            &source,
            &mut tally,
            &ProgressBar::hidden(),
            &CancellationToken::default(),
        )
        .unwrap();
        (plan, tally)
    }

    #[test]
    fn the_last_good_line_of_a_record_counts() {
        let user = |name: &str| format!(r#"{{"kind":"user","id":1,"name":{name}}}"#);
        let (mut plan, tally) = read(&[user("\"A\""), user("\"B\""), user("true")]);
        let kinds: Vec<_> = (1..=3).map(|line| plan.kind(line)).collect();
        assert_eq!(kinds, [None, Some(Kind::Users), None]);
        assert_eq!(tally.report().refused[0].line, 3);
        let superseded = plan.take_superseded(Kind::Users).unwrap();
        assert_eq!(
            (superseded.lines, superseded.last),
            ([(1, 1)].into(), [(2, 1)].into())
        );
    }

    #[test]
    fn an_event_is_its_calls_and_its_number_its_own() {
        let (plan, tally) = read(&[event(5, 1), event(6, 1), event(6, 2), event(7, 3)]);
        let kinds: Vec<_> = (1..=4).map(|line| plan.kind(line).is_some()).collect();
        assert_eq!(kinds, [false, true, false, true]);
        let call = |id| CallId::new(id).unwrap();
        assert!(plan.brings_event_of(call(1)) && plan.brings_event_of(call(3)));
        assert!(!plan.brings_event_of(call(2)));
        assert_eq!(plan.last_event(), EventId::new(7));
        assert_eq!(tally.report().refused[0].reason, "id: line 2 has event 6 already");
    }

    #[test]
    fn a_kind_is_looked_for_where_it_is() {
        let user = |id: u64| format!(r#"{{"kind":"user","id":{id},"name":"A"}}"#);
        let lines = [
            user(1),
            event(5, 1),
            String::new(),
            user(2),
            event(6, 2),
            "{".to_owned(),
        ];
        let (plan, _) = read(&lines);
        let range = |kinds: &[Kind]| plan.range(kinds).map(|range| (range.first, range.last));
        let second = LineStart {
            number: 2,
            offset: lines[0].len() as u64 + 1,
        };
        assert_eq!(range(&[Kind::Users]), Some((LineStart::START, 4)));
        assert_eq!(range(&[Kind::Events]), Some((second, 5)));
        assert_eq!(
            range(&[Kind::Events, Kind::Leads, Kind::Users]),
            Some((LineStart::START, 5))
        );
        assert_eq!(range(&[Kind::Leads]), None);
    }

    #[test]
    fn a_reading_that_is_to_stop_reads_no_further() {
        let stop = CancellationToken::default();
        stop.ask();
        let source = Source::spool(&b"{\n{\n"[..]).unwrap();
        let mut tally = ImportTally::default();
        let plan = ImportPlan::read(&source, &mut tally, &ProgressBar::hidden(), &stop).unwrap();
        assert_eq!((plan.len(), tally.report().refused), (0, Vec::new()));
    }
}
