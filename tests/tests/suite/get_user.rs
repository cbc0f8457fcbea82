//! `GET /user` (C-97).

use serde_json::{Value, json};
use shared::people::User;
use tests::people::{add_users, department, user, users};
use tests::world::{Answer, at};
use tests::{Wallet, World};

async fn list(world: &World, wallet: &Wallet, params: &str) -> Answer {
    let uri = format!("/user?i=acme{params}");
    world.get(&uri).with(wallet).send().await
}

fn ids(answer: &Answer) -> Vec<u64> {
    assert_eq!(answer.status, 200, "{}", answer.body);
    let users = answer.body.as_array().expect("a bare array").iter();
    users.filter_map(|user| user["id"].as_u64()).collect()
}

/// A user of `acme` with nothing but a name, a department and a group.
fn plain(id: u64, name: &str, last_name: &str, department: u64, group: u64) -> Value {
    json!({ "id": id, "name": name, "lastName": last_name, "email": null, "admin": u8::from(id == 7), "active": 1,
        "department": department, "group": group, "telephone": null, "photo": null, "whatsapp": null, "branch": null,
        "position_company": null, "username": null, "last_login": null, "last_action": null })
}

/// Complete bodies by id, for an admin and for a user who sees no lead; of the inactive user only without `noblock`.
#[tokio::test]
async fn users_are_listed_by_id() {
    let world = World::new().await;
    let text = |text: &str| Some(text.to_owned());
    let known = User {
        last_name: None,
        email: text("bia@example.com"),
        active: false,
        telephone: text("554130001000"),
        photo: text("https://photos.example/bia.jpg"),
        whatsapp: text("5541970001000"),
        branch: text("207"),
        position_company: text("Gerente"),
        username: text("bia"),
        last_login: Some(at("2026-11-20T10:00:00.000Z")),
        last_action: Some(at("2026-11-20T11:00:00.000Z")),
        ..User::new(user(101), "Bia")
    };
    add_users(&world.operator("acme"), &[known]).await;
    let mut expected = vec![
        plain(7, "Ana", "Souza", 1, 1),
        plain(8, "Bruno", "Lima", 2, 2),
        plain(9, "Carla", "Mendes", 2, 2),
        plain(10, "Diego", "Alves", 1, 3),
        plain(11, "Elisa", "Prado", 3, 2),
        plain(12, "Fábio", "Nunes", 1, 1),
        plain(13, "Gina", "Rocha", 1, 4),
        plain(14, "Hugo", "Dias", 3, 1),
    ];
    for (wallet, trips) in [(world.known(7).await, 1), (world.known(13).await, 1)] {
        let active = list(&world, &wallet, "&noblock=1").await;
        active.is(200, &json!(expected));
        assert_eq!(active.cost.round_trips, trips);
    }
    expected.push(
        json!({ "id": 101, "name": "Bia", "lastName": null, "email": "bia@example.com", "admin": 0,
        "active": 0, "department": null, "group": null, "telephone": "554130001000",
        "photo": "https://photos.example/bia.jpg", "whatsapp": "5541970001000", "branch": "207",
        "position_company": "Gerente", "username": "bia", "last_login": "2026-11-20T10:00:00.000Z",
        "last_action": "2026-11-20T11:00:00.000Z" }),
    );
    let wallet = world.known(13).await;
    for params in ["", "&noblock=0", "&noblock="] {
        list(&world, &wallet, params).await.is(200, &json!(expected));
    }
}

#[tokio::test]
async fn parameters_out_of_range_are_refused() {
    let world = World::new().await;
    let wallet = world.wallet(8).await;
    for (params, details) in [
        ("&noblock=yes", "noblock: must be true or false"),
        ("&limit=0", "limit: must be a whole number from 1 to 1000"),
        ("&limit=1001", "limit: must be a whole number from 1 to 1000"),
        ("&page=-1", "page: must be a whole number"),
    ] {
        let answer = list(&world, &wallet, params).await;
        answer.is(400, &json!({ "error": "Invalid request", "details": details }));
    }
}

/// Two of three users are inactive. A page has `limit` users that pass the filter, in order and requested alone.
#[tokio::test]
async fn pages_contain_the_users_that_pass_the_filter() {
    let world = World::new().await;
    let many = (1001..2501).map(|id| User {
        active: id % 3 == 0,
        department: Some(department(3)),
        ..User::new(user(id), "Equipe")
    });
    add_users(&world.operator("acme"), &many.collect::<Vec<_>>()).await;
    let wallet = world.known(7).await;
    let all: Vec<u64> = users()
        .iter()
        .map(|user| user.id.get())
        .chain(1001..2501)
        .collect();
    let active: Vec<_> = all
        .iter()
        .copied()
        .filter(|id| *id < 1000 || id % 3 == 0)
        .collect();
    assert_eq!(ids(&list(&world, &wallet, "").await), all);
    assert_eq!(ids(&list(&world, &wallet, "&noblock=1").await), active);
    assert_eq!(
        ids(&list(&world, &wallet, "&noblock=1&page=2").await),
        Vec::<u64>::new()
    );
    for (filter, expected) in [("", &all), ("&noblock=1", &active)] {
        let mut walked: Vec<u64> = Vec::new();
        for page in 1.. {
            let params = format!("{filter}&limit=100&page={page}");
            let shown = ids(&list(&world, &wallet, &params).await);
            let alone = list(&world.elsewhere(), &world.wallet(7).await, &params).await;
            assert_eq!(shown, ids(&alone), "{params}");
            walked.extend(&shown);
            if shown.len() < 100 {
                break;
            }
        }
        assert_eq!(walked, *expected, "{filter}");
    }
}
