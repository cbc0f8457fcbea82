//! What the clock does: copies of changed leads are brought up to date, and then nobody has to read the leads any more.

use serde_json::{Value, json};
use tests::sales::{add_opportunities, open_shop, page, plain_opportunity};
use tests::{Wallet, World};

/// When the lead was last active, as its opportunity shows it, and the calls that it took to say so.
async fn shown(world: &World, wallet: &Wallet) -> (Value, usize) {
    let uri = format!("/crm/opportunities/3?i=acme&apitoken={}", wallet.key);
    let body = page(1, 25, &json!({ "columnId": 31 }));
    let answer = world.call("POST", &uri).json(&body).send().await;
    (
        answer.body[0]["dataLead"]["lastActive"].clone(),
        answer.cost.calls.len(),
    )
}

/// C-12: the answer is the same before and after; what it takes is not.
#[tokio::test]
async fn copies_are_brought_up_to_date() {
    let world = World::new().await;
    open_shop(&world.operator("acme")).await;
    add_opportunities(&world.operator("acme"), vec![plain_opportunity(1, 8, 0)]).await;
    let wallet = world.wallet(7).await;
    let (_, few) = shown(&world, &wallet).await;
    let call = json!({ "event": "call", "data": { "user": 8, "leadPhone": "", "lead": 1001, "type": "OUTGOING",
        "status": "COMPLETE", "duration": 1, "record": false, "service": "x" } });
    assert_eq!(world.webhook(&call).send().await.status, 201);
    let now = json!(world.clock.get());
    assert_eq!(shown(&world, &wallet).await, (now.clone(), few + 1));
    // Requests that are under way may have read the copy before it was written, so the notice outlasts them.
    maintenance::tend(&world.store).await.expect("it is tended");
    assert_eq!(shown(&world, &wallet).await, (now.clone(), few + 1));
    world.clock.set(world.clock.get().plus_seconds(60));
    maintenance::tend(&world.store).await.expect("it is tended");
    assert_eq!(shown(&world, &wallet).await, (now, few));
    world.is_sound().await;
}
