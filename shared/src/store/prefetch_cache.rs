//! Prefetch hints from earlier requests: what callers see, how they count pages and the cursors of their lists; the
//! existing calendars; the leads of tickets; contended counters; and recently accepted callers.
//!
//! A hint decides only what is read in parallel with authentication. Every answer uses the permissions and settings
//! read with it, so an outdated hint costs a round trip and nothing else.

use std::borrow::Borrow;
use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::opportunities::LeadOpportunitiesHint;
use super::page_cursor::PageCursor;
use super::sequence::ReservedBlock;
use super::tickets::TicketHint;
use crate::calendar::{Calendar, LinkName};
use crate::credential::CredentialHash;
use crate::form::Form;
use crate::ids::{CalendarId, DepartmentId, FunnelId, LeadId, TicketId, UserId};
use crate::instance::InstanceName;
use crate::settings::Rate;
use crate::store::key::Key;
use crate::time::Timestamp;
use crate::viewer::{OwnerScope, Viewer};

/// For so many seconds a caller that was let in is known.
const KNOWN_SECONDS: u32 = 300;
/// Entries of one kind; with more, all are forgotten.
const MAX_ENTRIES: usize = 1000;

/// The expected permissions and settings of a caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrefetchHint {
    /// The owners whose leads the caller sees.
    pub leads: OwnerScope,
    /// The owners whose opportunities the caller sees.
    pub opportunities: OwnerScope,
    /// Whether it sees the won and lost ones among them.
    pub won_lost: bool,
    /// The number of the first page.
    pub page_base: u64,
}

impl Default for PrefetchHint {
    /// A new caller is expected to see every lead and to count pages from 1.
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
    pub fn truth(viewer: &Viewer) -> Self {
        Self {
            leads: viewer.lead_reach(),
            opportunities: viewer.opportunity_reach(),
            won_lost: viewer.permissions().won_lost,
            page_base: viewer.directory().settings.page_base(),
        }
    }

    /// Number of entries before a page. With base 1, page 0 also means the first (C-40).
    pub fn skipped(&self, page: Option<u64>, limit: u16) -> u64 {
        let pages = page.map_or(0, |page| page.saturating_sub(self.page_base));
        pages.saturating_mul(u64::from(limit))
    }
}

/// The hints of a process, of all instances.
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
    /// Tickets as they were last seen.
    pub tickets: Cache<(InstanceName, TicketId), TicketHint>,
    /// The form of a name and a token's hash.
    pub forms: Cache<(InstanceName, String), Form>,
    /// The opportunities of a lead, and their users.
    pub lead_opportunities: Cache<(InstanceName, LeadId), LeadOpportunitiesHint>,
    /// The departments whose members a caller's permissions rest on.
    pub departments: Cache<String, BTreeSet<DepartmentId>>,
    /// The owners of leads that access lists may hide from a caller.
    pub restricted_leads: Cache<String, BTreeSet<Option<UserId>>>,
    /// Boards with more totals than are worth reading whole: instance, funnel, whether archived.
    pub large_boards: Cache<(InstanceName, FunnelId, bool), ()>,
    /// The items in which an instance's answers found users' names.
    pub names: Cache<InstanceName, BTreeSet<Key>>,
    /// The counters at which this process met a conflict, and until when it reserves ids.
    pub contended: Cache<Key, Timestamp>,
    /// The ids that this process reserved together.
    pub reserved: Cache<Key, ReservedBlock>,
    /// Callers that were accepted.
    accepted: Cache<String, Accepted>,
}

/// Values that are remembered by key, at most [`MAX_ENTRIES`].
#[derive(Debug)]
pub struct Cache<K, V>(Mutex<HashMap<K, V>>);

impl<K, V> Default for Cache<K, V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Eq + Hash, V: Clone> Cache<K, V> {
    /// The remembered value.
    pub fn get<Q: Eq + Hash + ?Sized>(&self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        self.entries().get(key).cloned()
    }

    /// Remembers a value.
    pub fn put(&self, key: K, value: V) {
        let mut entries = self.entries();
        if entries.len() >= MAX_ENTRIES && !entries.contains_key(&key) {
            entries.clear();
        }
        entries.insert(key, value);
    }

    /// Changes a remembered value.
    pub fn change<R>(&self, key: &K, change: impl FnOnce(&mut V) -> R) -> Option<R> {
        self.entries().get_mut(key).map(change)
    }

    /// Remembers a value, or forgets what was remembered.
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

/// A caller that was accepted.
#[derive(Debug, Clone)]
pub struct Accepted {
    until: Timestamp,
    /// The budget that its requests count against, and its limit.
    pub budget: Option<(String, Rate)>,
}

impl HintCache {
    /// The expected permissions and settings of a caller.
    pub fn of(&self, walker: &str) -> PrefetchHint {
        self.callers.get(walker).unwrap_or_default()
    }

    /// Remembers what a caller is.
    pub fn learn(&self, walker: &str, hint: PrefetchHint) {
        self.callers.put(walker.to_owned(), hint);
    }

    /// Whether a caller is expected to be what it was, and not what new callers are.
    pub fn has_met(&self, walker: &str) -> bool {
        self.callers.get(walker).is_some()
    }

    /// A caller, if it was accepted lately.
    pub fn accepted(&self, caller: &str, now: Timestamp) -> Option<Accepted> {
        let accepted = self.accepted.get(caller);
        accepted.filter(|accepted| now < accepted.until)
    }

    /// Remembers that a caller was accepted.
    pub fn accept(&self, caller: &str, now: Timestamp, budget: Option<(String, Rate)>) {
        let until = now.plus_seconds(KNOWN_SECONDS);
        self.accepted.put(caller.to_owned(), Accepted { until, budget });
    }

    /// Forgets a caller that was refused.
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
        hints.learn("a", nothing.clone());
        assert_eq!(
            (hints.of("a"), hints.of("b")),
            (nothing.clone(), PrefetchHint::default())
        );
        hints.learn("a", PrefetchHint::default());
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
