//! Parameters of a run: number of rounds, seed, and the moment of each kill.

use std::time::Duration;

use shared::environment::Environment;

/// Rounds of a run; set by `ROUNDS`.
const ROUNDS: u64 = 3;
/// Default seed of the random choices; set by `SEED`. The seed determines requests and moments of kills, but not the
/// machine's speed, so it does not repeat interleavings.
const SEED: u64 = 20_261_121;

/// When a service is killed.
#[derive(Debug, Clone, Copy)]
pub enum Moment {
    /// After a number of responses, plus a delay.
    Answers(u64, Duration),
    /// After a time since the start of the clients.
    Time(Duration),
    /// After a number of responses, the end of the clients and a delay, during background work.
    Behind(u64, Duration),
}

/// A number from an environment variable.
pub fn number(name: &str, default: u64) -> u64 {
    let given = std::env::var(name).ok().and_then(|text| text.parse().ok());
    given.unwrap_or(default)
}

/// Number of rounds.
pub fn rounds() -> u64 {
    number("ROUNDS", ROUNDS)
}

/// The seed.
pub fn seed() -> u64 {
    number("SEED", SEED)
}

/// Random source for one part of a run.
pub fn dice(seed: u64, part: u64) -> Environment {
    Environment::system().seeded(seed.wrapping_mul(1_000_003).wrapping_add(part))
}

/// A random duration below a bound, in milliseconds.
pub fn milliseconds(dice: &Environment, bound: u64) -> Duration {
    Duration::from_millis(dice.below(bound))
}

/// A random element.
pub fn one_of<'a, T>(dice: &Environment, some: &'a [T]) -> Option<&'a T> {
    let at = dice.below(u64::try_from(some.len()).unwrap());
    some.get(usize::try_from(at).unwrap())
}

impl Moment {
    /// The moment of a round.
    pub fn of(dice: &Environment) -> Self {
        match dice.below(5) {
            0 | 1 => Self::Answers(20 + dice.below(180), milliseconds(dice, 40)),
            2 | 3 => Self::Time(Duration::from_millis(100) + milliseconds(dice, 2400)),
            _ => Self::Behind(60 + dice.below(60), milliseconds(dice, 2000)),
        }
    }
}

/// Prints the run's parameters if a test fails.
#[derive(Debug)]
pub struct Whereabouts {
    pub seed: u64,
    pub round: u64,
}

impl Drop for Whereabouts {
    #[expect(clippy::print_stderr, reason = "a failed test has to say which run it was")]
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("failed with SEED={} in round {}", self.seed, self.round);
        }
    }
}
