//! `opportunityId`: one of the lead's, or null for a new contact (C-53).

use serde_json::{Value, json};
use shared::opportunity::Opportunity;
use tests::World;
use tests::bookings::{FREE, book, booking, invalid, made, meetings, open_calendars, shown};
use tests::people::{lead, settle};
use tests::sales::{add_opportunities, open_shop, plain_opportunity};

use super::everything;

/// Opportunities 1 (won, archived) and 2 of lead 1001, and 3 of lead 1002; the other instance has 9 of lead
/// 1001.
async fn world() -> World {
    let world = World::new().await;
    let (acme, other) = (world.operator("acme"), world.operator("other-shop"));
    open_calendars(&acme).await;
    settle(&other).await;
    for operator in [&acme, &other] {
        open_shop(operator).await;
    }
    let archived = Opportunity {
        archived: true,
        ..plain_opportunity(1, 7, 0)
    };
    let hers = Opportunity {
        lead_id: Some(lead(1002)),
        ..plain_opportunity(3, 7, 2)
    };
    add_opportunities(&acme, vec![archived, plain_opportunity(2, 8, 1), hers]).await;
    add_opportunities(&other, vec![plain_opportunity(9, 7, 0)]).await;
    world
}

#[tokio::test]
async fn an_opportunity_of_the_lead_is_accepted() {
    let world = world().await;
    let admin = world.wallet(7).await;
    let mut all = Vec::new();
    for (at, (lead, opportunity)) in [
        (1001, json!(1)),
        (1001, json!(2.0)),
        (1002, json!(3)),
        (1002, Value::Null),
    ]
    .into_iter()
    .enumerate()
    {
        let about = json!({ "leadId": lead, "opportunityId": opportunity, "formData": null });
        let (meeting, _) = made(&book(&world, &booking(FREE[at], &about)).await);
        let expected = json!({
            "id": at + 1, "date": FREE[at], "endDate": meeting["endDate"], "leadId": lead,
            "opportunityId": opportunity.as_f64().map(|id| Value::from(format!("{id}").parse::<u64>().ok())),
        });
        assert_eq!(meeting, shown(&expected));
        all.push(meeting);
    }
    assert_eq!(meetings(&world, &admin, 5).await, json!(all));
    world.is_sound().await;
}

/// C-12.
#[tokio::test]
async fn a_reassigned_opportunity_is_accepted_at_once() {
    let world = world().await;
    let admin = world.wallet(7).await;
    let about = |lead: u64| json!({ "leadId": lead, "opportunityId": 2, "formData": null });
    let call = world.call("PUT", "/crmopportunity/2?id=3&i=acme").with(&admin);
    assert_eq!(call.json(&json!({ "lead_id": 1002 })).send().await.status, 200);
    let refused = book(&world, &booking(FREE[0], &about(1001))).await;
    refused.is(
        400,
        &invalid("opportunityId: must be an opportunity of the lead, and null for a new one"),
    );
    made(&book(&world, &booking(FREE[0], &about(1002))).await);
    world.is_sound().await;
}

#[tokio::test]
async fn other_opportunities_are_rejected() {
    let world = world().await;
    let admin = world.wallet(7).await;
    let before = everything(&world, &admin).await;
    let refused = invalid("opportunityId: must be an opportunity of the lead, and null for a new one");
    for (lead, opportunity) in [
        (json!(1001), json!(3)),
        (json!(1002), json!(1)),
        (json!(1001), json!(4)),
        (json!(1001), json!(9)),
        (json!(1001), json!(0)),
        (json!(1001), json!(-1)),
        (json!(1001), json!(1e300)),
        (json!(null), json!(1)),
        (json!(null), json!(4)),
        (json!(null), json!(0)),
    ] {
        let form = if lead.is_null() {
            json!({ "email": "b@example.com" })
        } else {
            Value::Null
        };
        let body = booking(
            FREE[0],
            &json!({ "leadId": lead, "opportunityId": opportunity, "formData": form }),
        );
        let answer = book(&world, &body).await;
        assert_eq!((answer.status.as_u16(), &answer.body), (400, &refused), "{body}");
        assert!(answer.cost.write_units() <= 0.0);
    }
    assert_eq!(everything(&world, &admin).await, before);
}
