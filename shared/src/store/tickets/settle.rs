//! Moving files behind their tickets: to the lead that a ticket got, and off the list of a lead that was deleted.
//!
//! A ticket may have more files than one transaction takes, so it is written first, and each file after it for itself.
//! Doing it again does no harm, so what a crash leaves undone is finished by doing it again: an import finds the mark in the
//! ticket's record, and a deletion what is left in the lists of the lead.

use super::files::decode_file;
use super::{FileRecord, TicketRecord, decode};
use crate::id::{LeadId, TicketId};
use crate::store::Reader;
use crate::store::error::StoreError;
use crate::store::key;
use crate::store::links::Links;
use crate::store::quarantine::Unreadable;
use crate::store::transaction::{CommitError, Transaction};
use crate::store::unknown::Raw;
use crate::ticket::FileName;

/// How often a record is written anew because others changed it meanwhile.
const ATTEMPTS: u32 = 12;
/// The longest pause between two, in steps of [`Table::pause`](crate::store::table::Table::pause).
const LONGEST_PAUSE: u32 = 3;

impl Reader {
    /// Gives the files of a ticket its lead, and takes the mark off its record that they may have another.
    pub(in crate::store) async fn settle_ticket(&self, id: TicketId) -> Result<(), StoreError> {
        for attempt in 0..ATTEMPTS {
            let Some(stored) = self.ticket(id).await?.filter(|stored| stored.unsettled) else {
                return Ok(());
            };
            let mut unreadable = Unreadable::default();
            self.settle_files(self.keys().ticket_files(id), &mut unreadable)
                .await?;
            unreadable.result()?;
            let settled = TicketRecord {
                version: stored.version + 1,
                unsettled: false,
                ..stored.clone()
            };
            let transaction = self.put_ticket(Some(&stored), &settled);
            if self.happens(transaction, attempt).await? {
                return Ok(());
            }
        }
        Err(StoreError::Contention("moving the files of a ticket"))
    }

    /// Takes a deleted lead, and all that is the person's, out of its tickets (C-24), and their files off its list; they
    /// stay with their tickets. Doing it again does no harm.
    pub(in crate::store) async fn erase_tickets(
        &self,
        lead: LeadId,
        unreadable: &mut Unreadable,
    ) -> Result<(), StoreError> {
        let mut tickets = Links::of(self.keys().lead_tickets(lead));
        while let Some(keys) = tickets.next(self).await? {
            for ticket in keys.iter().filter_map(|key| key::placed_ticket(&key.sk)) {
                let outcome = self.unlink_ticket(ticket, lead).await;
                unreadable.note(self, &self.keys().ticket(ticket), outcome)?;
            }
        }
        // Behind the tickets: from now on nothing new can come into this list.
        self.settle_files(self.keys().lead_files(lead), unreadable).await
    }

    async fn unlink_ticket(&self, id: TicketId, lead: LeadId) -> Result<(), StoreError> {
        for attempt in 0..ATTEMPTS {
            let stored = self.ticket(id).await?;
            let Some(stored) = stored.filter(|stored| stored.ticket.lead_relation == Some(lead)) else {
                return Ok(());
            };
            // Its files are found through the lead's own list, so this needs no mark.
            let erased = TicketRecord {
                ticket: stored.ticket.clone().without_lead(),
                version: stored.version + 1,
                // What this build does not know may tell of the person.
                raw: Raw::default(),
                ..stored.clone()
            };
            let transaction = self.put_ticket(Some(&stored), &erased);
            if self.happens(transaction, attempt).await? {
                return self.settle_ticket(id).await;
            }
        }
        Err(StoreError::Contention("erasing a lead"))
    }

    /// Gives all files of a list the lead that their ticket has.
    async fn settle_files(&self, list: String, unreadable: &mut Unreadable) -> Result<(), StoreError> {
        let mut files = Links::of(list);
        while let Some(keys) = files.next(self).await? {
            for name in keys.iter().filter_map(|key| self.keys().listed_file(key)) {
                let outcome = self.settle_file(&name).await;
                unreadable.note(self, &self.keys().file(&name), outcome)?;
            }
        }
        Ok(())
    }

    async fn settle_file(&self, name: &FileName) -> Result<(), StoreError> {
        for attempt in 0..ATTEMPTS {
            let Some(transaction) = self.file_move(name).await? else {
                return Ok(());
            };
            if self.happens(transaction, attempt).await? {
                return Ok(());
            }
        }
        Err(StoreError::Contention("moving a file"))
    }

    /// What gives a file the lead of its ticket; `None` where it has it.
    async fn file_move(&self, name: &FileName) -> Result<Option<Transaction>, StoreError> {
        let keys = self.keys();
        let Some(file) = self.table.get(&keys.file(name)).await? else {
            return Ok(None);
        };
        let stored = decode_file(&file)?;
        let Some(ticket) = self.table.get(&keys.ticket(stored.file.ticket)).await? else {
            return Ok(None);
        };
        let ticket_lead = decode(&ticket)?.ticket.lead_relation;
        let lead = match ticket_lead {
            // One that is being deleted gets no links any more (C-24).
            Some(lead) => self.table.get(&keys.lead(lead)).await?.map(|_| lead),
            None => None,
        };
        if stored.lead == lead {
            return Ok(None);
        }
        let record = FileRecord {
            lead,
            version: stored.version + 1,
            ..stored.clone()
        };
        Ok(Some(self.put_file(Some(&stored), &record, ticket_lead)))
    }

    /// Carries a transaction out; `false`, after a pause, where others changed what it rests on.
    async fn happens(&self, transaction: Transaction, attempt: u32) -> Result<bool, StoreError> {
        match self.table.commit(transaction).await {
            Ok(()) => Ok(true),
            Err(CommitError::Store(error)) => Err(error),
            Err(CommitError::Refused(_)) => {
                self.table.pause(attempt.min(LONGEST_PAUSE)).await;
                Ok(false)
            }
        }
    }
}
