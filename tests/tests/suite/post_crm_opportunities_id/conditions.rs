//! Conditions on custom fields (C-44).

use serde_json::{Value, json};
use shared::opportunity::Opportunity;
use tests::World;
use tests::sales::{FIELDS, add_funnels, add_opportunities, plain_opportunity, sales};

use super::{Client, IGNORED, shop};

/// 1 to 7 in column 31 with these fields; otherwise they differ by id only.
async fn world() -> World {
    let world = shop().await;
    let operator = world.operator("acme");
    // Values of a field that is no longer defined.
    let fields = [
        json!({}),
        json!({ "Origem do Lead": "Google Ads", " Número do pedido ": "77" }),
        json!({ "Origem do Lead": "INDICAÇÃO", " Número do pedido ": 77 }),
        json!({ "Origem do Lead": "", " Número do pedido ": 7.5 }),
        json!({ "Origem do Lead": "google ads" }),
        json!({ "Origem do Lead": true, "Data da visita": "2026-03-10" }),
        json!({ " Número do pedido ": "770", "Antigo": "x" }),
    ];
    let opportunities = fields.into_iter().zip(1..).map(|(fields, id)| Opportunity {
        fields: serde_json::from_value(fields).expect("an object"),
        ..plain_opportunity(id, 7, 0)
    });
    add_opportunities(&operator, opportunities.collect()).await;
    world
}

fn condition(field: &str, operator: &str, value: &str) -> Value {
    json!({ "filterType": "opField", "properties": { "field": field, "value": value, "operator": operator } })
}

fn joined(by: &str, mut condition: Value) -> Value {
    condition["operator"] = json!(by);
    condition
}

const SOURCE: &str = FIELDS[0];
const NUMBER: &str = FIELDS[1];

/// `=`, `!=` and `contains`, ignoring case; accents count, and names are compared byte for byte.
#[tokio::test]
async fn each_operator_matches() {
    let world = world().await;
    let admin = Client::of(&world, 7).await;
    for (field, operator, value, found) in [
        (SOURCE, "=", "google ads", vec![5, 2]),
        (SOURCE, "=", "GOOGLE ADS", vec![5, 2]),
        (SOURCE, "=", "google", vec![]),
        (SOURCE, "=", " google ads", vec![]),
        (SOURCE, "=", "indicação", vec![3]),
        (SOURCE, "=", "indicacao", vec![]),
        (SOURCE, "contains", "GLE a", vec![5, 2]),
        (SOURCE, "contains", "cação", vec![3]),
        (SOURCE, "contains", "g%", vec![]),
        // The empty text is a value, and part of every value.
        (SOURCE, "=", "", vec![4]),
        (SOURCE, "contains", "", vec![6, 5, 4, 3, 2]),
        (SOURCE, "!=", "", vec![7, 6, 5, 3, 2, 1]),
        // A record without a value matches `!=`.
        (SOURCE, "!=", "google ads", vec![7, 6, 4, 3, 1]),
        (SOURCE, "!=", "nothing like it", vec![7, 6, 5, 4, 3, 2, 1]),
        // Numbers and booleans are compared as text.
        (NUMBER, "=", "77", vec![3, 2]),
        (NUMBER, "contains", "7", vec![7, 4, 3, 2]),
        (NUMBER, "=", "7.5", vec![4]),
        (SOURCE, "=", "TRUE", vec![6]),
        (FIELDS[2], "contains", "2026-03", vec![6]),
        // A value that no record has (spec.md).
        (SOURCE, "=", "no such value", vec![]),
        // Fields that the funnel does not define, one of them with a value: false for every record.
        ("Número do pedido", "=", "77", vec![]),
        ("origem do lead", "=", "google ads", vec![]),
        ("nada", "=", "", vec![]),
        ("nada", "!=", "x", vec![]),
        ("nada", "contains", "", vec![]),
        ("", "!=", "x", vec![]),
        ("Antigo", "=", "x", vec![]),
        ("Antigo", "!=", "y", vec![]),
    ] {
        let more = json!({ "filters": [condition(field, operator, value)] });
        assert_eq!(admin.found(&more).await, found, "{more}");
    }
    let plain = json!({ "filterType": "opField", "properties": { "field": SOURCE, "value": "google ads" } });
    let mut full = plain.clone();
    full["properties"]["fieldType"] = json!("text");
    full["category"] = json!("opportunity");
    full["id"] = json!("row-1");
    for same in [plain, full] {
        assert_eq!(admin.found(&json!({ "filters": [same] })).await, [5, 2]);
    }
}

/// Custom fields belong to a funnel (spec.md): fields of other funnels are undefined.
#[tokio::test]
async fn fields_are_of_their_funnel() {
    let world = world().await;
    let admin = Client::of(&world, 7).await;
    let mut funnel = sales();
    funnel.fields.retain(|field| field.name != SOURCE);
    let more = json!({ "filters": [condition(SOURCE, "!=", "x")] });
    assert_eq!(admin.found(&more).await.len(), 7);
    add_funnels(&world.operator("acme"), &[funnel]).await;
    assert_eq!(admin.found(&more).await, [0; 0]);
}

