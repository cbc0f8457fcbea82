//! Reads of endpoints 16 to 18: one list each, and the records that determine whether the caller may see it.

use std::collections::BTreeSet;

use super::files::read_file;
use super::{TicketHint, TicketRecord, read};
use crate::ids::{LeadId, TicketId};
use crate::lead::Lead;
use crate::store::Reader;
use crate::store::key::{Key, Keys};
use crate::store::leads::LeadRecord;
use crate::store::lists::{List, ListRequest, Listed};
use crate::ticket::{Ticket, TicketFile};
use table::item::Item;
use table::{StoreError, key_of};

/// The files of a ticket, with prefetched reads of its lead.
#[derive(Debug)]
pub struct TicketFiles {
    /// The start of the list of its files.
    pub start: List<TicketFile>,
    record: TicketRecord,
    /// The ticket's lead according to the hint; the inner `None` if that lead does not exist.
    expected_lead: Option<(LeadId, Option<Lead>)>,
}

/// The tickets of a lead, newest first (C-62).
impl Listed for Ticket {
    type Of = LeadId;
    const NEWEST_FIRST: bool = true;

    fn partition(keys: Keys<'_>, lead: LeadId) -> String {
        keys.lead_tickets(lead)
    }

    fn read(item: Item) -> Result<Self, StoreError> {
        read(&item)
    }
}

/// The owner of a list of files.
#[derive(Debug, Clone, Copy)]
pub enum FilesOf {
    /// The files of all tickets of a lead, by ticket, then in the order of a ticket's files (C-62).
    Lead(LeadId),
    /// The files of a ticket: those with an id by id, then the others by path.
    Ticket(TicketId),
}

impl Listed for TicketFile {
    type Of = FilesOf;

    fn partition(keys: Keys<'_>, of: FilesOf) -> String {
        match of {
            FilesOf::Lead(lead) => keys.lead_files(lead),
            FilesOf::Ticket(ticket) => keys.ticket_files(ticket),
        }
    }

    fn read(item: Item) -> Result<Self, StoreError> {
        read_file(&item)
    }
}

impl Reader {
    /// Prefetches the files of a ticket; `None` if the ticket does not exist. Also reads the lead
    /// that the ticket had when this process last read it, because the lead decides who sees the files
    /// ([`lead_of_files`](Self::lead_of_files) reads another lead after a wrong guess). One batch of gets, in parallel
    /// with the query of the files and, for a later page, the get of its cursor.
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be read.
    pub async fn begin_ticket_files(
        &self,
        ticket: TicketId,
        request: &ListRequest,
    ) -> Result<Option<TicketFiles>, StoreError> {
        let keys = self.keys();
        let hint = self.hints.tickets.get(&(self.instance.clone(), ticket));
        let ticket_key = keys.ticket(ticket);
        let expected_id = hint.and_then(|hint| hint.lead);
        let lead_key = expected_id.map(|lead| keys.lead(lead));
        let records = self
            .table
            .get_many(lead_key.into_iter().chain([ticket_key.clone()]));
        let files = self.begin_list(FilesOf::Ticket(ticket), request);
        let (mut records, start) = tokio::try_join!(records, files)?;
        let Some(record) = records
            .remove(&ticket_key)
            .map(TicketRecord::decode)
            .transpose()?
        else {
            return Ok(None);
        };
        let mut expected_lead = None;
        if let Some(id) = expected_id {
            let found = records.remove(&keys.lead(id)).map(LeadRecord::decode);
            expected_lead = Some((id, found.transpose()?.map(|record| record.value.lead)));
        }
        Ok(Some(TicketFiles {
            start,
            record,
            expected_lead,
        }))
    }

    /// The lead of a ticket; `None` if the ticket has none or the lead was deleted (C-24). No call if the hint had the
    /// lead, else one get.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be read.
    pub async fn lead_of_files(&self, found: &TicketFiles) -> Result<Option<Lead>, StoreError> {
        let ticket = &found.record.ticket;
        let Some(id) = ticket.lead_relation else {
            return Ok(None);
        };
        match &found.expected_lead {
            Some((expected_id, lead)) if *expected_id == id => Ok(lead.clone()),
            _ => self.partial_lead(id).await,
        }
    }

    /// Remembers a ticket, and the files that were prefetched, for later requests to this process.
    pub fn remember_ticket(&self, found: &TicketFiles) {
        let files = found.start.early().map(|file| self.keys().file(&file.name()));
        let record = &found.record;
        let cache_key = (self.instance.clone(), record.ticket.id);
        self.hints
            .tickets
            .put(cache_key, TicketHint::of(record, files.collect()));
    }

    /// The keys of the records of listed files.
    pub(super) fn listed_records(&self, entries: &[Item]) -> Result<BTreeSet<Key>, StoreError> {
        let keys = entries.iter().map(key_of).collect::<Result<Vec<_>, _>>()?;
        let names = keys.iter().filter_map(|key| self.keys().listed_file(key));
        Ok(names.map(|name| self.keys().file(&name)).collect())
    }
}
