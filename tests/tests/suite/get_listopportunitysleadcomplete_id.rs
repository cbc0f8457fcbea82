//! `GET /listopportunitysleadcomplete/{id}` (C-95).

use std::cmp::Reverse;

use serde_json::{Map, Value, json};
use shared::opportunity::{Opportunity, Status};
use tests::people::{lead, users};
use tests::sales::{add_opportunities, column, funnel, open_shop, page, plain_opportunity};
use tests::{Answer, Wallet, World};

/// Lead 1001 has opportunities 1 to 7 in two funnels, of three users and all statuses; 3 is the newest, 5 and 6 have one
/// moment, 4 and 7 are archived. 8 is another lead's.
async fn world() -> World {
    let world = World::new().await;
    open_shop(&world.operator("acme")).await;
    let begun = |id, user, seconds, status| {
        let mut opportunity = plain_opportunity(id, user, seconds);
        opportunity.begin_as(status);
        opportunity
    };
    let archived = |opportunity| Opportunity {
        archived: true,
        ..opportunity
    };
    let support = |opportunity| Opportunity {
        crm_id: funnel(4),
        crm_column: column(41),
        ..opportunity
    };
    let of_another = Opportunity {
        lead_id: Some(lead(1002)),
        ..plain_opportunity(8, 9, 0)
    };
    let opportunities = vec![
        begun(1, 9, 10, Status::Open),
        begun(2, 9, 20, Status::Gain),
        begun(3, 10, 90, Status::Lost),
        archived(begun(4, 9, 40, Status::Gain)),
        support(plain_opportunity(5, 7, 50)),
        plain_opportunity(6, 8, 50),
        archived(support(plain_opportunity(7, 9, 5))),
        of_another,
    ];
    add_opportunities(&world.operator("acme"), opportunities).await;
    world
}

async fn get(world: &World, wallet: &Wallet, path: &str) -> Answer {
    let call = world.call("GET", &format!("/listopportunitysleadcomplete/{path}"));
    call.with(wallet).send().await
}

fn ids(answer: &Answer) -> Vec<u64> {
    let records = answer.body.as_array().expect("an array").iter();
    records.map(|one| one["id"].as_u64().expect("an id")).collect()
}

/// The opportunities of lead 1001 that endpoint 10 lists in both funnels, archived or not, as C-95 shows them.
async fn expected(world: &World, wallet: &Wallet) -> Vec<Value> {
    let mut records = Vec::new();
    for (funnel, column, archived) in [(3, 31, false), (3, 31, true), (4, 41, false), (4, 41, true)] {
        let uri = format!("/crm/opportunities/{funnel}?i=acme&apitoken={}", wallet.key);
        let body = page(1, 100, &json!({ "columnId": column, "onlyArchived": archived }));
        let answer = world.call("POST", &uri).json(&body).send().await;
        assert!([200, 401].contains(&answer.status.as_u16()), "{}", answer.body);
        records.extend(answer.body.as_array().cloned().unwrap_or_default());
    }
    records.retain(|record| record["lead_id"] == 1001);
    records.sort_by_key(|record| {
        let date = record["createDate"].as_str().expect("a date").to_owned();
        Reverse((date, record["id"].as_u64()))
    });
    for record in &mut records {
        let user = users().into_iter().find(|user| record["user"] == user.id.get());
        let user = user.expect("a user");
        record["user"] = json!({ "id": user.id, "name": user.name, "lastName": user.last_name });
        record["funnel_id"] = record["crm_id"].clone();
    }
    records
}

#[tokio::test]
async fn a_user_gets_what_it_sees_newest_first() {
    let world = world().await;
    for (user, seen) in [
        (7, vec![3, 6, 5, 4, 2, 1, 7]),
        (8, vec![6]),
        (10, vec![3, 6, 5, 4, 2, 1, 7]),
        (11, vec![6, 1]),
        (13, vec![]),
        (14, vec![]),
    ] {
        let wallet = world.wallet(user).await;
        // The second request reads with a prefetch hint.
        for _ in 0..2 {
            let answer = get(&world, &wallet, "1001?i=acme").await;
            answer.is(200, &json!(expected(&world, &wallet).await));
            assert_eq!(ids(&answer), seen, "{user}");
        }
    }
    let admin = world.wallet(7).await;
    let answer = get(&world, &admin, "1003?i=acme").await;
    answer.is(200, &json!([]));
}

