//! Cost of forms (C-101).

use serde_json::json;
use tests::forms::{add_form, submit};
use tests::sales::open_shop;
use tests::{ACME, World};

use super::{Budget, within};

/// Three round trips for a lead: the form; numbers, look-ups; the write. Two more for an opportunity.
#[tokio::test]
async fn form_costs() {
    let world = World::new().await;
    let operator = world.operator(ACME);
    open_shop(&operator).await;
    add_form(&operator, &json!({})).await;
    let new = json!({ "nome": "Bia", "email": "bia@example.com", "whatsapp": "5541988880001" });
    let more = json!({ "nome": "Bia", "email": "bia@example.com", "cargo": "CEO" });
    for (what, sent, round_trips, read_units, write_units) in [
        ("form: new lead", &new, 3, 14.0, 24.0),
        ("form: known lead", &new, 3, 14.0, 0.0),
        ("form: known lead, completed", &more, 5, 16.0, 24.0),
    ] {
        let answer = submit(&world, sent).await;
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
        read_units: 16.0,
        write_units: 48.0,
    };
    within("form: new lead, opportunity", &answer, &budget);
}
