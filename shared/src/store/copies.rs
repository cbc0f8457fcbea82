//! Bringing copies of changed leads up to date, and erasing what is left of deleted ones: what [notices](super::notices)
//! ask for.
//!
//! A notice is taken down on condition that it was not raised again: a crash at any moment leaves the notice, and so
//! nothing wrong. A write of a copy checks in the same transaction that the lead is at the version copied, and so does the
//! write that takes the notice down: of two that refresh at one time, the slower brings nothing older back.
//!
//! Readers read notices and copies at one time and not one after the other. So a notice stays up for longer than any
//! request takes once the copies are written: a reader that finds none reads no copy from before that.
//!
//! Leads are done side by side, and each instance has a share of the time (C-87). A notice that cannot be read is renewed,
//! since its key says all that it means. A lead of which something cannot be read keeps its notice, for the readers, with
//! the version at which it is stuck: it is tried again when it is raised again, or put back by `funil doctor --repair`.

use futures_util::stream::{self, StreamExt as _};
use tokio::sync::Semaphore;

use super::background::{INSTANCES, Tally, log_failure};
use super::error::StoreError;
use super::item::{self, Item, n, s};
use super::key::{self, Key};
use super::leads::LeadRecord;
use super::notices::{DELETED, RAISED, raised};
use super::opportunities::{self, Card, OpportunityRecord};
use super::quarantine::{UNREADABLE, Unreadable, as_read};
use super::table::{PAGE, Page, Span, key_of};
use super::transaction::{CommitError, Condition, Transaction};
use super::{Reader, Store, meter};
use crate::id::{LeadId, OpportunityId};
use crate::time::Timestamp;

/// For how many seconds a notice outlasts the writing of the copies: longer than any request takes.
const GRACE: u32 = 60;
/// Leads that are done side by side, of all instances together.
const LEADS: usize = 32;
/// Leads of one instance that are done side by side.
const LEADS_OF_ONE: usize = 16;
/// For how many seconds a round begins new leads of one instance.
const SHARE: u32 = 60;
/// So many leads may fail before a round of an instance is given up: then it is the table, and not a lead, that fails.
const MAX_FAILURES: usize = 64;
/// How often an opportunity is written anew because others changed it meanwhile.
const ATTEMPTS: u32 = 8;

/// The version of the notice whose copies are written, and when they were, in Unix seconds.
const WRITTEN: &str = "written";
const SINCE: &str = "since";
/// The version of the notice at which something of the lead could not be read.
pub const STUCK: &str = "stuck";

/// A notice as it was read.
#[derive(Debug, Clone)]
struct Notice {
    key: Key,
    lead: LeadId,
    version: u64,
    written: u64,
    since: u64,
    stuck: u64,
    deleted: bool,
}

impl Notice {
    fn read(item: &Item) -> Result<Self, StoreError> {
        let key = key_of(item)?;
        let number = |name| item::number("notice", item, name);
        let lead = key::noticed(&key).ok_or_else(|| item::corrupt("notice", "it names no lead"))?;
        let version = number("v")?;
        if version == 0 {
            return Err(item::corrupt("notice", "it has no version"));
        }
        Ok(Self {
            lead,
            version,
            written: number(WRITTEN)?,
            since: number(SINCE)?,
            stuck: number(STUCK)?,
            deleted: item.contains_key(DELETED),
            key,
        })
    }

    /// That it was not raised again.
    fn unraised(&self) -> Condition {
        let (name, value) = ("v", self.version);
        Condition::Number { name, value }
    }
}

/// Whether a notice can be read, so that the copies of its lead are brought up to date.
pub fn is_readable(item: &Item) -> bool {
    Notice::read(item).is_ok()
}

/// What kind of item could not be read, where the lead of a notice is stuck.
pub fn stuck(item: &Item) -> Option<&str> {
    let notice = Notice::read(item).ok()?;
    let kind = item.get(UNREADABLE).and_then(|kind| kind.as_s().ok());
    let is_stuck = notice.stuck > 0 && notice.stuck == notice.version;
    is_stuck.then(|| kind.map_or("lead", String::as_str))
}

