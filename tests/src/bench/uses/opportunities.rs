//! Endpoints 7 to 9.

use serde_json::{Value, json};

use crate::bench::desk::Desk;
use crate::bench::row::Row;
use crate::bench::target::{Line, Target};
use crate::sales::open_shop;
use crate::world::Wallet;

const LEAD_FIRST: &str = "A call, a booking or a change of the lead came within the last minutes, so the copy of the lead may be \
    behind and the lead itself is read. Which one it is only the record tells.";
/// Custom fields for records of up to 0.5, 1 and 4 KB.
const PADS: [(&str, usize); 3] = [("0.6", 0), ("1", 380), ("4", 3_400)];

pub(super) async fn measure() -> Vec<Row> {
    let desk = Desk::open().await;
    open_shop(&desk.operator()).await;
    let wallet = desk.wallet(7).await;
    creations(&desk, &wallet).await;
    updates(&desk, &wallet).await;
    let line = Line::of(Target::Thing, "9", "three funnels").shows("funnel");
    desk.measure(line, 200, desk.keyed(&wallet, "GET", "/crm", &Value::Null))
        .await;
    desk.close()
}

fn write(endpoint: &'static str, what: impl Into<String>) -> Line {
    Line::of(Target::Write, endpoint, what)
}

/// Writes record, four entries, link, total, rank and id counter, and checks the lead.
async fn creations(desk: &Desk, wallet: &Wallet) {
    let uri = "/crmopportunity?id=3&i=acme";
    let post = |body: &Value| desk.call("POST", uri).with(wallet).json(body);
    let body = |pad: usize| {
        let fields = json!({ "Origem do Lead": "x".repeat(pad) });
        json!({ "title": "Pedido", "crm_column": 31, "lead_id": 1001, "value": "213.20", "fields": fields })
    };
    for (size, pad) in PADS {
        let line = write("7", format!("made, a record of {size} KB"));
        desk.measure(line, 200, post(&body(pad))).await;
    }
    let keyed = |body: &Value| post(body).header("idempotency-key", "k1");
    let line = write("7", "made with an `Idempotency-Key`");
    desk.measure(line, 200, keyed(&body(0))).await;
    desk.measure(write("7", "the same again"), 200, keyed(&body(0)))
        .await;
    let line = write("7", "the key with another body");
    desk.measure(line, 422, keyed(&body(1))).await;
    desk.measure(write("7", "refused body"), 400, post(&json!({})))
        .await;
    let mut nobody = body(0);
    nobody["lead_id"] = json!(4711);
    desk.measure(write("7", "unknown lead"), 400, post(&nobody)).await;
}

async fn updates(desk: &Desk, wallet: &Wallet) {
    for ((size, _), id) in PADS.into_iter().zip(1..) {
        let put = |body: &Value| {
            let uri = format!("/crmopportunity/{id}?id=3&i=acme");
            desk.call("PUT", &uri).with(wallet).json(body)
        };
        for (what, body) in [
            ("title", json!({ "title": "Outro" })),
            ("value", json!({ "value": "1.00" })),
            ("status", json!({ "status": "gain" })),
            ("user", json!({ "user": 8 })),
            ("column", json!({ "crm_column": 32 })),
            ("archive", json!({ "archived": true })),
            ("nothing", json!({})),
        ] {
            let line = write("8", format!("{what}, a record of {size} KB"));
            desk.measure(line, 200, put(&body)).await;
        }
    }
    let refused = desk.call("PUT", "/crmopportunity/4711?id=3&i=acme").with(wallet);
    let refused = refused.json(&json!({ "title": "Outro" }));
    desk.measure(write("8", "unknown opportunity"), 400, refused)
        .await;
    let call = super::calls::call(&json!({ "lead": 1001 }));
    desk.prepare(desk.call("POST", "/voip/webhook?i=acme").json(&call))
        .await;
    let line = write("8", "title, the lead called just before").but_trips(3, LEAD_FIRST);
    let put = desk.call("PUT", "/crmopportunity/1?id=3&i=acme").with(wallet);
    desk.measure(line, 200, put.json(&json!({ "title": "Mais um" })))
        .await;
}
