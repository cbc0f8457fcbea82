//! The keys of tickets and their files.

use super::{Key, Keys, place, placed};
use crate::ids::{FileId, LeadId, TicketId};
use crate::ticket::FileName;
use crate::time::Timestamp;

impl Keys<'_> {
    /// All tickets' records by id.
    pub fn tickets(self) -> String {
        self.pk("ticket")
    }

    /// A ticket's record.
    pub fn ticket(self, id: TicketId) -> Key {
        Key::new(self.tickets(), id.padded())
    }

    /// The tickets of a lead, the newest first (C-62).
    pub fn lead_tickets(self, lead: LeadId) -> String {
        self.pk(&format!("lead-ticket#{lead}"))
    }

    /// The entry of a ticket in its lead's list.
    pub fn lead_ticket(self, lead: LeadId, create_date: Timestamp, id: TicketId) -> Key {
        Key::new(self.lead_tickets(lead), place(create_date, id))
    }

    /// All files' records: files with an id by id, then the others by ticket and path.
    pub fn files(self) -> String {
        self.pk("file")
    }

    /// A file's record.
    pub fn file(self, name: &FileName) -> Key {
        let sk = match name {
            FileName::Id(_) => within_ticket(name),
            FileName::Path(ticket, path) => format!("path#{}#{path}", ticket.padded()),
        };
        Key::new(self.files(), sk)
    }

    /// The files of a ticket.
    pub fn ticket_files(self, ticket: TicketId) -> String {
        self.pk(&format!("ticket-file#{ticket}"))
    }

    /// The entry of a file in its ticket's list.
    pub fn ticket_file(self, ticket: TicketId, name: &FileName) -> Key {
        Key::new(self.ticket_files(ticket), within_ticket(name))
    }

    /// The files of a lead's tickets, by ticket (C-62).
    pub fn lead_files(self, lead: LeadId) -> String {
        self.pk(&format!("lead-file#{lead}"))
    }

    /// The entry of a file in the list of its ticket's lead.
    pub fn lead_file(self, lead: LeadId, ticket: TicketId, name: &FileName) -> Key {
        let sk = format!("{}#{}", ticket.padded(), within_ticket(name));
        Key::new(self.lead_files(lead), sk)
    }

    /// The file of an entry in a ticket's or a lead's list. `None` if no such key is ever written.
    pub fn listed_file(self, key: &Key) -> Option<FileName> {
        let list = key.pk.strip_prefix(&self.prefix())?;
        match list.split_once('#')? {
            ("ticket-file", ticket) => named(TicketId::parse(ticket)?, &key.sk),
            ("lead-file", _) => {
                let (ticket, name) = key.sk.split_once('#')?;
                named(TicketId::new(ticket.parse().ok()?)?, name)
            }
            _ => None,
        }
    }
}

/// The ticket in the sort key of a lead's list entry.
pub fn placed_ticket(place: &str) -> Option<TicketId> {
    placed(place).and_then(TicketId::new)
}

/// The sort key of a file in its ticket's list. Files with an id sort first. A path is free text, so it is the last
/// part of a key.
fn within_ticket(name: &FileName) -> String {
    match name {
        FileName::Id(id) => format!("id#{}", id.padded()),
        FileName::Path(_, path) => format!("path#{path}"),
    }
}

/// The file with this sort key in its ticket's list.
fn named(ticket: TicketId, place: &str) -> Option<FileName> {
    match place.split_once('#')? {
        ("id", id) => FileId::new(id.parse().ok()?).map(FileName::Id),
        ("path", path) => Some(FileName::Path(ticket, path.to_owned())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instance::InstanceName;
    use crate::store::key::{Counter, Origin};

    fn acme() -> InstanceName {
        InstanceName::parse("acme").unwrap()
    }

    fn lead() -> LeadId {
        LeadId::new(1001).unwrap()
    }

    fn ticket() -> TicketId {
        TicketId::new(501).unwrap()
    }

    fn id() -> FileName {
        FileName::Id(FileId::new(7).unwrap())
    }

    /// A file of ticket 501 without an id.
    fn path(path: &str) -> FileName {
        FileName::Path(ticket(), path.to_owned())
    }

    fn listed(keys: Keys<'_>) -> Key {
        let date = Timestamp::parse("2026-05-01T10:00:00Z").unwrap();
        keys.lead_ticket(lead(), date, ticket())
    }

    /// The keys of stored items must never change unnoticed.
    #[test]
    fn the_text_of_keys() {
        let acme = acme();
        let keys = Keys::of(&acme);
        let in_lead = keys.lead_file(lead(), ticket(), &path("a"));
        for (key, pk, sk) in [
            (keys.ticket(ticket()), "acme#ticket", "000000000000501"),
            (
                listed(keys),
                "acme#lead-ticket#1001",
                "251624671199999#999999999999498",
            ),
            (keys.file(&id()), "acme#file", "id#000000000000007"),
            (
                keys.file(&path("s/1#0")),
                "acme#file",
                "path#000000000000501#s/1#0",
            ),
            (
                keys.ticket_file(ticket(), &id()),
                "acme#ticket-file#501",
                "id#000000000000007",
            ),
            (
                keys.ticket_file(ticket(), &path("")),
                "acme#ticket-file#501",
                "path#",
            ),
            (in_lead, "acme#lead-file#1001", "000000000000501#path#a"),
            (keys.counter(Counter::Ticket), "acme#counter", "ticket"),
        ] {
            assert_eq!((key.pk.as_str(), key.sk.as_str()), (pk, sk));
        }
    }

    #[test]
    fn the_origin_of_items() {
        let acme = acme();
        let keys = Keys::of(&acme);
        for (key, origin) in [
            (listed(keys), Origin::Ticket(Some(ticket()))),
            (Key::new(keys.lead_tickets(lead()), "odd"), Origin::Ticket(None)),
            (keys.ticket_file(ticket(), &path("a")), Origin::File),
            (keys.lead_file(lead(), ticket(), &path("a")), Origin::File),
            (keys.ticket(ticket()), Origin::None),
            (keys.file(&path("a")), Origin::None),
        ] {
            assert_eq!(keys.origin(&key), origin, "{key}");
        }
    }

    /// The file of a list entry is parsed back from any path.
    #[test]
    fn listed_files() {
        let acme = acme();
        let keys = Keys::of(&acme);
        let longest = "\u{1f600}".repeat(crate::ticket::TicketFile::MAX_PATH);
        let paths = ["s/10", "", "#", "id#5", "a#b#", "~", &longest].map(path);
        for name in paths.into_iter().chain([id()]) {
            assert!(keys.file(&name).sk.len() <= 1024);
            for key in [
                keys.ticket_file(ticket(), &name),
                keys.lead_file(lead(), ticket(), &name),
            ] {
                assert!(key.sk.len() <= 1024);
                assert_eq!(keys.listed_file(&key), Some(name.clone()), "{key}");
            }
        }
        for (list, place) in [
            ("ticket-file#501", "odd"),
            ("ticket-file#501", "id#x"),
            ("ticket-file#0", "path#a"),
            ("lead-file#1", "path#a"),
            ("lead-file#1", "000000000000501"),
            ("file", "path#000000000000501#a"),
        ] {
            let key = Key::new(keys.pk(list), place);
            assert_eq!(keys.listed_file(&key), None, "{key}");
        }
    }
}
