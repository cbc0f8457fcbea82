//! `DELETE /leads/{id}`: endpoint 5 (C-24).

use operator::kinds::Leads;
use serde_json::{Value, json};
use tests::{Answer, Wallet, World};

/// Deletes a lead of `acme` with the key in the query, as endpoint 5 accepts it.
pub async fn delete(world: &World, wallet: &Wallet, id: &str) -> Answer {
    let uri = format!("/leads/{id}?i=acme&apitoken={}", wallet.key);
    world.call("DELETE", &uri).send().await
}

/// Sets a group's permissions to delete and to archive leads.
pub async fn allow(world: &World, group: u64, delete: bool, archive: bool) {
    let operator = world.operator("acme");
    let changed = operator.put_directory(|directory| {
        for (id, group_of_it) in &mut directory.groups {
            if id.get() == group {
                group_of_it.permissions.delete_leads = delete;
                group_of_it.permissions.archive_leads = archive;
            }
        }
    });
    changed.await.expect("the directory can be written");
}

/// Ids of the list, archived or not; requires that the total matches.
pub async fn listed(world: &World, archived: bool) -> Vec<u64> {
    let wallet = world.wallet(7).await;
    let uri = format!("/leads?i=acme&limit=200&archived={archived}");
    let answer = world.get(&uri).with(&wallet).send().await;
    let leads = answer.body["data"]["leads"].as_array().expect("leads");
    assert_eq!(answer.body["data"]["total"], leads.len());
    leads
        .iter()
        .map(|lead| lead["id"].as_u64().expect("an id"))
        .collect()
}

fn deleted(id: u64) -> Value {
    json!({ "msg": "deleted", "data": { "id": id } })
}

fn not_found() -> Value {
    json!({ "error": "Not found" })
}

#[tokio::test]
async fn a_lead_is_deleted_for_good() {
    let world = World::new().await;
    let wallet = world.wallet(7).await;
    delete(&world, &wallet, "1001").await.is(200, &deleted(1001));
    let gone = world.get("/leads/1001?i=acme").with(&wallet).send().await;
    gone.is(404, &not_found());
    assert_eq!(listed(&world, false).await, [1002, 1004, 1005, 1006, 1007]);
    delete(&world, &wallet, "1001").await.is(404, &not_found());
    delete(&world, &wallet, "4711").await.is(404, &not_found());
    world.is_sound().await;
}

/// spec.md, endpoint 5.
#[tokio::test]
async fn an_archived_lead_is_deleted_too() {
    let world = World::new().await;
    let wallet = world.wallet(7).await;
    delete(&world, &wallet, "1003").await.is(200, &deleted(1003));
    assert_eq!(listed(&world, true).await, [1012]);
    assert_eq!(listed(&world, false).await.len(), 6);
    world.is_sound().await;
}

/// C-11: an id is never reused. An operator may restore the lead with its own id, but not before its erasure
/// is complete.
#[tokio::test]
async fn ids_are_not_reused() {
    let world = World::new().await;
    let wallet = world.wallet(7).await;
    delete(&world, &wallet, "1012").await.is(200, &deleted(1012));
    let call = json!({ "event": "call", "data": { "user": 8, "leadPhone": "5541988880001", "type": "INCOMING",
        "status": "COMPLETE", "duration": 1, "record": false, "service": "x" } });
    assert_eq!(world.webhook(&call).send().await.status, 201);
    assert_eq!(
        world.calls().await[0].lead.map(shared::ids::LeadId::get),
        Some(1013)
    );
    let again = async || {
        let line = tests::people::plain_lead(1012, "De", "Volta", None).into();
        let outcomes = world.operator("acme").import::<Leads>(&[line], false).await;
        outcomes.expect("an import").remove(0)
    };
    let refused = "lead 1012 was deleted and is being erased; import it again in some minutes";
    for _ in 0..2 {
        let outcome = again().await;
        assert_eq!(outcome, operator::Outcome::Refused(refused.to_owned()));
        maintenance::tend(&world.store).await.expect("it is tended");
    }
    world.clock.set(world.clock.get().plus_seconds(60));
    maintenance::tend(&world.store).await.expect("it is tended");
    assert_eq!(again().await, operator::Outcome::Written);
    assert_eq!(listed(&world, false).await.len(), 8);
    world.is_sound().await;
}
