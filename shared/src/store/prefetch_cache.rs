//! Data that a process remembers from earlier requests of all instances, such as the permissions of callers, the ends
//! of pages, and the ids of calendars.
//!
//! Most hints select the reads in parallel with authentication. A response uses the permissions and settings of its own
//! reads, so an outdated hint costs only a round trip. Other entries are the recently accepted callers, and the
//! counters and reserved ids of contended writes.

use std::borrow::Borrow;
use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::lists::PageCursor;
use super::sequence::ReservedBlock;
use super::tickets::TicketHint;
use crate::calendar::{Calendar, LinkName};
use crate::credential::CredentialHash;
use crate::form::Form;
use crate::ids::{CalendarId, DepartmentId, FunnelId, LeadId, OpportunityId, TicketId, UserId};
use crate::instance::InstanceName;
use crate::settings::Rate;
use crate::store::key::Key;
use crate::time::Timestamp;
use crate::viewer::{OwnerScope, Viewer};

/// Seconds in which an accepted caller is known.
const KNOWN_SECONDS: u32 = 300;
/// Maximum entries of one cache. A further entry deletes all others.
const MAX_ENTRIES: usize = 1000;

/// The opportunities and users of a lead's last response.
#[derive(Debug, Clone, Default)]
pub struct LeadOpportunitiesHint {
    pub(super) opportunities: BTreeSet<OpportunityId>,
    pub(super) users: BTreeSet<UserId>,
}

/// The expected permissions and settings of a caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrefetchHint {
    /// The owners of the leads that the caller sees.
    pub leads: OwnerScope,
    /// The users of the opportunities that the caller sees.
    pub opportunities: OwnerScope,
    /// Whether the caller sees won and lost opportunities.
    pub won_lost: bool,
    /// The number of the first page.
    pub page_base: u64,
}

impl Default for PrefetchHint {
    /// Expects that a new caller sees all leads and opportunities, and counts pages from 1.
    fn default() -> Self {
        Self {
            leads: OwnerScope::All,
            opportunities: OwnerScope::All,
            won_lost: true,
            page_base: 1,
        }
    }
}

impl PrefetchHint {
    /// The permissions and settings of an authenticated caller.
    pub fn of(viewer: &Viewer) -> Self {
        Self {
            leads: viewer.lead_owner_scope(),
            opportunities: viewer.opportunity_owner_scope(),
            won_lost: viewer.permissions().won_lost,
            page_base: viewer.directory().settings.page_base(),
        }
    }

    /// Number of entries before a page. With base 1, page 0 is also the first page (C-40).
    pub fn skipped(&self, page: Option<u64>, limit: u16) -> u64 {
        let pages = page.map_or(0, |page| page.saturating_sub(self.page_base));
        pages.saturating_mul(u64::from(limit))
    }
}

/// The remembered data of a process, of all instances.
#[derive(Debug, Default)]
pub struct HintCache {
    /// The expected permissions and settings of callers.
    pub callers: Cache<String, PrefetchHint>,
    /// Cursors of the pages of lists.
    pub pages: Cache<String, PageCursor>,
    /// The instance of a credential.
    pub instances: Cache<CredentialHash, InstanceName>,
    /// The calendars of an instance.
    pub calendars: Cache<InstanceName, Vec<CalendarId>>,
    /// The calendar that a public link names.
    pub links: Cache<(InstanceName, LinkName), Calendar>,
    /// Tickets as last read.
    pub tickets: Cache<(InstanceName, TicketId), TicketHint>,
    /// The form of a name and a token's hash.
    pub forms: Cache<(InstanceName, String), Form>,
    /// The opportunities of a lead, and their users.
    pub lead_opportunities: Cache<(InstanceName, LeadId), LeadOpportunitiesHint>,
    /// The departments with the members that a caller's permissions depend on.
    pub departments: Cache<String, BTreeSet<DepartmentId>>,
    /// The owners of leads that access lists may hide from a caller.
    pub restricted_leads: Cache<String, BTreeSet<Option<UserId>>>,
    /// Boards with too many totals to read all of them: instance, funnel, whether archived.
    pub large_boards: Cache<(InstanceName, FunnelId, bool), ()>,
    /// The items with the users' names that responses of an instance contained.
    pub names: Cache<InstanceName, BTreeSet<Key>>,
    /// The counters with a recent conflict, and the time until which this process reserves blocks of their ids.
    pub contended: Cache<Key, Timestamp>,
    /// The rest of a counter's ids that this process reserved in a block.
    pub reserved: Cache<Key, ReservedBlock>,
    /// Recently accepted callers.
    accepted: Cache<String, Accepted>,
}

