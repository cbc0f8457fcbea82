//! Sequences of pages of a column that changes (C-42).

use std::collections::BTreeSet;

use serde_json::{Value, json};
use shared::opportunity::{Opportunity, Status};
use tests::World;
use tests::sales::{add_opportunities, column, plain_opportunity};

use super::{Client, shop, stocked};

/// 1 to 40 in column 31 and 101 to 140 in column 32, created alternately ten seconds apart; all open and of
/// user 8.
async fn world() -> World {
    let made = |id: u64, seconds| plain_opportunity(id, 8, u32::try_from(seconds).expect("small"));
    let listed = (1..=40).map(|id| made(id, id * 20));
    let beside = (101..=140).map(|id| Opportunity {
        crm_column: column(32),
        ..made(id, (id - 100) * 20 + 10)
    });
    stocked(listed.chain(beside)).await
}

/// Changes between two pages. Of 1 to 40 only those of [`gone`] leave.
async fn meanwhile(admin: &Client<'_>, page: u64, user: u64) {
    // Newer than all.
    let new = json!({ "title": "Novo", "crm_column": 31, "lead_id": 1001, "user": user });
    for _ in 0..3 {
        let call = admin.world.call("POST", "/crmopportunity?id=3&i=acme");
        let answer = call.with(&admin.wallet).json(&new).send().await;
        assert_eq!(answer.status, 200, "{}", answer.body);
    }
    // Old records move into the column, in the parts already read and not yet read.
    for id in [101 + page, 120 + page, 140 - page] {
        admin.must_change(id, &json!({ "crm_column": 31 })).await;
    }
    // Records leave it: one already read, one not yet; the last read one is archived.
    for (id, change) in gone(page) {
        admin.must_change(id, &change).await;
    }
}

/// Records that leave after a page: for pages of six, newest first.
fn gone(page: u64) -> [(u64, Value); 3] {
    let last = 41 - page * 6;
    [
        (last + 3, json!({ "crm_column": 33 })),
        (page, json!({ "crm_column": 32 })),
        (last, json!({ "archived": true })),
    ]
}

/// Every remaining record is read once, in order.
#[track_caller]
fn is_whole(walked: &[u64], changes: u64, what: &str) {
    let distinct: BTreeSet<_> = walked.iter().collect();
    assert_eq!(distinct.len(), walked.len(), "{what}: {walked:?}");
    let left: BTreeSet<_> = (1..=changes)
        .flat_map(|page| gone(page).map(|(id, _)| id))
        .collect();
    let stayed = |id: &u64| *id <= 40 && !left.contains(id);
    let expected: Vec<_> = (1..=40).rev().filter(stayed).collect();
    let read: Vec<_> = walked.iter().copied().filter(stayed).collect();
    assert_eq!(read, expected, "{what}: {walked:?}");
}

/// Reads all pages while the column changes after each of the first four.
async fn walk_through_changes(viewer: u64, more: &Value) {
    let world = world().await;
    let (admin, reader) = (Client::of(&world, 7).await, Client::of(&world, viewer).await);
    let mut walked = Vec::new();
    for number in 1.. {
        let page = reader.ids(number, 6, more).await;
        walked.extend(&page);
        if page.len() < 6 {
            break;
        }
        if number <= 4 {
            meanwhile(&admin, number, 8).await;
        }
    }
    is_whole(&walked, 4, &format!("user {viewer} {more}"));
    world.is_sound().await;
}

/// In every kind of list: of all, of a status, of a user, of both, merged ones, and with filters on records.
#[tokio::test]
async fn pages_survive_changes_of_the_column() {
    for (viewer, more) in [
        (7, json!({})),
        (7, json!({ "filterByStatus": ["open"] })),
        (7, json!({ "filterByUsers": [8] })),
        (7, json!({ "filterByUsers": [8], "filterByStatus": ["open"] })),
        (
            7,
            json!({ "filterByUsers": [8, 9], "filterByStatus": ["open", "gain"] }),
        ),
        (7, json!({ "search": "maria" })),
        (7, json!({ "filterByCreateDate": { "end": "2026-12-31" } })),
        (8, json!({})),
        (10, json!({})),
        (11, json!({})),
    ] {
        walk_through_changes(viewer, &more).await;
    }
}