/// What has a stuck lead tried again.
pub fn unstick(item: &Item) -> Result<Transaction, StoreError> {
    let notice = Notice::read(item)?;
    let mut transaction = Transaction::default();
    let free = Item::from([(STUCK.to_owned(), n(0))]);
    transaction.update(notice.key.clone(), "v", 0, free, notice.unraised());
    Ok(transaction)
}

/// Notes for how long the oldest deleted lead of some notices has been deleted. A notice of the former version does not say.
fn note_age(notices: &[Item], now: Timestamp) {
    let deleted = notices.iter().filter(|notice| notice.contains_key(DELETED));
    let raised = deleted.filter_map(|notice| item::number("notice", notice, RAISED).ok());
    let Some(oldest) = raised.filter(|raised| *raised > 0).min() else {
        return;
    };
    let now = u64::try_from(now.unix_seconds()).unwrap_or_default();
    let age = now.saturating_sub(oldest);
    meter::note(|deeds| deeds.oldest_erasure_seconds = deeds.oldest_erasure_seconds.max(age));
}

/// When and with which others a round is done.
struct Round<'a> {
    /// For how many seconds notices outlast their copies.
    grace: u32,
    /// When no new leads are begun any more.
    until: Option<Timestamp>,
    /// The leads that may be done side by side.
    permits: &'a Semaphore,
}

impl Store {
    /// Brings the copies of all instances up to date. Returns the copies of how many leads were written.
    ///
    /// # Errors
    /// [`StoreError`] where the table fails; what is not done is done the next time.
    pub async fn refresh_copies(&self) -> Result<u64, StoreError> {
        let permits = Semaphore::new(LEADS);
        let instances = self.instances_in_turn().await?.into_iter();
        let rounds = instances.map(async |name| {
            let round = Round {
                grace: GRACE,
                until: Some(self.table.ambient.now().plus_seconds(SHARE)),
                permits: &permits,
            };
            let outcome = self.reader(name.clone()).refresh_round(&round).await;
            outcome.inspect_err(|error| log_failure(&name, "copies", error))
        });
        let mut rounds = stream::iter(rounds).buffer_unordered(INSTANCES);
        let mut tally = Tally::default();
        while let Some(outcome) = rounds.next().await {
            tally.note(outcome);
        }
        tally.result()
    }
}

impl Reader {
    /// Writes the copies of every lead that has a notice, and takes down the notices whose copies were written `grace`
    /// seconds ago or before. Returns the copies of how many leads were written.
    pub(super) async fn refresh_copies(&self, grace: u32) -> Result<u64, StoreError> {
        let permits = Semaphore::new(LEADS_OF_ONE);
        let (until, permits) = (None, &permits);
        let round = Round {
            grace,
            until,
            permits,
        };
        self.refresh_round(&round).await
    }

    async fn refresh_round(&self, round: &Round<'_>) -> Result<u64, StoreError> {
        let mut tally = Tally::default();
        let mut span = Span::head(self.keys().notices(), PAGE);
        loop {
            let Page { mut items, more } = self.table.query(span.clone()).await?;
            span.after = items.last().map(key_of).transpose()?.map(|key| key.sk);
            note_age(&items, self.table.ambient.now());
            // Where time does not suffice for all, it is not always the same ones that are left.
            let first = self.table.ambient.below(items.len() as u64);
            items.rotate_left(usize::try_from(first).unwrap_or(0));
            let leads = items.into_iter().map(|item| self.heed_in_time(item, round));
            let mut leads = stream::iter(leads).buffer_unordered(LEADS_OF_ONE);
            let mut failures = 0;
            while let Some(outcome) = leads.next().await {
                failures += usize::from(outcome.is_err());
                tally.note(outcome);
                if failures == MAX_FAILURES {
                    return tally.result();
                }
            }
            if !more || self.is_over(round) {
                return tally.result();
            }
        }
    }

    fn is_over(&self, round: &Round<'_>) -> bool {
        round.until.is_some_and(|until| self.table.ambient.now() >= until)
    }