/// Values by key, at most [`MAX_ENTRIES`].
#[derive(Debug)]
pub struct Cache<K, V>(Mutex<HashMap<K, V>>);

impl<K, V> Default for Cache<K, V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Eq + Hash, V: Clone> Cache<K, V> {
    /// The value of a key.
    pub fn get<Q: Eq + Hash + ?Sized>(&self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        self.entries().get(key).cloned()
    }

    /// Adds or replaces a value. Deletes all others if the cache is full and the key is new.
    pub fn put(&self, key: K, value: V) {
        let mut entries = self.entries();
        if entries.len() >= MAX_ENTRIES && !entries.contains_key(&key) {
            entries.clear();
        }
        entries.insert(key, value);
    }

    /// Changes the value of a key in place. Returns the result of `change`, or `None` if there is no value.
    pub fn change<R>(&self, key: &K, change: impl FnOnce(&mut V) -> R) -> Option<R> {
        self.entries().get_mut(key).map(change)
    }

    /// Adds or replaces a value. Deletes it for `None`.
    pub fn set(&self, key: K, value: Option<V>) {
        match value {
            Some(value) => self.put(key, value),
            None => drop(self.entries().remove(&key)),
        }
    }

    fn entries(&self) -> MutexGuard<'_, HashMap<K, V>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A recently accepted caller.
#[derive(Debug, Clone)]
pub struct Accepted {
    until: Timestamp,
    /// The budget of the caller's requests, and the budget's limit. `None` without a limit.
    pub budget: Option<(String, Rate)>,
}

impl HintCache {
    /// The expected permissions and settings of a caller, which [`CallerId::credentials`](super::CallerId) identifies.
    pub fn of(&self, caller: &str) -> PrefetchHint {
        self.callers.get(caller).unwrap_or_default()
    }

    /// Stores the permissions and settings of a caller.
    pub fn cache_caller(&self, caller: &str, hint: PrefetchHint) {
        self.callers.put(caller.to_owned(), hint);
    }

    /// Whether the caller has a hint of its own, instead of the default of new callers.
    pub fn has_hint_of(&self, caller: &str) -> bool {
        self.callers.get(caller).is_some()
    }

    /// A caller that was accepted in the last [`KNOWN_SECONDS`].
    pub fn accepted(&self, caller: &str, now: Timestamp) -> Option<Accepted> {
        let accepted = self.accepted.get(caller);
        accepted.filter(|accepted| now < accepted.until)
    }

    /// Adds an accepted caller.
    pub fn accept(&self, caller: &str, now: Timestamp, budget: Option<(String, Rate)>) {
        let until = now.plus_seconds(KNOWN_SECONDS);
        self.accepted.put(caller.to_owned(), Accepted { until, budget });
    }

    /// Deletes a refused caller.
    pub fn refuse(&self, caller: &str) {
        self.accepted.set(caller.to_owned(), None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_are_kept_in_bounded_memory() {
        let hints = HintCache::default();
        let nothing = PrefetchHint {
            leads: OwnerScope::Nothing,
            page_base: 0,
            ..PrefetchHint::default()
        };
        hints.cache_caller("a", nothing.clone());
        assert_eq!(
            (hints.of("a"), hints.of("b")),
            (nothing.clone(), PrefetchHint::default())
        );
        hints.cache_caller("a", PrefetchHint::default());
        assert_eq!(hints.of("a"), PrefetchHint::default());
        let (numbers, last) = (Cache::default(), 5 * MAX_ENTRIES - 1);
        for number in 0..=last {
            numbers.put(number, "remembered");
        }
        assert_eq!(numbers.get(&last), Some("remembered"));
        assert!(numbers.entries().len() <= MAX_ENTRIES);
        numbers.set(last, None);
        assert_eq!(numbers.get(&last), None);
    }

    /// C-40.
    #[test]
    fn pages_are_counted_from_the_base() {
        let from = |page_base| PrefetchHint {
            page_base,
            ..PrefetchHint::default()
        };
        for (base, page, skipped) in [
            (1, 0, 0),
            (1, 1, 0),
            (1, 3, 50),
            (0, 0, 0),
            (0, 1, 25),
            (1, u64::MAX, u64::MAX),
        ] {
            assert_eq!(from(base).skipped(Some(page), 25), skipped, "{base} {page}");
        }
        assert_eq!(from(0).skipped(None, 25), 0);
    }
}
