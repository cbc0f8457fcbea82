//! The files of tickets. No endpoint writes them.

use shared::store::unscoped::entity::Entity as _;
use shared::store::unscoped::tickets::{FileRecord, FileState, TicketRecord};
use shared::ticket::{FileName, TicketFile};

use super::prelude::*;

/// The files of tickets, each with an id or a path of its own.
#[derive(Debug)]
pub struct Files;

impl RecordKind for Files {
    type Record = TicketFile;
    type Line = TicketFile;
    const KIND: Kind = Kind::Files;

    fn parse(fields: Fields) -> Result<TicketFile, String> {
        let file: TicketFile = line::read(fields)?;
        if file.id.is_none() && file.store_path.is_none() {
            return Err("store_path: is missing".to_owned());
        }
        within("store_path", file.store_path.as_deref(), TicketFile::MAX_PATH)?;
        Ok(file)
    }

    fn field_names() -> &'static [&'static str] {
        faults::names_of::<TicketFile>()
    }

    fn identity(file: &TicketFile) -> u64 {
        match file.name() {
            FileName::Id(id) => digest(&id.to_string()),
            FileName::Path(ticket, path) => digest(&format!("{ticket} {path}")),
        }
    }

    fn links(file: &TicketFile, to: &mut References) {
        to.add("ticket", Referent::Ticket, [file.ticket]);
    }

    fn export(file: &TicketFile) -> serde_json::Result<Fields> {
        Ok(file.sparse())
    }
}

impl ImportKind for Files {
    const CHECK_READS_TABLE: bool = true;

    async fn write(operator: &Operator, lines: &[&TicketFile], mode: Mode) -> Written {
        operator.write_each::<Self>(lines, mode).await
    }
}

impl Decide for Files {
    fn reads(keys: Keys<'_>, file: &TicketFile, _mode: Mode) -> Vec<Key> {
        vec![keys.file(&file.name()), keys.ticket(file.ticket)]
    }

    /// The lead of the file's ticket.
    fn follow(keys: Keys<'_>, file: &TicketFile, found: &FoundItems) -> Result<Vec<Key>, StoreError> {
        let ticket = found.get(&keys.ticket(file.ticket)).map(TicketRecord::decode);
        let lead = ticket.transpose()?.and_then(|record| record.ticket.lead_relation);
        Ok(lead.map(|lead| keys.lead(lead)).into_iter().collect())
    }

    fn decide(operator: &Operator, file: &TicketFile, found: &FoundItems, _mode: Mode) -> Decision {
        let keys = operator.keys();
        let ticket = found.need(&keys.ticket(file.ticket), "ticket", Kind::Tickets, file.ticket)?;
        let stored = found.get(&keys.file(&file.name()));
        let stored = stored.map(FileRecord::decode).transpose()?;
        let ticket_lead = TicketRecord::decode(ticket)?.ticket.lead_relation;
        let state = FileState {
            file: file.clone(),
            // A lead that is being deleted gets no new links (C-24).
            lead: ticket_lead.filter(|lead| found.has(&keys.lead(*lead))),
        };
        if stored.as_ref().is_some_and(|stored| stored.value == state) {
            return Err(Skip::Unchanged);
        }
        let record = FileRecord::imported(stored.as_ref(), state);
        Ok(operator
            .reader()
            .put_file(stored.as_ref(), &record, ticket_lead)?)
    }
}

impl ExportKind for Files {
    const STOPS_AT: Option<&'static str> = Some("ticket");

    fn partitions(keys: Keys<'_>) -> Vec<String> {
        vec![keys.files()]
    }

    fn decode(item: Item) -> Result<TicketFile, StoreError> {
        FileState::decode(&item).map(|state| state.file)
    }

    fn number(file: &TicketFile) -> u64 {
        file.ticket.get()
    }

    fn label(file: &TicketFile) -> String {
        match file.name() {
            FileName::Id(id) => id.to_string(),
            FileName::Path(ticket, path) => format!("{ticket}:{path}"),
        }
    }
}
