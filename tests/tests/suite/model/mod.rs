//! Choices that a seed decides, and the model of the interface that is tested with them.

mod whole;

use shared::environment::Environment;
use tests::NOW;
use tests::world::at;

/// Choices that a seed decides.
pub struct Dice(Environment);

impl Dice {
    pub fn new(seed: u64) -> Self {
        let (environment, _) = Environment::frozen(at(NOW));
        Self(environment.seeded(seed))
    }

    /// A number below `bound`.
    pub fn below(&self, bound: u64) -> u64 {
        self.0.below(bound)
    }

    /// Whether something happens that does so in `percent` of a hundred cases.
    pub fn chance(&self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// One of these.
    pub fn one<'a, T>(&self, of: &'a [T]) -> &'a T {
        &of[usize::try_from(self.below(of.len() as u64)).expect("an index")]
    }

    /// Some of these, perhaps none, perhaps one twice.
    pub fn some<T: Clone>(&self, of: &[T]) -> Vec<T> {
        (0..self.below(4)).map(|_| self.one(of).clone()).collect()
    }
}

/// Which share of many similar cases a run tries: `EVERY_CASE=1` tries all of them, as `.ci/long` does; otherwise a seed chooses.
pub fn tries_every_case() -> bool {
    from_environment("EVERY_CASE", 0) == 1
}

/// A number that the environment may give.
pub fn from_environment(name: &str, default: u64) -> u64 {
    match std::env::var(name) {
        Ok(text) => text.parse().expect("a whole number"),
        Err(_) => default,
    }
}
