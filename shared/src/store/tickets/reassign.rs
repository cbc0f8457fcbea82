//! Reassigns a ticket to another lead (C-100).
//!
//! The ticket, its entries and its files change in one transaction. More than [`MAX_FILES`] files need several: the
//! first marks the ticket as unsettled, the last removes the mark, and a repeated request resumes. Every write of a
//! file increments a number in its ticket's record, so a file added after the files were listed fails the
//! transaction.
//!
//! The files are listed after the ticket was read, because an earlier list may lack a file that the record already
//! counts. If version and number of writes equal those of a hint, neither the ticket nor a file was written since. Then
//! the prefetched list is exact and no further read is needed.

use std::collections::{BTreeSet, HashMap};

use super::{FileRecord, FileState, TicketHint, TicketRecord};
use crate::ids::{LeadId, TicketId};
use crate::lead::Lead;
use crate::store::budget::ReadBudget;
use crate::store::key::{BATCH, Key};
use crate::store::leads::LeadRecord;
use crate::store::{Reader, Writer};
use crate::ticket::Ticket;
use crate::viewer::Viewer;
use table::item::{Item, n};
use table::unknown::Raw;
use table::{
    CommitError, Condition, KeyRange, MAX_AHEAD, MAX_WRITES, Page, Pages, Policy, StoreError, Transaction,
};

/// Maximum files of one transaction: each takes three items (record, deleted entry, new entry); the ticket takes
/// three and the lead one.
const MAX_FILES: usize = (MAX_WRITES - 4) / 3;

/// Prefetched reads of a reassignment.
#[derive(Debug)]
pub struct PrefetchedReassignment {
    /// The ticket's record, if there is one.
    pub ticket: Option<TicketRecord>,
    /// The new lead's record, if there is one.
    pub lead: Option<LeadRecord>,
    /// The ticket's lead according to the hint; the inner `None` if that lead does not exist.
    expected_lead: Option<(LeadId, Option<Lead>)>,
    /// The ticket as this process saw it earlier.
    hint: Option<TicketHint>,
    /// The first page of the list of its files.
    listed: Page,
    /// The records that were read besides the ticket's: those of the files in the hint, and of leads, which are ignored.
    files: HashMap<Key, Item>,
}

/// The files of a ticket.
struct TicketContents {
    /// The keys of all files' records.
    keys: BTreeSet<Key>,
    /// The records of files that do not have the new lead yet.
    to_move: Vec<FileRecord>,
}

/// Outcome of a reassignment.
#[derive(Debug)]
pub enum Reassigned {
    /// The ticket has the lead.
    Done(Box<Ticket>),
    /// The ticket does not exist, or its lead is hidden from the viewer; nothing is written.
    NoTicket,
    /// The new lead does not exist, or is hidden from the viewer; nothing is written.
    NoLead,
}

impl Reader {
    /// Reads a ticket and its new lead. A batch of gets of both and of the lead and the files in the ticket's hint, in
    /// parallel with a query of at most 50 files.
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be read.
    pub async fn begin_reassignment(
        &self,
        ticket: TicketId,
        lead: LeadId,
    ) -> Result<PrefetchedReassignment, StoreError> {
        let keys = self.keys();
        let hint = self.hints.tickets.get(&(self.instance.clone(), ticket));
        let expected_id = hint.as_ref().and_then(|hint| hint.lead);
        let wanted = expected_id.into_iter().chain([lead]).map(|lead| keys.lead(lead));
        let wanted = wanted.chain([keys.ticket(ticket)]);
        let wanted = wanted.chain(hint.iter().flat_map(|hint| hint.files.clone()));
        let list = KeyRange::head(keys.ticket_files(ticket), MAX_AHEAD);
        let (mut found, listed) = tokio::try_join!(self.table.get_many(wanted), self.table.query(list))?;
        let record = |lead| found.get(&keys.lead(lead)).map(LeadRecord::decode).transpose();
        let expected_lead = match expected_id {
            Some(id) => Some((id, record(id)?.map(|record| record.value.lead))),
            None => None,
        };
        let lead = record(lead)?;
        let ticket = found.remove(&keys.ticket(ticket)).map(TicketRecord::decode);
        Ok(PrefetchedReassignment {
            ticket: ticket.transpose()?,
            lead,
            expected_lead,
            hint,
            listed,
            files: found,
        })
    }
}