/// Independent sequences: the same key with another user agent, another key, and the same client through
/// another address, concurrently and in turn; new records arrive before every page.
#[tokio::test]
async fn sequences_of_pages_are_independent() {
    let world = world().await;
    let (admin, seller) = (Client::of(&world, 7).await, Client::of(&world, 8).await);
    let walks = [
        (admin.program("a"), json!({})),
        (admin.program("b"), json!({})),
        (admin.program("a").machine(2), json!({})),
        (Client::of(&world, 7).await.program("a"), json!({})),
        (seller.program("a"), json!({})),
        (admin.program("a"), json!({ "filterByStatus": ["open"] })),
        (admin.program("a"), json!({ "filterByUsers": [8, 9] })),
    ];
    let mut walked: Vec<Vec<u64>> = vec![Vec::new(); walks.len()];
    // Requests take ids in between.
    let mut new = (200..).step_by(10);
    for round in 1..=20 {
        for (at, (client, more)) in walks.iter().enumerate() {
            // Three begin together, the others a page later; each ends with a page that is not full.
            let (pages, rest) = (walked[at].len() / 6, walked[at].len() % 6);
            if rest > 0 || round != at / 3 + pages + 1 {
                continue;
            }
            walked[at].extend(client.ids(pages as u64 + 1, 6, more).await);
            let newer = new.by_ref().take(2).map(|id| plain_opportunity(id, 8, 90_000));
            add_opportunities(&world.operator("acme"), newer.collect()).await;
        }
        if round <= 4 {
            meanwhile(&admin, round as u64, 8).await;
        }
    }
    for (walked, (_, more)) in walked.iter().zip(&walks) {
        is_whole(walked, 4, &more.to_string());
    }
}

#[tokio::test]
async fn page_sizes_distinguish_sequences() {
    let world = world().await;
    let admin = Client::of(&world, 7).await;
    let mut walked = [Vec::new(), Vec::new()];
    for number in 1..=8 {
        if number <= 7 {
            walked[0].extend(admin.ids(number, 6, &Value::Null).await);
        }
        walked[1].extend(admin.ids(number, 5, &Value::Null).await);
        if number <= 2 {
            let newer = (200 + number * 10..205 + number * 10).map(|id| plain_opportunity(id, 8, 90_000));
            add_opportunities(&world.operator("acme"), newer.collect()).await;
        }
    }
    let all: Vec<u64> = (1..=40).rev().collect();
    assert_eq!(walked, [all.clone(), all]);
}

/// A repeated page is the same, and the sequence continues.
#[tokio::test]
async fn a_page_can_be_repeated() {
    let world = world().await;
    let admin = Client::of(&world, 7).await;
    let mut walked = Vec::new();
    for number in 1..=7 {
        let page = admin.ids(number, 6, &Value::Null).await;
        let newer = plain_opportunity(200 + number, 8, 90_000);
        add_opportunities(&world.operator("acme"), vec![newer]).await;
        if number > 1 {
            assert_eq!(admin.ids(number, 6, &Value::Null).await, page);
        }
        walked.extend(page);
    }
    assert_eq!(walked, (1..=40).rev().collect::<Vec<_>>());
}

/// spec.md: a column ends with a page that is not full "or an empty array"; later pages repeat nothing and
/// contain new records.
#[tokio::test]
async fn a_sequence_continues_after_its_end() {
    for (limit, last) in [(6, 7), (50, 1)] {
        let world = world().await;
        let admin = Client::of(&world, 7).await;
        let mut walked = Vec::new();
        for number in 1..=last {
            walked.extend(admin.ids(number, limit, &Value::Null).await);
        }
        assert_eq!(walked, (1..=40).rev().collect::<Vec<_>>());
        assert_eq!(admin.ids(last + 1, limit, &Value::Null).await, [0; 0]);
        let newer = (201..=209).map(|id| plain_opportunity(id, 8, 90_000));
        add_opportunities(&world.operator("acme"), newer.collect()).await;
        let mut since = Vec::new();
        for number in last + 1..=last + 3 {
            since.extend(admin.ids(number, limit, &Value::Null).await);
        }
        assert_eq!(since, (201..=209).rev().collect::<Vec<_>>(), "pages of {limit}");
    }
}

/// C-42: no later page is empty while there are records not shown yet.
#[tokio::test]
async fn a_short_column_can_grow() {
    let world = stocked((1..=5).map(|id| plain_opportunity(id, 8, 10))).await;
    let admin = Client::of(&world, 7).await;
    for more in [
        json!({}),
        json!({ "search": "maria" }),
        json!({ "filterByUsers": [8, 9] }),
    ] {
        assert_eq!(admin.ids(1, 10, &more).await.len(), 5);
    }
    let newer = (101..=120).map(|id| plain_opportunity(id, 8, 90_000));
    add_opportunities(&world.operator("acme"), newer.collect()).await;
    for more in [
        json!({}),
        json!({ "search": "maria" }),
        json!({ "filterByUsers": [8, 9] }),
    ] {
        let second = admin.ids(2, 10, &more).await;
        let third = admin.ids(3, 10, &more).await;
        let expected: Vec<u64> = (101..=120).rev().collect();
        assert_eq!([second, third].concat(), expected, "{more}");
        assert_eq!(admin.ids(4, 10, &more).await, [0; 0]);
        // The first page starts again, and a page without a cursor is an offset.
        let alone = admin.program("another").ids(3, 10, &more).await;
        assert_eq!(alone, [5, 4, 3, 2, 1]);
    }
}

