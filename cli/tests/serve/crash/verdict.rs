//! Compares an export with the ledger. Each acknowledged record exists once, in its last acknowledged form or in that
//! of a request with a lost response. Other records do not exist.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::deed::{Caller, Deed, line, mark, marks, reference};
use super::found::{Found, id};
use super::ledger::{Fate, Ledger, Life, Person, Request};

/// Faults, one sentence each.
#[derive(Debug, Default)]
pub struct Faults(Vec<String>);

impl Faults {
    pub fn unless(&mut self, right: bool, fault: impl FnOnce() -> String) {
        if !right {
            self.0.push(fault());
        }
    }

    /// # Panics
    /// If there are any.
    pub fn none(self) {
        assert!(
            self.0.is_empty(),
            "{} faults:\n{}",
            self.0.len(),
            self.0.join("\n")
        );
    }

    pub fn count(&self) -> usize {
        self.0.len()
    }
}

impl Ledger {
    /// The faults of an export.
    pub fn judge(&self, found: &Found) -> Faults {
        let mut faults = Faults::default();
        for (number, request) in self.requests.iter().enumerate() {
            self.judge_request(number, request, found, &mut faults);
        }
        self.judge_opportunities(found, &mut faults);
        self.judge_meetings(found, &mut faults);
        self.judge_people(found, &mut faults);
        self.judge_lines(found, &mut faults);
        judge_events(found, &mut faults);
        self.judge_automations(found, &mut faults);
        faults
    }

    /// The record of an acknowledged request exists with the acknowledged id. That of a rejected request does not
    /// exist.
    fn judge_request(&self, number: usize, request: &Request, found: &Found, faults: &mut Faults) {
        let reference = reference(number);
        let (made, told) = match &request.deed {
            Deed::Sell { .. } => (found.opportunities.get(&reference), "/id"),
            Deed::Book { .. } => (found.meetings.get(&reference), "/data/id"),
            Deed::Call { .. } => (found.calls.get(&reference), "/id"),
            _ => return,
        };
        let right = match (&request.fate, request.acknowledged()) {
            (Fate::UnderWay, _) => true,
            (Fate::CutOff { done }, _) => made.is_some() == *done,
            (_, Some(answer)) => made.is_some_and(|made| answer.body.pointer(told) == Some(&made["id"])),
            (_, None) => made.is_none(),
        };
        faults.unless(right, || format!("{request:?}: there is {made:?}"));
        if let (Deed::Call { caller, .. }, Some(call)) = (&request.deed, made) {
            faults.unless(self.is_linked(*caller, call, found), || {
                format!("{request:?}: there is {call}")
            });
        }
    }

    /// Whether a call belongs to the right lead. A call may be linked to a concurrently deleted lead or not. A call
    /// from the number of a deleted lead creates a lead.
    fn is_linked(&self, caller: Caller, call: &Value, found: &Found) -> bool {
        let linked = call["lead"].as_u64();
        let has_line = |number: &str| {
            let lead = linked.and_then(|lead| found.leads.get(&lead));
            lead.is_some_and(|lead| same_line(lead["phone"].as_str().unwrap_or_default(), number))
        };
        match caller {
            Caller::Line(known) => has_line(&line(known, true)),
            Caller::Number(lead) if self.life(lead, found) == Life::Here => linked == Some(lead),
            Caller::Number(lead) => linked.is_none() || has_line(&self.people[&lead].phone),
            Caller::Lead { lead, .. } => linked == Some(lead).filter(|lead| found.leads.contains_key(lead)),
        }
    }

    /// Whether a lead exists. The export shows the outcome of an interrupted deletion.
    fn life(&self, lead: u64, found: &Found) -> Life {
        match self.people[&lead].life {
            Life::Leaving if found.leads.contains_key(&lead) => Life::Here,
            Life::Leaving => Life::Gone,
            known => known,
        }
    }

