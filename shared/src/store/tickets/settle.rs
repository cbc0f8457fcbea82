//! Moves the files of a ticket to the lists of its new lead, and removes them from the list of a deleted lead.
//!
//! A ticket may have more files than one transaction takes, so the ticket is written first, then each file in a
//! transaction of its own. All steps are idempotent. After a crash an import resumes from the `unsettled` mark in the
//! ticket's record, and the erasure of a lead from the entries that are left in its lists.

use super::{FileRecord, FileState, TicketRecord, TicketState};
use crate::ids::{LeadId, TicketId};
use crate::store::Writer;
use crate::store::key::{self, BATCH};
use crate::store::quarantine::Unreadable;
use crate::ticket::FileName;
use table::StoreError;
use table::unknown::Raw;
use table::{KeyRange, Pages, Policy, Transaction};

impl Writer {
    /// Gives the files of a ticket its lead, and removes the `unsettled` mark from its record.
    pub async fn settle_ticket(&self, id: TicketId) -> Result<(), StoreError> {
        let mut retry = self
            .reader
            .table
            .retry(Policy::CONFLICT, "moving the files of a ticket");
        loop {
            let Some(stored) = self.reader.ticket(id).await?.filter(|stored| stored.unsettled) else {
                return Ok(());
            };
            let mut unreadable = Unreadable::default();
            self.settle_files(self.keys().ticket_files(id), &mut unreadable)
                .await?;
            // With an unreadable file, the mark stays.
            unreadable.result()?;
            let settled = stored.next(TicketState {
                ticket: stored.ticket.clone(),
                unsettled: false,
                files: stored.files,
            });
            let transaction = settled.put(self.keys(), Some(&stored))?;
            if self.table.try_commit(transaction).await? {
                return Ok(());
            }
            retry.again().await?;
        }
    }

    /// Removes a deleted lead and its personal data from its tickets (C-24), and their files from its list; the files
    /// remain with their tickets. Idempotent.
    pub(crate) async fn erase_from_tickets(
        &self,
        lead: LeadId,
        unreadable: &mut Unreadable,
    ) -> Result<(), StoreError> {
        let mut tickets = Pages::of(KeyRange::head(self.keys().lead_tickets(lead), BATCH));
        while let Some(keys) = tickets.next_keys(&self.reader.table).await? {
            for ticket in keys.iter().filter_map(|key| key::placed_ticket(&key.sk)) {
                let outcome = self.unlink_ticket(ticket, lead).await;
                unreadable.note(&self.reader, &self.keys().ticket(ticket), outcome)?;
            }
        }
        // The files are moved after the tickets. No ticket has this lead any more, so no file is listed under it again.
        self.settle_files(self.keys().lead_files(lead), unreadable).await
    }

    /// Erases a deleted lead from a ticket and moves the ticket's files, if the ticket still has this lead.
    async fn unlink_ticket(&self, id: TicketId, lead: LeadId) -> Result<(), StoreError> {
        let mut retry = self.reader.table.retry(Policy::CONFLICT, "erasing a lead");
        loop {
            let stored = self.reader.ticket(id).await?;
            let Some(stored) = stored.filter(|stored| stored.ticket.lead_relation == Some(lead)) else {
                return Ok(());
            };
            // Its files are found through the lead's list, so no mark is needed.
            let erased = TicketRecord {
                // Unknown attributes may contain personal data.
                raw: Raw::default(),
                ..stored.next(TicketState {
                    ticket: stored.ticket.clone().without_lead(),
                    unsettled: stored.unsettled,
                    files: stored.files,
                })
            };
            let transaction = erased.put(self.keys(), Some(&stored))?;
            if self.table.try_commit(transaction).await? {
                return self.settle_ticket(id).await;
            }
            retry.again().await?;
        }
    }

    /// Gives each file of a list the lead of its ticket. Unreadable files are noted and skipped.
    async fn settle_files(&self, list: String, unreadable: &mut Unreadable) -> Result<(), StoreError> {
        let mut files = Pages::of(KeyRange::head(list, BATCH));
        while let Some(keys) = files.next_keys(&self.reader.table).await? {
            for name in keys.iter().filter_map(|key| self.keys().listed_file(key)) {
                let outcome = self.settle_file(&name).await;
                unreadable.note(&self.reader, &self.keys().file(&name), outcome)?;
            }
        }
        Ok(())
    }

    /// Gives a file the lead of its ticket. Repeats after conflicts.
    async fn settle_file(&self, name: &FileName) -> Result<(), StoreError> {
        let mut retry = self.reader.table.retry(Policy::CONFLICT, "moving a file");
        while let Some(transaction) = self.file_move(name).await? {
            if self.table.try_commit(transaction).await? {
                return Ok(());
            }
            retry.again().await?;
        }
        Ok(())
    }

    /// The writes that give a file the lead of its ticket; `None` if it has that lead, or file or ticket do not exist.
    async fn file_move(&self, name: &FileName) -> Result<Option<Transaction>, StoreError> {
        let keys = self.keys();
        let Some(file) = self.reader.table.get(&keys.file(name)).await? else {
            return Ok(None);
        };
        let stored = FileRecord::decode(file)?;
        let Some(ticket) = self.reader.table.get(&keys.ticket(stored.file.ticket)).await? else {
            return Ok(None);
        };
        let ticket_lead = TicketRecord::decode(ticket)?.ticket.lead_relation;
        let lead = match ticket_lead {
            // A lead that is being deleted gets no new links (C-24).
            Some(lead) => self.reader.table.get(&keys.lead(lead)).await?.map(|_| lead),
            None => None,
        };
        if stored.lead == lead {
            return Ok(None);
        }
        let file = stored.file.clone();
        let record = stored.next(FileState { file, lead });
        self.reader
            .put_file(Some(&stored), &record, ticket_lead)
            .map(Some)
    }
}
