//! What callers turned out to be when they last asked: how far they see, how they count pages, and where their walks
//! through lists stand; which calendars there are; and whose a ticket is. And who was let in lately.
//!
//! A guess decides only what is read beside the credential. Every answer rests on the permissions and settings that are
//! read with it, so an outdated guess costs a round trip and nothing else.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::bookmarks::PageCursor;
use crate::calendar::{Calendar, LinkName};
use crate::credential::CredentialHash;
use crate::directory::{Coverage, Viewer};
use crate::id::{CalendarId, DepartmentId, LeadId, TicketId};
use crate::instance::InstanceName;
use crate::settings::Rate;
use crate::store::key::Key;
use crate::time::Timestamp;

/// For so many seconds a caller that was let in is known.
const KNOWN_SECONDS: u32 = 300;
/// Callers, and walks, that are remembered; with more, all are forgotten.
const MOST: usize = 1000;

/// What a caller is taken for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guess {
    /// Whose leads the caller sees.
    pub leads: Coverage,
    /// Whose opportunities the caller sees.
    pub opportunities: Coverage,
    /// Whether it sees the won and lost ones among them.
    pub won_lost: bool,
    /// The number of the first page.
    pub page_base: u64,
}

impl Default for Guess {
    /// Whoever asks for the first time sees every lead and counts pages from 1.
    fn default() -> Self {
        Self {
            leads: Coverage::All,
            opportunities: Coverage::All,
            won_lost: true,
            page_base: 1,
        }
    }
}

impl Guess {
    /// What the caller is, now that it is known.
    pub fn truth(viewer: &Viewer) -> Self {
        Self {
            leads: viewer.lead_reach(),
            opportunities: viewer.opportunity_reach(),
            won_lost: viewer.permissions().won_lost,
            page_base: viewer.directory().settings.page_base(),
        }
    }

    /// How many entries come before a page. With base 1, page 0 also means the first (C-40).
    pub fn skipped(&self, page: Option<u64>, limit: u16) -> u64 {
        let pages = page.map_or(0, |page| page.saturating_sub(self.page_base));
        pages.saturating_mul(u64::from(limit))
    }
}

/// The guesses of a process.
#[derive(Debug, Clone, Default)]
pub struct Guesses(Arc<Mutex<Memory>>);

#[derive(Debug, Default)]
struct Memory {
    callers: HashMap<String, Guess>,
    /// Where a page of a walk begins.
    walks: HashMap<String, PageCursor>,
    /// The instance of a credential.
    instances: HashMap<String, InstanceName>,
    /// The calendars of an instance.
    calendars: HashMap<String, Vec<CalendarId>>,
    /// The calendar that a public link names.
    links: HashMap<String, Calendar>,
    /// The lead of a ticket.
    ticket_leads: HashMap<String, LeadId>,
    /// Who was let in.
    accepted: HashMap<String, Accepted>,
    /// The departments whose members a caller's permissions rest on.
    departments: HashMap<String, BTreeSet<DepartmentId>>,
    /// The items in which an instance's answers found users' names.
    names: HashMap<String, BTreeSet<Key>>,
}

/// A caller that was let in.
#[derive(Debug, Clone)]
pub struct Accepted {
    until: Timestamp,
    /// The budget that its requests count against, and its limit.
    pub budget: Option<(String, Rate)>,
}

impl Guesses {
    /// What a caller is taken for.
    pub fn of(&self, walker: &str) -> Guess {
        self.memory().callers.get(walker).cloned().unwrap_or_default()
    }

    /// Remembers what a caller is.
    pub fn learn(&self, walker: &str, guess: Guess) {
        let callers = &mut self.memory().callers;
        if guess == Guess::default() {
            callers.remove(walker);
        } else {
            remember(callers, walker, guess);
        }
    }

    /// Where a page of a walk is likely to begin.
    pub fn begin(&self, page: &str) -> Option<PageCursor> {
        self.memory().walks.get(page).cloned()
    }

    /// Remembers where a page of a walk begins, or that nothing is known of it.
    pub fn learn_begin(&self, page: &str, cursor: Option<PageCursor>) {
        let walks = &mut self.memory().walks;
        match cursor {
            Some(cursor) => remember(walks, page, cursor),
            None => drop(walks.remove(page)),
        }
    }

    /// The instance that a credential belongs to.
    pub fn instance(&self, hash: &CredentialHash) -> Option<InstanceName> {
        self.memory().instances.get(hash.as_str()).cloned()
    }

    /// Remembers which instance a credential belongs to.
    pub fn learn_instance(&self, hash: &CredentialHash, instance: InstanceName) {
        remember(&mut self.memory().instances, hash.as_str(), instance);
    }

    /// The calendars that an instance is likely to have.
    pub fn calendars(&self, instance: &InstanceName) -> Vec<CalendarId> {
        let memory = self.memory();
        memory
            .calendars
            .get(instance.as_str())
            .cloned()
            .unwrap_or_default()
    }

