//! Order and pages (C-40, C-42).

use serde_json::json;
use shared::opportunity::Opportunity;
use tests::sales::{add_opportunities, page, plain_opportunity};
use tests::world::at;

use super::{Client, shop, stocked};

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
        tests::people::set(&operator, "page_base", &base_of).await;
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
