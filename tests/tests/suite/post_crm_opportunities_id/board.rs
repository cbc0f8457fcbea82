//! The board: every column with totals and newest opportunities (C-45).

use serde_json::{Value, json};
use shared::funnel::Funnel;
use shared::money::Cents;
use shared::opportunity::{Opportunity, Status};
use tests::sales::{
    FIELDS, add_funnels, add_opportunities, column, columns, funnel, page, plain_opportunity, sales,
};
use tests::world::Answer;

use super::{Client, IGNORED, four, ids, refused, shop, stocked};

/// The columns of a board without items.
fn heads(answer: &Answer) -> Value {
    let mut columns = answer.body.clone();
    for column in columns.as_array_mut().expect("columns") {
        let column = column.as_object_mut().expect("a column");
        column.shift_remove("items").expect("items");
    }
    columns
}

fn head(id: u64, name: &str, sequence: u64, total: u64, value: &Value) -> Value {
    json!({ "id": id, "name": name, "sequence": sequence, "crm": 3, "total": total, "totalValue": value })
}

/// By sequence, not by id; `page` is ignored; an empty column has the value number 0, one with only worthless
/// opportunities the text 0.00.
#[tokio::test]
async fn columns_are_ordered_by_sequence() {
    let world = four().await;
    let admin = Client::of(&world, 7).await;
    let expected = json!([
        head(31, "Entrada", 1, 3, &json!("6.03")),
        head(32, "Proposta", 2, 0, &json!(0)),
        head(33, "Fechamento", 3, 1, &json!("213.20")),
    ]);
    for body in [
        page(0, 2, &Value::Null),
        page(1, 2, &Value::Null),
        page(9, 2, &json!({ "columnId": null })),
        json!({ "page": 1e30, "limit": 2 }),
    ] {
        let answer = admin.ask(3, &body).await;
        assert_eq!((answer.status.as_u16(), heads(&answer)), (200, expected.clone()));
        let items: Vec<_> = (0..3).map(|at| ids(&answer.body[at]["items"])).collect();
        assert_eq!(items, [vec![3, 2], vec![], vec![4]]);
        assert_eq!(answer.headers[IGNORED], "0");
    }
    admin.must_change(4, &json!({ "value": 0 })).await;
    let answer = admin.ask(3, &page(1, 1, &Value::Null)).await;
    assert_eq!(heads(&answer)[2], head(33, "Fechamento", 3, 1, &json!("0.00")));
}

/// Complete: a board's items equal the records of a column's page.
#[tokio::test]
async fn items_are_whole_records() {
    let world = four().await;
    let admin = Client::of(&world, 7).await;
    let mut expected = heads(&admin.ask(3, &page(1, 2, &Value::Null)).await);
    for (at, id) in [31, 32, 33].into_iter().enumerate() {
        let list = admin.ask(3, &page(1, 2, &json!({ "columnId": id }))).await;
        expected[at]["items"] = list.body;
    }
    admin.ask(3, &page(1, 2, &Value::Null)).await.is(200, &expected);
}

/// Totals count all matches, including those not shown.
#[tokio::test]
async fn totals_count_all_matches() {
    let some = (1..=60).map(|id| {
        let mut one = plain_opportunity(id, 7 + id % 3, 0);
        one.begin_as(Status::ALL[usize::try_from(id % 2).expect("small")]);
        one.title = format!("{} {id}", if id % 5 == 0 { "Obra" } else { "Venda" });
        one
    });
    let world = stocked(some).await;
    let admin = Client::of(&world, 7).await;
    for (more, expected) in [
        (json!({}), (1..=60).collect::<Vec<u64>>()),
        (
            json!({ "filterByUsers": [7] }),
            (1..=60).filter(|id| id % 3 == 0).collect(),
        ),
        (
            json!({ "filterByUsers": [7, 8], "filterByStatus": ["gain"] }),
            (1..=60).filter(|id| id % 3 < 2 && id % 2 == 1).collect(),
        ),
        (
            json!({ "search": "obra", "searchBy": "opportunity" }),
            (1..=60).filter(|id| id % 5 == 0).collect(),
        ),
        (
            json!({ "search": "obra", "searchBy": "opportunity", "filterByStatus": ["open"], "filterByUsers": [8] }),
            (1..=60).filter(|id| id % 30 == 10).collect(),
        ),
    ] {
        let cents: u64 = expected.iter().map(|id| id * 100 + 1).sum();
        let value = json!(format!("{}.{:02}", cents / 100, cents % 100));
        let total = expected.len() as u64;
        let answer = admin.ask(3, &page(1, 2, &more)).await;
        assert_eq!(heads(&answer)[0], head(31, "Entrada", 1, total, &value), "{more}");
        let newest: Vec<_> = expected.into_iter().rev().take(2).collect();
        assert_eq!(ids(&answer.body[0]["items"]), newest, "{more}");
    }
}