    async fn heed_in_time(&self, item: Item, round: &Round<'_>) -> Result<u64, StoreError> {
        let _permit = round.permits.acquire().await;
        if self.is_over(round) {
            return Ok(0);
        }
        self.heed(&item, round.grace).await
    }

    /// Does what a notice asks for. Returns 1 where copies were written.
    async fn heed(&self, item: &Item, grace: u32) -> Result<u64, StoreError> {
        let key = key_of(item)?;
        let notice = match Notice::read(item) {
            Ok(notice) => notice,
            Err(error) if key::noticed(&key).is_none() => {
                return self.or_set_aside(&key, Err(error)).await;
            }
            Err(_) => match self.renewed(&key, item).await? {
                Some(renewed) => renewed,
                None => return Ok(0),
            },
        };
        meter::note(|deeds| deeds.erasures += u64::from(notice.deleted));
        if notice.stuck > 0 && notice.stuck == notice.version {
            return Ok(0);
        }
        // Whatever still shows a deleted lead must have come to its end.
        let grace = if notice.deleted { GRACE } else { grace };
        let is_written = notice.version == notice.written;
        let transaction = if is_written {
            self.take_down(&notice, grace)
        } else {
            meter::note(|deeds| deeds.copies += 1);
            match self.refresh_noticed(&notice, grace).await {
                Err(StoreError::Corrupt { key: kind, .. }) => self.stick(&notice, kind),
                outcome => outcome?,
            }
        };
        match self.table.commit(transaction).await {
            // Raised again meanwhile, or seen to by others: the next round sees to what is left.
            Ok(()) | Err(CommitError::Refused(_)) => Ok(u64::from(!is_written)),
            Err(CommitError::Store(error)) => Err(error),
        }
    }

    /// Puts a new notice in the place of one that cannot be read; `None` where another process did.
    async fn renewed(&self, key: &Key, item: &Item) -> Result<Option<Notice>, StoreError> {
        let Some(lead) = key::noticed(key) else {
            return Ok(None);
        };
        self.log_unreadable(key, "notice", "a notice is renewed");
        let mark = self.table.get(&self.keys().erasure(lead)).await?;
        let mut fresh = raised(self.table.ambient.now());
        fresh.insert("v".to_owned(), n(1));
        if mark.is_some() || item.contains_key(DELETED) {
            fresh.insert(DELETED.to_owned(), n(1));
        }
        let mut transaction = Transaction::default();
        transaction.put(key.clone(), fresh.clone(), as_read(item));
        match self.table.commit(transaction).await {
            Ok(()) => Notice::read(&item::keyed(fresh, key)).map(Some),
            Err(CommitError::Refused(_)) => Ok(None),
            Err(CommitError::Store(error)) => Err(error),
        }
    }

    /// Says in a notice that something of its lead cannot be read. It still holds for the readers.
    fn stick(&self, notice: &Notice, kind: &'static str) -> Transaction {
        self.log_unreadable(&notice.key, kind, "a lead is set aside");
        let mut transaction = Transaction::default();
        let stuck = Item::from([
            (STUCK.to_owned(), n(notice.version)),
            (UNREADABLE.to_owned(), s(kind)),
        ]);
        transaction.update(notice.key.clone(), "v", 0, stuck, notice.unraised());
        transaction
    }

    /// Writes the copies that a notice tells of. Gives what says so in the notice, or takes it down at once. The lead is
    /// checked beside it, because a notice that was taken down and raised again looks the same.
    async fn refresh_noticed(&self, notice: &Notice, grace: u32) -> Result<Transaction, StoreError> {
        let lead = notice.lead;
        // Read behind the notice, so that it is no older than what the notice tells of.
        let record = self.lead_record(lead).await?;
        let copied = self.refresh_copies_of(lead, record.as_ref()).await;
        if record.is_none() && matches!(copied, Ok(()) | Err(StoreError::Corrupt { .. })) {
            self.erase(lead).await?;
        }
        copied?;
        let mut transaction = Transaction::default();
        transaction.check(self.keys().lead(lead), unchanged(record.as_ref()));
        if grace == 0 {
            self.end(&mut transaction, notice, notice.unraised());
        } else {
            let since = self.table.ambient.now().unix_seconds();
            let written = Item::from([
                (WRITTEN.to_owned(), n(notice.version)),
                (SINCE.to_owned(), n(since)),
            ]);
            transaction.update(notice.key.clone(), "v", 0, written, notice.unraised());
        }
        Ok(transaction)
    }