    /// Remembers which calendars an instance has.
    pub fn learn_calendars(&self, instance: &InstanceName, calendars: Vec<CalendarId>) {
        remember(&mut self.memory().calendars, instance.as_str(), calendars);
    }

    /// The calendar that a link is likely to name.
    pub fn link(&self, instance: &InstanceName, link: &LinkName) -> Option<Calendar> {
        self.memory().links.get(&format!("{instance} {link}")).cloned()
    }

    /// Remembers which calendar a link names.
    pub fn learn_link(&self, instance: &InstanceName, calendar: &Calendar) {
        let link = format!("{instance} {}", calendar.key_name);
        remember(&mut self.memory().links, &link, calendar.clone());
    }

    /// The lead that a ticket is likely to have.
    pub fn ticket_lead(&self, instance: &InstanceName, ticket: TicketId) -> Option<LeadId> {
        let memory = self.memory();
        memory.ticket_leads.get(&format!("{instance} {ticket}")).copied()
    }

    /// Remembers which lead a ticket has.
    pub fn learn_ticket_lead(&self, instance: &InstanceName, ticket: TicketId, lead: LeadId) {
        let name = format!("{instance} {ticket}");
        remember(&mut self.memory().ticket_leads, &name, lead);
    }

    /// The departments whose members a caller's permissions are likely to rest on.
    pub fn departments(&self, caller: &str) -> BTreeSet<DepartmentId> {
        self.memory().departments.get(caller).cloned().unwrap_or_default()
    }

    /// Remembers the departments whose members a caller's permissions rest on.
    pub fn learn_departments(&self, caller: &str, departments: BTreeSet<DepartmentId>) {
        let known = &mut self.memory().departments;
        if departments.is_empty() {
            known.remove(caller);
        } else {
            remember(known, caller, departments);
        }
    }

    /// The items in which an answer of an instance is likely to find users' names.
    pub fn names(&self, instance: &InstanceName) -> Option<BTreeSet<Key>> {
        self.memory().names.get(instance.as_str()).cloned()
    }

    /// Remembers in which items an answer of an instance found users' names.
    pub fn learn_names(&self, instance: &InstanceName, items: BTreeSet<Key>) {
        remember(&mut self.memory().names, instance.as_str(), items);
    }

    /// A caller, if it was let in lately.
    pub fn accepted(&self, caller: &str, now: Timestamp) -> Option<Accepted> {
        let memory = self.memory();
        let accepted = memory.accepted.get(caller);
        accepted.filter(|accepted| now < accepted.until).cloned()
    }

    /// Remembers that a caller was let in.
    pub fn accept(&self, caller: &str, now: Timestamp, budget: Option<(String, Rate)>) {
        let until = now.plus_seconds(KNOWN_SECONDS);
        remember(&mut self.memory().accepted, caller, Accepted { until, budget });
    }

    /// Forgets a caller that was refused.
    pub fn refuse(&self, caller: &str) {
        self.memory().accepted.remove(caller);
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn remember<T>(known: &mut HashMap<String, T>, name: &str, value: T) {
    if known.len() >= MOST && !known.contains_key(name) {
        known.clear();
    }
    known.insert(name.to_owned(), value);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_learned_is_guessed_and_memory_is_bounded() {
        let guesses = Guesses::default();
        let nothing = Guess {
            leads: Coverage::Nothing,
            page_base: 0,
            ..Guess::default()
        };
        guesses.learn("a", nothing.clone());
        assert_eq!(
            (guesses.of("a"), guesses.of("b")),
            (nothing.clone(), Guess::default())
        );
        guesses.learn("a", Guess::default());
        assert_eq!(guesses.of("a"), Guess::default());
        let x = PageCursor::after(Some("x".to_owned()));
        let (acme, lead) = (InstanceName::parse("acme").unwrap(), LeadId::new(1).unwrap());
        for walker in 0..5 * MOST {
            guesses.learn(&walker.to_string(), nothing.clone());
            guesses.learn_begin(&walker.to_string(), Some(x.clone()));
            let ticket = TicketId::new(1 + walker as u64).unwrap();
            guesses.learn_ticket_lead(&acme, ticket, lead);
        }
        let last = (5 * MOST - 1).to_string();
        assert_eq!((guesses.of(&last), guesses.begin(&last)), (nothing, Some(x)));
        let last = TicketId::new(5 * MOST as u64).unwrap();
        assert_eq!(guesses.ticket_lead(&acme, last), Some(lead));
        let memory = guesses.memory();
        assert!(memory.callers.len() <= MOST && memory.walks.len() <= MOST);
        assert!(memory.ticket_leads.len() <= MOST);
    }

    /// C-40.
    #[test]
    fn pages_are_counted_from_the_base() {
        let from = |page_base| Guess {
            page_base,
            ..Guess::default()
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
