//! The lease of a process on one minute of a budget. Pure.

use crate::settings::Rate;
use crate::time::Timestamp;

/// Divisor of a limit: the maximum of a block, so that an unused block wastes little.
const LIMIT_DIVISOR: u64 = 20;
/// Divisor of the remaining places: the maximum of a block.
const REMAINDER_DIVISOR: u64 = 8;
/// The largest block.
const MAX_BLOCK: u64 = 100;

/// The places of a minute that this process has taken, and the number of places that all processes are known to have
/// taken.
///
/// The requests of a minute have places from 1 on. Places are never returned, so the known number is at most the real
/// one.
#[derive(Debug, Default)]
pub struct Lease {
    minute: u64,
    /// The place of the next request, if it is at most `end`.
    next: u64,
    /// The last place of the block that this process took.
    end: u64,
    /// The last place that any process is known to have taken.
    taken_by_all: u64,
    /// No write to the counter until then.
    avoid_until: Option<Timestamp>,
}

/// The decision about a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeaseStep {
    /// The request has a place and is accepted.
    Admitted,
    /// No place is left in this minute.
    Refused,
    /// This many places must be taken first.
    Take(u64),
}

impl Lease {
    /// Switches to a minute. Places of another minute are dropped.
    pub fn start_minute(&mut self, minute: u64) {
        if self.minute != minute {
            *self = Self {
                minute,
                next: 1,
                avoid_until: self.avoid_until,
                ..Self::default()
            };
        }
    }

    /// Assigns the next place to a request, or returns the size of the block that must be taken first. Places above a
    /// limit that was lowered concurrently are invalid.
    pub fn next_step(&mut self, limit: Rate) -> LeaseStep {
        let limit = u64::from(limit.get());
        if self.next <= self.end.min(limit) {
            self.next += 1;
            return LeaseStep::Admitted;
        }
        if self.taken_by_all >= limit {
            return LeaseStep::Refused;
        }
        LeaseStep::Take(block_size(limit, limit - self.taken_by_all))
    }

    /// Whether the next request of a minute has a place without a write.
    pub fn has_place(&self, minute: u64, limit: Rate) -> bool {
        self.minute == minute && self.next <= self.end.min(limit.get().into())
    }

    /// Records the result of taking a block. `taken` is the last place of the block, or `None` if no place was left
    /// under `limit`.
    pub fn record_taken(&mut self, block: u64, taken: Option<u64>, limit: Rate) {
        match taken {
            Some(last) => {
                self.next = last.saturating_sub(block) + 1;
                self.end = last;
                self.taken_by_all = last;
            }
            None => self.taken_by_all = self.taken_by_all.max(limit.get().into()),
        }
    }

    /// Number of places left, as far as known.
    pub fn remaining(&self, limit: Rate) -> u64 {
        let limit = u64::from(limit.get());
        let own = (self.end.min(limit) + 1).saturating_sub(self.next);
        limit.saturating_sub(self.taken_by_all) + own
    }

    /// Avoids the counter until then.
    pub fn avoid_counter_until(&mut self, until: Timestamp) {
        self.avoid_until = Some(until);
    }

    /// Whether the counter is to be avoided now.
    pub fn avoids_counter(&self, now: Timestamp) -> bool {
        self.avoid_until.is_some_and(|until| now < until)
    }
}