impl Writer {
    /// Gives a ticket a lead, if `sees` admits both the ticket's lead and the new one. No call if the ticket has the
    /// lead. One transaction if the ticket is unchanged since its hint. Otherwise a query of the files comes first, in
    /// parallel with gets of the former lead and of the prefetched files. More calls for more files and after
    /// conflicts.
    ///
    /// # Errors
    /// [`StoreError`] if it failed, if its outcome is unknown, or if the files exceed the read budget.
    pub async fn reassign_ticket(
        &self,
        viewer: &Viewer,
        (ticket, lead): (TicketId, LeadId),
        mut start: PrefetchedReassignment,
        sees: impl Fn(Option<&Lead>) -> bool,
    ) -> Result<Reassigned, StoreError> {
        let budget = ReadBudget::of(viewer);
        let mut retry = self
            .reader
            .table
            .retry(Policy::CONTESTED, "giving a ticket another lead");
        loop {
            let Some(stored) = start.ticket.take() else {
                return Ok(Reassigned::NoTicket);
            };
            let new = start.lead.take().map(|record| record.value.lead);
            let Some(new) = new.filter(|lead| sees(Some(lead))) else {
                return Ok(Reassigned::NoLead);
            };
            if !stored.unsettled && stored.ticket.lead_relation == Some(new.id) {
                return Ok(Reassigned::Done(Box::new(stored.value.ticket)));
            }
            let read = async {
                let former = self.former_lead(&stored, &new, start.expected_lead.take());
                tokio::try_join!(former, self.files_of(&budget, &stored, &new, &start))
            };
            let (former, files) = ReadBudget::in_time(read).await?;
            if !sees(former.as_ref()) {
                return Ok(Reassigned::NoTicket);
            }
            let is_former_deleted = former.is_none() && stored.ticket.lead_relation.is_some();
            let moved = self.move_ticket(stored, is_former_deleted, &files.to_move, &new);
            if let Some(moved) = moved.await? {
                let hint = TicketHint::of(&moved, files.keys);
                self.reader
                    .hints
                    .tickets
                    .put((self.reader.instance.clone(), ticket), hint);
                return Ok(Reassigned::Done(Box::new(moved.value.ticket)));
            }
            retry.again().await?;
            start = self.reader.begin_reassignment(ticket, lead).await?;
        }
    }

    /// The current lead of a ticket; `None` if the ticket has none or the lead was deleted. No call if it was
    /// prefetched or is the new lead, else one get.
    async fn former_lead(
        &self,
        stored: &TicketRecord,
        new: &Lead,
        prefetched: Option<(LeadId, Option<Lead>)>,
    ) -> Result<Option<Lead>, StoreError> {
        let Some(id) = stored.ticket.lead_relation else {
            return Ok(None);
        };
        if id == new.id {
            return Ok(Some(new.clone()));
        }
        match prefetched {
            Some((prefetched_id, lead)) if prefetched_id == id => Ok(lead),
            _ => self.reader.partial_lead(id).await,
        }
    }

    /// The files of a ticket, listed no earlier than the ticket was read. The prefetched page was read concurrently
    /// with the ticket, so it counts only if nothing was written since the hint and there is no further page. Records
    /// that were not prefetched are read within the budget.
    async fn files_of(
        &self,
        budget: &ReadBudget,
        stored: &TicketRecord,
        new: &Lead,
        start: &PrefetchedReassignment,
    ) -> Result<TicketContents, StoreError> {
        let hinted_writes = start.hint.as_ref().map(|hint| hint.writes);
        let prefetched = self.reader.listed_records(&start.listed.items)?;
        let (keys, mut found) = if hinted_writes == Some(stored.writes()) && !start.listed.more {
            (prefetched, start.files.clone())
        } else {
            let records = self.reader.table.get_many(prefetched);
            tokio::try_join!(self.listed_files(budget, stored.ticket.id), records)?
        };
        let missing: Vec<_> = keys.iter().filter(|key| !found.contains_key(*key)).collect();
        for batch in missing.chunks(BATCH) {
            budget
                .take(u32::try_from(batch.len()).unwrap_or(u32::MAX).into())
                .await?;
            found.extend(self.reader.table.get_many(batch.iter().copied().cloned()).await?);
        }
        found.retain(|key, _| keys.contains(key));
        let records = found.into_values().map(FileRecord::decode);
        let mut to_move = Vec::new();
        for record in records {
            let record = record?;
            if record.file.ticket == stored.ticket.id && record.lead != Some(new.id) {
                to_move.push(record);
            }
        }
        Ok(TicketContents { keys, to_move })
    }