/// Pages are counted as on other lists (C-40); without `limit` the first has all.
#[tokio::test]
async fn pages_follow_each_other() {
    let world = world().await;
    let wallet = world.wallet(7).await;
    for (params, shown) in [
        ("page=1", vec![3, 6, 5, 4, 2, 1, 7]),
        ("page=2", vec![]),
        ("limit=3", vec![3, 6, 5]),
        ("limit=3&page=0", vec![3, 6, 5]),
        ("limit=3&page=1", vec![3, 6, 5]),
        ("limit=3&page=2", vec![4, 2, 1]),
        ("limit=3&page=3", vec![7]),
        ("limit=1000&page=9", vec![]),
    ] {
        let answer = get(&world, &wallet, &format!("1001?i=acme&{params}")).await;
        assert_eq!(ids(&answer), shown, "{params}");
    }
    let set = world.operator("acme");
    set.set_setting("page_base", &json!(0)).await.expect("a setting");
    let second = get(&world, &wallet, "1001?i=acme&limit=3&page=1").await;
    assert_eq!(ids(&second), [4, 2, 1]);
}

#[tokio::test]
async fn a_lead_has_to_be_there_and_seen() {
    let world = world().await;
    let (admin, own) = (world.wallet(7).await, world.wallet(9).await);
    for (wallet, path, status) in [
        (&admin, "1001?i=acme", 200),
        (&admin, "4711?i=acme", 404),
        // User 9 sees its own leads only.
        (&own, "1001?i=acme", 404),
        (&admin, "0?i=acme", 400),
        (&admin, "1001?i=acme&limit=0", 400),
        (&admin, "1001?i=acme&limit=1001", 400),
        (&admin, "1001?i=acme&page=-1", 400),
    ] {
        let answer = get(&world, wallet, path).await;
        assert_eq!(answer.status, status, "{path}: {}", answer.body);
    }
}

/// C-12.
#[tokio::test]
async fn writes_are_listed_at_once() {
    let world = world().await;
    let wallet = world.wallet(7).await;
    let list = async |lead: u64| ids(&get(&world, &wallet, &format!("{lead}?i=acme")).await);
    assert_eq!(list(1002).await, [8]);
    let body = json!({ "title": "Novo", "crm_column": 31, "lead_id": 1002 });
    let made = world.call("POST", "/crmopportunity?id=3&i=acme").with(&wallet);
    assert_eq!(made.json(&body).send().await.body["id"], 9);
    assert_eq!(list(1002).await, [9, 8]);
    let moved = world.call("PUT", "/crmopportunity/9?id=3&i=acme").with(&wallet);
    let moved = moved.json(&json!({ "lead_id": 1001, "user": 8 })).send().await;
    assert_eq!(moved.status, 200, "{}", moved.body);
    assert_eq!(list(1002).await, [8]);
    let listed = get(&world, &wallet, "1001?i=acme").await;
    assert_eq!(ids(&listed), [9, 3, 6, 5, 4, 2, 1, 7]);
    assert_eq!(listed.body[0]["user"]["id"], 8);
    let delete = format!("/leads/1001?i=acme&apitoken={}", wallet.key);
    assert_eq!(world.call("DELETE", &delete).send().await.status, 200);
    assert_eq!(get(&world, &wallet, "1001?i=acme").await.status, 404);
}

/// A user that is not there is null.
#[tokio::test]
async fn an_unknown_user_is_null() {
    let world = world().await;
    add_opportunities(&world.operator("acme"), vec![plain_opportunity(9, 99, 100)]).await;
    let answer = get(&world, &world.wallet(7).await, "1001?i=acme&limit=1").await;
    assert_eq!((ids(&answer), &answer.body[0]["user"]), (vec![9], &Value::Null));
}

/// C-86: a lead with more opportunities than the budget reads is refused, and so is an answer over 5 MB.
#[tokio::test]
async fn a_huge_lead_is_refused() {
    let world = world().await;
    let operator = world.operator("acme");
    let large = (11..=700).map(|id| Opportunity {
        fields: Map::from_iter([("Origem do Lead".to_owned(), json!("x".repeat(9_000)))]),
        ..plain_opportunity(id, 8, 200)
    });
    add_opportunities(&operator, large.collect()).await;
    let wallet = world.wallet(7).await;
    let answer = get(&world, &wallet, "1001?i=acme").await;
    let details = "limit: this exceeds 5 MB; ask for less at a time";
    answer.is(400, &json!({ "error": "Invalid request", "details": details }));
    let answer = get(&world, &wallet, "1001?i=acme&limit=2").await;
    assert_eq!(ids(&answer), [700, 699]);
    // 690 records of three units each and seven of one, the links, the funnels.
    let reads = answer.cost.read_units();
    assert!((2080.0..2130.0).contains(&reads), "{reads}");
    tests::people::set(&operator, "read_budget", &json!(2_000)).await;
    let answer = get(&world, &wallet, "1001?i=acme&limit=2").await;
    assert_eq!(answer.status, 400);
    let details = answer.body["details"].as_str().expect("details");
    assert!(
        details.starts_with("lead_id: the opportunities of this lead"),
        "{details}"
    );
}
