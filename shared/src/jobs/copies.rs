//! Refreshes copies of changed leads and erases remains of deleted ones, as requested by [stale
//! markers](crate::store::leads::stale_markers).
//!
//! A marker is deleted on condition that it was not set again, so a crash at any moment leaves the marker and
//! no stale copy unmarked. Every write of a copy, and the deletion of the marker, check the copied version of
//! the lead in the same transaction, so of two concurrent refreshes the slower one never restores older data.
//!
//! Readers read markers and copies concurrently. Therefore a marker outlives the refresh by more than the
//! duration of any request: a reader that finds no marker reads no stale copy.
//!
//! Leads are processed in parallel, and each instance has a share of the time (C-87). An unreadable marker is
//! rewritten, since its key has all information. If a record of a lead is unreadable, or too large with its new copy,
//! the marker remains for the readers and records the version at which it is stuck. The refresh is retried after the
//! marker is set again, or reset by `funil doctor --repair`.

mod marker;
mod opportunities;

use futures_util::stream::{self, StreamExt as _};
use tokio::sync::Semaphore;

use crate::jobs::counters;
use crate::jobs::instances::{INSTANCES, JobOutcome, log_failure};
use crate::store::key::{self, Key};
use crate::store::leads::LeadRecord;
use crate::store::leads::stale_markers::{DELETED, SET, marked_at};
use crate::store::quarantine::{UNREADABLE, as_read};
use crate::store::{Store, Writer};
use crate::time::Timestamp;
use table::item::{Item, n, s};
use table::{Condition, StoreError, Transaction};
use table::{KeyRange, Pages, key_of};

use marker::{SINCE, STUCK, StaleMarker, WRITTEN, note_age};

pub use marker::{is_readable, is_written, stuck, unstick};

/// Seconds that a marker outlives the refresh: longer than any request.
pub const GRACE: u32 = 60;
/// Maximum concurrent leads of all instances.
const MAX_LEADS: usize = 64;
/// Maximum concurrent leads of one instance.
const MAX_LEADS_PER_INSTANCE: usize = 32;
/// Seconds in which a round begins new leads of one instance.
const INSTANCE_SECONDS: u32 = 60;
/// Failed leads after which a round of an instance is aborted, because so many failures indicate a failing table.
const MAX_FAILURES: usize = 64;

/// Parameters of a round.
struct Round<'a> {
    /// Seconds that markers outlive the refresh.
    grace: u32,
    /// Time after which no new leads are begun.
    until: Option<Timestamp>,
    /// Limits concurrent leads.
    permits: &'a Semaphore,
}

impl Store {
    /// Refreshes the copies of all instances. Returns the number of leads.
    ///
    /// # Errors
    /// [`StoreError`] if the table fails. The next round continues.
    pub async fn refresh_copies(&self) -> Result<u64, StoreError> {
        let permits = Semaphore::new(MAX_LEADS);
        let instances = self.instances_in_turn().await?.into_iter();
        let rounds = instances.map(async |name| {
            let round = Round {
                grace: GRACE,
                until: Some(self.environment.now().plus_seconds(INSTANCE_SECONDS)),
                permits: &permits,
            };
            let outcome = Writer::of_job(self, name.clone()).refresh_round(&round).await;
            outcome.inspect_err(|error| log_failure(&name, "copies", error))
        });
        let mut rounds = stream::iter(rounds).buffer_unordered(INSTANCES);
        let mut outcomes = JobOutcome::default();
        while let Some(outcome) = rounds.next().await {
            outcomes.note(outcome);
        }
        outcomes.result()
    }
}

impl Writer {
    /// Refreshes the copies of every marked lead, and deletes markers whose copies were written at least
    /// `grace` seconds ago. Returns the number of leads.
    ///
    /// # Errors
    /// [`StoreError`] if the table fails.
    pub async fn refresh_copies(&self, grace: u32) -> Result<u64, StoreError> {
        let permits = Semaphore::new(MAX_LEADS_PER_INSTANCE);
        let (until, permits) = (None, &permits);
        let round = Round {
            grace,
            until,
            permits,
        };
        self.refresh_round(&round).await
    }

