//! The rate of requests at which an instance ends, on the model of [`Limits`], in simulated time.
//!
//! Requests arrive irregularly (Poisson, seeded), whether or not earlier ones were answered. A rate is sustained if after a
//! warm-up the 99th percentile of the durations is at most a second, no response is a 5xx, and as many requests are
//! answered as arrive.

#![expect(
    clippy::expect_used,
    reason = "a measurement that meets what nobody thought of must stop, and say where"
)]

use std::sync::Arc;
use std::time::Duration;

use dynamodb::{Api, Emulator};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use shared::environment::Environment;
use shared::store::Store;
use shared::time::Timestamp;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until};

use crate::limits::{Latency, Limits, Stop};
use crate::people::{ACME, NOW, settle};
use crate::world::{Raw, Request, TABLE, World, at, jitter};

/// Processes of the service, each with its own caches.
const PROCESSES: usize = 50;
/// Until collections are split and processes know their callers.
const WARM_UP: Duration = Duration::from_secs(1);
const JUDGED: Duration = Duration::from_secs(3);
/// Between two rates.
const PAUSE: Duration = Duration::from_secs(2);
/// Maximum 99th percentile of the durations.
const MOST: Duration = Duration::from_secs(1);
/// Minimum part of the requests that is answered while they arrive, beyond [`UNDER_WAY`].
const ANSWERED: f64 = 0.95;
const UNDER_WAY: f64 = 5.0;
/// Halvings of the interval between a sustained rate and one that is not.
const HALVINGS: u32 = 3;

/// An instance with its processes.
pub struct Ground {
    /// The same table without limits, for preparation.
    pub arranged: World,
    limits: Arc<Limits>,
    processes: Arc<[World]>,
}

/// The store of a process on these limits.
#[must_use]
pub fn process(limits: Arc<dyn Api>, environment: &Environment) -> Store {
    let engine = dynamodb::process(limits, TABLE.to_owned(), jitter(environment));
    Store::on(Arc::new(engine), environment.clone())
}

/// The store of a process of bulk work on these limits.
#[must_use]
pub fn bulk(limits: Arc<dyn Api>, environment: &Environment) -> Store {
    let engine = dynamodb::process(limits, TABLE.to_owned(), jitter(environment));
    Store::on(Arc::new(engine.in_bulk()), environment.clone())
}

/// Makes the request of this number.
pub trait Ask: for<'w> Fn(&'w World, u64) -> Request<'w> + Send + Sync + 'static {}
impl<F: for<'w> Fn(&'w World, u64) -> Request<'w> + Send + Sync + 'static> Ask for F {}

/// The highest sustained rate.
#[derive(Debug)]
pub struct Ceiling {
    /// Requests a second.
    pub rate: f64,
    /// Whether it is the highest one that was tried.
    pub is_more: bool,
    /// 99th percentile of the durations.
    pub p99: Duration,
    /// The item that rejected most calls at the next higher rate.
    pub stop: Option<(String, Stop)>,
}

impl Ground {
    /// The instance `acme` with its people and leads.
    pub async fn open(latency: Latency) -> Self {
        let emulator = Emulator::new();
        let arranged = World::emulated(&emulator, Arc::new(emulator.clone())).await;
        settle(&arranged.operator(ACME)).await;
        let limits = Limits::new(emulator, latency);
        let process = || arranged.through(process(limits.clone(), arranged.store.environment()));
        let processes: Arc<[World]> = std::iter::repeat_with(process).take(PROCESSES).collect();
        Self {
            arranged,
            limits,
            processes,
        }
    }

    /// The store of a process of bulk work, after all preparation.
    #[must_use]
    pub fn bulk(&self) -> Store {
        self.limits.note_items();
        bulk(self.limits.clone(), self.arranged.store.environment())
    }

    /// The item that rejected most calls since the last look.
    #[must_use]
    pub fn stop(&self) -> Option<(String, Stop)> {
        let stops = self.limits.stops().into_iter();
        stops.max_by_key(|(_, count)| *count).map(|(stop, _)| stop)
    }

