//! Cost of forms (C-101).

use serde_json::json;
use tests::forms::{add_form, submission, submit};
use tests::sales::open_shop;
use tests::{ACME, World};

use super::{Budget, within};

/// Two round trips for a lead: the form, beside numbers and look-ups; the write. One more where the process does not know the
/// form. Two more for an opportunity, and two for a lead that exists. An event has at most 6 write units: of itself, its
/// number, and the claim of its content.
#[tokio::test]
async fn form_costs() {
    let world = World::new().await;
    let operator = world.operator(ACME);
    open_shop(&operator).await;
    add_form(&operator, &json!({})).await;
    let new = json!({ "nome": "Bia", "email": "bia@example.com", "whatsapp": "5541988880001" });
    let other = json!({ "nome": "Caio", "email": "caio@example.com", "whatsapp": "5541988880002" });
    let more = json!({ "nome": "Bia", "email": "bia@example.com", "cargo": "CEO" });
    for (what, sent, key, round_trips, read_units, write_units) in [
        ("form: new lead, unknown form", &new, None, 3, 16.0, 30.0),
        ("form: new lead", &other, None, 2, 16.0, 30.0),
        ("form: repeated", &new, None, 2, 16.0, 0.0),
        ("form: repeated, with a key", &new, Some("k"), 2, 16.0, 0.0),
        ("form: known lead", &more, None, 4, 18.0, 30.0),
    ] {
        let call = submission(&world, sent);
        let call = key.map_or(call, |key| {
            submission(&world, sent).header("idempotency-key", key)
        });
        let answer = call.send().await;
        assert_eq!(answer.status, 200, "{what}: {}", answer.body);
        let budget = Budget {
            round_trips,
            read_units,
            write_units,
        };
        within(what, &answer, &budget);
    }
    add_form(
        &operator,
        &json!({ "opportunity": { "column": 31, "title": "Pedido" }, "owner": 7 }),
    )
    .await;
    let answer = submit(&world, &json!({ "nome": "Ana" })).await;
    let budget = Budget {
        round_trips: 5,
        read_units: 18.0,
        write_units: 52.0,
    };
    within("form: new lead, opportunity", &answer, &budget);
}