/// Number of places to reserve together, of `left` under `limit`. Smaller for small limits and for the last places, so
/// that the processes that need the last places get them.
fn block_size(limit: u64, left: u64) -> u64 {
    (limit / LIMIT_DIVISOR)
        .min(left / REMAINDER_DIVISOR)
        .clamp(1, MAX_BLOCK)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rate(limit: u32) -> Rate {
        Rate::new(limit).unwrap()
    }

    /// A minute's item.
    #[derive(Debug, Default)]
    struct Counter(u64);

    impl Counter {
        fn add(&mut self, block: u64, limit: Rate) -> Option<u64> {
            (self.0 < u64::from(limit.get())).then(|| {
                self.0 += block;
                self.0
            })
        }
    }

    /// One request: whether it is accepted, and whether the counter was written.
    fn spend(lease: &mut Lease, counter: &mut Counter, limit: Rate) -> (bool, bool) {
        match lease.next_step(limit) {
            LeaseStep::Admitted => (true, false),
            LeaseStep::Refused => (false, false),
            LeaseStep::Take(block) => {
                lease.record_taken(block, counter.add(block, limit), limit);
                (lease.next_step(limit) == LeaseStep::Admitted, true)
            }
        }
    }

    fn begun() -> Lease {
        let mut lease = Lease::default();
        lease.start_minute(1);
        lease
    }

    #[test]
    fn block_sizes_follow_limit_and_remainder() {
        for (limit, left, expected) in [
            (1, 1, 1),
            (19, 19, 1),
            (20, 20, 1),
            (60, 60, 3),
            (60, 16, 2),
            (60, 15, 1),
            (2000, 2000, 100),
            (1_000_000, 1_000_000, 100),
            (1_000_000, 80, 10),
            (1_000_000, 1, 1),
        ] {
            assert_eq!(block_size(limit, left), expected, "{limit} {left}");
        }
    }

    /// One process accepts exactly the limit, counts down to 0 and writes once per block.
    #[test]
    fn one_process_wastes_nothing() {
        for limit in [1, 2, 20, 61, 600, 10_000] {
            let (mut lease, mut counter, mut asked) = (begun(), Counter::default(), 0);
            for place in 1..=u64::from(limit) {
                let (admitted, call) = spend(&mut lease, &mut counter, rate(limit));
                asked += u32::from(call);
                assert_eq!(
                    (admitted, lease.remaining(rate(limit))),
                    (true, u64::from(limit) - place)
                );
            }
            for _ in 0..3 {
                assert_eq!(spend(&mut lease, &mut counter, rate(limit)), (false, false));
            }
            assert!(asked <= limit / 100 + 45, "{limit}: {asked}");
        }
    }

    #[test]
    fn a_minute_has_nothing_of_the_one_before() {
        let (mut lease, mut counter) = (begun(), Counter::default());
        let limit = rate(100);
        assert_eq!(spend(&mut lease, &mut counter, limit), (true, true));
        assert_eq!(lease.remaining(limit), 99);
        lease.start_minute(1);
        assert_eq!(spend(&mut lease, &mut counter, limit), (true, false));
        lease.start_minute(2);
        assert_eq!(
            (lease.remaining(limit), lease.next_step(limit)),
            (100, LeaseStep::Take(5))
        );
    }

    /// C-12: a changed limit applies from the next request, in both directions.
    #[test]
    fn a_limit_that_changes() {
        let (mut lease, mut counter) = (begun(), Counter::default());
        for _ in 0..52 {
            assert!(spend(&mut lease, &mut counter, rate(100)).0);
        }
        assert_eq!(spend(&mut lease, &mut counter, rate(52)), (false, false));
        assert_eq!(lease.remaining(rate(10)), 0);
        assert_eq!(spend(&mut lease, &mut counter, rate(53)), (true, false));
        let more = (0..1000)
            .filter(|_| spend(&mut lease, &mut counter, rate(200)).0)
            .count();
        assert_eq!(more, 200 - 53);
    }

    #[test]
    fn an_unreachable_counter_is_skipped_for_a_while() {
        let mut lease = begun();
        let at = |text: &str| Timestamp::parse(text).unwrap();
        assert!(!lease.avoids_counter(at("2026-11-21T12:00:58Z")));
        lease.avoid_counter_until(at("2026-11-21T12:01:03Z"));
        lease.start_minute(2);
        assert!(lease.avoids_counter(at("2026-11-21T12:01:02Z")));
        assert!(!lease.avoids_counter(at("2026-11-21T12:01:03Z")));
    }

    proptest! {
        /// For any order of requests and changes of the limit, all processes together never accept more than the
        /// highest limit, and exactly the limit once each was rejected.
        #[test]
        fn processes_together_keep_the_limit(
            limits in prop::collection::vec(1_u32..400, 1..4),
            order in prop::collection::vec(0_usize..8, 0..600),
        ) {
            let mut processes: Vec<_> = (0..8).map(|_| begun()).collect();
            let (mut counter, mut admitted) = (Counter::default(), 0);
            let highest = limits.iter().copied().max().unwrap_or(1);
            for (turn, process) in order.iter().enumerate() {
                let limit = rate(limits[turn % limits.len()]);
                admitted += u32::from(spend(&mut processes[*process], &mut counter, limit).0);
            }
            prop_assert!(admitted <= highest);
            for process in &mut processes {
                while spend(process, &mut counter, rate(highest)).0 {
                    admitted += 1;
                }
            }
            if limits.len() == 1 {
                prop_assert_eq!(admitted, highest);
            }
            prop_assert!(admitted <= highest);
        }
    }
}
