//! Reassigns a ticket to another lead (C-100).
//!
//! The ticket, its entries and its files change in one transaction. More than [`MAX_FILES`] files need several: the
//! first marks the ticket as unsettled, the last removes the mark, and a repeated request resumes. Every write of a
//! file increments a number in its ticket's record, so a file added after the files were listed fails the
//! transaction.

use std::collections::BTreeSet;

use super::{FileRecord, FileState, TicketRecord};
use crate::ids::{LeadId, TicketId};
use crate::lead::Lead;
use crate::store::budget::ReadBudget;
use crate::store::key::{BATCH, Key};
use crate::store::leads::LeadRecord;
use crate::store::{InstanceStore, Reader};
use crate::ticket::Ticket;
use crate::viewer::Viewer;
use table::item::{Item, n};
use table::unknown::Raw;
use table::{
    CommitError, Condition, KeyRange, MAX_AHEAD, MAX_WRITES, PAGE, Page, Pages, Policy, StoreError,
    Transaction, key_of,
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
    /// The lead that the ticket was expected to have; `None` inside where it does not exist.
    former: Option<(LeadId, Option<Lead>)>,
    /// The first files, which are read together with the complete list.
    expected: Page,
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
    /// Reads a ticket and its new lead. In parallel: a batch of gets of both and of the lead that the ticket is expected to
    /// have, and a query of at most 50 files.
    ///
    /// # Errors
    /// [`StoreError`] where they cannot be read.
    pub async fn begin_reassignment(
        &self,
        ticket: TicketId,
        lead: LeadId,
    ) -> Result<PrefetchedReassignment, StoreError> {
        let keys = self.keys();
        let guess = self.hints.ticket_leads.get(&(self.instance.clone(), ticket));
        let wanted = guess.into_iter().chain([lead]).map(|lead| keys.lead(lead));
        let wanted = wanted.chain([keys.ticket(ticket)]);
        let files = KeyRange::head(keys.ticket_files(ticket), MAX_AHEAD);
        let (found, expected) = tokio::try_join!(self.table.get_many(wanted), self.table.query(files))?;
        let record = |lead| found.get(&keys.lead(lead)).map(LeadRecord::decode).transpose();
        let former =
            guess.map(|guess| Ok::<_, StoreError>((guess, record(guess)?.map(|record| record.value.lead))));
        let ticket = found.get(&keys.ticket(ticket)).map(TicketRecord::decode);
        Ok(PrefetchedReassignment {
            ticket: ticket.transpose()?,
            lead: record(lead)?,
            former: former.transpose()?,
            expected,
        })
    }
}

impl InstanceStore {
    /// Gives a ticket a lead, if `sees` admits the ticket's lead and the new one. One query of the files in parallel with
    /// gets of those expected and of the former lead, then one transaction; more where there are more files, or others change
    /// the ticket concurrently.
    ///
    /// # Errors
    /// [`StoreError`] where it failed, where its outcome is unknown, or where the files exceed the read budget.
    pub async fn reassign_ticket(
        &self,
        viewer: &Viewer,
        (ticket, lead): (TicketId, LeadId),
        mut start: PrefetchedReassignment,
        sees: impl Fn(Option<&Lead>) -> bool,
    ) -> Result<Reassigned, StoreError> {
        let budget = ReadBudget::of(viewer);
        let mut retry = self
            .table
            .retry(Policy::CONTESTED, "giving a ticket another lead");
        loop {
            let Some(stored) = start.ticket.take() else {
                return Ok(Reassigned::NoTicket);
            };
            let new = start.lead.take().map(|record| record.value.lead);
            let Some(new) = new.filter(|new| sees(Some(new))) else {
                return Ok(Reassigned::NoLead);
            };
            let read = async {
                let former = self.former_lead(&stored, &new, start.former.take());
                let files = self.files_to_move(&budget, &stored, &new, &start.expected);
                tokio::try_join!(former, files)
            };
            let (former, files) = ReadBudget::in_time(read).await?;
            if !sees(former.as_ref()) {
                return Ok(Reassigned::NoTicket);
            }
            let erases = former.is_none() && stored.ticket.lead_relation.is_some();
            if let Some(ticket) = self.move_ticket(stored, erases, files, &new).await? {
                let name = (self.instance.clone(), ticket.id);
                self.hints.ticket_leads.put(name, new.id);
                return Ok(Reassigned::Done(Box::new(ticket)));
            }
            retry.again().await?;
            start = self.begin_reassignment(ticket, lead).await?;
        }
    }

    /// The lead of a ticket. No call where it was read or is the new one, else one get.
    async fn former_lead(
        &self,
        stored: &TicketRecord,
        new: &Lead,
        read: Option<(LeadId, Option<Lead>)>,
    ) -> Result<Option<Lead>, StoreError> {
        match (stored.ticket.lead_relation, read) {
            (None, _) => Ok(None),
            (Some(lead), _) if lead == new.id => Ok(Some(new.clone())),
            (Some(lead), Some((guess, found))) if lead == guess => Ok(found),
            (Some(lead), _) => self.lead(lead).await,
        }
    }

