//! Ranges of creation dates, which daily counts answer in columns with many opportunities: boards with exact totals, and
//! single pages far from the start (C-42, C-43, C-45).

use serde_json::{Value, json};
use shared::money::Cents;
use shared::opportunity::{DateRange, Opportunity, TimeRange};
use shared::time::Zone;
use tests::World;
use tests::sales::page;
use tests::world::at;

use super::offsets::{sees, world};
use super::{Client, ids};
use crate::model::Dice;

/// Offsets of UTC: none, three hours behind, five and a half before, and half a day.
const ZONES: [&str; 4] = ["UTC", "America/Sao_Paulo", "Asia/Kolkata", "Pacific/Auckland"];

/// Other filters of users who see all, their own, those of departments, and some of the restricted ones.
fn viewers() -> [(u64, Value); 8] {
    [
        (7, json!({})),
        (7, json!({ "filterByUsers": [8] })),
        (
            7,
            json!({ "filterByStatus": ["open", "lost"], "filterByUsers": [8, 10] }),
        ),
        (8, json!({})),
        (10, json!({})),
        (10, json!({ "filterByStatus": ["lost"] })),
        (11, json!({})),
        (11, json!({ "filterByUsers": [8, 9] })),
    ]
}

/// A day or a moment within the days of the opportunities, or none.
fn end(dice: &Dice, from: u64, days: u64) -> Value {
    let day = u32::try_from(from + dice.below(days)).expect("small");
    let day = at("2025-12-31T00:00:00Z").plus_days(day);
    let seconds = u32::try_from(dice.below(86_400)).expect("small");
    match dice.below(5) {
        0 => Value::Null,
        1 => json!(day.plus_seconds(seconds).to_string()),
        _ => json!(&day.to_string()[..10]),
    }
}

/// The opportunities that a viewer sees in a range, newest first.
fn expected<'a>(
    all: &'a [Opportunity],
    viewer: u64,
    more: &Value,
    range: &TimeRange,
) -> Vec<&'a Opportunity> {
    let holds = |name: &str, value: Value| {
        let wanted = more[name].as_array();
        wanted.is_none_or(|wanted| wanted.contains(&value))
    };
    all.iter()
        .filter(|one| sees(viewer, one) && range.covers(Some(one.create_date)))
        .filter(|one| holds("filterByUsers", json!(one.user)) && holds("filterByStatus", json!(one.status)))
        .collect()
}

/// Compares the board, and pages from offset 500 on, with the opportunities of column 31.
async fn compare(world: &World, all: &[Opportunity], zone: &str, dice: &Dice, rounds: usize) {
    let operator = world.operator("acme");
    tests::people::set(&operator, "timezone", &json!(zone)).await;
    let zone_of = Zone::parse(zone).expect("a zone");
    for (viewer, more) in viewers() {
        let client = Client::of(world, viewer).await;
        for round in 0..rounds {
            let range = json!({ "start": end(dice, 0, 7), "end": end(dice, 6, 7) });
            let Ok(within) = DateRange::read(&range).expect("a range").within(zone_of) else {
                continue;
            };
            let mut more = more.clone();
            more["filterByCreateDate"] = range;
            let expected = expected(all, viewer, &more, &within);
            let case = format!("{zone} user {viewer} {more}");
            let board = client.ask(3, &page(1, 5, &more)).await;
            assert_eq!(board.status, 200, "{case}: {}", board.body);
            let column = &board.body[0];
            let cents: u64 = expected.iter().map(|one| one.value.get()).sum();
            let value = match expected.len() {
                0 => json!(0),
                _ => json!(format!("{}.{:02}", cents / 100, cents % 100)),
            };
            assert_eq!(
                (&column["total"], &column["totalValue"]),
                (&json!(expected.len()), &value),
                "{case}"
            );
            let listed: Vec<_> = expected.iter().map(|one| one.id.get()).collect();
            assert_eq!(ids(&column["items"]), listed[..listed.len().min(5)], "{case}");
            let skipped = 500 + dice.below(300);
            let alone = client.program(&format!("{zone} {round}"));
            let at = usize::try_from(skipped).expect("small");
            let shown: Vec<_> = listed.iter().copied().skip(at).take(1).collect();
            assert_eq!(
                alone.ids(skipped + 1, 1, &more).await,
                shown,
                "{case} after {skipped}"
            );
        }
    }
}

/// Changes values, owners, statuses, columns and the archive of some.
async fn change(world: &World, all: &mut Vec<Opportunity>) {
    let admin = Client::of(world, 7).await;
    for (id, body) in [
        (20, json!({ "value": "1234.56" })),
        (21, json!({ "value": "0.07", "status": "gain" })),
        (23, json!({ "value": "77.00" })),
        (24, json!({ "user": 9 })),
        (25, json!({ "crm_column": 33 })),
        (26, json!({ "archived": true })),
    ] {
        admin.must_change(id, &body).await;
    }
    all.retain(|one| ![25, 26].contains(&one.id.get()));
    for one in all {
        match one.id.get() {
            20 => one.value = Cents::new(123_456).expect("an amount"),
            21 => {
                one.value = Cents::new(7).expect("an amount");
                one.begin_as(shared::opportunity::Status::Gain);
            }
            23 => one.value = Cents::new(7_700).expect("an amount"),
            24 => one.user = tests::people::user(9),
            _ => {}
        }
    }
}

#[tokio::test]
async fn ranges_are_counted_exactly() {
    let (world, mut all) = world().await;
    let dice = Dice::new(31);
    for zone in ZONES {
        compare(&world, &all, zone, &dice, 2).await;
    }
    change(&world, &mut all).await;
    compare(&world, &all, ZONES[1], &dice, 4).await;
    world.is_sound().await;
}
