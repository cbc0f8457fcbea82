//! What a run of kills is made of: how many, from which seed, and at which moment of a round each comes.

use std::time::Duration;

use shared::ambient::Ambient;

/// Rounds of a run; `ROUNDS` asks for more.
const ROUNDS: u64 = 3;
/// What chance begins with; `SEED` asks for another. It decides what is asked and when it is cut off, not how fast the
/// machine is, so a seed repeats a run's choices and not its moments.
const SEED: u64 = 20_261_121;

/// When a service is killed.
#[derive(Debug, Clone, Copy)]
pub enum Moment {
    /// Once so many more requests are answered, and a little later.
    Answers(u64, Duration),
    /// So long after the clients begin.
    Time(Duration),
    /// Once so many are answered and no client asks any more, in what the service still has to do by itself.
    Behind(u64, Duration),
}

/// A number that the environment may set.
pub fn number(name: &str, default: u64) -> u64 {
    let given = std::env::var(name).ok().and_then(|text| text.parse().ok());
    given.unwrap_or(default)
}

/// How many rounds are asked for.
pub fn rounds() -> u64 {
    number("ROUNDS", ROUNDS)
}

/// The seed that is asked for.
pub fn seed() -> u64 {
    number("SEED", SEED)
}

/// Chance for one part of a run.
pub fn dice(seed: u64, part: u64) -> Ambient {
    Ambient::system().seeded(seed.wrapping_mul(1_000_003).wrapping_add(part))
}

/// Some milliseconds below a bound.
pub fn milliseconds(dice: &Ambient, bound: u64) -> Duration {
    Duration::from_millis(dice.below(bound))
}

/// One of some.
pub fn one_of<'a, T>(dice: &Ambient, some: &'a [T]) -> Option<&'a T> {
    let at = dice.below(u64::try_from(some.len()).unwrap());
    some.get(usize::try_from(at).unwrap())
}

impl Moment {
    /// The moment of a round.
    pub fn of(dice: &Ambient) -> Self {
        match dice.below(5) {
            0 | 1 => Self::Answers(20 + dice.below(180), milliseconds(dice, 40)),
            2 | 3 => Self::Time(Duration::from_millis(100) + milliseconds(dice, 2400)),
            _ => Self::Behind(60 + dice.below(60), milliseconds(dice, 2000)),
        }
    }
}

/// Says in a failed test which run it was.
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
