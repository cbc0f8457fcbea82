//! Tickets and their files as the doctor sees them.

use super::copies;
use super::kind::{Kind, Number, Origin};
use crate::store::error::StoreError;
use crate::store::item::{self, Item};
use crate::store::key::{self, Counter};
use crate::store::tickets;
use crate::store::transaction::Condition;

const TICKET: Number = (Counter::Ticket, "ticket");

pub const TICKETS: Kind = Kind {
    name: "ticket",
    plural: "tickets",
    records: |keys| keys.tickets(),
    derived: |keys, item| Ok(tickets::derived(keys, &tickets::decode(&item)?)),
    flaw: |_| Ok(None),
    unchanged: version,
    needs: |keys, item| {
        let lead = tickets::decode(item)?.ticket.lead_relation;
        Ok(lead.map(|lead| keys.lead(lead)))
    },
    agree: item::contains,
    origin: |keys, key, _| match keys.origin(key) {
        key::Origin::Ticket(Some(id)) => Origin::Record(keys.ticket(id)),
        key::Origin::Ticket(None) => Origin::Nobody,
        _ => Origin::Elsewhere,
    },
    copies: None,
    place: |_| Ok(None),
    number: TICKET,
    numbers: |item| Ok(vec![(TICKET, item::number("ticket", item, "id")?)]),
};

pub const FILES: Kind = Kind {
    name: "file",
    plural: "files",
    records: |keys| keys.files(),
    derived: |keys, item| Ok(tickets::derived_of_file(keys, &tickets::decode_file(&item)?)),
    flaw: |_| Ok(None),
    unchanged: version,
    needs: |keys, item| {
        let lead = tickets::decode_file(item)?.lead;
        Ok(lead.map(|lead| keys.lead(lead)))
    },
    agree: item::contains,
    origin: |keys, key, _| match keys.origin(key) {
        key::Origin::File => {
            let name = keys.listed_file(key);
            name.map_or(Origin::Nobody, |name| Origin::Record(keys.file(&name)))
        }
        _ => Origin::Elsewhere,
    },
    copies: Some(&copies::TICKETS),
    place: |_| Ok(None),
    // Of files nothing is counted, and none is ever made here: their ids are the former system's.
    number: TICKET,
    numbers: |_| Ok(Vec::new()),
};

fn version(item: &Item) -> Result<Condition, StoreError> {
    Ok(Condition::Version(item::number("record", item, "v")?))
}