    /// Processes the markers page by page until the round is over or too many failed. Returns the number of leads whose
    /// copies were written.
    async fn refresh_round(&self, round: &Round<'_>) -> Result<u64, StoreError> {
        let mut outcomes = JobOutcome::default();
        let mut pages = Pages::of(KeyRange::whole(self.keys().stale_markers()));
        while let Some(mut items) = pages.next(&self.reader().table).await? {
            note_age(&items, self.reader().environment.now());
            self.shuffle(&mut items);
            let leads = items.into_iter().map(|item| self.process_in_time(item, round));
            let mut leads = stream::iter(leads).buffer_unordered(MAX_LEADS_PER_INSTANCE);
            let mut failures = 0;
            while let Some(outcome) = leads.next().await {
                failures += usize::from(outcome.is_err());
                outcomes.note(outcome);
                if failures == MAX_FAILURES {
                    return outcomes.result();
                }
            }
            if self.is_over(round) {
                break;
            }
        }
        outcomes.result()
    }

    /// Shuffles markers, so that short rounds do not always omit the same leads, and writes are spread over the
    /// partitions of leads, opportunities and lists.
    fn shuffle(&self, items: &mut [Item]) {
        for last in (1..items.len()).rev() {
            let other = self.reader().environment.below(last as u64 + 1);
            items.swap(last, usize::try_from(other).unwrap_or(last));
        }
    }

    /// Whether the round begins no more leads.
    fn is_over(&self, round: &Round<'_>) -> bool {
        round
            .until
            .is_some_and(|until| self.reader().environment.now() >= until)
    }

    /// Waits for a permit, and processes a marker unless the round is over.
    async fn process_in_time(&self, item: Item, round: &Round<'_>) -> Result<u64, StoreError> {
        let _permit = round.permits.acquire().await;
        if self.is_over(round) {
            return Ok(0);
        }
        Box::pin(self.process(&item, round.grace)).await
    }

    /// Processes a marker: writes the copies of its lead, or deletes the marker some time after they are written.
    /// Returns 1 if copies were written.
    async fn process(&self, item: &Item, grace: u32) -> Result<u64, StoreError> {
        let key = key_of(item)?;
        let marker = match StaleMarker::read(item) {
            Ok(marker) => marker,
            // Without a lead in its key, it cannot be rewritten.
            Err(error) if key::stale_marker_lead(&key).is_none() => {
                return self.or_quarantine(&key, Err(error)).await;
            }
            Err(_) => match self.rewrite_marker(&key, item).await? {
                Some(rewritten) => rewritten,
                None => return Ok(0),
            },
        };
        counters::count(|counters| counters.erasures += u64::from(marker.deleted));
        if marker.is_stuck() {
            return Ok(0);
        }
        // Requests that may still show a deleted lead must have ended.
        let grace = if marker.deleted { GRACE } else { grace };
        let is_written = marker.version == marker.written;
        let transaction = if is_written {
            self.deletion_if_due(&marker, grace)
        } else {
            counters::count(|counters| counters.copies += 1);
            match self.refresh_marked(&marker, grace).await {
                // A repetition would fail in the same way.
                Err(error) => match error.lasting() {
                    Some(kind) => self.record_stuck(&marker, kind),
                    None => return Err(error),
                },
                Ok(transaction) => transaction,
            }
        };
        // If the commit is refused, the marker was set again or handled concurrently. The next round does the rest.
        self.table.try_commit(transaction).await?;
        Ok(u64::from(!is_written))
    }

    /// Replaces an unreadable marker by one of the lead in its key, which causes a refresh. `None` if the key names no
    /// lead or another process changed the marker.
    async fn rewrite_marker(&self, key: &Key, item: &Item) -> Result<Option<StaleMarker>, StoreError> {
        let Some(lead) = key::stale_marker_lead(key) else {
            return Ok(None);
        };
        self.reader()
            .log_unreadable(key, "notice", "an unreadable stale marker is rewritten");
        let tombstone = self.reader().table.get(&self.keys().tombstone(lead)).await?;
        let mut new = marked_at(self.reader().environment.now());
        new.insert("v".to_owned(), n(1));
        if tombstone.is_some() || item.contains_key(DELETED) {
            new.insert(DELETED.to_owned(), n(1));
        }
        let mut transaction = Transaction::default();
        transaction.put(key.clone(), new.clone(), as_read(item));
        if !self.table.try_commit(transaction).await? {
            return Ok(None);
        }
        StaleMarker::read(&key.complete(new)).map(Some)
    }

    /// The write that records in a marker that a record of its lead is unreadable. The marker remains valid for
    /// readers.
    fn record_stuck(&self, marker: &StaleMarker, kind: &'static str) -> Transaction {
        self.reader()
            .log_unreadable(&marker.key, kind, "a lead is set aside");
        let mut transaction = Transaction::default();
        let stuck = Item::from([
            (STUCK.to_owned(), n(marker.version)),
            (UNREADABLE.to_owned(), s(kind)),
        ]);
        transaction.update(marker.key.clone(), "v", 0, stuck, marker.if_unchanged());
        transaction
    }