    fn judge_opportunities(&self, found: &Found, faults: &mut Faults) {
        for (title, record) in &found.opportunities {
            let number: usize = title[1..title.len() - 1].parse().unwrap();
            let Deed::Sell { lead, shape } = self.requests[number].deed else {
                faults.unless(false, || format!("nobody made {record}"));
                continue;
            };
            let known = self.opportunities.get(&id(record));
            let shapes = known.map_or((shape, None), |known| (known.shape, known.next));
            let may = shapes.0.is_of(record) || shapes.1.is_some_and(|next| next.is_of(record));
            let linked =
                record["lead_id"].as_u64() == Some(lead).filter(|lead| found.leads.contains_key(lead));
            faults.unless(may && linked, || {
                format!("{shapes:?} of {lead}: there is {record}")
            });
        }
    }

    fn judge_meetings(&self, found: &Found, faults: &mut Faults) {
        let mut dates = BTreeSet::new();
        for (reference, record) in &found.meetings {
            let date = record["date"].as_str().unwrap();
            faults.unless(dates.insert(date), || format!("{date} is taken twice"));
            let known = self.meetings.get(&id(record));
            let asked = reference
                .strip_prefix('r')
                .and_then(|number| number.strip_suffix('.'));
            let asked = asked.and_then(|number| self.requests.get(number.parse::<usize>().ok()?));
            let Some(Deed::Book {
                lead, date: first, ..
            }) = asked.map(|request| &request.deed)
            else {
                faults.unless(false, || format!("nobody booked {record}"));
                continue;
            };
            let may = match known {
                Some(known) => known.date == date || known.next.as_deref() == Some(date),
                None => first == date,
            };
            let linked = record["leadId"].as_u64();
            let right = match known.map(|known| known.lead).or(*lead) {
                Some(lead) => linked == Some(lead).filter(|lead| found.leads.contains_key(lead)),
                // The id of the lead of an interrupted booking is unknown.
                None => linked.is_some_and(|lead| found.leads.contains_key(&lead)),
            };
            faults.unless(may && right, || format!("{known:?}: there is {record}"));
        }
    }

    fn judge_people(&self, found: &Found, faults: &mut Faults) {
        for (lead, person) in &self.people {
            let there = found.leads.get(lead);
            let right = match person.life {
                Life::Here => there.is_some(),
                Life::Leaving => true,
                Life::Gone => there.is_none(),
            };
            faults.unless(right, || format!("{lead} {person:?}: there is {there:?}"));
            if let Some(record) = there {
                faults.unless(person.is(record), || format!("{person:?}: there is {record}"));
            }
            let tickets = found.tickets.get(lead).copied().unwrap_or(0);
            let right = tickets == if there.is_some() { person.tickets } else { 0 };
            faults.unless(right, || format!("{lead} {person:?}: {tickets} tickets"));
        }
        self.judge_erased(&found.marks, found, faults);
    }

    /// Requires that no data of a deleted person remains (C-24).
    fn judge_erased(&self, shown: &[u64], found: &Found, faults: &mut Faults) {
        let shown: BTreeSet<_> = shown.iter().copied().collect();
        let here = self
            .people
            .iter()
            .filter(|(lead, _)| found.leads.contains_key(lead));
        let mut here: BTreeSet<_> = here.map(|(_, person)| person.mark).collect();
        // Leads of interrupted bookings are not in the ledger.
        let emails = found.leads.values().filter_map(|lead| lead["email"].as_str());
        here.extend(emails.flat_map(marks));
        let left: Vec<_> = shown.difference(&here).map(|number| mark(*number)).collect();
        faults.unless(left.is_empty(), || format!("left of deleted leads: {left:?}"));
    }

    /// Requires that a new number has one lead in spite of concurrent calls (C-72).
    fn judge_lines(&self, found: &Found, faults: &mut Faults) {
        let mut lines = BTreeSet::new();
        for (lead, record) in &found.leads {
            if record["acquisition_channel"] != "VoIP" {
                let booked = record["createdByType"] != "booking" || self.is_booked(*lead, found);
                faults.unless(booked, || format!("a lead without its meeting: {record}"));
                continue;
            }
            let phone = record["phone"].as_str().unwrap();
            let line = phone[phone.len() - 8..].to_owned();
            faults.unless(lines.insert(line), || format!("two leads of {phone}"));
            let called = found.calls.values().any(|call| call["lead"] == *lead);
            faults.unless(called, || format!("nobody called: {record}"));
        }
    }

