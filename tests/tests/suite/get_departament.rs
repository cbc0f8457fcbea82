//! `GET /departament` (C-97).

use serde_json::{Value, json};
use shared::directory::Department;
use shared::people::User;
use tests::people::{add_users, department, user};
use tests::world::{Answer, at};
use tests::{Wallet, World};

async fn list(world: &World, wallet: &Wallet) -> Answer {
    world.get("/departament?i=acme").with(wallet).send().await
}

/// A department without times whose users work with everything.
fn shown(id: u64, name: &str, parent: Option<u64>, users: &[u64], subs: &[Value]) -> Value {
    json!({ "id": id, "name": name, "department": parent, "users": users, "subs": subs, "show_crm": 1,
        "show_sac360": 1, "createDate": null, "updateDate": null })
}

fn acme() -> Value {
    let sub = shown(2, "Inside Sales", Some(1), &[8, 9], &[]);
    json!([
        shown(1, "Comercial", None, &[7, 10, 12, 13], &[sub]),
        shown(3, "Suporte", None, &[11, 14], &[]),
    ])
}

/// Every user sees all departments, also user 13, who sees no lead. One round trip.
#[tokio::test]
async fn departments_are_nested_with_their_users() {
    let world = World::new().await;
    for who in [7, 8, 13] {
        let answer = list(&world, &world.known(who).await).await;
        answer.is(200, &acme());
        assert_eq!(answer.cost.round_trips, 1, "{:?}", answer.cost);
    }
}

/// A change of a user's department and of a department applies from the next request (C-12).
#[tokio::test]
async fn changes_apply_from_the_next_request() {
    let world = World::new().await;
    let operator = world.operator("acme");
    let wallet = world.known(14).await;
    list(&world, &wallet).await.is(200, &acme());
    let moved = User {
        department: Some(department(20)),
        ..User::new(user(11), "Elisa")
    };
    let added = Department {
        show_crm: false,
        show_sac360: false,
        create_date: Some(at("2026-01-01T00:00:00.000Z")),
        update_date: Some(at("2026-02-01T00:00:00.000Z")),
        ..Department::new("Loja", Some(department(2)))
    };
    operator
        .put_directory(|directory| {
            directory.departments.insert(department(20), added.clone());
        })
        .await
        .expect("the directory");
    add_users(&operator, &[moved]).await;
    let loja = json!({ "id": 20, "name": "Loja", "department": 2, "users": [11], "subs": [], "show_crm": 0,
        "show_sac360": 0, "createDate": "2026-01-01T00:00:00.000Z", "updateDate": "2026-02-01T00:00:00.000Z" });
    let sub = shown(2, "Inside Sales", Some(1), &[8, 9], &[loja]);
    let expected = json!([
        shown(1, "Comercial", None, &[7, 10, 12, 13], &[sub]),
        shown(3, "Suporte", None, &[14], &[]),
    ]);
    list(&world, &wallet).await.is(200, &expected);
}

/// A chain of 400 departments is listed completely, with at most 32 levels: JSON readers refuse more than some hundred.
#[tokio::test]
async fn nesting_is_bounded() {
    let world = World::new().await;
    let operator = world.operator("acme");
    operator
        .put_directory(|directory| {
            for id in 100..500 {
                let parent = (id > 100).then(|| department(id - 1));
                directory
                    .departments
                    .insert(department(id), Department::new("Nível", parent));
            }
        })
        .await
        .expect("the directory");
    let answer = list(&world, &world.wallet(7).await).await;
    let (mut level, mut ids, mut levels) = (answer.body, Vec::new(), 0);
    while let Some(next) = level.as_array().filter(|next| !next.is_empty()) {
        let chain: Vec<_> = next
            .iter()
            .filter(|one| one["id"].as_u64() >= Some(100))
            .collect();
        ids.extend(chain.iter().filter_map(|one| one["id"].as_u64()));
        assert!(
            chain
                .iter()
                .all(|one| one["id"] == 100
                    || one["department"].as_u64() == one["id"].as_u64().map(|id| id - 1))
        );
        levels += 1;
        level = chain[0]["subs"].clone();
    }
    assert_eq!((ids, levels), ((100..500).collect(), 32));
}
