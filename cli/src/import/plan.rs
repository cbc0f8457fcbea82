//! The first reading of an import: judges every line by itself and notes, in a few bytes a line, which lines the later
//! readings take.
//!
//! Of several lines that describe one record the last good one counts. The earlier ones, its spares, are judged all the
//! same, and one of them is taken where every later one turns out to be bad.
//!
//! What grows with the number of lines is here alone: 17 bytes a line, and 24 more for an event. Afterwards it is one
//! byte a line, eight for an event, and up to 32 for a spare.

use std::collections::BTreeMap;
use std::io;

use indicatif::ProgressBar;
use shared::id::{CallId, EventId};

use super::line::parse;
use super::record::{Kind, Record};
use super::report::Tally;
use super::source::{Place, Source};
use super::stop::Stop;

/// Which lines are taken by which reading.
#[derive(Debug, Default)]
pub struct Plan {
    /// By line number, from 0 where nothing stands.
    kinds: Vec<Option<Kind>>,
    /// Between which lines each kind lies, so that a reading goes through no others.
    stretches: BTreeMap<Kind, Stretch>,
    /// Calls whose event has a line of its own, in order.
    with_event: Vec<CallId>,
    last_event: Option<EventId>,
    spares: BTreeMap<Kind, Spares>,
}

/// Lines of which a later one describes the same record.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Spares {
    /// Each spare and what identifies its record, by line.
    pub lines: BTreeMap<u64, u64>,
    /// The last line of each such record, and what identifies it.
    pub last: BTreeMap<u64, u64>,
}

/// From where to where lines of a kind are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stretch {
    /// Where the first begins.
    pub first: Place,
    /// The number of the last.
    pub last: u64,
}

impl Stretch {
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

/// What is known of the lines while they are read.
#[derive(Debug, Default)]
struct Seen {
    /// By kind, what identifies each line's record, and the line.
    records: BTreeMap<Kind, Vec<(u64, u64)>>,
    /// The number of each event, and the line.
    events: Vec<(EventId, u64)>,
}

impl Plan {
    /// Reads all lines, or as far as it comes until it is asked to stop.
    pub fn read(source: &Source, tally: &mut Tally, bar: &ProgressBar, stop: &Stop) -> io::Result<Self> {
        let (mut plan, mut seen) = (Self::default(), Seen::default());
        let mut lines = source.lines(Place::START)?;
        while !stop.is_asked()
            && let Some((number, line)) = lines.next()?
        {
            let parsed = line.map_err(str::to_owned).and_then(parse);
            let place = lines.place();
            bar.set_position(place.offset);
            match parsed {
                Ok(record) => {
                    plan.take(place, record.kind());
                    seen.note(number, &record);
                }
                Err(reason) => tally.refuse(number, reason),
            }
        }
        plan.set_spares_aside(&mut seen.records, tally);
        plan.number_events(seen, tally);
        Ok(plan)
    }

    fn take(&mut self, place: Place, kind: Kind) {
        let (at, number) = (index(place.number), place.number);
        self.kinds.resize(self.kinds.len().max(at + 1), None);
        self.kinds[at] = Some(kind);
        let stretch = Stretch {
            first: place,
            last: number,
        };
        self.stretches.entry(kind).or_insert(stretch).last = number;
    }

    fn leave(&mut self, number: u64) {
        if let Some(kind) = self.kinds.get_mut(index(number)) {
            *kind = None;
        }
    }

    fn set_spares_aside(&mut self, records: &mut BTreeMap<Kind, Vec<(u64, u64)>>, tally: &mut Tally) {
        for (kind, lines) in records {
            lines.sort_unstable();
            let mut spares = Spares::default();
            for pair in lines.windows(2) {
                if let [(id, line), (next, later)] = pair
                    && id == next
                {
                    self.leave(*line);
                    spares.lines.insert(*line, *id);
                    spares.last.remove(line);
                    spares.last.insert(*later, *id);
                }
            }
            // Settings and groups refer to nothing, so their lines were judged in full.
            if matches!(kind, Kind::Setting | Kind::Group) {
                spares.lines.keys().for_each(|_| tally.unchanged());
            } else if !spares.lines.is_empty() {
                self.spares.insert(*kind, spares);
            }
        }
    }

