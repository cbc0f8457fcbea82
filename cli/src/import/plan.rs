//! The first reading of an import: judges every line by itself and notes, in a few bytes a line, which lines the later
//! readings take.
//!
//! Of several good lines that describe one record the last counts.

use std::collections::HashSet;
use std::io;

use shared::id::{CallId, EventId};

use super::line::parse;
use super::record::{Kind, Record};
use super::report::Tally;
use super::source::Source;

/// Which lines are taken by which reading.
#[derive(Debug, Default)]
pub struct Plan {
    /// By line number, from 0 where nothing stands.
    kinds: Vec<Option<Kind>>,
    /// Calls whose event has a line of its own.
    with_event: HashSet<CallId>,
    last_event: Option<EventId>,
}

/// What identifies a line's record, and the line.
type Entry = (Kind, u64, u64);

impl Plan {
    pub fn read(source: &Source, tally: &mut Tally) -> io::Result<Self> {
        let mut plan = Self::default();
        let mut entries: Vec<Entry> = Vec::new();
        let mut events: Vec<(EventId, u64, CallId)> = Vec::new();
        let mut lines = source.lines()?;
        while let Some((number, line)) = lines.next()? {
            match line.map_err(str::to_owned).and_then(parse) {
                Ok(record) => {
                    entries.push((record.kind(), record.identity(), number));
                    plan.take(number, record.kind());
                    if let Record::Event(event) = record {
                        events.push((event.id, number, event.call));
                    }
                }
                Err(reason) => tally.refuse(number, reason),
            }
        }
        plan.drop_superseded(entries, tally);
        plan.number_events(events, tally);
        Ok(plan)
    }

    fn take(&mut self, number: u64, kind: Kind) {
        let at = index(number);
        self.kinds.resize(self.kinds.len().max(at + 1), None);
        self.kinds[at] = Some(kind);
    }

    fn leave(&mut self, number: u64) {
        if let Some(kind) = self.kinds.get_mut(index(number)) {
            *kind = None;
        }
    }

    fn drop_superseded(&mut self, mut entries: Vec<Entry>, tally: &mut Tally) {
        entries.sort_unstable();
        for pair in entries.windows(2) {
            if let [(kind, id, line), (next_kind, next_id, _)] = pair
                && (kind, id) == (next_kind, next_id)
            {
                self.leave(*line);
                tally.unchanged();
            }
        }
    }

    /// Two events with one number cannot both be kept.
    fn number_events(&mut self, mut events: Vec<(EventId, u64, CallId)>, tally: &mut Tally) {
        events.retain(|(_, line, _)| self.kind(*line) == Some(Kind::Event));
        events.sort_unstable();
        let mut before: Option<(EventId, u64)> = None;
        for (id, line, call) in events {
            if let Some((_, first)) = before.filter(|(other, _)| *other == id) {
                self.leave(line);
                tally.refuse(line, format!("id: line {first} has event {id} already"));
                continue;
            }
            before = Some((id, line));
            self.last_event = Some(id);
            self.with_event.insert(call);
        }
    }

    /// What line `number` brings, if it is taken.
    pub fn kind(&self, number: u64) -> Option<Kind> {
        self.kinds.get(index(number)).copied().flatten()
    }

    /// How many lines are taken.
    pub fn len(&self) -> u64 {
        self.kinds.iter().flatten().count() as u64
    }

    /// Whether the event of `call` has a line of its own.
    pub fn brings_event_of(&self, call: CallId) -> bool {
        self.with_event.contains(&call)
    }

    /// The largest number of an event.
    pub fn last_event(&self) -> Option<EventId> {
        self.last_event
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
        let plan = Plan::read(&source, &mut tally).unwrap();
        (plan, tally)
    }

    #[test]
    fn the_last_good_line_of_a_record_counts() {
        let user = |name: &str| format!(r#"{{"kind":"user","id":1,"name":{name}}}"#);
        let (plan, tally) = read(&[user("\"A\""), user("\"B\""), user("7")]);
        let kinds: Vec<_> = (1..=3).map(|line| plan.kind(line)).collect();
        assert_eq!(kinds, [None, Some(Kind::User), None]);
        let report = tally.report();
        assert_eq!((report.unchanged, report.refused[0].line), (1, 3));
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
}
