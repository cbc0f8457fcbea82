//! What endpoints 16 to 18 read: each one list, whole, and what decides whether the caller may see it.

use super::files::read_file;
use super::{TicketRecord, decode, read};
use crate::id::{LeadId, TicketId};
use crate::lead::Lead;
use crate::store::error::StoreError;
use crate::store::table::{PAGE, Span};
use crate::store::{Reader, leads};
use crate::ticket::{Ticket, TicketFile};

/// The files of a ticket, with what was read of whose they are.
#[derive(Debug)]
pub struct TicketFiles {
    /// The files: those with an id by it, then the others by their path.
    pub files: Vec<TicketFile>,
    record: TicketRecord,
    /// The lead that the ticket was likely to have; `None` inside where it does not exist.
    guessed: Option<(LeadId, Option<Lead>)>,
}

impl Reader {
    /// The tickets of a lead, the newest first (C-62). One query for each MB of them.
    ///
    /// # Errors
    /// [`StoreError`] where they cannot be read.
    pub async fn lead_tickets(&self, lead: LeadId) -> Result<Vec<Ticket>, StoreError> {
        let span = Span::head(self.keys().lead_tickets(lead), PAGE);
        let items = self.table.query_all(span).await?;
        items.iter().map(read).collect()
    }

    /// The files of all tickets of a lead, by ticket, then as [`TicketFiles`] has them (C-62). One query for each MB of
    /// them.
    ///
    /// # Errors
    /// [`StoreError`] where they cannot be read.
    pub async fn lead_files(&self, lead: LeadId) -> Result<Vec<TicketFile>, StoreError> {
        let span = Span::head(self.keys().lead_files(lead), PAGE);
        let items = self.table.query_all(span).await?;
        items.iter().map(read_file).collect()
    }

    /// The files of a ticket; `None` where there is no such ticket. A batch of gets, of the ticket and of its lead where
    /// this process knows it, beside one query for each MB of the files.
    ///
    /// # Errors
    /// [`StoreError`] where they cannot be read.
    pub async fn ticket_files(&self, ticket: TicketId) -> Result<Option<TicketFiles>, StoreError> {
        let keys = self.keys();
        let guess = self.guesses.ticket_lead(&self.instance, ticket);
        let at = keys.ticket(ticket);
        let wanted = guess.map(|lead| keys.lead(lead));
        let records = self.table.get_many(wanted.into_iter().chain([at.clone()]));
        let files = self.table.query_all(Span::head(keys.ticket_files(ticket), PAGE));
        let (mut records, files) = tokio::try_join!(records, files)?;
        let Some(record) = records.get(&at).map(decode).transpose()? else {
            return Ok(None);
        };
        let guessed = guess.map(|lead| {
            let found = records.remove(&keys.lead(lead)).map(leads::decode).transpose()?;
            Ok::<_, StoreError>((lead, found.map(|record| record.lead)))
        });
        Ok(Some(TicketFiles {
            files: files.iter().map(read_file).collect::<Result<_, _>>()?,
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
                self.guesses.learn_ticket_lead(&self.instance, ticket.id, lead);
                self.lead(lead).await
            }
        }
    }
}