/// Each condition is joined to the result of those before it, without precedence.
#[tokio::test]
async fn conditions_are_joined_in_order() {
    let world = world().await;
    let admin = Client::of(&world, 7).await;
    let (google, number, visit) = (
        || condition(SOURCE, "=", "google ads"),    // 2, 5
        || condition(NUMBER, "=", "77"),            // 2, 3
        || condition(FIELDS[2], "=", "2026-03-10"), // 6
    );
    let nowhere = || condition("nada", "!=", "x");
    for (filters, found) in [
        (json!([google(), number()]), vec![2]),
        (json!([google(), joined("AND", number())]), vec![2]),
        (json!([google(), joined("xor", number())]), vec![2]),
        (json!([google(), joined("OR", number())]), vec![5, 3, 2]),
        (json!([google(), joined("oR", number())]), vec![5, 3, 2]),
        // The operator of the first condition has no effect.
        (json!([joined("OR", google()), number()]), vec![2]),
        // (google or visit) and number; not google or (visit and number).
        (json!([google(), joined("OR", visit()), number()]), vec![2]),
        (json!([google(), number(), joined("OR", visit())]), vec![6, 2]),
        (
            json!([visit(), joined("OR", google()), joined("OR", number())]),
            vec![6, 5, 3, 2],
        ),
        (json!([google(), google()]), vec![5, 2]),
        // An undefined field is false, and joins like any other.
        (json!([nowhere(), joined("OR", google())]), vec![5, 2]),
        (json!([google(), joined("OR", nowhere())]), vec![5, 2]),
        (json!([google(), nowhere()]), vec![]),
        (json!([google(), nowhere(), joined("OR", visit())]), vec![6]),
        // A discarded condition neither filters nor joins.
        (json!([condition(SOURCE, "like", "x"), number()]), vec![3, 2]),
        (
            json!([
                google(),
                joined("OR", condition(SOURCE, "isNotNull", "")),
                number()
            ]),
            vec![2],
        ),
    ] {
        let more = json!({ "filters": filters });
        assert_eq!(admin.found(&more).await, found, "{more}");
    }
}

/// A malformed condition is discarded, the rest applies, and a header has the number of discarded ones.
#[tokio::test]
async fn malformed_conditions_are_discarded_and_counted() {
    let world = world().await;
    let admin = Client::of(&world, 7).await;
    let good = || condition(SOURCE, "=", "google ads");
    let with = |name: &str, value: Value| {
        let mut condition = good();
        condition[name] = value;
        condition
    };
    let of = |name: &str, value: Value| {
        let mut condition = good();
        condition["properties"][name] = value;
        condition
    };
    let mut without = good();
    without
        .as_object_mut()
        .expect("an object")
        .shift_remove("filterType");
    let discarded = [
        json!(null),
        json!(5),
        json!("filterType"),
        json!([good()]),
        json!({}),
        without,
        with("filterType", json!("leadField")),
        with("filterType", json!("opfield")),
        with("filterType", json!(null)),
        with("properties", json!(null)),
        with("properties", json!([SOURCE, "google ads"])),
        with("category", json!("lead")),
        with("category", json!(7)),
        of("field", json!(null)),
        of("field", json!(12)),
        of("value", json!(null)),
        of("value", json!(77)),
        of("value", json!(["google ads"])),
        of("operator", json!("like")),
        of("operator", json!("isNotNull")),
        of("operator", json!("==")),
        of("operator", json!("CONTAINS")),
        of("operator", json!(5)),
    ];
    let all = [7, 6, 5, 4, 3, 2, 1];
    for condition in &discarded {
        for (filters, found) in [
            (json!([condition]), &all[..]),
            (json!([condition, good()]), &[5, 2]),
            (json!([good(), condition]), &[5, 2]),
        ] {
            assert_eq!(
                admin.found(&json!({ "filters": filters })).await,
                found,
                "{filters}"
            );
            counted(&admin, &filters, 1).await;
        }
    }
    counted(&admin, &json!(discarded), discarded.len()).await;
    counted(&admin, &json!([good(), joined("xor", good())]), 0).await;
    // Null is an absent category or operator (C-44): without one the operator is `=`, and conditions are joined by `and`.
    for absent in [
        with("category", json!(null)),
        with("operator", json!(null)),
        of("operator", json!(null)),
    ] {
        let filters = json!([condition(SOURCE, "!=", "indicação"), absent]);
        assert_eq!(
            admin.found(&json!({ "filters": filters })).await,
            [5, 2],
            "{filters}"
        );
        counted(&admin, &filters, 0).await;
    }
    counted(&admin, &json!([]), 0).await;
    counted(&admin, &json!(null), 0).await;
}

/// The header is on lists and boards.
async fn counted(admin: &Client<'_>, filters: &Value, discarded: usize) {
    for column in [json!(31), Value::Null] {
        let body = json!({ "page": 1, "limit": 25, "filters": filters, "columnId": column });
        let answer = admin.ask(3, &body).await;
        assert_eq!(answer.status, 200, "{filters}");
        assert_eq!(answer.headers[IGNORED], discarded.to_string(), "{filters}");
    }
}
