//! Bodies of endpoint 8 and the resulting records.

use super::*;
use crate::wire::tests::{Shop, at, column, lead, user};
use serde_json::json;
use shared::ids::OpportunityId;
use shared::opportunity::Opportunity;

const BEFORE: &str = "2026-01-01T00:00:00Z";

/// Opportunity 5 of lead 1002 in column 31, as created.
fn stored() -> Opportunity {
    let place = (Shop::new().funnel.id, column(31));
    let mut stored = Opportunity::new(
        OpportunityId::new(5).unwrap(),
        place,
        lead(1002),
        user(8),
        at(BEFORE),
    );
    stored.title = "Reforma".to_owned();
    stored.fields.insert("Cor".to_owned(), json!("azul"));
    stored.fields.insert("Antigo".to_owned(), json!(1));
    stored
}

/// A record that is sent back unchanged changes nothing, even if its references have since been deleted or hidden.
#[test]
fn equal_values_are_no_change() {
    let mut stored = stored();
    (stored.crm_column, stored.user) = (column(99), user(99));
    let echo = json!({
        "title": "Reforma", "value": 0, "crm_column": 99, "lead_id": 1002, "sequence": "0", "status": "open",
        "expectedCloseDate": null, "user": "99", "gain_reason": null, "loss_reason": null, "archived": false,
        "fields": { "Cor": "azul", "Antigo": 1, "Data": null },
    });
    let patch = read(echo.to_string().as_bytes()).unwrap();
    assert_eq!(patch.apply(&stored, &Shop::new().context()).unwrap(), stored);
}
