//! One use of an endpoint: recorded once, then replayed and measured repeatedly.

use std::fmt;
use std::time::Duration;

use dynamodb::replay::{Recording, Tape};
use rustix::time::{ClockId, clock_gettime};
use tests::World;
use tests::world::{Raw, Request};
use tokio::runtime::Runtime;

use crate::ask::Ask;

/// Processor time of this thread.
pub fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(time).expect("time does not run backwards")
}

/// Requests until a process knows what to read ahead.
const WARMING: usize = 3;

/// A use with the engine's and the service's responses.
pub struct Recorded<'a> {
    world: World,
    ask: &'a Ask,
    calls: Recording,
    answer: Raw,
}

/// One measurement.
#[derive(Debug, Clone, Copy)]
pub struct Sample {
    all: Duration,
    sdk: Duration,
}

/// Sends a use to the engine. A read has a process of its own, whose caches no other use changes, and is sent before, to
/// measure a process with warm caches. Writes share a process, which has sent the reads.
pub fn record<'a>(runtime: &Runtime, world: &World, tape: &Tape, ask: &'a Ask) -> Recorded<'a> {
    let world = if ask.is_read {
        world.elsewhere()
    } else {
        world.beside()
    };
    if ask.is_read {
        for _ in 0..WARMING {
            once(runtime, ask.request(&world));
        }
    }
    let _before = tape.take();
    let answer = once(runtime, ask.request(&world));
    assert!(answer.status.is_success(), "{}: {answer:?}", ask.name);
    let calls = tape.take();
    Recorded {
        world,
        ask,
        calls,
        answer,
    }
}

/// Replays a use and measures it.
pub fn play(runtime: &Runtime, tape: &Tape, recorded: &Recorded<'_>) -> Sample {
    let Recorded {
        ask,
        world,
        calls,
        answer,
    } = recorded;
    tape.play(calls);
    let request = ask.request(world);
    let began = processor_time();
    let again = once(runtime, request);
    let all = processor_time().saturating_sub(began);
    assert_eq!(
        (again.status, &again.text),
        (answer.status, &answer.text),
        "{}",
        ask.name
    );
    assert_eq!(tape.left(), 0, "{}: calls were left out", ask.name);
    let sdk = tape.within_sdk();
    Sample { all, sdk }
}

/// A separate function, so that profilers show it.
#[inline(never)]
pub fn once(runtime: &Runtime, request: Request<'_>) -> Raw {
    runtime.block_on(request.send_unwatched())
}

/// The result of a use, as a line of the table.
pub struct Figures {
    name: &'static str,
    calls: usize,
    read: usize,
    answered: usize,
    sdk: Duration,
    all: Duration,
    target: Option<Duration>,
}

impl Figures {
    /// Medians of the samples.
    pub fn of(recorded: &Recorded<'_>, samples: &mut [Sample]) -> Self {
        let mut median = |of: fn(&Sample) -> Duration| {
            samples.sort_unstable_by_key(of);
            of(&samples[samples.len() / 2])
        };
        Self {
            name: recorded.ask.name,
            calls: recorded.calls.calls(),
            read: recorded.calls.bytes(),
            answered: recorded.answer.text.len(),
            sdk: median(|sample| sample.sdk),
            all: median(|sample| sample.all),
            target: recorded.ask.target,
        }
    }

    pub fn has_target(&self) -> bool {
        self.target.is_some()
    }

    /// Whether the service's own part exceeds the target.
    pub fn is_missed(&self) -> bool {
        self.target.is_some_and(|target| self.own() > target)
    }

    fn own(&self) -> Duration {
        self.all.saturating_sub(self.sdk)
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kilobytes = |bytes: usize| format!("{}.{}", bytes / 1000, bytes % 1000 / 100);
        let target = self.target.map(|target| target.as_micros().to_string());
        write!(
            f,
            "| {} | {} | {} | {} | {} | {} | {} | {} |",
            self.name,
            self.calls,
            kilobytes(self.read),
            kilobytes(self.answered),
            self.all.as_micros(),
            self.sdk.as_micros(),
            self.own().as_micros(),
            target.unwrap_or_default(),
        )
    }
}
