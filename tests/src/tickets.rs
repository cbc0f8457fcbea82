//! Tickets and files of `acme`, and their form in responses: every field of spec.md, Customer-service ticket
//! and File record of a ticket.

#![expect(
    clippy::expect_used,
    clippy::missing_panics_doc,
    clippy::must_use_candidate,
    reason = "a test that cannot be set up must fail, and say where"
)]

use operator::kinds::{Files, Tickets};
use operator::{Operator, Outcome};
use serde_json::{Value, json};
use shared::ticket::{Ticket, TicketFile};

use crate::world::{Answer, Wallet, World};

/// Ticket 501 of lead 1001, with changes.
pub fn ticket(changes: &Value) -> Ticket {
    let mut line = json!({
        "id": 501, "lead_relation": 1001, "attendant": 8, "attendantName": "Bruno", "name": "Atendimento",
        "name_contact": "Maria", "type": "chatapp", "recipientid": "551197326-3471@c", "accid": "acc1",
        "startDate": "2026-05-01T10:00:00.000Z", "unread": 1, "sequence": 1,
        "lastMesssageUser": "2026-05-01T10:30:00.000Z", "createDate": "2026-05-01T10:00:00.000Z",
        "updateDate": "2026-05-01T10:40:00.999Z", "chatapp_number": "551130001000",
    });
    change(&mut line, changes);
    serde_json::from_value(line).expect("a ticket")
}

/// The same ticket in endpoint 16, with changes.
pub fn shown(changes: &Value) -> Value {
    let mut shown = json!({
        "id": 501, "status": null, "attendant": 8, "attendantName": "Bruno", "userAttendance": null,
        "userClient": null, "department": null, "name": "Atendimento", "lead_name": null, "name_contact": "Maria",
        "startDate": "2026-05-01T10:00:00.000Z", "endDate": null, "star": null, "evaluation": null,
        "chatGroup": null, "isGroup": null, "type": "chatapp", "recipientid": "551197326-3471@c", "accid": "acc1",
        "photo": null, "photo_larger": null, "photo_store": null, "obs": null, "lead_relation": 1001,
        "post_id": null, "page_id": null, "comment_id": null, "comment_txt": null, "chatapp_acc": null,
        "chatapp_number": "551130001000", "chatapp_oficial": null, "unread": 1,
        "lastMesssageUser": "2026-05-01T10:30:00.000Z", "lastMesssageAttendance": null, "pin": null,
        "archive": null, "opportunity": null, "sequence": 1, "createDate": "2026-05-01T10:00:00.000Z",
        "updateDate": "2026-05-01T10:40:00.999Z", "createDateUnix": 1_777_629_600,
        "updateDateUnix": 1_777_632_000, "lastMesssageUserUnix": 1_777_631_400,
    });
    change(&mut shown, changes);
    shown
}

/// The file `s/10` of ticket 501, without an id, with changes.
pub fn file(changes: &Value) -> TicketFile {
    let mut line = json!({
        "ticket": 501, "type": "video", "url": "https://media.example/1/0", "mimetype": "video/mp4",
        "store_url": "https://files.example/1/0", "store_path": "s/10", "ext": "mp4",
    });
    change(&mut line, changes);
    serde_json::from_value(line).expect("a file")
}

/// The same file in endpoints 17 and 18, with changes.
pub fn shown_file(changes: &Value) -> Value {
    let mut shown = json!({
        "type": "video", "url": "https://media.example/1/0", "mimetype": "video/mp4",
        "store_url": "https://files.example/1/0", "store_path": "s/10", "ext": "mp4",
    });
    change(&mut shown, changes);
    shown
}

fn change(line: &mut Value, changes: &Value) {
    for (name, value) in changes.as_object().into_iter().flatten() {
        line[name] = value.clone();
    }
}

/// Writes tickets.
pub async fn add_tickets(operator: &Operator, tickets: impl IntoIterator<Item = Ticket>) {
    let lines: Vec<_> = tickets.into_iter().map(Into::into).collect();
    let outcomes = operator
        .import::<Tickets>(&lines, false)
        .await
        .expect("the tickets can be written");
    assert!(outcomes.iter().all(is_good), "{outcomes:?}");
}

/// Writes files.
pub async fn add_files(operator: &Operator, files: impl IntoIterator<Item = TicketFile>) {
    let outcomes = operator
        .import::<Files>(&files.into_iter().collect::<Vec<_>>(), false)
        .await
        .expect("the files can be written");
    assert!(outcomes.iter().all(is_good), "{outcomes:?}");
}

fn is_good(outcome: &Outcome) -> bool {
    !matches!(outcome, Outcome::Refused(_))
}

/// Requests a path below `/sac360/` of `acme`.
pub async fn ask(world: &World, wallet: &Wallet, path: &str) -> Answer {
    let call = world.get(&format!("/sac360/{path}?i=acme"));
    call.header("apitoken", &wallet.key).send().await
}

/// Requires the response to an invalid request, with these details in its header.
#[track_caller]
pub fn assert_invalid(answer: &Answer, details: &str) {
    answer.is(400, &json!({ "error": "Invalid request" }));
    assert_eq!(answer.headers["x-error-details"], details);
}
