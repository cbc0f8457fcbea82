//! Deleting leads, and erasing what is left of them everywhere (C-24).
//!
//! A deletion is one transaction: the record and all that is derived from it go, and a mark and a [notice](super::notices)
//! come. From then on whoever reads what may hold something of a lead heeds the one or the other, so nothing of the person
//! is shown any more. What is left in other records is erased behind the requests, a record at a time, each in a
//! transaction of its own; mark and notice are taken down when nothing is left and every request that began before is
//! over. A crash at any moment leaves them, and so the work to be gone on with.
//!
//! Nothing can come to be linked to the lead meanwhile: whoever links a lead checks it in the same transaction.

use std::collections::BTreeSet;

use super::calls::CallRecord;
use super::derived::Derived;
use super::error::StoreError;
use super::item::{self, Item, s};
use super::key::{self, Key};
use super::leads::{self, LeadRecord};
use super::links::{Links, TOGETHER};
use super::meetings::{self, MeetingRecord};
use super::notices;
use super::quarantine::Unreadable;
use super::table::{PAGE, Page, Span, key_of};
use super::transaction::{CommitError, Condition, Transaction};
use super::unknown::Raw;
use super::{InstanceStore, Reader, lead_changes};
use crate::call::Call;
use crate::id::{CallId, LeadId, MeetingId};
use crate::lead::Lead;
use crate::meeting::Meeting;
use crate::opportunity::Opportunity;
use crate::ticket::Ticket;

/// How often a record is erased anew because others changed it meanwhile.
const ATTEMPTS: u32 = 12;

/// The deleted leads of which something may be left.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Erasures(BTreeSet<LeadId>);

impl Erasures {
    /// Whether what a record says of its lead must not be shown.
    #[must_use]
    pub fn cover(&self, lead: Option<LeadId>) -> bool {
        lead.is_some_and(|lead| self.0.contains(&lead))
    }

    /// A meeting as it may be shown.
    #[must_use]
    pub fn meeting(&self, meeting: Meeting) -> Meeting {
        if self.cover(meeting.lead_id) {
            meeting.without_lead()
        } else {
            meeting
        }
    }

    /// A ticket as it may be shown.
    #[must_use]
    pub fn ticket(&self, ticket: Ticket) -> Ticket {
        if self.cover(ticket.lead_relation) {
            ticket.without_lead()
        } else {
            ticket
        }
    }

    /// An opportunity as it may be shown.
    #[must_use]
    pub fn opportunity(&self, opportunity: Opportunity) -> Opportunity {
        let lead_id = opportunity.lead_id.filter(|lead| !self.cover(Some(*lead)));
        Opportunity {
            lead_id,
            ..opportunity
        }
    }

    /// A call as it may be shown.
    #[must_use]
    pub fn call(&self, call: Call) -> Call {
        if self.cover(call.lead) {
            call.without_lead()
        } else {
            call
        }
    }
}

/// What became of a deletion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deleted {
    /// It is gone.
    Done,
    /// There was none, or none that may be deleted any more; nothing is written.
    Gone,
}

/// The most marks that a page reads: 3 read units.
const MAX_READ: usize = 100;

/// The first of the marks, and after which lead there may be more.
#[derive(Debug)]
pub struct FirstErasures {
    first: Erasures,
    after: Option<LeadId>,
}

impl Reader {
    /// The first marks. One query of at most 3 units.
    pub(super) async fn first_erasures(&self) -> Result<FirstErasures, StoreError> {
        let span = Span::head(self.keys().erasures(), MAX_READ);
        let Page { items, more } = self.table.query_markers(span).await?;
        let keys = items.iter().map(key_of).collect::<Result<Vec<_>, _>>()?;
        let first = Erasures(keys.iter().filter_map(key::marked).collect());
        let after = first.0.last().copied().filter(|_| more);
        Ok(FirstErasures { first, after })
    }

    /// Which of these leads are marked. No call unless there are many marks; then a batch of gets.
    pub(super) async fn erasures_of(
        &self,
        FirstErasures { first, after }: FirstErasures,
        leads: impl Iterator<Item = LeadId>,
    ) -> Result<Erasures, StoreError> {
        let Erasures(mut marked) = first;
        if let Some(after) = after {
            let marks = leads
                .filter(|lead| *lead > after)
                .map(|lead| self.keys().erasure(lead));
            let found = self.table.get_many(marks).await?;
            marked.extend(found.keys().filter_map(key::marked));
        }
        Ok(Erasures(marked))
    }

