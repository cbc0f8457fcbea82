//! Departments of many users (C-42): their lists are merged if they are few or sparse, and filtered from a
//! wider list if they are dense in it, unless the matches are too far back.

use serde_json::{Value, json};
use shared::directory::Department;
use shared::ids::GroupId;
use shared::opportunity::{Opportunity, Status};
use shared::people::User;
use tests::World;
use tests::people::{add_users, department, user};
use tests::sales::{add_opportunities, column, plain_opportunity};

use super::{Client, page, shop};

/// Twelve users of department 5, who see the department's opportunities.
const TEAM: std::ops::RangeInclusive<u64> = 41..=52;

async fn world() -> World {
    let world = shop().await;
    let operator = world.operator("acme");
    operator
        .put_directory(|directory| {
            directory
                .departments
                .insert(department(5), Department::new("Campo", None));
        })
        .await
        .expect("the directory");
    let team = TEAM.map(|id| User {
        department: Some(department(5)),
        group: GroupId::new(23),
        ..User::new(user(id), "Campo")
    });
    add_users(&operator, &team.collect::<Vec<_>>()).await;
    world
}

/// The `n`th of the team, created at this moment; every fourth is won.
fn of_the_team(n: u64, at: u64, stage: u64) -> Opportunity {
    let mut one = plain_opportunity(
        10_000 + n,
        TEAM.start() + n % 12,
        u32::try_from(at).expect("small"),
    );
    one.crm_column = column(stage);
    one.begin_as(if n.is_multiple_of(4) {
        Status::Gain
    } else {
        Status::Open
    });
    one
}

/// The `n`th of user 7, who is of another department.
fn of_another(n: u64, at: u64, stage: u64) -> Opportunity {
    Opportunity {
        crm_column: column(stage),
        ..plain_opportunity(20_000 + n, 7, u32::try_from(at).expect("small"))
    }
}

/// Requires the reads of a team's user: the column whole, in pages and by single pages, and its top on the
/// board.
async fn reads(world: &World, stage: u64, team: &[Opportunity]) {
    let member = Client::of(world, 41).await;
    let mut team: Vec<_> = team.iter().collect();
    team.sort_by_key(|one| std::cmp::Reverse((one.create_date, one.id)));
    for (more, keep) in [
        (json!({}), None),
        (json!({ "filterByStatus": ["open"] }), Some(vec![Status::Open])),
        (
            json!({ "filterByStatus": ["open", "gain"] }),
            Some(vec![Status::Open, Status::Gain]),
        ),
    ] {
        let mut more = more;
        more["columnId"] = json!(stage);
        let expected = team
            .iter()
            .filter(|one| keep.as_ref().is_none_or(|keep| keep.contains(&one.status)));
        let expected: Vec<_> = expected.map(|one| one.id.get()).collect();
        assert_eq!(member.walk(100, &more).await, expected, "{more}");
        for (number, limit) in [(1, 1), (1, 7), (4, 7), (2, 100), (6, 100), (601, 1), (9, 100)] {
            let skipped = usize::try_from((number - 1) * limit).expect("small");
            let taken = usize::try_from(limit).expect("small");
            let slice: Vec<_> = expected.iter().copied().skip(skipped).take(taken).collect();
            let alone = member.program(&format!("{number} of {limit}"));
            assert_eq!(
                alone.ids(number, limit, &more).await,
                slice,
                "{more} {number} of {limit}"
            );
        }
        more["columnId"] = Value::Null;
        let board = member.ask(3, &page(1, 9, &more)).await.body;
        let shown = &board[usize::try_from(stage - 31).expect("small")];
        let first: Vec<_> = expected.iter().copied().take(9).collect();
        assert_eq!(
            (super::ids(&shown["items"]), &shown["total"]),
            (first, &json!(expected.len()))
        );
    }
}

/// Half of a column, evenly.
#[tokio::test]
async fn dense_departments_are_filtered() {
    let world = world().await;
    let team: Vec<_> = (1..=130).map(|n| of_the_team(n, n * 20 + n % 3, 31)).collect();
    let others = (1..=130).map(|n| of_another(n, n * 20 + 1, 31));
    add_opportunities(&world.operator("acme"), others.chain(team.clone()).collect()).await;
    reads(&world, 31, &team).await;
    world.is_sound().await;
}

/// One in twenty.
#[tokio::test]
async fn sparse_departments_are_merged() {
    let world = world().await;
    let team: Vec<_> = (1..=26).map(|n| of_the_team(n, n * 400, 31)).collect();
    let others = (1..=500).map(|n| of_another(n, n * 20 + 1, 31));
    add_opportunities(&world.operator("acme"), others.chain(team.clone()).collect()).await;
    reads(&world, 31, &team).await;
}

/// A third of a column, all after 1,400 of others: the wider list is abandoned before the first match.
#[tokio::test]
async fn departments_far_back_are_merged() {
    let world = world().await;
    let team: Vec<_> = (1..=620).map(|n| of_the_team(n, n * 20, 32)).collect();
    let others = (1..=1400).map(|n| of_another(n, 100_000 + n * 20, 32));
    add_opportunities(&world.operator("acme"), others.chain(team.clone()).collect()).await;
    reads(&world, 32, &team).await;
}

/// A few at the front, the rest far back: the wider list is abandoned within a page.
#[tokio::test]
async fn the_wider_list_is_abandoned_within_a_page() {
    let world = world().await;
    let behind = (1..=600).map(|n| of_the_team(n, n * 20, 32));
    let before = (601..=605).map(|n| of_the_team(n, 200_000 + n * 20, 32));
    let team: Vec<_> = behind.chain(before).collect();
    let others = (1..=1500).map(|n| of_another(n, 100_000 + n * 20, 32));
    add_opportunities(&world.operator("acme"), others.chain(team.clone()).collect()).await;
    reads(&world, 32, &team).await;
}
