//! Resolves interrupted requests, and repeats those with a key.

use super::deed::{Deed, reference};
use super::found::{Found, id};
use super::house::House;
use super::ledger::{Fate, Ledger, Life, Shape};
use super::plan::one_of;
use super::wire::{Answer, Wire};
use shared::environment::Environment;

/// Number of repeated requests of earlier rounds.
const OLD: u64 = 30;

impl Ledger {
    /// Resolves every request without a response. A request with a key is repeated, and its response must state whether
    /// the first one was done (C-10). The export shows the outcome of other requests.
    pub fn resolve(&mut self, house: &House, found: &Found) {
        let open = |number: &usize| matches!(self.requests[*number].fate, Fate::UnderWay);
        let open: Vec<_> = (0..self.requests.len()).filter(open).collect();
        for number in open {
            let request = &self.requests[number];
            let done = self.is_done(number, found);
            if request.key {
                let answer = house.ask(&request.ask);
                let told = format!("{request:?}: {answer:?}, and it was done: {done}");
                assert_eq!(answer.replayed, done, "{told}");
                self.settle(number, answer);
            } else {
                self.take(number, done, found);
                self.requests[number].fate = Fate::CutOff { done };
            }
            self.requests[number].cut_off = Some(done);
        }
    }

    /// Whether a request was done. For a bulk request, whether it was done for the first lead.
    fn is_done(&self, number: usize, found: &Found) -> bool {
        let reference = reference(number);
        match &self.requests[number].deed {
            Deed::Sell { .. } => found.opportunities.contains_key(&reference),
            Deed::Book { .. } => found.meetings.contains_key(&reference),
            Deed::Call { .. } => found.calls.contains_key(&reference),
            Deed::Change { opportunity, to, .. } => self.found_shape(*opportunity, *to, found),
            Deed::Move { meeting, date } => {
                let mut meetings = found.meetings.values();
                meetings.any(|record| id(record) == *meeting && record["date"] == **date)
            }
            Deed::Archive { leads, archived } => (found.leads[&leads[0]]["archived"] == true) == *archived,
            Deed::Delete { leads } => !found.leads.contains_key(&leads[0]),
            Deed::Look(_) => false,
        }
    }

    fn found_shape(&self, opportunity: u64, shape: Shape, found: &Found) -> bool {
        let known = reference(self.opportunities[&opportunity].request);
        shape.is_of(&found.opportunities[&known])
    }

    /// Records the outcome of a request that is not repeated.
    fn take(&mut self, number: usize, done: bool, found: &Found) {
        let deed = self.requests[number].deed.clone();
        if let Some(lead) = deed.holds() {
            self.person(lead).busy = false;
        }
        match deed {
            Deed::Sell { lead, shape } if done => {
                let record = &found.opportunities[&reference(number)];
                self.knows_opportunity(id(record), number, lead, shape);
            }
            Deed::Book { lead, date, .. } if done => {
                let record = &found.meetings[&reference(number)];
                let lead = lead.unwrap_or_else(|| {
                    let lead = Self::number(record, "/leadId");
                    self.knows_guest(lead, number);
                    lead
                });
                self.knows_meeting(id(record), lead, &date, None);
            }
            Deed::Change { opportunity, to, .. } => {
                let known = self.opportunities.get_mut(&opportunity).unwrap();
                (known.busy, known.next) = (false, None);
                known.change(if done { to } else { known.shape });
            }
            Deed::Move { meeting, date } => {
                let known = self.meetings.get_mut(&meeting).unwrap();
                (known.busy, known.next) = (false, None);
                if done {
                    known.move_to(&date);
                }
            }
            Deed::Archive { leads, .. } | Deed::Delete { leads } => {
                for lead in leads {
                    self.take_lead(lead, found);
                }
            }
            _ => {}
        }
    }

    fn take_lead(&mut self, lead: u64, found: &Found) {
        let record = found.leads.get(&lead);
        let known = self.person(lead);
        (known.busy, known.next) = (false, None);
        match record {
            Some(record) => {
                known.life = Life::Here;
                known.archive(record["archived"] == true);
            }
            None => known.life = Life::Gone,
        }
    }

    /// Repeats acknowledged requests with a key: all of this round, and some earlier ones. Each must get the same
    /// response and have no further effect, which the next verdict checks. Returns their number.
    pub fn repeat(&self, house: &House, dice: &Environment) -> u64 {
        let may =
            |number: &usize| self.requests[*number].key && self.requests[*number].acknowledged().is_some();
        let (old, now): (Vec<_>, Vec<_>) = (0..self.requests.len())
            .filter(may)
            .partition(|number| self.requests[*number].round < self.round);
        let old = (0..OLD).filter_map(|_| one_of(dice, &old));
        let mut wire = Wire::to(house.url()).expect("it listens");
        let mut repeated = 0;
        for number in now.iter().chain(old) {
            let request = &self.requests[*number];
            let answer = wire.send(&request.ask).expect("an answer");
            let first = request.acknowledged().unwrap();
            assert!(
                same(&request.deed, first, &answer),
                "{request:?} again: {answer:?}"
            );
            repeated += 1;
        }
        repeated
    }
}

/// Whether a response equals the first one in the fields that never change. Responses are built from the current record
/// (C-10).
fn same(deed: &Deed, first: &Answer, again: &Answer) -> bool {
    let kept: &[&str] = match deed {
        Deed::Sell { .. } => &["/id", "/title", "/createDate", "/crm_id"],
        Deed::Call { .. } => &["/id", "/msg"],
        _ => &[
            "/msg",
            "/data/id",
            "/data/rescheduleKey",
            "/data/createDate",
            "/data/properties",
        ],
    };
    again.replayed
        && again.status == first.status
        && kept
            .iter()
            .all(|kept| again.body.pointer(kept) == first.body.pointer(kept))
}
