//! Rules for the properties of a body: each violation is a 400 that names the field in `msg` (C-4, C-7,
//! C-30), and nothing is written.

use serde_json::json;
use tests::properties::bad_properties;
use tests::records::with;

use super::{body, post, total, world};

/// C-7, C-30.
#[tokio::test]
async fn invalid_properties_are_rejected() {
    let world = world().await;
    let admin = world.wallet(7).await;
    let bad = bad_properties();
    assert!(bad.len() > 100);
    for (name, bad, must) in bad {
        let answer = post(&world, &admin, &body(&json!({ name: bad }))).await;
        let expected = json!({ "msg": format!("{name}: {must}") });
        assert_eq!(
            (answer.status.as_u16(), &answer.body),
            (400, &expected),
            "{name}: {bad}"
        );
    }
    assert_eq!(total(&world, &admin).await, 0);
    world.is_sound().await;
}

/// C-30.
#[tokio::test]
async fn missing_properties_are_rejected() {
    let world = world().await;
    let admin = world.wallet(7).await;
    for name in ["title", "crm_column", "lead_id"] {
        let msg = json!({ "msg": format!("{name}: is required") });
        post(&world, &admin, &body(&json!({ name: null })))
            .await
            .is(400, &msg);
        let mut absent = body(&json!({}));
        absent.as_object_mut().expect("an object").shift_remove(name);
        post(&world, &admin, &absent).await.is(400, &msg);
    }
    post(&world, &admin, &json!({}))
        .await
        .is(400, &json!({ "msg": "title: is required" }));
    // Names are compared byte for byte.
    let respelt = with(
        body(&json!({ "lead_id": null })),
        &json!({ "leadId": 1001, "lead_id ": 1001, "Lead_id": 1001 }),
    );
    post(&world, &admin, &respelt)
        .await
        .is(400, &json!({ "msg": "lead_id: is required" }));
    assert_eq!(total(&world, &admin).await, 0);
}
