//! Endpoint 19.

use operator::kinds::Automations;
use serde_json::{Value, json};
use shared::automation::Automation;

use crate::bench::desk::Desk;
use crate::bench::row::Row;
use crate::bench::target::{Line, Target};
use crate::people::{add_leads, plain_lead};
use crate::world::Request;

/// A call from the number of lead 1001, with changes.
pub(super) fn call(changes: &Value) -> Value {
    let mut data = json!({ "user": 8, "leadPhone": "+55 11 97326-3471", "type": "INCOMING", "status": "COMPLETE",
        "duration": 65, "record": true, "service": "acme-voip" });
    for (name, value) in changes.as_object().into_iter().flatten() {
        data[name] = value.clone();
    }
    json!({ "event": "call", "data": data })
}

fn send<'d>(desk: &'d Desk, changes: &Value) -> Request<'d> {
    desk.call("POST", "/voip/webhook?i=acme").json(&call(changes))
}

fn known(what: &str) -> Line {
    Line::of(Target::Call, "19", what)
}

pub(super) async fn measure() -> Vec<Row> {
    let desk = Desk::open().await;
    desk.measure(known("known number"), 201, send(&desk, &json!({})))
        .await;
    let lead = json!({ "lead": 1002 });
    desk.measure(known("the lead is sent"), 201, send(&desk, &lead))
        .await;
    large_lead(&desk).await;
    let new = json!({ "leadPhone": "5541988880001" });
    let line = |trips, what: &str| Line::within(trips, "19", what);
    desk.measure(line(3, "new number"), 201, send(&desk, &new)).await;
    desk.measure(known("the same number, known now"), 201, send(&desk, &new))
        .await;
    let nobody = json!({ "leadPhone": "" });
    desk.measure(known("no number"), 201, send(&desk, &nobody)).await;
    let unknown = json!({ "lead": 4711 });
    desk.measure(line(4, "a lead that does not exist"), 201, send(&desk, &unknown))
        .await;
    for what in ["known number, with an `Idempotency-Key`", "the same again"] {
        let request = send(&desk, &json!({})).header("idempotency-key", "k");
        desk.measure(known(what), 201, request).await;
    }
    let refused = desk.call("POST", "/voip/webhook?i=acme").json(&json!({}));
    desk.measure(line(1, "refused body"), 400, refused).await;
    desk.set("voip_webhook_secret", &json!("segredo-do-provedor"))
        .await;
    desk.measure(line(1, "a missing secret"), 401, send(&desk, &json!({})))
        .await;
    let mut rows = desk.close();
    rows.extend(with_automations().await);
    rows
}

/// A call rewrites its lead's record, here a large one.
async fn large_lead(desk: &Desk) {
    let mut lead = plain_lead(3001, "Pessoa", "de Tal", Some(8));
    lead.custom.insert("nota".to_owned(), json!("x".repeat(3_700)));
    add_leads(&desk.operator(), vec![lead]).await;
    let line = known("the lead is sent, its record has 4 KB");
    desk.measure(line, 201, send(desk, &json!({ "lead": 3001 })))
        .await;
}

async fn with_automations() -> Vec<Row> {
    let desk = Desk::open().await;
    let automation: Automation = serde_json::from_value(json!({
        "id": 1, "name": "Ligou", "trigger": "leadPhoneCall", "event": "received", "active": true,
        "actions": [{ "type": "addPoints", "points": 5 }],
    }))
    .expect("an automation");
    let operator = desk.operator();
    operator
        .import::<Automations>(&[automation], false)
        .await
        .expect("it can be written");
    desk.measure(
        known("known number, with automations"),
        201,
        send(&desk, &json!({})),
    )
    .await;
    desk.close()
}
