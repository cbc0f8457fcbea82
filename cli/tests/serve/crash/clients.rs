//! Clients that send all kinds of writes concurrently, until they are stopped or the service dies.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::ScopedJoinHandle;
use std::time::Duration;

use shared::environment::Environment;

use super::deed::{Caller, Deed, Look};
use super::house::House;
use super::ledger::{Ledger, Shape};
use super::plan::{Moment, dice, one_of};
use super::wire::Wire;

const CLIENTS: u64 = 12;
/// Number of unknown numbers from which calls may come in a round.
const LINES: u64 = 8;
/// Number of meeting times that each round adds to the choice. Some of them are chosen repeatedly.
const TIMES: u64 = 60;

/// Runs clients, and kills the service at a moment.
pub fn cut_off(house: House, ledger: &Mutex<Ledger>, seed: u64, moment: Moment) {
    let url = house.url().to_owned();
    let stop = AtomicBool::new(false);
    let before = ledger.lock().unwrap().answered;
    std::thread::scope(|scope| {
        let (url, stop) = (&url, &stop);
        let client = |client| {
            let dice = dice(seed, client);
            scope.spawn(move || keep_asking(url, ledger, &dice, stop))
        };
        let clients: Vec<_> = (0..CLIENTS).map(client).collect();
        let answered = |count| {
            // A client that has ended early has failed the test.
            while ledger.lock().unwrap().answered < before + count
                && !clients.iter().any(ScopedJoinHandle::is_finished)
            {
                std::thread::sleep(Duration::from_millis(2));
            }
        };
        match moment {
            Moment::Answers(count, later) => {
                answered(count);
                std::thread::sleep(later);
            }
            Moment::Time(time) => std::thread::sleep(time),
            Moment::Behind(count, later) => {
                answered(count);
                stop.store(true, Ordering::Relaxed);
                std::thread::sleep(later);
            }
        }
        house.kill();
        stop.store(true, Ordering::Relaxed);
    });
}

fn keep_asking(url: &str, ledger: &Mutex<Ledger>, dice: &Environment, stop: &AtomicBool) {
    let Some(mut wire) = Wire::to(url) else { return };
    while !stop.load(Ordering::Relaxed) {
        let (number, ask) = {
            let mut ledger = ledger.lock().unwrap();
            let deed = ledger.choose(dice);
            ledger.begin(deed, dice.below(2) == 0)
        };
        let Some(answer) = wire.send(&ask) else { return };
        ledger.lock().unwrap().settle(number, answer);
    }
}

impl Ledger {
    /// A client's next request.
    fn choose(&self, dice: &Environment) -> Deed {
        let chosen = match dice.below(24) {
            0..=3 => self.sell(dice),
            4..=7 => self.change(dice),
            8 => self.book(dice),
            9..=10 => self.move_meeting(dice),
            11..=14 => self.call(dice),
            15 => Some(self.call_unknown(dice)),
            16..=17 => self.archive(dice),
            18 => self.delete(dice),
            19..=20 => self.look(dice),
            _ => None,
        };
        // Books for a new contact, who becomes a lead.
        chosen.unwrap_or_else(|| Deed::Book {
            lead: None,
            opportunity: None,
            date: self.time(dice),
        })
    }

    fn sell(&self, dice: &Environment) -> Option<Deed> {
        let lead = *one_of(dice, &self.anybody(dice))?;
        let shape = Shape {
            value: dice.below(100_000),
            column: 31 + dice.below(3),
            status: status(dice),
            archived: false,
        };
        Some(Deed::Sell { lead, shape })
    }

    fn change(&self, dice: &Environment) -> Option<Deed> {
        let opportunity = *one_of(dice, &self.free_opportunities())?;
        let from = self.opportunities[&opportunity].shape;
        let mut to = from;
        match dice.below(4) {
            0 => to.value = dice.below(100_000),
            1 => (to.column, to.status) = (31 + dice.below(3), status(dice)),
            2 => to.archived = !from.archived,
            _ => (to.value, to.column, to.status) = (dice.below(100_000), 31 + dice.below(3), status(dice)),
        }
        Some(Deed::Change {
            opportunity,
            from,
            to,
        })
    }

    fn book(&self, dice: &Environment) -> Option<Deed> {
        let lead = *one_of(dice, &self.anybody(dice))?;
        let known = self.opportunities.iter().find(|(_, known)| known.lead == lead);
        Some(Deed::Book {
            lead: Some(lead),
            opportunity: known.map(|(id, _)| *id),
            date: self.time(dice),
        })
    }

    fn move_meeting(&self, dice: &Environment) -> Option<Deed> {
        let meeting = *one_of(dice, &self.free_meetings())?;
        let date = self.time(dice);
        (self.meetings[&meeting].date != date).then_some(Deed::Move { meeting, date })
    }

    fn call(&self, dice: &Environment) -> Option<Deed> {
        let incoming = dice.below(4) > 0;
        let caller = match dice.below(3) {
            0 => Caller::Number(*one_of(dice, &self.free_people())?),
            1 => Caller::Lead {
                lead: *one_of(dice, &self.free_people())?,
                named: true,
            },
            _ => Caller::Lead {
                lead: *one_of(dice, &self.anybody(dice))?,
                named: false,
            },
        };
        Some(Deed::Call { caller, incoming })
    }

    fn call_unknown(&self, dice: &Environment) -> Deed {
        Deed::Call {
            caller: Caller::Line(self.round * LINES + dice.below(LINES)),
            incoming: dice.below(4) > 0,
        }
    }

    fn archive(&self, dice: &Environment) -> Option<Deed> {
        let leads = self.some(dice)?;
        let archived = dice.below(2) == 0;
        Some(Deed::Archive { leads, archived })
    }

    fn delete(&self, dice: &Environment) -> Option<Deed> {
        let leads = self.some(dice)?;
        Some(Deed::Delete { leads })
    }

    fn look(&self, dice: &Environment) -> Option<Deed> {
        let look = match dice.below(9) {
            0..=2 => Look::Lead(*one_of(dice, &self.free_people())?),
            3 => Look::Tickets(*one_of(dice, &self.free_people())?),
            4 => Look::Column(31 + dice.below(3)),
            5 => Look::Board,
            6 => Look::Meetings,
            7 => Look::Slots,
            _ => Look::Report(91 + dice.below(3)),
        };
        Some(Deed::Look(look))
    }

    /// One or a few leads without a pending change.
    fn some(&self, dice: &Environment) -> Option<Vec<u64>> {
        let mut free = self.free_people();
        let count = if dice.below(2) == 0 { 1 } else { 2 + dice.below(4) };
        let mut some = Vec::new();
        while some.len() < usize::try_from(count).unwrap() {
            let lead = *one_of(dice, &free)?;
            free.retain(|other| *other != lead);
            some.push(lead);
        }
        Some(some)
    }

    /// Leads to link: mostly those without a pending change, sometimes all leads so far, including those with a pending
    /// or completed deletion.
    fn anybody(&self, dice: &Environment) -> Vec<u64> {
        if dice.below(5) > 0 {
            return self.free_people();
        }
        self.people.keys().copied().collect()
    }

    fn time(&self, dice: &Environment) -> String {
        let window = usize::try_from((self.round + 1) * TIMES).unwrap();
        one_of(dice, &self.times[..window.min(self.times.len())])
            .unwrap()
            .clone()
    }
}

fn status(dice: &Environment) -> &'static str {
    one_of(dice, &["open", "gain", "lost"]).unwrap()
}