    /// The keys of the records of all files in a ticket's list.
    async fn listed_files(&self, budget: &ReadBudget, ticket: TicketId) -> Result<BTreeSet<Key>, StoreError> {
        let mut listed = BTreeSet::new();
        let mut pages = Pages::of(KeyRange::whole(self.keys().ticket_files(ticket)));
        while let Some(page) = pages
            .next_with(|span| budget.query(&self.reader.table, span))
            .await?
        {
            listed.extend(self.reader.listed_records(&page.items)?);
        }
        Ok(listed)
    }

    /// Writes the ticket with its files, in as many transactions as they need; `None` if they were changed
    /// concurrently. All but the last transaction mark the ticket as unsettled. If the former lead was deleted, erases
    /// its data (C-24), because the erasure job would not find the ticket under its new lead.
    async fn move_ticket(
        &self,
        mut stored: TicketRecord,
        is_former_deleted: bool,
        files: &[FileRecord],
        new: &Lead,
    ) -> Result<Option<TicketRecord>, StoreError> {
        let mut chunks = files.chunks(MAX_FILES).peekable();
        loop {
            // A ticket without files takes one transaction too.
            let chunk = chunks.next().unwrap_or_default();
            let is_last = chunks.peek().is_none();
            let mut next = self.with_lead(&stored, new, is_former_deleted);
            next.value.unsettled = !is_last;
            let transaction = self.step(&stored, &next, chunk, new.id)?;
            match self.table.commit(transaction).await {
                Ok(()) => {}
                Err(CommitError::Refused(_)) => return Ok(None),
                Err(CommitError::Store(error)) => {
                    // The outcome may be unknown, so the ticket is compared.
                    let current = self.reader.ticket(next.ticket.id).await?;
                    let is_written = current.is_some_and(|current| {
                        current.version == next.version && current.ticket == next.ticket
                    });
                    if !is_written {
                        return Err(error);
                    }
                }
            }
            if is_last {
                return Ok(Some(next));
            }
            stored = next;
        }
    }

    /// The next version of a ticket's record, with the new lead. If the ticket already has this lead, its fields stay,
    /// but the record still gets a new version. Erases the data of a former lead that was deleted.
    fn with_lead(&self, stored: &TicketRecord, new: &Lead, is_former_deleted: bool) -> TicketRecord {
        let mut next = stored.next(stored.value.clone());
        // The API made this change, also if an import gave the ticket the lead.
        next.edited = true;
        // An earlier transaction or an import gave the ticket this lead. Only files are still to be moved, so the
        // ticket keeps its date of change.
        if stored.ticket.lead_relation == Some(new.id) {
            return next;
        }
        let mut ticket = stored.ticket.clone();
        if is_former_deleted {
            ticket = ticket.without_lead();
            // Unknown attributes may contain personal data.
            next.raw = Raw::default();
        }
        next.value.ticket = ticket.of_lead(new, self.reader.environment.now());
        next
    }

    /// One transaction: the ticket, on condition that no file was written since it was read, and some of its files.
    fn step(
        &self,
        stored: &TicketRecord,
        next: &TicketRecord,
        files: &[FileRecord],
        lead: LeadId,
    ) -> Result<Transaction, StoreError> {
        let keys = self.keys();
        let mut transaction = next.put(keys, Some(stored))?;
        for file in files {
            let moved = file.next(FileState {
                file: file.file.clone(),
                lead: Some(lead),
            });
            transaction.merge(moved.put(keys, Some(file))?);
        }
        transaction.require(keys.ticket(stored.ticket.id), if_unchanged(stored));
        transaction.check(keys.lead(lead), Condition::Present);
        Ok(transaction)
    }
}

/// The condition that neither the ticket's version nor the number of writes of its files changed.
fn if_unchanged(stored: &TicketRecord) -> Condition {
    let mut has = Item::from([("v".to_owned(), n(stored.version))]);
    let mut lacks = Vec::new();
    if stored.files == 0 {
        lacks.push(super::FILES);
    } else {
        has.insert(super::FILES.to_owned(), n(stored.files));
    }
    Condition::Exactly { has, lacks }
}
