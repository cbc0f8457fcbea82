//! Tickets and their files as an import writes them (C-81). No endpoint makes or changes them.

use std::collections::HashMap;

use super::batch::Step;
use super::{Operator, OperatorError, Outcome, dates};
use crate::store::error::StoreError;
use crate::store::item::Item;
use crate::store::key::{Counter, Key};
use crate::store::tickets::{self, FileRecord, TicketRecord};
use crate::store::transaction::Condition;
use crate::ticket::{Ticket, TicketFile};
use crate::time::Timestamp;

/// A ticket as an import brings it: the times of creation and change of the ticket itself count for nothing, because a line
/// may leave them out.
#[derive(Debug, Clone, PartialEq)]
pub struct TicketLine {
    /// Everything but the times of creation and change.
    pub ticket: Ticket,
    /// Where it is absent the stored ticket's stays, and a new one's is now.
    pub create_date: Option<Timestamp>,
    /// Where it is absent the stored ticket's stays, and a new one's is its time of creation.
    pub update_date: Option<Timestamp>,
}

impl From<Ticket> for TicketLine {
    fn from(ticket: Ticket) -> Self {
        Self {
            create_date: Some(ticket.create_date),
            update_date: Some(ticket.update_date),
            ticket,
        }
    }
}

impl TicketLine {
    /// The ticket as it is to be stored.
    fn onto(&self, stored: Option<&Ticket>, now: Timestamp) -> Ticket {
        let stored = stored.map(|stored| (stored.create_date, stored.update_date));
        let (create_date, update_date) = dates((self.create_date, self.update_date), stored, now);
        Ticket {
            create_date,
            update_date,
            ..self.ticket.clone()
        }
    }
}

impl Operator {
    /// Writes tickets and all that is derived from them, each replacing the ticket of its id. The files of one that comes
    /// to another lead come with it. One of a lead or an opportunity that does not exist is refused; the attendant is the
    /// caller's to check.
    ///
    /// # Errors
    /// [`OperatorError::Store`] where the table fails; what was written by then stays, and the same import goes on.
    pub async fn import_tickets(&self, lines: Vec<TicketLine>) -> Result<Vec<Outcome>, OperatorError> {
        let Some(last) = lines.iter().map(|line| line.ticket.id.get()).max() else {
            return Ok(Vec::new());
        };
        // Later tickets are numbered above imported ones (C-11).
        let counter = self.keys().counter(Counter::Ticket);
        self.table().raise(&counter, "ticket", last).await?;
        let keys = lines.iter().flat_map(|line| self.ticket_rests_on(line));
        let found = self.table().get_many(keys).await?;
        let steps = lines
            .iter()
            .map(|line| Step::decided(self.ticket_step(line, &found)));
        let steps = steps.collect::<Result<_, _>>()?;
        let again = async |at: usize| {
            let Some(line) = lines.get(at) else {
                return Ok(Step::Done(Outcome::Unchanged));
            };
            let found = self.table().get_many(self.ticket_rests_on(line)).await?;
            Ok(Step::decided(self.ticket_step(line, &found))?)
        };
        let outcomes = self.carry_out(steps, again).await?;
        self.settle_tickets(&lines).await?;
        Ok(outcomes)
    }

    /// Lets the files of tickets follow them where a mark says so. The marks are read behind the writes: a line that was
    /// decided anew may have set one, and an earlier import may have left one.
    async fn settle_tickets(&self, lines: &[TicketLine]) -> Result<(), StoreError> {
        let keys = lines.iter().map(|line| self.keys().ticket(line.ticket.id));
        for record in self.table().get_many(keys).await?.values() {
            let stored = tickets::decode(record)?;
            if stored.unsettled {
                self.0.settle_ticket(stored.ticket.id).await?;
            }
        }
        Ok(())
    }

    /// The records that decide about a line: the ticket of its id, and what it refers to.
    fn ticket_rests_on(&self, line: &TicketLine) -> impl Iterator<Item = Key> + use<> {
        let (keys, ticket) = (self.keys(), &line.ticket);
        let lead = ticket.lead_relation.map(|lead| keys.lead(lead));
        let opportunity = ticket
            .opportunity
            .map(|opportunity| keys.opportunity(opportunity));
        std::iter::once(keys.ticket(ticket.id))
            .chain(lead)
            .chain(opportunity)
    }

