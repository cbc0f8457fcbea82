//! Records and their derived items.

use serde_json::{Value, json};

use super::files::FileRecord;
use super::*;
use crate::instance::InstanceName;
use crate::ticket::TicketFile;

fn acme() -> InstanceName {
    InstanceName::parse("acme").unwrap()
}

fn lead(id: u64) -> LeadId {
    LeadId::new(id).unwrap()
}

fn ticket(rest: &Value) -> Ticket {
    let mut line = json!({
        "id": 501, "createDate": "2026-05-01T10:00:00.000Z", "updateDate": "2026-05-01T10:40:00.000Z",
    });
    for (name, value) in rest.as_object().unwrap() {
        line[name] = value.clone();
    }
    serde_json::from_value(line).unwrap()
}

fn file(line: Value, lead: Option<LeadId>) -> FileRecord {
    let file: TicketFile = serde_json::from_value(line).unwrap();
    FileRecord {
        version: 3,
        ..Stored::new(FileState { file, lead })
    }
}

/// The keys of the derived items, and the one text that all of them contain.
fn listed(derived: &Derived, name: &str) -> (Vec<(String, String)>, Vec<String>) {
    assert!(derived.totals.is_empty());
    let keys = derived.items.keys().map(|key| (key.pk.clone(), key.sk.clone()));
    let text = |item: &Item| {
        assert_eq!(item.len(), 1);
        item[name].as_s().unwrap().clone()
    };
    let mut texts: Vec<_> = derived.items.values().map(text).collect();
    texts.dedup();
    (keys.collect(), texts)
}

fn at(list: &str, place: &str) -> (String, String) {
    (list.to_owned(), place.to_owned())
}

/// The second write starts from a version that was never read, so its entry differs from the entry of the item that was
/// read.
#[test]
fn a_change_that_is_taken_back_writes_the_entry() {
    let acme = acme();
    let keys = Keys::of(&acme);
    let [open, closed] =
        ["open", "closed"].map(|status| ticket(&json!({ "lead_relation": 1, "status": status })));
    let read = TicketRecord::decode(TicketRecord::onto(None, open.clone()).encode().unwrap()).unwrap();
    let with = |record: &TicketRecord, ticket: &Ticket| {
        let mut value = record.value.clone();
        value.ticket = ticket.clone();
        record.next(value)
    };
    let changed = with(&read, &closed);
    let back = with(&changed, &open);
    let writes = back.put(keys, Some(&changed)).unwrap();
    assert!(format!("{writes:?}").contains("lead-ticket"), "{writes:?}");
}

#[test]
fn a_ticket_is_in_the_list_of_its_lead() {
    let acme = acme();
    let of = |ticket: Ticket| {
        let record = TicketRecord::onto(None, ticket);
        listed(&record.derived(Keys::of(&acme)).unwrap(), "ticket")
    };
    let text = concat!(
        r#"{"id":501,"lead_relation":1001,"createDate":"2026-05-01T10:00:00.000Z","#,
        r#""updateDate":"2026-05-01T10:40:00.000Z"}"#
    );
    assert_eq!(
        of(ticket(&json!({ "lead_relation": 1001 }))),
        (
            vec![at("acme#lead-ticket#1001", "251624671199999#999999999999498")],
            vec![text.to_owned()]
        )
    );
    assert_eq!(of(ticket(&json!({}))), (Vec::new(), Vec::new()));
}

#[test]
fn a_file_is_in_the_lists_of_its_ticket_and_its_lead() {
    let acme = acme();
    let of = |record: &FileRecord| listed(&record.derived(Keys::of(&acme)).unwrap(), "file");
    let by_path = json!({ "ticket": 501, "store_path": "a#b" });
    let text = r#"{"ticket":501,"store_path":"a#b"}"#.to_owned();
    assert_eq!(
        of(&file(by_path.clone(), Some(lead(1001)))),
        (
            vec![
                at("acme#lead-file#1001", "000000000000501#path#a#b"),
                at("acme#ticket-file#501", "path#a#b"),
            ],
            vec![text.clone()]
        )
    );
    assert_eq!(
        of(&file(by_path, None)),
        (vec![at("acme#ticket-file#501", "path#a#b")], vec![text])
    );
    let by_id = json!({ "id": 7, "ticket": 501, "store_path": "a#b" });
    assert_eq!(
        of(&file(by_id, Some(lead(1001)))).0,
        [
            at("acme#lead-file#1001", "000000000000501#id#000000000000007"),
            at("acme#ticket-file#501", "id#000000000000007"),
        ]
    );
}

#[test]
fn records_round_trip() {
    for (lead, unsettled) in [(None, false), (Some(1001), true)] {
        let ticket = ticket(&json!({ "lead_relation": lead, "unread": 2, "star": 4.0, "obs": "" }));
        let record = TicketRecord {
            version: 5,
            ..Stored::new(TicketState {
                ticket,
                unsettled,
                files: lead.unwrap_or_default(),
            })
        };
        let item = record.encode().unwrap();
        assert_eq!(TicketRecord::decode(item).unwrap(), record);
    }
    for lead in [None, Some(lead(1001))] {
        let record = file(json!({ "id": 7, "ticket": 501, "url": "" }), lead);
        assert_eq!(FileRecord::decode(record.encode().unwrap()).unwrap(), record);
    }
    assert!(TicketRecord::decode(Item::new()).is_err());
    assert!(FileRecord::decode(Item::from([("file".to_owned(), s("{}"))])).is_err());
}

/// A ticket is unsettled after a change of its lead, and a further write leaves it unsettled.
#[test]
fn a_ticket_is_unsettled_until_its_files_followed() {
    let of = |lead: Option<u64>| ticket(&json!({ "lead_relation": lead }));
    let first = TicketRecord::onto(None, of(Some(1)));
    assert_eq!((first.version, first.unsettled), (1, false));
    let unsettled = |stored: &TicketRecord, lead| TicketRecord::onto(Some(stored), of(lead)).unsettled;
    assert!(!unsettled(&first, Some(1)));
    assert!(unsettled(&first, Some(2)) && unsettled(&first, None));
    let moved = TicketRecord::onto(Some(&first), of(Some(2)));
    assert_eq!(moved.version, 2);
    assert!(unsettled(&moved, Some(2)) && unsettled(&moved, Some(1)));
}