/// C-7: to the cent, beyond the exact range of doubles.
#[tokio::test]
async fn sums_are_exact() {
    let most = Cents::new(999_999_999_999_999).expect("the largest amount");
    let dear = |id| Opportunity {
        value: most,
        ..plain_opportunity(id, 7 + id % 2, 0)
    };
    let world = stocked((1..=12).map(dear)).await;
    let admin = Client::of(&world, 7).await;
    for (more, total, value) in [
        (json!({}), 12, "119999999999999.88"),
        (json!({ "filterByUsers": [8] }), 6, "59999999999999.94"),
        (json!({ "search": "maria" }), 12, "119999999999999.88"),
    ] {
        for limit in [1, 11, 100] {
            let answer = admin.ask(3, &page(1, limit, &more)).await;
            assert_eq!(
                heads(&answer)[0],
                head(31, "Entrada", 1, total, &json!(value)),
                "{more}"
            );
        }
    }
    admin
        .must_change(1, &json!({ "value": "9999999999999.98" }))
        .await;
    admin.must_change(2, &json!({ "value": "0.01" })).await;
    let answer = admin.ask(3, &page(1, 1, &Value::Null)).await;
    assert_eq!(answer.body[0]["totalValue"], "109999999999999.89");
    world.is_sound().await;
}

/// A board larger than a response may be returns as many of each column as fit, with complete totals. A
/// larger page of a column is rejected with the fixed body (spec.md).
#[tokio::test]
async fn too_large_boards_are_truncated_and_pages_rejected() {
    let text = Value::from("é".repeat(10_000));
    let made = |id: u64| {
        let stage = if id <= 90 { 31 } else { 32 + id % 2 };
        let mut one = plain_opportunity(id, 7, u32::try_from(id).expect("small"));
        one.crm_column = column(stage);
        one.fields = FIELDS
            .map(|name| (name.to_owned(), text.clone()))
            .into_iter()
            .collect();
        one
    };
    let world = stocked((1..=130).map(made)).await;
    let admin = Client::of(&world, 7).await;
    let board = admin.ask(3, &page(1, 100, &Value::Null)).await;
    assert_eq!(board.status, 200);
    let columns = board.body.as_array().expect("columns");
    let totals: Vec<_> = columns.iter().map(|column| column["total"].as_u64()).collect();
    assert_eq!(totals, [Some(90), Some(20), Some(20)]);
    let shown: Vec<_> = columns.iter().map(|column| ids(&column["items"])).collect();
    let length = shown[0].len();
    assert!((40..50).contains(&length), "{length}");
    assert_eq!(shown[0], (91 - length as u64..=90).rev().collect::<Vec<_>>());
    assert_eq!((shown[1].len(), shown[2].len()), (20, 20));
    assert_eq!(board.headers["x-items-cut"], (90 - length).to_string().as_str());
    let few = admin.ask(3, &page(1, 20, &Value::Null)).await;
    assert_eq!(few.headers.get("x-items-cut"), None);
    let page = admin.ask(3, &page(1, 100, &json!({ "columnId": 31 }))).await;
    refused(&page, "limit: this exceeds 5 MB; ask for less at a time");
}