    /// The files of a ticket that do not have the new lead, listed after the ticket was read.
    async fn files_to_move(
        &self,
        budget: &ReadBudget,
        stored: &TicketRecord,
        new: &Lead,
        expected: &Page,
    ) -> Result<Vec<FileRecord>, StoreError> {
        if !is_pending(stored, new.id) {
            return Ok(Vec::new());
        }
        let expected = self.file_keys(&expected.items)?;
        let (listed, mut found) = tokio::try_join!(
            self.listed_files(budget, stored.ticket.id),
            self.table.get_many(expected.iter().cloned())
        )?;
        let missing: Vec<_> = listed.into_iter().filter(|key| !expected.contains(key)).collect();
        for batch in missing.chunks(BATCH) {
            budget
                .take(u32::try_from(batch.len()).unwrap_or(u32::MAX).into())
                .await?;
            found.extend(self.table.get_many(batch.iter().cloned()).await?);
        }
        let records = found.into_values().map(FileRecord::decode);
        let moves = |file: &FileRecord| file.file.ticket == stored.ticket.id && file.lead != Some(new.id);
        records.filter(|file| file.as_ref().map_or(true, moves)).collect()
    }

    async fn listed_files(&self, budget: &ReadBudget, ticket: TicketId) -> Result<Vec<Key>, StoreError> {
        let mut listed = Vec::new();
        let mut pages = Pages::of(KeyRange::head(self.keys().ticket_files(ticket), PAGE));
        while let Some(page) = pages.next_with(|span| budget.query(&self.table, span)).await? {
            listed.extend(self.file_keys(&page.items)?);
        }
        Ok(listed)
    }

    /// The records of listed files.
    fn file_keys(&self, entries: &[Item]) -> Result<BTreeSet<Key>, StoreError> {
        let keys = entries.iter().map(key_of).collect::<Result<Vec<_>, _>>()?;
        let names = keys.iter().filter_map(|key| self.keys().listed_file(key));
        Ok(names.map(|name| self.keys().file(&name)).collect())
    }

    /// Writes the ticket with its files; `None` if they were changed concurrently. `erases` where its lead was
    /// deleted: the job that erases the person (C-24) would not find the ticket at its new lead.
    async fn move_ticket(
        &self,
        mut stored: TicketRecord,
        erases: bool,
        files: Vec<FileRecord>,
        new: &Lead,
    ) -> Result<Option<Ticket>, StoreError> {
        if !is_pending(&stored, new.id) {
            return Ok(Some(stored.value.ticket));
        }
        let mut steps = files.chunks(MAX_FILES).peekable();
        loop {
            let step = steps.next().unwrap_or_default();
            let mut next = self.moved(&stored, new, erases);
            next.value.unsettled = steps.peek().is_some();
            let transaction = self.step(&stored, &next, step, new.id)?;
            match self.table.commit(transaction).await {
                Ok(()) => {}
                Err(CommitError::Refused(_)) => return Ok(None),
                Err(CommitError::Store(error)) => {
                    let now = self.ticket(next.ticket.id).await?;
                    if now.is_none_or(|now| now.version != next.version || now.ticket != next.ticket) {
                        return Err(error);
                    }
                }
            }
            if steps.peek().is_none() {
                return Ok(Some(next.value.ticket));
            }
            stored = next;
        }
    }

    fn moved(&self, stored: &TicketRecord, new: &Lead, erases: bool) -> TicketRecord {
        let mut next = stored.next(stored.value.clone());
        next.edited = true;
        if erases {
            next.value.ticket = next.value.ticket.without_lead();
            // Unknown attributes may contain personal data.
            next.raw = Raw::default();
        }
        if next.ticket.lead_relation != Some(new.id) {
            next.value.ticket = next.value.ticket.of_lead(new, self.environment.now());
        }
        next
    }

    /// One transaction: the ticket, on condition that no file came since it was read, and some of its files.
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
        transaction.require(keys.ticket(stored.ticket.id), is_as_read(stored));
        transaction.check(keys.lead(lead), Condition::Present);
        Ok(transaction)
    }
}

/// Whether a ticket or some of its files may still have another lead.
fn is_pending(stored: &TicketRecord, lead: LeadId) -> bool {
    stored.unsettled || stored.ticket.lead_relation != Some(lead)
}

/// Requires that neither the ticket nor the number of writes of its files changed.
fn is_as_read(stored: &TicketRecord) -> Condition {
    let mut has = Item::from([("v".to_owned(), n(stored.version))]);
    let mut lacks = Vec::new();
    match stored.files {
        0 => lacks.push(super::FILES),
        files => drop(has.insert(super::FILES.to_owned(), n(files))),
    }
    Condition::Exactly { has, lacks }
}
