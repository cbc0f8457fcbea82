//! Erases the remains of a deleted lead in other records (C-24), one record per transaction.
//!
//! The [tombstone](crate::store::leads::delete) and the [stale marker](crate::store::leads::stale_markers)
//! are deleted after everything is erased and every earlier request has ended. A crash leaves both, so the
//! work is continued.
//!
//! An erasure is no change through the API (C-81): importing the same file again restores the lead and the
//! records.

use crate::ids::{CallId, LeadId, MeetingId};
use crate::store::Writer;
use crate::store::calls::CallRecord;
use crate::store::key::{BATCH, Key, Keys};
use crate::store::meetings::MeetingRecord;
use crate::store::quarantine::Unreadable;
use table::item::{self, Item};
use table::unknown::Raw;
use table::{CommitError, Condition, Policy, StoreError, Transaction};
use table::{KeyRange, Pages, key_of};

impl Writer {
    /// Erases a deleted lead from the records that link it, and deletes the links. Idempotent. An unreadable
    /// record keeps its link, and fails after the others are erased.
    pub(crate) async fn erase(&self, lead: LeadId) -> Result<(), StoreError> {
        let mut unreadable = Unreadable::default();
        self.erase_from_meetings(lead, &mut unreadable).await?;
        self.erase_from_tickets(lead, &mut unreadable).await?;
        self.erase_from_calls(lead, &mut unreadable).await?;
        self.erase_form_events(lead).await?;
        unreadable.result()
    }

    /// Deletes the events of forms of a lead. One query and a transaction for each batch.
    async fn erase_form_events(&self, lead: LeadId) -> Result<(), StoreError> {
        let range = KeyRange::beginning(self.keys().form_events(), Keys::of_lead(lead));
        let mut events = Pages::of(range);
        while let Some(found) = events.next_keys(&self.reader().table).await? {
            for batch in found.chunks(BATCH) {
                let mut transaction = Transaction::default();
                for event in batch {
                    transaction.delete(event.clone(), Condition::Always);
                }
                match self.table.commit(transaction).await {
                    Ok(()) | Err(CommitError::Refused(_)) => {}
                    Err(CommitError::Store(error)) => return Err(error),
                }
            }
        }
        Ok(())
    }

    /// Erases a lead from the meetings that link it. One query per batch of links, a batch of gets, and a transaction
    /// for each meeting.
    async fn erase_from_meetings(&self, lead: LeadId, unreadable: &mut Unreadable) -> Result<(), StoreError> {
        let mut links = Pages::of(KeyRange::head(self.keys().lead_meetings(lead), BATCH));
        while let Some(found) = links.next_keys(&self.reader().table).await? {
            let ids = found
                .iter()
                .filter_map(|key| MeetingId::new(key.sk.parse().ok()?));
            let keys = ids.map(|id| self.keys().meeting(id));
            for (key, item) in self.reader().table.get_many(keys).await? {
                let change = |item: &Item| self.meeting_erasure(item, lead);
                let outcome = self.change_record(key.clone(), item, change).await;
                unreadable.note(self.reader(), &key, outcome)?;
            }
        }
        Ok(())
    }

    /// The writes that erase a lead from a meeting; `None` if the meeting has another lead or none.
    fn meeting_erasure(&self, item: &Item, lead: LeadId) -> Result<Option<Transaction>, StoreError> {
        let stored = MeetingRecord::decode(item)?;
        if stored.lead_id != Some(lead) {
            return Ok(None);
        }
        let record = MeetingRecord {
            // Unknown attributes may contain personal data.
            raw: Raw::default(),
            ..stored.next(stored.value.clone().without_lead())
        };
        record.put(self.keys(), Some(&stored)).map(Some)
    }

    /// Erases a lead from its calls. Finds them by the events of its timeline, and those without an event by their
    /// links.
    async fn erase_from_calls(&self, lead: LeadId, unreadable: &mut Unreadable) -> Result<(), StoreError> {
        let mut timeline = Pages::of(KeyRange::head(self.keys().timeline(lead), BATCH));
        while let Some(items) = timeline.next(&self.reader().table).await? {
            let mut events = Vec::with_capacity(items.len());
            for event in &items {
                let key = key_of(event)?;
                match call_of(event) {
                    Ok(call) => events.push((key, call)),
                    Err(error) => unreadable.note(self.reader(), &key, Err(error))?,
                }
            }
            self.erase_from_found_calls(lead, events, unreadable).await?;
        }
        let mut links = Pages::of(KeyRange::head(self.keys().lead_calls(lead), BATCH));
        while let Some(found) = links.next_keys(&self.reader().table).await? {
            let calls = found.into_iter().filter_map(|key| {
                let call = CallId::new(key.sk.parse().ok()?)?;
                Some((key, call))
            });
            self.erase_from_found_calls(lead, calls.collect(), unreadable)
                .await?;
        }
        Ok(())
    }

    /// Erases the person from calls, each in one transaction with the event or link by which it was found: the key in
    /// `found`.
    async fn erase_from_found_calls(
        &self,
        lead: LeadId,
        found: Vec<(Key, CallId)>,
        unreadable: &mut Unreadable,
    ) -> Result<(), StoreError> {
        let keys = found.iter().map(|(_, call)| self.keys().call(*call));
        let mut items = self.reader().table.get_many(keys).await?;
        for (found_by, call) in found {
            let key = self.keys().call(call);
            let item = items.remove(&key).unwrap_or_default();
            let change = |item: &Item| call_erasure(item, lead, &key, &found_by);
            let outcome = self.change_record(key.clone(), item, change).await;
            unreadable.note(self.reader(), &key, outcome)?;
        }
        Ok(())
    }

    /// Writes the result of `change`, and calls `change` again with the newer item after a conflict. `change` returns
    /// `None` if the record needs no change. Does nothing more if the record was deleted or did not cause the conflict.
    async fn change_record(
        &self,
        key: Key,
        mut item: Item,
        change: impl Fn(&Item) -> Result<Option<Transaction>, StoreError>,
    ) -> Result<(), StoreError> {
        let mut retry = self.reader().table.retry(Policy::CONFLICT, "erasing a lead");
        while let Some(transaction) = change(&item)? {
            match self.table.commit(transaction).await {
                Ok(()) => return Ok(()),
                Err(CommitError::Store(error)) => return Err(error),
                Err(CommitError::Refused(mut items)) => match items.remove(&key) {
                    Some(newer) if !newer.is_empty() => item = newer,
                    _ => return Ok(()),
                },
            }
            retry.again().await?;
        }
        Ok(())
    }
}

/// The writes that erase the person from a call, if it still has this lead, and delete the event or the link by which
/// it was found. An empty item does not exist.
fn call_erasure(
    item: &Item,
    lead: LeadId,
    key: &Key,
    found_by: &Key,
) -> Result<Option<Transaction>, StoreError> {
    let mut transaction = Transaction::default();
    transaction.delete(found_by.clone(), Condition::Always);
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
        // Calls have no version, and a call that moves to another lead keeps its event's id, so the condition compares
        // all attributes.
        let mut has = item.clone();
        has.retain(|name, _| name != "pk" && name != "sk");
        let lacks = Vec::new();
        transaction.put(key.clone(), erased.encode()?, Condition::Exactly { has, lacks });
    }
    Ok(Some(transaction))
}

/// The call of an event.
fn call_of(event: &Item) -> Result<CallId, StoreError> {
    let call = CallId::new(item::number("event", event, "call")?);
    call.ok_or_else(|| item::corrupt("event", "it names no call"))
}