    /// Whether a lead from a booking has its meeting.
    fn is_booked(&self, lead: u64, found: &Found) -> bool {
        self.people.contains_key(&lead) || found.meetings.values().any(|meeting| meeting["leadId"] == lead)
    }

    /// Requires that each incoming call triggers the automation and each of its actions at most once (C-76).
    fn judge_automations(&self, found: &Found, faults: &mut Faults) {
        let (calls, made) = (found.incoming(), found.made());
        for (lead, made) in &made {
            let calls = calls.get(lead).copied().unwrap_or(0);
            // Deleted leads lose their calls, but not the created opportunities.
            faults.unless(*lead == 0 || *made <= calls, || {
                format!("{lead}: {calls} calls, {made} opportunities by the automation")
            });
        }
        for (lead, record) in &found.leads {
            let calls = calls.get(lead).copied().unwrap_or(0);
            let points = record["points"].as_u64().unwrap_or(0);
            let own = self.people.contains_key(lead) || record["acquisition_channel"] == "VoIP";
            faults.unless(!own || points <= calls, || {
                format!("{lead}: {calls} calls, {points} points")
            });
        }
    }

    /// Faults of pending automations (C-76). Leads that may have been archived during a call are not compared.
    pub fn judge_automated(&self, found: &Found) -> Faults {
        let mut faults = Faults::default();
        let (calls, made) = (found.incoming(), found.made());
        for (lead, record) in &found.leads {
            let person = self.people.get(lead);
            let own = person.is_some() || record["acquisition_channel"] == "VoIP";
            if !own || person.is_some_and(|person| person.ever_archived) {
                continue;
            }
            let of = |counts: &BTreeMap<u64, u64>| counts.get(lead).copied().unwrap_or(0);
            let points = record["points"].as_u64().unwrap_or(0);
            let (calls, made) = (of(&calls), of(&made));
            faults.unless((points, made) == (calls, calls), || {
                format!("{lead}: {calls} calls, {points} points, {made} opportunities by the automation")
            });
        }
        faults
    }

    /// Data of deleted leads in the table (C-24).
    pub fn judge_table(&self, found: &Found, items: &[String]) -> Faults {
        let mut faults = Faults::default();
        let raw: Vec<_> = items.iter().flat_map(|item| marks(item)).collect();
        self.judge_erased(&raw, found, &mut faults);
        faults
    }
}

/// Requires that exactly the calls with a lead have an event.
fn judge_events(found: &Found, faults: &mut Faults) {
    let linked = found
        .calls
        .values()
        .filter_map(|call| Some((id(call), call["lead"].as_u64()?)));
    let linked: BTreeMap<_, _> = linked.collect();
    let lacks = |some: &BTreeMap<u64, u64>, others: &BTreeMap<u64, u64>| -> Vec<(u64, u64)> {
        let lacking = some.iter().filter(|(call, lead)| others.get(call) != Some(lead));
        lacking.map(|(call, lead)| (*call, *lead)).collect()
    };
    faults.unless(linked == found.events, || {
        let (calls, events) = (lacks(&linked, &found.events), lacks(&found.events, &linked));
        format!("calls without event: {calls:?}, events without call: {events:?}")
    });
}

impl Person {
    /// Whether a record is the person's.
    fn is(&self, record: &Value) -> bool {
        let mark = mark(self.mark);
        let archived = record["archived"] == true;
        record["email"] == format!("{mark}@example.com")
            && record["firstname"] == *mark
            && record["mobile"] == *self.phone
            && (archived == self.archived || self.next == Some(archived))
    }
}

/// Whether two numbers are forms of one mobile number.
fn same_line(one: &str, other: &str) -> bool {
    let tail = |number: &str| number.get(number.len().saturating_sub(8)..).map(str::to_owned);
    one.get(..4) == other.get(..4) && tail(one) == tail(other)
}