    /// Two events with one number cannot both be kept.
    fn number_events(&mut self, seen: Seen, tally: &mut Tally) {
        let Seen { records, events } = seen;
        let taken = |(_, line): &(EventId, u64)| self.kind(*line) == Some(Kind::Event);
        let (mut events, spares): (Vec<_>, Vec<_>) = events.into_iter().partition(taken);
        events.sort_unstable();
        let mut before: Option<(EventId, u64)> = None;
        for &(id, line) in &events {
            if let Some((_, first)) = before.filter(|(other, _)| *other == id) {
                self.leave(line);
                tally.refuse(line, format!("id: line {first} has event {id} already"));
                continue;
            }
            before = Some((id, line));
            self.last_event = Some(id);
        }
        if let Some(own) = self.spares.get_mut(&Kind::Event) {
            for (id, line) in spares {
                if let Ok(at) = events.binary_search_by_key(&id, |(id, _)| *id)
                    && own.lines.get(&line) != own.last.get(&events[at].1)
                {
                    own.lines.remove(&line);
                    tally.refuse(line, format!("id: line {} has event {id} already", events[at].1));
                }
                self.last_event = self.last_event.max(Some(id));
            }
        }
        let calls = records.get(&Kind::Event).into_iter().flatten();
        let calls = calls.filter(|(_, line)| self.kind(*line) == Some(Kind::Event));
        self.with_event = calls.filter_map(|(call, _)| CallId::new(*call)).collect();
    }

    /// What line `number` brings, if it is taken.
    pub fn kind(&self, number: u64) -> Option<Kind> {
        self.kinds.get(index(number)).copied().flatten()
    }

    /// Where the lines of some kinds are; `None` where there is none.
    pub fn stretch(&self, kinds: &[Kind]) -> Option<Stretch> {
        let stretches = kinds.iter().filter_map(|kind| self.stretches.get(kind));
        stretches.copied().reduce(Stretch::joined)
    }

    /// How many lines are taken or spares.
    pub fn len(&self) -> u64 {
        let spares = self.spares.values().map(|spares| spares.lines.len());
        (self.kinds.iter().flatten().count() + spares.sum::<usize>()) as u64
    }

    /// The spares of a kind.
    pub fn take_spares(&mut self, kind: Kind) -> Option<Spares> {
        self.spares.remove(&kind)
    }

    /// Whether the event of `call` has a line of its own.
    pub fn brings_event_of(&self, call: CallId) -> bool {
        self.with_event.binary_search(&call).is_ok()
    }

    /// The largest number of an event.
    pub fn last_event(&self) -> Option<EventId> {
        self.last_event
    }
}

impl Seen {
    fn note(&mut self, number: u64, record: &Record) {
        let lines = self.records.entry(record.kind()).or_default();
        lines.push((record.identity(), number));
        if let Record::Event(event) = record {
            self.events.push((event.id, number));
        }
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

    fn read(lines: &[String]) -> (Plan, Tally) {
        let mut tally = Tally::default();
        let source = Source::spool(lines.join("\n").as_bytes()).unwrap();
        let plan = Plan::read(&source, &mut tally, &ProgressBar::hidden(), &Stop::default()).unwrap();
        (plan, tally)
    }

    #[test]
    fn the_last_good_line_of_a_record_counts() {
        let user = |name: &str| format!(r#"{{"kind":"user","id":1,"name":{name}}}"#);
        let (mut plan, tally) = read(&[user("\"A\""), user("\"B\""), user("7")]);
        let kinds: Vec<_> = (1..=3).map(|line| plan.kind(line)).collect();
        assert_eq!(kinds, [None, Some(Kind::User), None]);
        assert_eq!(tally.report().refused[0].line, 3);
        let spares = plan.take_spares(Kind::User).unwrap();
        assert_eq!((spares.lines, spares.last), ([(1, 1)].into(), [(2, 1)].into()));
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
        let stretch = |kinds: &[Kind]| plan.stretch(kinds).map(|stretch| (stretch.first, stretch.last));
        let second = Place {
            number: 2,
            offset: lines[0].len() as u64 + 1,
        };
        assert_eq!(stretch(&[Kind::User]), Some((Place::START, 4)));
        assert_eq!(stretch(&[Kind::Event]), Some((second, 5)));
        assert_eq!(
            stretch(&[Kind::Event, Kind::Lead, Kind::User]),
            Some((Place::START, 5))
        );
        assert_eq!(stretch(&[Kind::Lead]), None);
    }

    #[test]
    fn a_reading_that_is_to_stop_reads_no_further() {
        let stop = Stop::default();
        stop.ask();
        let source = Source::spool(&b"{\n{\n"[..]).unwrap();
        let mut tally = Tally::default();
        let plan = Plan::read(&source, &mut tally, &ProgressBar::hidden(), &stop).unwrap();
        assert_eq!((plan.len(), tally.report().refused), (0, Vec::new()));
    }
}