    /// Writes the copies of a marked lead, and erases a deleted one. Returns the write that records this in the marker
    /// or, with a `grace` of 0, deletes it. It checks the lead's version too, because a marker that was deleted and set
    /// again looks the same. If a record is unreadable, the others are written and erased before the error is returned.
    async fn refresh_marked(&self, marker: &StaleMarker, grace: u32) -> Result<Transaction, StoreError> {
        let lead = marker.lead;
        if let Some(transaction) = self.without_copies(marker, grace).await? {
            return Ok(transaction);
        }
        // Read after the marker, so it is at least as new as the change that set it.
        let record = self.reader().lead_record(lead).await?;
        let copied = self.refresh_copies_of(lead, record.as_ref()).await;
        let can_erase = match &copied {
            Ok(()) => true,
            Err(error) => error.lasting().is_some(),
        };
        if record.is_none() && can_erase {
            self.erase(lead).await?;
        }
        copied?;
        let mut transaction = Transaction::default();
        transaction.check(self.keys().lead(lead), unchanged(record.as_ref()));
        if grace == 0 {
            self.delete_marker(&mut transaction, marker, marker.if_unchanged());
        } else {
            self.note_written(&mut transaction, marker, marker.if_unchanged());
        }
        Ok(transaction)
    }

    /// Like [`refresh_marked`](Self::refresh_marked), for a lead without opportunities. Reads neither its record,
    /// which may be large, nor its version. Returns `None` if the lead has opportunities or was deleted, or if the
    /// marker may have been deleted and set again. One query.
    ///
    /// Later opportunities are copies of the lead as it is then, or of a change that sets the marker again.
    async fn without_copies(
        &self,
        marker: &StaleMarker,
        grace: u32,
    ) -> Result<Option<Transaction>, StoreError> {
        if marker.deleted || grace == 0 {
            return Ok(None);
        }
        let Some(set) = marker.set.clone() else {
            return Ok(None);
        };
        let links = KeyRange::head(self.keys().lead_opportunities(marker.lead), 1);
        if !self.reader().table.query(links).await?.items.is_empty() {
            return Ok(None);
        }
        let if_not_set_again = Condition::Exactly {
            has: Item::from([("v".to_owned(), n(marker.version)), (SET.to_owned(), set)]),
            lacks: Vec::new(),
        };
        let mut transaction = Transaction::default();
        self.note_written(&mut transaction, marker, if_not_set_again);
        Ok(Some(transaction))
    }

    /// Adds the write that records in a marker that its copies are written.
    fn note_written(&self, transaction: &mut Transaction, marker: &StaleMarker, condition: Condition) {
        let written = Item::from([
            (WRITTEN.to_owned(), n(marker.version)),
            (
                SINCE.to_owned(),
                n(self.reader().environment.now().unix_seconds()),
            ),
        ]);
        transaction.update(marker.key.clone(), "v", 0, written, condition);
    }

    /// The writes that delete a marker. Empty unless its copies were written at least `grace` seconds ago.
    fn deletion_if_due(&self, marker: &StaleMarker, grace: u32) -> Transaction {
        let mut transaction = Transaction::default();
        let due = marker.since.saturating_add(u64::from(grace));
        let now = u64::try_from(self.reader().environment.now().unix_seconds()).unwrap_or(0);
        if now >= due {
            let has = [
                ("v", marker.version),
                (WRITTEN, marker.written),
                (SINCE, marker.since),
            ];
            let has = has.map(|(name, value)| (name.to_owned(), n(value)));
            let if_unchanged = Condition::Exactly {
                has: Item::from(has),
                lacks: Vec::new(),
            };
            self.delete_marker(&mut transaction, marker, if_unchanged);
        }
        transaction
    }

    /// Adds the deletions of a marker and of the tombstone of a deleted lead.
    fn delete_marker(&self, transaction: &mut Transaction, marker: &StaleMarker, if_unchanged: Condition) {
        if marker.deleted {
            transaction.delete(self.keys().tombstone(marker.lead), Condition::Always);
        }
        transaction.delete(marker.key.clone(), if_unchanged);
    }
}

/// The condition that a lead is unchanged.
fn unchanged(lead: Option<&LeadRecord>) -> Condition {
    lead.map_or(Condition::Absent, |lead| Condition::Version(lead.version))
}