    fn ticket_step(&self, line: &TicketLine, found: &HashMap<Key, Item>) -> Result<Step, StoreError> {
        let keys = self.keys();
        let stored = found.get(&keys.ticket(line.ticket.id));
        let stored = stored.map(tickets::decode).transpose()?;
        let ticket = line.onto(stored.as_ref().map(|stored| &stored.ticket), self.now());
        let lead = ticket.lead_relation;
        if let Some(lead) = lead.filter(|lead| !found.contains_key(&keys.lead(*lead))) {
            return Ok(Step::refused(format!(
                "lead_relation: lead {lead} does not exist"
            )));
        }
        let opportunity = ticket.opportunity;
        if let Some(id) = opportunity.filter(|id| !found.contains_key(&keys.opportunity(*id))) {
            return Ok(Step::refused(format!(
                "opportunity: opportunity {id} does not exist"
            )));
        }
        if stored.as_ref().is_some_and(|stored| stored.ticket == ticket) {
            return Ok(Step::Done(Outcome::Unchanged));
        }
        let record = TicketRecord::onto(stored.as_ref(), ticket);
        let mut transaction = self.0.put_ticket(stored.as_ref(), &record);
        if let Some(lead) = lead {
            // C-24: what links a lead checks in its own transaction that it exists.
            transaction.check(keys.lead(lead), Condition::Present);
        }
        Ok(Step::Write(transaction))
    }

    /// Writes files and all that is derived from them, each replacing the file of its name. One of a ticket that does not
    /// exist is refused.
    ///
    /// # Errors
    /// [`OperatorError::Store`] where the table fails; what was written by then stays.
    pub async fn import_files(&self, files: Vec<TicketFile>) -> Result<Vec<Outcome>, OperatorError> {
        let found = self.files_rest_on(&files).await?;
        let steps = files
            .iter()
            .map(|file| Step::decided(self.file_step(file, &found)));
        let steps = steps.collect::<Result<_, _>>()?;
        let again = async |at: usize| {
            let Some(file) = files.get(at) else {
                return Ok(Step::Done(Outcome::Unchanged));
            };
            let found = self.files_rest_on(std::slice::from_ref(file)).await?;
            Ok(Step::decided(self.file_step(file, &found))?)
        };
        self.carry_out(steps, again).await
    }

    /// The records that decide about files: those of their names, their tickets, and the leads of those.
    async fn files_rest_on(&self, files: &[TicketFile]) -> Result<HashMap<Key, Item>, StoreError> {
        let keys = self.keys();
        let own = files
            .iter()
            .flat_map(|file| [keys.file(&file.name()), keys.ticket(file.ticket)]);
        let mut found = self.table().get_many(own).await?;
        let tickets = files
            .iter()
            .filter_map(|file| found.get(&keys.ticket(file.ticket)));
        let tickets = tickets.map(tickets::decode).collect::<Result<Vec<_>, _>>()?;
        let leads = tickets.iter().filter_map(|record| record.ticket.lead_relation);
        found.extend(self.table().get_many(leads.map(|lead| keys.lead(lead))).await?);
        Ok(found)
    }

    fn file_step(&self, file: &TicketFile, found: &HashMap<Key, Item>) -> Result<Step, StoreError> {
        let keys = self.keys();
        let Some(ticket) = found.get(&keys.ticket(file.ticket)) else {
            return Ok(Step::refused(format!(
                "ticket: ticket {} does not exist",
                file.ticket
            )));
        };
        let stored = found.get(&keys.file(&file.name()));
        let stored = stored.map(tickets::decode_file).transpose()?;
        let ticket_lead = tickets::decode(ticket)?.ticket.lead_relation;
        let record = FileRecord {
            file: file.clone(),
            // One that is being deleted gets no links any more (C-24).
            lead: ticket_lead.filter(|lead| found.contains_key(&keys.lead(*lead))),
            version: stored.as_ref().map_or(1, |stored| stored.version + 1),
            raw: stored
                .as_ref()
                .map(|stored| stored.raw.clone())
                .unwrap_or_default(),
        };
        let same = |stored: &FileRecord| stored.file == record.file && stored.lead == record.lead;
        if stored.as_ref().is_some_and(same) {
            return Ok(Step::Done(Outcome::Unchanged));
        }
        let transaction = self.0.put_file(stored.as_ref(), &record, ticket_lead);
        Ok(Step::Write(transaction))
    }
}
