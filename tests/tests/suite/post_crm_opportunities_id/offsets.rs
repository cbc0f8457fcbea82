//! Single pages (C-42): each is the slice of the whole list by its number.

use serde_json::{Value, json};
use shared::opportunity::{Opportunity, ServicePermission, Status};
use tests::World;
use tests::people::{department, lead, user};
use tests::sales::{add_opportunities, column, plain_opportunity};

use super::{Client, shop};

/// 1 to 1,200 in column 31 over eleven days, several per second; of users 8 (seven in twelve), 9, 10 and 11;
/// three in four open, one in three of lead 1002. One in ten is restricted to user 11 in addition to its own
/// user, another to department 3.
pub fn listed(id: u64) -> Opportunity {
    let of = [8, 8, 9, 8, 10, 8, 8, 11, 8, 9, 8, 10];
    let place = |of: u64| usize::try_from(id % of).expect("small");
    let mut one = plain_opportunity(id, of[place(12)], 0);
    let seconds = u32::try_from(id * 7919 % 1200 / 3 * 2400).expect("small");
    one.create_date = one.create_date.plus_seconds(seconds);
    one.update_date = one.create_date;
    let statuses = [Status::Open, Status::Gain, Status::Open, Status::Lost];
    one.begin_as(statuses[place(8).min(3)]);
    one.lead_id = Some(lead(if id.is_multiple_of(3) { 1002 } else { 1001 }));
    if id % 10 == 3 {
        one.service_permission = ServicePermission::Users;
        one.service_permission_users = vec![user(11)];
    } else if id % 10 == 4 {
        one.service_permission = ServicePermission::Departments;
        one.service_permission_departments = vec![department(3)];
    }
    one
}

/// Includes records that must not count: in another column, in the archive, and one that came and left.
pub async fn world() -> (World, Vec<Opportunity>) {
    let world = shop().await;
    let operator = world.operator("acme");
    let mut all: Vec<_> = (1..=1200).map(listed).collect();
    let beside = (1201..=1300).map(|id| Opportunity {
        crm_column: column(32 - id % 2),
        archived: id % 2 == 1,
        ..listed(id)
    });
    add_opportunities(&operator, all.iter().cloned().chain(beside).collect()).await;
    let admin = Client::of(&world, 7).await;
    for id in [17, 600, 1100] {
        admin.must_change(id, &json!({ "crm_column": 33 })).await;
        admin.must_change(id, &json!({ "crm_column": 31 })).await;
    }
    for id in [18, 601, 1101] {
        admin.must_change(id, &json!({ "crm_column": 33 })).await;
    }
    all.retain(|one| ![18, 601, 1101].contains(&one.id.get()));
    all.sort_by_key(|one| std::cmp::Reverse((one.create_date, one.id)));
    (world, all)
}

/// Whether a user sees one of these (C-82): 7 all, 8 and 9 their own, 9 no won and lost ones, 10 those of
/// departments 1 and 2, 11 all but won and lost ones.
pub fn sees(viewer: u64, one: &Opportunity) -> bool {
    let own = one.user.get() == viewer;
    let open = one.status == Status::Open;
    let admitted = own || one.service_permission == ServicePermission::All;
    match viewer {
        7 => true,
        8 => own,
        9 => own && open,
        10 => one.user.get() != 11 && admitted,
        // In department 3, and in the users' list of restricted ones.
        _ => open,
    }
}

/// Pages with offsets 0, 100, 400, 499, 500, 501, 600, 1100 and beyond.
const PAGES: [(u64, u64); 11] = [
    (1, 100),
    (2, 100),
    (5, 100),
    (500, 1),
    (6, 100),
    (501, 1),
    (168, 3),
    (25, 25),
    (12, 100),
    (1101, 1),
    (14, 100),
];

async fn pages_are_slices(world: &World, all: &[Opportunity], viewer: u64, more: &Value) {
    let holds = |name: &str, value: Value| {
        let wanted = more[name].as_array();
        wanted.is_none_or(|wanted| wanted.contains(&value))
    };
    let expected: Vec<_> = all
        .iter()
        .filter(|one| sees(viewer, one))
        .filter(|one| holds("filterByUsers", json!(one.user)) && holds("filterByStatus", json!(one.status)))
        .map(|one| one.id.get())
        .collect();
    let client = Client::of(world, viewer).await;
    assert_eq!(client.walk(100, more).await, expected, "user {viewer} {more}");
    for (number, limit) in PAGES {
        let offset = usize::try_from((number - 1) * limit).expect("small");
        let slice: Vec<_> = expected
            .iter()
            .copied()
            .skip(offset)
            .take(usize::try_from(limit).expect("small"))
            .collect();
        let alone = client.program(&format!("{number} of {limit}"));
        assert_eq!(
            alone.ids(number, limit, more).await,
            slice,
            "user {viewer} {more} page {number} of {limit}"
        );
    }
}

#[tokio::test]
async fn single_pages_are_slices_of_the_list() {
    let (world, all) = world().await;
    for (viewer, more) in [
        (7, json!({})),
        (7, json!({ "filterByUsers": [8] })),
        (7, json!({ "filterByUsers": [8, 9, 10, 11] })),
        (7, json!({ "filterByStatus": ["open"] })),
        (7, json!({ "filterByStatus": ["open", "gain"] })),
        (
            7,
            json!({ "filterByStatus": ["open", "lost"], "filterByUsers": [8, 10] }),
        ),
        (7, json!({ "filterByStatus": ["open"], "filterByUsers": [8] })),
        (8, json!({})),
        (8, json!({ "filterByStatus": ["open"] })),
        (9, json!({})),
        (10, json!({})),
        (10, json!({ "filterByStatus": ["gain", "open"] })),
        (10, json!({ "filterByUsers": [8, 11] })),
        (11, json!({})),
        (11, json!({ "filterByUsers": [8] })),
    ] {
        pages_are_slices(&world, &all, viewer, &more).await;
    }
    world.is_sound().await;
}

/// Filters on records skip by reading.
#[tokio::test]
async fn offsets_with_filters_on_records() {
    let (world, all) = world().await;
    let admin = Client::of(&world, 7).await;
    let day = |one: &Opportunity| one.create_date.to_string()[..10].to_owned();
    let found = |keep: &dyn Fn(&Opportunity) -> bool| {
        let found = all.iter().filter(|one| keep(one)).map(|one| one.id.get());
        found.collect::<Vec<_>>()
    };
    let dates = json!({ "filterByCreateDate": { "start": "2026-01-02", "end": "2026-01-10" } });
    let within = |one: &Opportunity| ("2026-01-02".."2026-01-11").contains(&day(one).as_str());
    let maria = json!({ "search": "maria" });
    let of_maria = |one: &Opportunity| !one.id.get().is_multiple_of(3);
    for (more, expected) in [(dates, found(&within)), (maria, found(&of_maria))] {
        assert!(expected.len() > 550, "{more}");
        assert_eq!(admin.walk(100, &more).await, expected, "{more}");
        for (number, limit) in PAGES {
            let skipped = usize::try_from((number - 1) * limit).expect("small");
            let taken = usize::try_from(limit).expect("small");
            let slice: Vec<_> = expected.iter().copied().skip(skipped).take(taken).collect();
            let alone = admin.program(&format!("{number} of {limit}"));
            assert_eq!(
                alone.ids(number, limit, &more).await,
                slice,
                "{more} {number} of {limit}"
            );
        }
    }
}