    /// Searches for the highest sustained rate of requests, beginning at `first` and not above `most`.
    pub async fn ceiling(self, (first, most): (f64, f64), ask: impl Ask) -> Ceiling {
        self.limits.note_items();
        let mut load = Load {
            ask: Arc::new(ask),
            arrivals: Environment::frozen(at(NOW)).0.seeded(1),
            began: now(),
            sent: 0,
            ground: self,
        };
        let (mut good, mut bad, mut stop) = (None, None, None);
        let (mut rate, mut halvings) = (first, 0);
        loop {
            let outcome = load.run(rate).await;
            let stopped = load.ground.stop();
            if let Some(p99) = outcome {
                good = Some((rate, p99));
            } else {
                (bad, stop) = (Some(rate), stopped);
            }
            rate = match (good, bad) {
                (Some((rate, _)), None) if rate < most => (2.0 * rate).min(most),
                (None, Some(rate)) if rate > 1.0 => rate / 2.0,
                (Some((good, _)), Some(bad)) if halvings < HALVINGS => {
                    halvings += 1;
                    f64::midpoint(good, bad).round()
                }
                _ => break,
            };
        }
        let (rate, p99) = good.unwrap_or_default();
        Ceiling {
            rate,
            is_more: bad.is_none(),
            p99,
            stop,
        }
    }
}

struct Load {
    ground: Ground,
    ask: Arc<dyn Ask>,
    arrivals: Environment,
    began: Instant,
    sent: u64,
}

/// A request's arrival and response.
type Done = (Instant, Instant, Raw);

/// The requests of a run that arrived after its warm-up.
struct Tally {
    from: Instant,
    until: Instant,
    arrived: f64,
    answered: f64,
    durations: Vec<Duration>,
    has_failed: bool,
}

impl Load {
    /// Sends requests at a rate. Returns the 99th percentile if the rate is sustained.
    async fn run(&mut self, rate: f64) -> Option<Duration> {
        sleep(PAUSE).await;
        let _ = self.ground.limits.stops();
        let mut at = now();
        let from = at + WARM_UP;
        let mut tally = Tally {
            from,
            until: from + JUDGED,
            arrived: 0.0,
            answered: 0.0,
            durations: Vec::new(),
            has_failed: false,
        };
        let mut under_way = JoinSet::new();
        loop {
            at += self.interval(rate);
            if at >= tally.until {
                break;
            }
            self.wait(at, &mut under_way, &mut tally).await;
            if tally.has_failed {
                return None;
            }
            tally.arrived += f64::from(u8::from(at >= from));
            under_way.spawn(self.send());
        }
        while let Some(done) = under_way.join_next().await {
            tally.note(done.expect("the service does not panic"));
        }
        tally.p99()
    }

    /// Waits for the next arrival.
    async fn wait(&self, at: Instant, under_way: &mut JoinSet<Done>, tally: &mut Tally) {
        let arrival = sleep_until(at);
        tokio::pin!(arrival);
        loop {
            tokio::select! {
                Some(done) = under_way.join_next() => tally.note(done.expect("the service does not panic")),
                () = &mut arrival => break,
            }
        }
    }

    /// Exponentially distributed.
    fn interval(&self, rate: f64) -> Duration {
        let bound = u32::MAX;
        let drawn = u32::try_from(self.arrivals.below(bound.into())).expect("below its bound");
        let share = (f64::from(drawn) + 1.0) / f64::from(bound);
        Duration::from_secs_f64(share.ln().abs() / rate)
    }

    /// The next request, from one process after the other.
    fn send(&mut self) -> BoxFuture<'static, Done> {
        let millis = i64::try_from(self.began.elapsed().as_millis()).expect("minutes");
        let moment = Timestamp::from_unix_millis(at(NOW).unix_millis() + millis);
        self.ground.arranged.clock.set(moment.expect("a time"));
        let (number, ask) = (self.sent, Arc::clone(&self.ask));
        self.sent += 1;
        let processes = Arc::clone(&self.ground.processes);
        async move {
            let process = usize::try_from(number).expect("small") % processes.len();
            let begun = now();
            let raw = ask(&processes[process], number).send_unwatched().await;
            (begun, now(), raw)
        }
        .boxed()
    }
}

impl Tally {
    fn note(&mut self, (begun, ended, raw): Done) {
        let is_error = raw.status.is_server_error();
        assert!(
            raw.status.is_success() || is_error,
            "{}: {:?}",
            raw.status,
            raw.text
        );
        self.answered += f64::from(u8::from((self.from..self.until).contains(&ended)));
        if begun >= self.from {
            self.durations.push(ended - begun);
            self.has_failed |= is_error;
        }
    }

    fn p99(mut self) -> Option<Duration> {
        self.durations.sort_unstable();
        let last = self.durations.len().checked_sub(1)?;
        let p99 = self.durations[last - last / 100];
        let keeps_up = self.answered + UNDER_WAY >= ANSWERED * self.arrived;
        (keeps_up && !self.has_failed && p99 <= MOST).then_some(p99)
    }
}

#[expect(clippy::disallowed_methods, reason = "tokio's clock is the simulated one")]
fn now() -> Instant {
    Instant::now()
}