    /// A meeting by id, as it may be shown; `None` where there is none. A get and a query, side by side.
    ///
    /// # Errors
    /// [`StoreError`] where it cannot be read.
    pub async fn shown_meeting(&self, id: MeetingId) -> Result<Option<Meeting>, StoreError> {
        let (stored, first) = tokio::try_join!(self.meeting(id), self.first_erasures())?;
        let Some(stored) = stored else { return Ok(None) };
        let lead = stored.meeting.lead_id.into_iter();
        let erasures = self.erasures_of(first, lead).await?;
        Ok(Some(erasures.meeting(stored.meeting)))
    }

    /// The deleted leads of which something may be left, all of them. One query for each 1 MB.
    ///
    /// # Errors
    /// [`StoreError`] where they cannot be read.
    pub async fn erasures(&self) -> Result<Erasures, StoreError> {
        let span = Span::head(self.keys().erasures(), PAGE);
        let items = self.table.query_all(span).await?;
        // A key that names no lead covers none; the doctor tells of it.
        let keys = items.iter().map(key_of).collect::<Result<Vec<_>, _>>()?;
        Ok(Erasures(keys.iter().filter_map(key::marked).collect()))
    }
}

impl InstanceStore {
    /// Deletes a lead for good, on condition that it still is as it was read; where others changed it meanwhile, `may`
    /// decides again. One transaction.
    ///
    /// # Errors
    /// [`StoreError`] where it failed, or where nobody knows whether it happened.
    pub async fn delete_lead(
        &self,
        mut record: LeadRecord,
        may: impl Fn(&Lead) -> bool,
    ) -> Result<Deleted, StoreError> {
        let nonce = self.table.ambient.token();
        let id = record.lead.id;
        for attempt in 0..lead_changes::ATTEMPTS {
            if !may(&record.lead) {
                return Ok(Deleted::Gone);
            }
            let newer = match self.table.commit(self.deletion(&record, &nonce)?).await {
                Ok(()) => return Ok(Deleted::Done),
                Err(CommitError::Refused(items)) => self.newer_lead(id, items, attempt).await?,
                Err(CommitError::Store(error)) => {
                    let own = self.deleted_by(id, &nonce).await?;
                    return own.then_some(Deleted::Done).ok_or(error);
                }
            };
            match newer {
                Some(newer) => record = newer,
                // It is gone: by an attempt of which nobody heard, or by somebody else's.
                None if self.deleted_by(id, &nonce).await? => return Ok(Deleted::Done),
                None => return Ok(Deleted::Gone),
            }
        }
        Err(StoreError::Contention("deleting a lead"))
    }

    /// Whether it was the request with this nonce that deleted a lead.
    async fn deleted_by(&self, lead: LeadId, nonce: &str) -> Result<bool, StoreError> {
        let mark = self.table.get(&self.keys().erasure(lead)).await?;
        Ok(mark.is_some_and(|mark| item::is_own(&mark, nonce)))
    }

    fn deletion(&self, record: &LeadRecord, nonce: &str) -> Result<Transaction, StoreError> {
        let (keys, id) = (self.keys(), record.lead.id);
        let mut transaction = Transaction::default();
        transaction.delete(keys.lead(id), Condition::Version(record.version));
        let derived = leads::derived(keys, &record.lead)?;
        Derived::change(&mut transaction, &derived, Derived::default());
        let now = self.table.ambient.now();
        let mut mark = notices::raised(now);
        mark.insert("nonce".to_owned(), s(nonce));
        transaction.put(keys.erasure(id), mark, Condition::Always);
        notices::raise_deleted(&mut transaction, keys, id, now);
        Ok(transaction)
    }
}

impl Reader {
    /// Erases what is left of a deleted lead in records that link it, and the links with it. Doing it again does no harm.
    /// A record that cannot be read keeps its link, and fails at the end, when the others are erased.
    pub(super) async fn erase(&self, lead: LeadId) -> Result<(), StoreError> {
        let mut unreadable = Unreadable::default();
        self.erase_meetings(lead, &mut unreadable).await?;
        self.erase_tickets(lead, &mut unreadable).await?;
        self.erase_calls(lead, &mut unreadable).await?;
        unreadable.result()
    }

    async fn erase_meetings(&self, lead: LeadId, unreadable: &mut Unreadable) -> Result<(), StoreError> {
        let mut links = Links::of(self.keys().lead_meetings(lead));
        while let Some(found) = links.next(self).await? {
            let ids = found
                .iter()
                .filter_map(|key| MeetingId::new(key.sk.parse().ok()?));
            let keys = ids.map(|id| self.keys().meeting(id));
            for (key, item) in self.table.get_many(keys).await? {
                let change = |item: &Item| self.meeting_erasure(item, lead);
                let outcome = self.change_record(key.clone(), item, change).await;
                unreadable.note(self, &key, outcome)?;
            }
        }
        Ok(())
    }

