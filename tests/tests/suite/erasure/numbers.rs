//! The number of a deleted lead is free: the next call from it creates a new lead (C-24, C-73).

use serde_json::json;
use tests::World;

use super::{PERSON, PHONE, call, delete_person, erase, stage, tend};
use crate::delete_leads_id::delete;

async fn lead_of(world: &World, call: usize) -> Option<u64> {
    world.calls().await[call].lead.map(shared::ids::LeadId::get)
}

/// The later erasure affects only the old lead.
#[tokio::test]
async fn the_next_call_creates_a_new_lead() {
    for tended in [false, true] {
        let world = stage().await;
        let wallet = world.wallet(7).await;
        delete_person(&world, &wallet).await;
        if tended {
            tend(&world).await;
        }
        for id in [3, 4] {
            call(&world, &json!({}))
                .await
                .is(201, &json!({ "msg": "created", "id": id }));
        }
        assert_eq!(
            (lead_of(&world, 2).await, lead_of(&world, 3).await),
            (Some(PERSON + 1), Some(PERSON + 1))
        );
        erase(&world).await;
        let shown = world.get(&format!(
            "/leads/{}?i=acme&query={{lead{{firstname,phone}}}}",
            PERSON + 1
        ));
        let lead = json!({ "firstname": "5541977776666", "phone": "5541977776666" });
        shown
            .with(&wallet)
            .send()
            .await
            .is(200, &json!({ "data": { "lead": lead } }));
        let calls = world.calls().await;
        assert_eq!(
            calls
                .iter()
                .map(|call| call.lead_name.as_deref())
                .collect::<Vec<_>>(),
            [None, None, Some("Zulmira"), Some("Zulmira")]
        );
        assert_eq!(world.events().await.len(), 2);
        world.is_sound().await;
    }
}

/// The item that prevents two leads for concurrent first calls outlives the lead, without effect.
#[tokio::test]
async fn leads_created_by_calls_can_be_replaced() {
    let world = World::new().await;
    let wallet = world.wallet(7).await;
    for made in 1013..1016 {
        assert_eq!(call(&world, &json!({ "leadPhone": PHONE })).await.status, 201);
        let calls = world.calls().await;
        assert_eq!(
            calls
                .last()
                .and_then(|call| call.lead)
                .map(shared::ids::LeadId::get),
            Some(made)
        );
        assert_eq!(delete(&world, &wallet, &made.to_string()).await.status, 200);
    }
    erase(&world).await;
    super::is_erased(&world).await;
}

#[tokio::test]
async fn other_leads_with_the_number_are_found() {
    let world = stage().await;
    let wallet = world.wallet(7).await;
    let other = shared::lead::Lead {
        chatapp: Some("554177776666".to_owned()),
        archived: true,
        ..tests::people::plain_lead(2002, "Outra", "Pessoa", None)
    };
    tests::people::add_leads(&world.operator("acme"), vec![other]).await;
    delete_person(&world, &wallet).await;
    assert_eq!(call(&world, &json!({})).await.status, 201);
    assert_eq!(lead_of(&world, 2).await, Some(2002));
    erase(&world).await;
    world.is_sound().await;
}
