//! Tickets. No endpoint creates them. One endpoint moves them to another lead.

use serde_json::Value;
use shared::ids::TicketId;
use shared::store::unscoped::entity::Entity as _;
use shared::store::unscoped::erasure::PendingErasures;
use shared::store::unscoped::tickets::{TicketRecord, TicketState};
use shared::ticket::Ticket;
use shared::time::Timestamp;

use super::prelude::*;

/// The fields that responses derive from times, in Unix seconds, each with its time (C-62).
const DERIVED: [(&str, &str); 3] = [
    ("createDateUnix", "createDate"),
    ("updateDateUnix", "updateDate"),
    ("lastMesssageUserUnix", "lastMesssageUser"),
];

/// The tickets.
#[derive(Debug)]
pub struct Tickets;

impl RecordKind for Tickets {
    type Record = Ticket;
    type Line = Dated<Ticket>;
    const KIND: Kind = Kind::Tickets;
    const FIELDS: &'static [Field] = &[
        ID,
        field(Shape::Id, "attendant").refers(Kind::Users),
        field(Shape::Id, "lead_relation").decided(Kind::Leads),
        field(Shape::Id, "opportunity").decided(Kind::Opportunities),
        field(Shape::Person, "name lead_name name_contact recipientid"),
        field(
            Shape::Text,
            "attendantName userAttendance userClient department type accid photo photo_larger photo_store",
        ),
        field(
            Shape::Text,
            "obs post_id page_id comment_id comment_txt chatapp_acc chatapp_number chatapp_oficial",
        ),
        field(
            Shape::Scalar,
            "status star evaluation chatGroup isGroup pin archive",
        ),
        field(Shape::Integer, "unread sequence").or("0"),
        field(
            Shape::Time,
            "startDate endDate lastMesssageUser lastMesssageAttendance createDate updateDate",
        ),
    ];

    fn parse(mut fields: Fields) -> Result<Self::Line, String> {
        for (derived, time) in DERIVED {
            let value = fields.shift_remove(derived).filter(|value| !value.is_null());
            if let Some(value) = value {
                check_derived(&value, derived, fields.get(time), time)?;
            }
        }
        Dated::read::<Self>(fields)
    }

    fn identity(ticket: &Ticket) -> u64 {
        ticket.id.get()
    }

    fn export(ticket: &Ticket) -> serde_json::Result<Fields> {
        Ok(ticket.sparse())
    }
}

/// Requires that the field `derived`, which is not stored, has the Unix seconds of the field `time`.
fn check_derived(seconds: &Value, derived: &str, date: Option<&Value>, time: &str) -> Result<(), String> {
    let date = date.and_then(Value::as_str).and_then(Timestamp::parse);
    if date.is_some_and(|date| seconds.as_i64() == Some(date.unix_seconds())) {
        return Ok(());
    }
    Err(format!("{derived}: must be the Unix seconds of {time}"))
}

impl StoredKind for Tickets {
    const STORAGE: Storage = Storage {
        sequence: Some((Counter::Ticket, "ticket")),
        unchanged: version,
        required_lead: |ticket| Ok(TicketRecord::decode(ticket)?.ticket.lead_relation),
        removal: Some(Removal::Linked),
        ..Storage::of(
            ["ticket", "tickets"],
            |keys| vec![keys.tickets()],
            |keys, id| Some(keys.ticket(TicketId::parse(id)?)),
            |keys, item| TicketRecord::decode(item)?.derived_as_read(keys),
        )
    };
    const DECODE: fn(Item) -> Result<Ticket, StoreError> =
        |item| TicketState::decode(&item).map(|state| state.ticket);
    const STOPS_AT: Option<&'static str> = Some("ticket");
    const WITHOUT: Option<fn(Ticket, &PendingErasures) -> Ticket> =
        Some(|ticket, erasures| erasures.ticket(ticket));
    const CHECK_READS_TABLE: bool = true;

    /// If a ticket moves to another lead, its files move too.
    async fn write(operator: &Operator, lines: &[&Self::Line], mode: Mode) -> Written {
        let outcomes = operator.write_each::<Self>(lines, mode).await?;
        if !mode.is_check_only {
            operator.settle_tickets(lines).await?;
        }
        Ok(outcomes)
    }
}

impl Operator {
    /// Moves the files of tickets that are marked for it. The marks are read after the writes, because a repeated
    /// decision may have set one, and an earlier import may have left one.
    async fn settle_tickets(&self, lines: &[&Dated<Ticket>]) -> Result<(), StoreError> {
        let keys = lines.iter().map(|line| self.keys().ticket(line.record.id));
        for record in self.reads().get_many(keys).await?.values() {
            let stored = TicketRecord::decode(record)?;
            if stored.unsettled {
                self.writer.settle_ticket(stored.ticket.id).await?;
            }
        }
        Ok(())
    }
}

impl Decide for Tickets {
    fn reads(keys: Keys<'_>, ticket: &Ticket, _mode: Mode) -> Vec<Key> {
        let mut reads = vec![keys.ticket(ticket.id)];
        reads.extend(ticket.lead_relation.map(|lead| keys.lead(lead)));
        reads.extend(ticket.opportunity.map(|id| keys.opportunity(id)));
        reads
    }

    fn decide(operator: &Operator, line: &Self::Line, found: &FoundItems, mode: Mode) -> Decision {
        let keys = operator.keys();
        let stored = found.get(&keys.ticket(line.record.id));
        let stored = stored.map(TicketRecord::decode).transpose()?;
        let ticket = line.onto(stored.as_ref().map(|stored| &stored.ticket), operator.now());
        let lead = ticket.lead_relation;
        if let Some(id) = lead {
            found.need(&keys.lead(id), "lead_relation", Kind::Leads, id)?;
        }
        if let Some(id) = ticket.opportunity {
            let key = keys.opportunity(id);
            found.need(&key, "opportunity", Kind::Opportunities, id)?;
        }
        if let Some(stored) = &stored {
            if stored.ticket == ticket {
                return Err(Skip::Unchanged);
            }
            same_record(stored.made, line.create_date, stored.ticket.create_date)?;
            replaceable(Kind::Tickets, ticket.id, stored.edited, mode)?;
        }
        let record = TicketRecord::onto(stored.as_ref(), ticket);
        let mut transaction = record.put(keys, stored.as_ref())?;
        if let Some(lead) = lead {
            // A transaction that links a lead checks that it exists (C-24).
            transaction.check(keys.lead(lead), Condition::Present);
        }
        Ok(transaction)
    }
}