#[tokio::test]
async fn at_most_a_hundred_in_each_column() {
    let some = (1..=220).map(|id| Opportunity {
        crm_column: column(31 + id % 2),
        ..plain_opportunity(id, 7, 0)
    });
    let world = stocked(some).await;
    let admin = Client::of(&world, 7).await;
    let newest = |odd: u64| {
        let of_column = (1..=220).rev().filter(move |id| id % 2 == odd);
        of_column.take(100).collect::<Vec<u64>>()
    };
    let board = admin.ask(3, &page(1, 100, &Value::Null)).await.body;
    for (at, odd, id) in [(0, 0, 31), (1, 1, 32)] {
        assert_eq!(ids(&board[at]["items"]), newest(odd));
        assert_eq!(board[at]["total"], 110);
        let list = admin.ids(1, 100, &json!({ "columnId": id })).await;
        assert_eq!(list, newest(odd));
    }
}

#[tokio::test]
async fn a_board_of_fifty_columns() {
    let world = shop().await;
    let operator = world.operator("acme");
    let stages: Vec<_> = (1..=50_u64).map(|at| (at * 37 % 101, "Etapa", at)).collect();
    let wide = Funnel {
        id: funnel(6),
        columns: columns(&stages),
        ..sales()
    };
    add_funnels(&operator, &[wide]).await;
    let some = (1..=100_u64).map(|id| Opportunity {
        crm_id: funnel(6),
        crm_column: column(stages[usize::try_from(id % 25 * 2).expect("small")].0),
        ..plain_opportunity(id, 7, 0)
    });
    add_opportunities(&operator, some.collect()).await;
    let admin = Client::of(&world, 7).await;
    for more in [json!({}), json!({ "search": "maria" })] {
        let board = admin.ask(6, &page(1, 3, &more)).await.body;
        let columns = board.as_array().expect("columns");
        assert_eq!(columns.len(), 50);
        for (at, (shown, (id, name, sequence))) in columns.iter().zip(&stages).enumerate() {
            let of_column = (1..=100).rev().filter(|id| at as u64 == id % 25 * 2);
            let of_column: Vec<u64> = of_column.collect();
            let value = match of_column.iter().map(|id| id * 100 + 1).sum::<u64>() {
                0 => json!(0),
                cents => json!(format!("{}.{:02}", cents / 100, cents % 100)),
            };
            let mut shown = shown.clone();
            let items = ids(&shown["items"].take());
            assert_eq!(items, of_column.iter().copied().take(3).collect::<Vec<_>>());
            let expected = json!({
                "id": id, "name": name, "sequence": sequence, "crm": 6, "total": of_column.len(), "totalValue": value,
                "items": null,
            });
            assert_eq!(shown, expected);
        }
    }
}

/// A funnel without columns has an empty board, and no valid column.
#[tokio::test]
async fn a_board_without_columns_is_empty() {
    let world = shop().await;
    let bare = Funnel {
        id: funnel(6),
        columns: Vec::new(),
        ..sales()
    };
    add_funnels(&world.operator("acme"), &[bare]).await;
    let admin = Client::of(&world, 7).await;
    for more in [json!({}), json!({ "search": "maria" })] {
        admin.ask(6, &page(1, 25, &more)).await.is(200, &json!([]));
    }
    let answer = admin.ask(6, &page(1, 25, &json!({ "columnId": 31 }))).await;
    super::refused(&answer, "columnId: is not a column of funnel 6");
}

#[tokio::test]
async fn columns_of_one_sequence_are_ordered_by_id() {
    let world = shop().await;
    let tied = Funnel {
        id: funnel(6),
        columns: columns(&[(63, "C", 0), (61, "A", 0), (62, "B", 0), (60, "Z", 1)]),
        ..sales()
    };
    add_funnels(&world.operator("acme"), &[tied]).await;
    let board = Client::of(&world, 7)
        .await
        .ask(6, &page(1, 25, &Value::Null))
        .await;
    assert_eq!(ids(&board.body), [61, 62, 63, 60]);
}