    /// What takes down a notice whose copies are written, if that is long enough ago.
    fn take_down(&self, notice: &Notice, grace: u32) -> Transaction {
        let mut transaction = Transaction::default();
        let over = notice.since.saturating_add(u64::from(grace));
        let now = u64::try_from(self.table.ambient.now().unix_seconds()).unwrap_or(0);
        if now >= over {
            let has = [
                ("v", notice.version),
                (WRITTEN, notice.written),
                (SINCE, notice.since),
            ];
            let has = has.map(|(name, value)| (name.to_owned(), n(value)));
            let unraised = Condition::Exactly {
                has: Item::from(has),
                lacks: Vec::new(),
            };
            self.end(&mut transaction, notice, unraised);
        }
        transaction
    }

    /// Takes a notice down, and with that of a deleted lead the mark that something may be left of it.
    fn end(&self, transaction: &mut Transaction, notice: &Notice, unraised: Condition) {
        if notice.deleted {
            transaction.delete(self.keys().erasure(notice.lead), Condition::Always);
        }
        transaction.delete(notice.key.clone(), unraised);
    }

    /// Writes the copies of a lead. One that cannot be read fails at the end, when the others are written.
    async fn refresh_copies_of(&self, lead: LeadId, record: Option<&LeadRecord>) -> Result<(), StoreError> {
        let mut unreadable = Unreadable::default();
        let mut span = Span::head(self.keys().lead_opportunities(lead), 100);
        loop {
            let Page { items, more } = self.table.query(span.clone()).await?;
            let keys = items.iter().map(key_of).collect::<Result<Vec<_>, _>>()?;
            let ids = keys
                .iter()
                .filter_map(|key| OpportunityId::new(key.sk.parse().ok()?));
            let ids: Vec<_> = ids.collect();
            let found = self
                .table
                .get_many(ids.iter().map(|id| self.keys().opportunity(*id)))
                .await?;
            for (key, item) in &found {
                let outcome = match opportunities::decode(item) {
                    Ok(stored) => self.refresh_copy(stored, lead, record).await,
                    Err(error) => Err(error),
                };
                unreadable.note(self, key, outcome)?;
            }
            if !more {
                return unreadable.result();
            }
            span.after = keys.last().map(|key| key.sk.clone());
        }
    }

    /// Writes one opportunity with the lead as it is, unless it has it already.
    async fn refresh_copy(
        &self,
        mut stored: OpportunityRecord,
        lead: LeadId,
        record: Option<&LeadRecord>,
    ) -> Result<(), StoreError> {
        for attempt in 0..ATTEMPTS {
            let opportunity = stored.card.opportunity.clone();
            let fresh = Card::of(opportunity, record);
            if stored.card.opportunity.lead_id != Some(lead) || fresh == stored.card {
                return Ok(());
            }
            let key = self.keys().opportunity(fresh.opportunity.id);
            let mut transaction = self.replace_card(&stored, fresh, stored.edited)?;
            transaction.check(self.keys().lead(lead), unchanged(record));
            match self.table.commit(transaction).await {
                Ok(()) => return Ok(()),
                Err(CommitError::Refused(items)) => {
                    // Where the lead changed, its notice is not taken down, and the next round sees to it.
                    let item = items.get(&key).filter(|item| !item.is_empty());
                    let Some(item) = item else { return Ok(()) };
                    stored = opportunities::decode(item)?;
                    self.table.pause(attempt).await;
                }
                Err(CommitError::Store(error)) => return Err(error),
            }
        }
        Err(StoreError::Contention("refreshing a copy"))
    }
}

/// That a lead is still as it was read.
fn unchanged(lead: Option<&LeadRecord>) -> Condition {
    lead.map_or(Condition::Absent, |lead| Condition::Version(lead.version))
}
