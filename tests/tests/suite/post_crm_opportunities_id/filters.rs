//! Filters by user, status and archive, and all filters together (C-43, C-46).

use serde_json::{Value, json};
use shared::opportunity::{Opportunity, Status};
use tests::World;
use tests::people::lead;
use tests::sales::plain_opportunity;
use tests::world::at;

use super::{Client, stocked};

/// 1 to 12 in column 31: alternately of users 8, 9 and 10; 1 to 4 open, 5 to 8 won, 9 to 12 lost; every
/// fourth archived.
async fn world() -> World {
    let opportunities = (1..=12).map(|id| {
        let mut one = plain_opportunity(id, 8 + (id - 1) % 3, 0);
        one.begin_as(
            [Status::Open, Status::Gain, Status::Lost][usize::try_from((id - 1) / 4).expect("small")],
        );
        one.archived = id % 4 == 0;
        one
    });
    stocked(opportunities).await
}

/// Rows of `FILTERS | IDS`.
fn rows(table: &str) -> impl Iterator<Item = (Value, Vec<u64>)> {
    table.trim().lines().map(|line| {
        let (filters, ids) = line.split_once(" |").expect("two parts");
        let ids = ids.split_whitespace().map(|id| id.parse().expect("an id"));
        (serde_json::from_str(filters).expect("an object"), ids.collect())
    })
}

const ALONE: &str = r#"
{} | 11 10 9 7 6 5 3 2 1
{"filterByUsers":[8]} | 10 7 1
{"filterByUsers":[9]} | 11 5 2
{"filterByUsers":[10,8,10]} | 10 9 7 6 3 1
{"filterByUsers":[8.0]} | 10 7 1
{"filterByUsers":[]} | 11 10 9 7 6 5 3 2 1
{"filterByUsers":null} | 11 10 9 7 6 5 3 2 1
{"filterByStatus":["open"]} | 3 2 1
{"filterByStatus":["gain"]} | 7 6 5
{"filterByStatus":["lost"]} | 11 10 9
{"filterByStatus":["lost","open","lost"]} | 11 10 9 3 2 1
{"filterByStatus":["open","gain","lost"]} | 11 10 9 7 6 5 3 2 1
{"filterByStatus":[]} | 11 10 9 7 6 5 3 2 1
{"filterByStatus":null} | 11 10 9 7 6 5 3 2 1
{"onlyArchived":true} | 12 8 4
{"onlyArchived":false} | 11 10 9 7 6 5 3 2 1
"#;

const COMBINED: &str = r#"
{"filterByUsers":[8],"filterByStatus":["gain"]} | 7
{"filterByUsers":[8,9],"filterByStatus":["gain","open"]} | 7 5 2 1
{"filterByUsers":[10],"onlyArchived":true} | 12
{"filterByStatus":["gain"],"onlyArchived":true} | 8
{"filterByUsers":[8,10],"filterByStatus":["open","lost"],"onlyArchived":true} | 12 4
{"filterByUsers":[9],"filterByStatus":["open"],"onlyArchived":true} |
"#;

#[tokio::test]
async fn filters_alone_and_combined() {
    let world = world().await;
    let admin = Client::of(&world, 7).await;
    for (more, found) in rows(ALONE).chain(rows(COMBINED)) {
        assert_eq!(admin.found(&more).await, found, "{more}");
    }
    world.is_sound().await;
}

/// C-46: a filter by invisible users or statuses selects only visible ones.
#[tokio::test]
async fn filters_never_extend_visibility() {
    let world = world().await;
    // Own; own without won and lost; the departments'; all without won and lost; own department 3.
    for (user, more, found) in [
        (8, json!({}), vec![10, 7, 1]),
        (8, json!({ "filterByUsers": [9] }), vec![]),
        (8, json!({ "filterByUsers": [8, 9, 10] }), vec![10, 7, 1]),
        (9, json!({}), vec![2]),
        (9, json!({ "filterByStatus": ["gain", "lost"] }), vec![]),
        (9, json!({ "filterByStatus": ["gain", "open"] }), vec![2]),
        (10, json!({ "filterByUsers": [8] }), vec![10, 7, 1]),
        (10, json!({ "filterByUsers": [8, 11] }), vec![10, 7, 1]),
        (11, json!({}), vec![3, 2, 1]),
        (
            11,
            json!({ "filterByUsers": [9], "filterByStatus": ["lost"] }),
            vec![],
        ),
        (
            11,
            json!({ "filterByUsers": [9], "filterByStatus": ["lost", "open"] }),
            vec![2],
        ),
        (14, json!({}), vec![]),
        (14, json!({ "filterByUsers": [8, 14] }), vec![]),
    ] {
        let client = Client::of(&world, user).await;
        // Twice: in the first request the prefetch hint is missing.
        for _ in 0..2 {
            assert_eq!(client.found(&more).await, found, "user {user} {more}");
        }
    }
}

/// Eight records that each fail one filter, and one that matches all.
#[tokio::test]
async fn all_filters_apply_together() {
    let hit = |id| Opportunity {
        title: "Obra".to_owned(),
        expected_close_date: Some(at("2026-05-05T12:00:00Z")),
        create_date: at("2026-02-02T12:00:00Z"),
        fields: serde_json::from_value(json!({ "Origem do Lead": "site" })).expect("an object"),
        ..plain_opportunity(id, 8, 0)
    };
    let mut all = vec![hit(1), hit(2), hit(3), hit(4), hit(5), hit(6), hit(7), hit(8)];
    all[1].user = tests::people::user(9);
    all[2].begin_as(Status::Gain);
    all[3].create_date = at("2026-02-03T12:00:00Z");
    all[4].expected_close_date = None;
    all[5].fields.clear();
    all[6].lead_id = Some(lead(1002));
    all[7].archived = true;
    let world = stocked(all).await;
    let admin = Client::of(&world, 7).await;
    let day = |day: &str| json!({ "start": day, "end": day });
    let every = json!({
        "filterByUsers": [8], "filterByStatus": ["open"], "filterByCreateDate": day("2026-02-02"),
        "filterByExpectedCloseDate": day("2026-05-05"), "search": "maria", "searchBy": "lead", "onlyArchived": false,
        "filters": [{ "filterType": "opField", "properties": { "field": "Origem do Lead", "value": "site" } }],
    });
    assert_eq!(admin.found(&every).await, [1]);
    for (name, id) in [
        ("filterByUsers", 2),
        ("filterByStatus", 3),
        ("filterByCreateDate", 4),
        ("filterByExpectedCloseDate", 5),
        ("filters", 6),
        ("search", 7),
    ] {
        let mut but_one = every.clone();
        but_one[name] = Value::Null;
        let mut found = admin.found(&but_one).await;
        found.sort_unstable();
        assert_eq!(found, [1, id], "without {name}");
    }
    let mut archived = every.clone();
    archived["onlyArchived"] = json!(true);
    assert_eq!(admin.found(&archived).await, [8]);
}