    fn meeting_erasure(&self, item: &Item, lead: LeadId) -> Result<Option<Transaction>, StoreError> {
        let stored = meetings::decode(item)?;
        if stored.meeting.lead_id != Some(lead) {
            return Ok(None);
        }
        let record = MeetingRecord {
            meeting: stored.meeting.clone().without_lead(),
            version: stored.version + 1,
            // What this build does not know may tell of the person.
            raw: Raw::default(),
            ..stored.clone()
        };
        Ok(Some(self.put_meeting(Some(&stored), &record)))
    }

    /// The timeline tells which calls there are, and links tell of those that have no event yet.
    async fn erase_calls(&self, lead: LeadId, unreadable: &mut Unreadable) -> Result<(), StoreError> {
        let mut span = Span::head(self.keys().timeline(lead), TOGETHER);
        loop {
            let Page { items, more } = self.table.query(span.clone()).await?;
            let mut events = Vec::with_capacity(items.len());
            for event in &items {
                let key = key_of(event)?;
                match call_of(event) {
                    Ok(call) => events.push((key, call)),
                    Err(error) => unreadable.note(self, &key, Err(error))?,
                }
            }
            self.erase_some_calls(lead, events, unreadable).await?;
            if !more {
                break;
            }
            span.after = items.last().map(key_of).transpose()?.map(|key| key.sk);
        }
        let mut links = Links::of(self.keys().lead_calls(lead));
        while let Some(found) = links.next(self).await? {
            let calls = found.into_iter().filter_map(|key| {
                let call = CallId::new(key.sk.parse().ok()?)?;
                Some((key, call))
            });
            self.erase_some_calls(lead, calls.collect(), unreadable).await?;
        }
        Ok(())
    }

    /// Takes the person out of calls, each together with the item that led to it.
    async fn erase_some_calls(
        &self,
        lead: LeadId,
        found: Vec<(Key, CallId)>,
        unreadable: &mut Unreadable,
    ) -> Result<(), StoreError> {
        let calls = found.iter().map(|(_, call)| self.keys().call(*call));
        let calls = self.table.get_many(calls).await?;
        for (leading, call) in found {
            let key = self.keys().call(call);
            let item = calls.get(&key).cloned().unwrap_or_default();
            let change = |item: &Item| call_erasure(item, lead, &key, &leading);
            let outcome = self.change_record(key.clone(), item, change).await;
            unreadable.note(self, &key, outcome)?;
        }
        Ok(())
    }

    /// Writes what `change` makes of a record, and asks it again where others changed the record meanwhile; `None` says
    /// that nothing has to be done.
    async fn change_record(
        &self,
        key: Key,
        mut item: Item,
        change: impl Fn(&Item) -> Result<Option<Transaction>, StoreError>,
    ) -> Result<(), StoreError> {
        for attempt in 0..ATTEMPTS {
            let Some(transaction) = change(&item)? else {
                return Ok(());
            };
            match self.table.commit(transaction).await {
                Ok(()) => return Ok(()),
                Err(CommitError::Store(error)) => return Err(error),
                Err(CommitError::Refused(mut items)) => match items.remove(&key) {
                    Some(newer) if !newer.is_empty() => item = newer,
                    _ => return Ok(()),
                },
            }
            self.table.pause(attempt.min(3)).await;
        }
        Err(StoreError::Contention("erasing a lead"))
    }
}

/// What takes the person out of a call, and with it the event or the link that led to it.
fn call_erasure(
    item: &Item,
    lead: LeadId,
    key: &Key,
    leading: &Key,
) -> Result<Option<Transaction>, StoreError> {
    let mut transaction = Transaction::default();
    transaction.delete(leading.clone(), Condition::Always);
    if item.is_empty() {
        return Ok(Some(transaction));
    }
    let record: CallRecord = item::decode("call", item.clone())?;
    if record.call.lead == Some(lead) {
        let erased = CallRecord {
            call: record.call.without_lead(),
            event: None,
            nonce: record.nonce,
            raw: Raw::default(),
        };
        // Calls have no version, and one that moves to another lead keeps its event's number.
        let mut has = item.clone();
        has.retain(|name, _| name != "pk" && name != "sk");
        let lacks = Vec::new();
        transaction.put(key.clone(), erased.encode()?, Condition::Exactly { has, lacks });
    }
    Ok(Some(transaction))
}

/// The call that an event tells of.
fn call_of(event: &Item) -> Result<CallId, StoreError> {
    let call = CallId::new(item::number("event", event, "call")?);
    call.ok_or_else(|| item::corrupt("event", "it names no call"))
}
