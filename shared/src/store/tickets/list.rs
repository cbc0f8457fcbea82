//! Reads of endpoints 16 to 18: one list each, and the records that decide whether the caller may see it.

use super::files::read_file;
use super::pages::{Growth, ListRequest, PrefetchedTickets};
use super::{TicketRecord, read};
use crate::ids::{LeadId, TicketId};
use crate::lead::Lead;
use crate::store::leads::LeadRecord;
use crate::store::{InstanceStore, Reader};
use crate::ticket::{Ticket, TicketFile};
use crate::viewer::Viewer;
use table::StoreError;

/// The files of a ticket, with what was read of whose they are.
#[derive(Debug)]
pub struct TicketFiles {
    /// The beginning of the list of its files: those with an id by it, then the others by their path.
    pub start: PrefetchedTickets,
    record: TicketRecord,
    /// The lead that the ticket was likely to have; `None` inside where it does not exist.
    guessed: Option<(LeadId, Option<Lead>)>,
}

impl InstanceStore {
    /// A page of tickets that was begun. No call where the page was read whole, else one query for each MB of the rest; with
    /// a limit one put for the page cursor.
    ///
    /// # Errors
    /// [`StoreError`] where more must be read and cannot be.
    pub async fn finish_tickets(
        &self,
        viewer: &Viewer,
        request: &ListRequest,
        start: PrefetchedTickets,
    ) -> Result<Vec<Ticket>, StoreError> {
        let items = self.finish_list(viewer, request, start, Growth::Front).await?;
        let tickets = items.into_iter();
        let tickets = tickets.filter_map(|item| table::readable(item, |item| read(&item)));
        Ok(tickets.collect())
    }

    /// The same for files.
    ///
    /// # Errors
    /// [`StoreError`] where more must be read and cannot be.
    pub async fn finish_files(
        &self,
        viewer: &Viewer,
        request: &ListRequest,
        start: PrefetchedTickets,
    ) -> Result<Vec<TicketFile>, StoreError> {
        let items = self.finish_list(viewer, request, start, Growth::Anywhere).await?;
        let files = items.into_iter();
        let files = files.filter_map(|item| table::readable(item, |item| read_file(&item)));
        Ok(files.collect())
    }
}

impl Reader {
    /// Begins to read the tickets of a lead, the newest first (C-62). One query of at most 50, beside the page cursor of a
    /// later page.
    ///
    /// # Errors
    /// [`StoreError`] where they cannot be read.
    pub async fn begin_lead_tickets(
        &self,
        lead: LeadId,
        request: &ListRequest,
    ) -> Result<PrefetchedTickets, StoreError> {
        self.begin_list(self.keys().lead_tickets(lead), request).await
    }

    /// Begins to read the files of all tickets of a lead, by ticket, then as [`TicketFiles`] has them (C-62). The same
    /// calls.
    ///
    /// # Errors
    /// [`StoreError`] where they cannot be read.
    pub async fn begin_lead_files(
        &self,
        lead: LeadId,
        request: &ListRequest,
    ) -> Result<PrefetchedTickets, StoreError> {
        self.begin_list(self.keys().lead_files(lead), request).await
    }

    /// Begins to read the files of a ticket; `None` where there is no such ticket. A batch of gets, of the ticket and of its
    /// lead where this process knows it, beside the same calls.
    ///
    /// # Errors
    /// [`StoreError`] where they cannot be read.
    pub async fn begin_ticket_files(
        &self,
        ticket: TicketId,
        request: &ListRequest,
    ) -> Result<Option<TicketFiles>, StoreError> {
        let keys = self.keys();
        let guess = self.hints.ticket_leads.get(&(self.instance.clone(), ticket));
        let at = keys.ticket(ticket);
        let wanted = guess.map(|lead| keys.lead(lead));
        let records = self.table.get_many(wanted.into_iter().chain([at.clone()]));
        let files = self.begin_list(keys.ticket_files(ticket), request);
        let (mut records, start) = tokio::try_join!(records, files)?;
        let Some(record) = records.remove(&at).map(TicketRecord::decode).transpose()? else {
            return Ok(None);
        };
        let guessed = guess.map(|lead| {
            let found = records
                .remove(&keys.lead(lead))
                .map(LeadRecord::decode)
                .transpose()?;
            Ok::<_, StoreError>((lead, found.map(|record| record.value.lead)))
        });
        Ok(Some(TicketFiles {
            start,
            record,
            guessed: guessed.transpose()?,
        }))
    }

    /// The lead of a ticket whose files were read; `None` where it has none any more (C-24). No call where this process
    /// knew it, else one get.
    ///
    /// # Errors
    /// [`StoreError`] where it cannot be read.
    pub async fn lead_of_files(&self, found: &TicketFiles) -> Result<Option<Lead>, StoreError> {
        let ticket = &found.record.ticket;
        let Some(lead) = ticket.lead_relation else {
            return Ok(None);
        };
        match &found.guessed {
            Some((guess, found)) if *guess == lead => Ok(found.clone()),
            _ => {
                let known = (self.instance.clone(), ticket.id);
                self.hints.ticket_leads.put(known, lead);
                self.lead(lead).await
            }
        }
    }
}
