//! The files of tickets. No endpoint writes them.

use shared::ids::{FileId, LeadId, TicketId};
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
    const FIELDS: &'static [Field] = &[
        field(Shape::Id, "ticket").needed().decided(Kind::Tickets),
        field(Shape::Id, "id"),
        field(Shape::Text, "store_path")
            .up_to(TicketFile::MAX_PATH)
            .note("needed without `id`"),
        field(Shape::Text, "type url mimetype store_url ext"),
    ];

    fn parse(fields: Fields) -> Result<TicketFile, String> {
        let file: TicketFile = read(Self::FIELDS, fields)?;
        if file.id.is_none() && file.store_path.is_none() {
            return Err("store_path: is missing".to_owned());
        }
        Ok(file)
    }

    fn identity(file: &TicketFile) -> u64 {
        match file.name() {
            FileName::Id(id) => digest(&id.to_string()),
            FileName::Path(ticket, path) => digest(&format!("{ticket} {path}")),
        }
    }

    fn export(file: &TicketFile) -> serde_json::Result<Fields> {
        Ok(file.sparse())
    }
}

impl StoredKind for Files {
    const STORAGE: Storage = Storage {
        unchanged: version,
        required_lead: |file| Ok(FileRecord::decode(file)?.lead),
        copy: Some(LEAD),
        removal: Some(Removal::Unlinked),
        ..Storage::of(
            ["file", "files"],
            |keys| vec![keys.files()],
            |keys, label| Some(keys.file(&named(label)?)),
            |keys, item| FileRecord::decode(item)?.derived_as_read(keys),
        )
    };
    const DECODE: fn(Item) -> Result<TicketFile, StoreError> =
        |item| FileState::decode(&item).map(|state| state.file);
    const STOPS_AT: Option<&'static str> = Some("ticket");
    const CHECK_READS_TABLE: bool = true;

    fn number(file: &TicketFile) -> u64 {
        file.ticket.get()
    }

    fn label(file: &TicketFile) -> String {
        match file.name() {
            FileName::Id(id) => id.to_string(),
            FileName::Path(ticket, path) => format!("{ticket}:{path}"),
        }
    }

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

/// The file with an id, or with a ticket and path as in `501:path`.
fn named(label: &str) -> Option<FileName> {
    if let Some(id) = FileId::parse(label) {
        return Some(FileName::Id(id));
    }
    let (ticket, path) = label.split_once(':')?;
    Some(FileName::Path(TicketId::parse(ticket)?, path.to_owned()))
}

/// A file has the lead of its ticket. While the lead of either is being erased, its mark excuses a difference, because
/// the ticket loses the lead first and files added later never get it. A change of the ticket's lead excuses nothing.
const LEAD: CopyRule = CopyRule {
    markers: |keys, record, ticket| {
        let leads = [FileRecord::decode(record)?.lead, lead_of(ticket)?];
        Ok(leads
            .into_iter()
            .flatten()
            .map(|lead| keys.tombstone(lead))
            .collect())
    },
    ..CopyRule::of(
        "ticket",
        |keys, record| Ok(Some(keys.ticket(FileRecord::decode(record)?.file.ticket))),
        |record, ticket| {
            let stored = FileRecord::decode(record)?;
            let lead = lead_of(ticket)?;
            if stored.lead == lead {
                return Ok(None);
            }
            let file = stored.file.clone();
            stored.next(FileState { file, lead }).encode().map(Some)
        },
    )
};

fn lead_of(ticket: Option<&Item>) -> Result<Option<LeadId>, StoreError> {
    let ticket = ticket.map(TicketRecord::decode).transpose()?;
    Ok(ticket.and_then(|ticket| ticket.ticket.lead_relation))
}
