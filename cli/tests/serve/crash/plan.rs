//! Parameters of a run: number of rounds, seed, and moments of kills.

use std::time::Duration;

use shared::environment::Environment;

/// Rounds of a run; set by `ROUNDS`.
const ROUNDS: u64 = 3;
/// Default seed of the random choices; set by `SEED`. The seed determines requests and moments of kills, but not the
/// machine's speed, so it does not repeat interleavings.
const SEED: u64 = 20_261_121;

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
