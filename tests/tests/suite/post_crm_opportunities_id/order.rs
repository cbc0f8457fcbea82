//! Order and pages (C-40, C-42).

use serde_json::{Value, json};
use shared::opportunity::Opportunity;
use tests::sales::{add_opportunities, page, plain_opportunity};
use tests::world::at;

use super::{Client, ids, shop, stocked};

/// C-42: `createDate` descending, then id descending, in both modes.
#[tokio::test]
async fn order_is_by_creation_then_id_descending() {
    let dated = [
        (9, "2026-01-05T00:00:00.000Z"),
        (100, "2026-01-05T00:00:00.000Z"),
        (20, "2026-01-05T00:00:00.001Z"),
        (3, "2026-01-05T00:00:00.000Z"),
        (1, "2027-06-01T00:00:00.000Z"),
        (200, "1900-01-01T00:00:00.000Z"),
        (2, "9999-12-31T23:59:59.999Z"),
        (50, "1969-12-31T23:59:59.999Z"),
    ];
    let world = shop().await;
    let dated = dated.map(|(id, date)| Opportunity {
        create_date: at(date),
        ..plain_opportunity(id, 7 + id % 2, 0)
    });
    add_opportunities(&world.operator("acme"), dated.into()).await;
    let admin = Client::of(&world, 7).await;
    let expected = [2, 1, 20, 100, 9, 3, 50, 200];
    for more in [
        json!({}),
        json!({ "filterByStatus": ["open"] }),
        json!({ "filterByStatus": ["open", "gain"] }),
        json!({ "filterByUsers": [7, 8] }),
        json!({ "search": "pedido", "searchBy": "opportunity" }),
    ] {
        assert_eq!(admin.found(&more).await, expected, "{more}");
        for (at, id) in expected.into_iter().enumerate() {
            let number = at as u64 + 1;
            assert_eq!(admin.ids(number, 1, &more).await, [id], "{more}");
        }
    }
    world.is_sound().await;
}

/// C-40: pages count from 1, and 0 is the first too; or from 0 by the instance's setting. Beyond the end they
/// are empty.
#[tokio::test]
async fn pages_count_from_the_configured_base() {
    let world = stocked((1..=5).map(|id| plain_opportunity(id, 7, 0))).await;
    let admin = Client::of(&world, 7).await;
    let (first, second, third) = (vec![5, 4], vec![3, 2], vec![1]);
    let far = json!(1e30);
    for (base, pages) in [
        (1, vec![&first, &first, &second, &third]),
        (0, vec![&first, &second, &third]),
    ] {
        let operator = world.operator("acme");
        let base_of = json!(base);
        operator
            .set_setting("page_base", &base_of)
            .await
            .expect("a setting");
        let empty = Vec::new();
        let pages: Vec<_> = pages.into_iter().chain([&empty, &empty]).collect();
        for more in [json!({}), json!({ "search": "maria" })] {
            // In sequence by one client; and each page by its own client.
            for (number, expected) in pages.iter().enumerate() {
                let walked = admin
                    .program(&format!("walk from {base}"))
                    .ids(number as u64, 2, &more)
                    .await;
                assert_eq!(walked, **expected, "base {base} page {number}");
                let alone = admin.program(&format!("{base} {number} {more}"));
                assert_eq!(alone.ids(number as u64, 2, &more).await, **expected);
            }
            let mut body = page(1, 2, &more);
            (body["page"], body["columnId"]) = (far.clone(), json!(31));
            admin.ask(3, &body).await.is(200, &json!([]));
        }
    }
}

/// spec.md: a column has ended when a page has fewer items than `limit`, or none.
#[tokio::test]
async fn the_last_page_is_short_or_empty() {
    let world = stocked((1..=6).map(|id| plain_opportunity(id, 7, 0))).await;
    let admin = Client::of(&world, 7).await;
    for (limit, lengths) in [
        (1, vec![1, 1, 1, 1, 1, 1, 0]),
        (3, vec![3, 3, 0, 0]),
        (4, vec![4, 2, 0]),
        (100, vec![6, 0]),
    ] {
        let mut found = Vec::new();
        for number in 1..=lengths.len() as u64 {
            found.push(admin.ids(number, limit, &Value::Null).await.len());
        }
        assert_eq!(found, lengths, "limit {limit}");
    }
    let empty = page(1, 25, &json!({ "columnId": 32 }));
    admin.ask(3, &empty).await.is(200, &json!([]));
}

#[tokio::test]
async fn a_page_contains_only_its_column() {
    let some = (1..=9).map(|id| Opportunity {
        crm_column: tests::sales::column(31 + id % 3),
        ..plain_opportunity(id, 7, 0)
    });
    let world = stocked(some).await;
    let admin = Client::of(&world, 7).await;
    for (column, expected) in [(31, [9, 6, 3]), (32, [7, 4, 1]), (33, [8, 5, 2])] {
        let body = page(1, 25, &json!({ "columnId": column }));
        let answer = admin.ask(3, &body).await;
        assert_eq!(ids(&answer.body), expected);
        let records = answer.body.as_array().expect("a list");
        assert!(records.iter().all(|record| record["crm_column"] == json!(column)));
    }
}