/// An earlier sequence of the same client found more.
#[tokio::test]
async fn a_sequence_shorter_than_an_earlier_one() {
    let world = world().await;
    let admin = Client::of(&world, 7).await;
    assert_eq!(admin.walk(10, &Value::Null).await.len(), 40);
    for id in 16..=30 {
        admin.must_change(id, &json!({ "crm_column": 33 })).await;
    }
    let mut walked = Vec::new();
    for number in 1..=4 {
        walked.extend(admin.ids(number, 10, &Value::Null).await);
    }
    let left: Vec<u64> = (31..=40).rev().chain((1..=15).rev()).collect();
    assert_eq!(walked, left);
}

/// C-40: page 2 may follow page 0 if pages count from 1, and page 1 follows page 0 if they count from 0.
#[tokio::test]
async fn sequences_may_start_at_page_0() {
    for (base, numbers) in [(1, [0, 2, 3, 4]), (0, [0, 1, 2, 3])] {
        let world = world().await;
        let operator = world.operator("acme");
        let base_of = json!(base);
        tests::people::set(&operator, "page_base", &base_of).await;
        let admin = Client::of(&world, 7).await;
        let mut walked = Vec::new();
        for number in numbers {
            walked.extend(admin.ids(number, 10, &Value::Null).await);
            let newer = plain_opportunity(200 + number, 8, 90_000);
            add_opportunities(&operator, vec![newer]).await;
        }
        assert_eq!(walked, (1..=40).rev().collect::<Vec<_>>(), "base {base}");
    }
}

/// A page without a cursor is an offset into the current list; a cursor expires an hour after its last use.
#[tokio::test]
async fn cursors_expire_after_an_hour() {
    let world = world().await;
    let operator = world.operator("acme");
    let admin = Client::of(&world, 7).await;
    let add = async |from: u64| {
        let newer = (from..from + 5).map(|id| plain_opportunity(id, 8, 90_000));
        add_opportunities(&operator, newer.collect()).await;
    };
    let rest = |seconds| {
        let now = world.clock.get().plus_seconds(seconds);
        world.clock.set(now);
    };
    assert_eq!(
        admin.ids(1, 10, &Value::Null).await,
        (31..=40).rev().collect::<Vec<_>>()
    );
    add(200).await;
    rest(59 * 60);
    assert_eq!(
        admin.ids(2, 10, &Value::Null).await,
        (21..=30).rev().collect::<Vec<_>>()
    );
    add(300).await;
    let alone = admin.program("another").ids(3, 10, &Value::Null).await;
    assert_eq!(alone, (21..=30).rev().collect::<Vec<_>>());
    rest(2 * 3600);
    assert_eq!(admin.ids(3, 10, &Value::Null).await, alone);
    // It is a sequence again.
    add(400).await;
    assert_eq!(
        admin.ids(4, 10, &Value::Null).await,
        (11..=20).rev().collect::<Vec<_>>()
    );
}

/// After a change of permissions a sequence continues at its position.
#[tokio::test]
async fn permissions_may_change_between_pages() {
    let world = shop().await;
    let operator = world.operator("acme");
    let mixed = (1..=30).map(|id| {
        let mut one = plain_opportunity(id, 8, u32::try_from(id).expect("small"));
        one.begin_as(if id % 2 == 0 { Status::Gain } else { Status::Open });
        one
    });
    add_opportunities(&operator, mixed.collect()).await;
    let reader = Client::of(&world, 11).await;
    assert_eq!(reader.ids(1, 5, &Value::Null).await, [29, 27, 25, 23, 21]);
    let allow = async |won_lost| {
        let edit = |directory: &mut shared::directory::Directory| {
            let group = shared::ids::GroupId::new(24).expect("a group id");
            let group = directory.groups.get_mut(&group).expect("the group of user 11");
            group.permissions.won_lost = won_lost;
        };
        operator.put_directory(edit).await.expect("the directory");
    };
    allow(true).await;
    assert_eq!(reader.ids(2, 5, &Value::Null).await, [20, 19, 18, 17, 16]);
    allow(false).await;
    assert_eq!(reader.ids(3, 5, &Value::Null).await, [15, 13, 11, 9, 7]);
}
