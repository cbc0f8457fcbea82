//! kill -9 at any moment during the writes of many clients: no acknowledged change is lost, no change is incomplete,
//! and none is done twice (C-85, and C-10, C-12, C-24, C-53, C-72, C-75, C-76, C-102 across a kill).
//!
//! In each round clients write (`clients`), the service is killed (`plan`) and restarted on the same file. The doctor
//! must find nothing. An export is compared with all responses (`ledger`, `found`, `verdict`) and with the interface
//! (`shown`). Interrupted requests are resolved, and those with an `Idempotency-Key` are repeated (`aftermath`). Rounds
//! continue with the former state. After some rounds on a file all background work must complete: automations, erasures
//! and reports. Then a new file starts. The notifications of writes are counted in the table (`facts`).
//!
//! `ROUNDS` and `SEED` set the number of rounds and the random choices.

mod aftermath;
mod clients;
mod commands;
mod deed;
mod facts;
mod found;
mod house;
mod ledger;
mod noticed;
mod plan;
mod settle;
mod shown;
mod stage;
mod summary;
mod verdict;
mod wire;

use std::sync::Mutex;
use std::time::Duration;

use found::Found;
use house::{Access, Home, House, kill_at_start};
use ledger::Ledger;
use plan::{Moment, Whereabouts, dice, milliseconds};
use shared::environment::Environment;
use summary::Summary;

/// Rounds on one file.
const LIFE: u64 = 8;
/// Maximum number of polls, and the delay between them.
const LOOKS: u32 = 240;
const PAUSE: Duration = Duration::from_millis(500);

#[test]
fn no_acknowledged_change_is_lost() {
    let rounds = plan::rounds();
    let mut whereabouts = Whereabouts {
        seed: plan::seed(),
        round: 0,
    };
    let mut summary = Summary::default();
    while summary.rounds < rounds {
        let here = LIFE.min(rounds - summary.rounds);
        live(here, &mut whereabouts, &mut summary);
    }
    println!("seed {}\n{summary}", whereabouts.seed);
}

/// Rounds on one file, and the completion of its background work.
fn live(rounds: u64, whereabouts: &mut Whereabouts, summary: &mut Summary) {
    let home = Home::new();
    let chance = dice(whereabouts.seed, 1000 * summary.rounds);
    let mut house = start(&home, None, &chance, summary);
    let ledger = Mutex::new(stage::set(&house, &home));
    for round in 0..rounds {
        whereabouts.round = summary.rounds;
        let (access, part) = (house.access.clone(), 1000 * summary.rounds + 1);
        let seed = whereabouts.seed.wrapping_add(part);
        clients::cut_off(house, &ledger, seed, Moment::of(&chance));
        house = start(&home, Some(&access), &chance, summary);
        let mut ledger = ledger.lock().unwrap();
        look(&house, &mut ledger, &chance, summary);
        // The service refreshes the reports during the writes of the next clients.
        stage::define_reports(&house, &home, round + 1);
        ledger.round += 1;
        summary.rounds += 1;
    }
    let ledger = ledger.into_inner().unwrap();
    stage::define_reports(&house, &home, rounds + 1);
    end(&house, &ledger);
    summary.add(&ledger);
}

/// Starts a service. Before that, randomly kills some services during their start.
fn start(home: &Home, access: Option<&Access>, chance: &Environment, summary: &mut Summary) -> House {
    while chance.below(3) == 0 {
        kill_at_start(home, milliseconds(chance, 400));
        summary.starts += 1;
    }
    House::open(home, access)
}

/// Checks the state after a kill.
fn look(house: &House, ledger: &mut Ledger, chance: &Environment, summary: &mut Summary) {
    let items = house.items();
    summary.note_walks(&items);
    house.examine("demo");
    let export = house.export("demo");
    let found = Found::read(&export);
    ledger.judge(&found).none();
    summary.automating += u64::from(ledger.judge_automated(&found).count() > 0);
    summary.erasing += u64::from(ledger.judge_table(&found, &items).count() > 0);
    shown::compare(house, &export, &found);
    ledger.resolve(house, &found);
    ledger.shows_no_deleted(house);
    summary.repeated += ledger.repeat(house, chance);
    ledger.judge_facts(&house.items(), None).none();
}

/// Waits until all background work is complete: automations, erasures and reports.
fn end(house: &House, ledger: &Ledger) {
    for left in (0..LOOKS).rev() {
        let items = house.items();
        let found = Found::read(&house.export("demo"));
        ledger.judge(&found).none();
        let (automated, erased) = (ledger.judge_automated(&found), ledger.judge_table(&found, &items));
        let told = ledger.reports_tell(house, &found);
        if automated.count() + erased.count() + facts::waiting(&items) == 0 && told.is_ok() {
            ledger.judge_facts(&items, Some(&found)).none();
            break;
        }
        if left == 0 {
            automated.none();
            erased.none();
            assert_eq!((facts::waiting(&items), told), (0, Ok(())));
        }
        std::thread::sleep(PAUSE);
    }
    house.examine("demo");
}
