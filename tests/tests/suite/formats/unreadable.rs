//! An unreadable item of a list is omitted and counted in `x-items-unreadable`; the rest of the list is returned.

use serde_json::{Value, json};

use super::stage::set;

#[tokio::test]
async fn lists_omit_unreadable_items() {
    let (world, table, kept) = set().await;
    let wallet = &kept.wallet;
    let column = json!({ "page": 1, "limit": 50, "columnId": 31 });
    let meetings = "/calendarmeeting/7?from=1900-01-01T00:00:00Z";
    let none = Value::Null;
    let column_31 = ("acme#board#3#31#0#-#-", "251610677459999#999999999999990");
    for (method, path, body, list, (pk, sk)) in [
        (
            "GET",
            "/leads?limit=50",
            &none,
            "/data/leads",
            ("acme#leads#0", "000000000001003"),
        ),
        (
            "GET",
            "/leads?limit=50&search=antonia",
            &none,
            "",
            ("acme#word#0#a", "antonia#000000000001003"),
        ),
        (
            "GET",
            "/leads?limit=50&allFields=1",
            &none,
            "/data/leads",
            ("acme#lead", "000000000001003"),
        ),
        ("GET", "/user", &none, "", ("acme#user", "000000000000009")),
        ("GET", "/crm", &none, "", ("acme#funnel", "000000000000004")),
        ("POST", "/crm/opportunities/3", &column, "", column_31),
        (
            "POST",
            "/crm/opportunities/3",
            &json!({ "page": 1, "limit": 50 }),
            "/0/items",
            column_31,
        ),
        (
            "POST",
            "/crm/opportunities/3",
            &json!({ "page": 1, "limit": 50, "modifiedSince": "2000-01-01T00:00:00Z" }),
            "/0/items",
            column_31,
        ),
        (
            "GET",
            "/pcalendar",
            &none,
            "/data/calendars",
            ("acme#calendar", "000000000000006"),
        ),
        (
            "GET",
            meetings,
            &none,
            "/data/meetings",
            ("acme#meetings#7", "2027-03-01T10:00:00.000Z#000000000000002"),
        ),
        (
            "GET",
            "/sac360/lead/1001",
            &none,
            "",
            ("acme#lead-ticket#1001", "251624239199999#999999999999493"),
        ),
        (
            "GET",
            "/sac360/list_file_attendance/502",
            &none,
            "",
            ("acme#ticket-file#502", "path#s/20"),
        ),
        (
            "GET",
            "/sac360/list_file_lead/1003",
            &none,
            "",
            ("acme#lead-file#1003", "000000000000502#path#s/20"),
        ),
        (
            "GET",
            "/advancedreports",
            &none,
            "",
            ("acme#report", "000000000000002"),
        ),
    ] {
        let join = if path.contains('?') { '&' } else { '?' };
        let uri = format!("{path}{join}i=acme&apitoken={}", wallet.key);
        let ask = async || {
            let call = world.call(method, &uri).with(wallet);
            let call = if body.is_null() { call } else { call.json(body) };
            call.send().await
        };
        let items = |body: &Value| body.pointer(list).and_then(Value::as_array).map(Vec::len);
        let before = ask().await;
        assert_eq!(before.headers.get("x-items-unreadable"), None, "{path}");
        let sound = table.get(pk, sk).unwrap_or_else(|| panic!("{pk} {sk}"));
        table.put(pk, sk, &json!({ "id": { "L": [{ "NULL": true }] } }));
        let after = ask().await;
        table.put(pk, sk, &sound);
        assert_eq!(after.status, 200, "{path}: {}", after.body);
        let counted = after.headers.get("x-items-unreadable");
        assert_eq!(counted.and_then(|count| count.to_str().ok()), Some("1"), "{path}");
        let omitted = usize::from(!path.contains("search"));
        assert_eq!(
            items(&after.body).map(|left| left + omitted),
            items(&before.body),
            "{path}: {}",
            after.body
        );
    }
}

/// A search by lead compares the copies of leads, which other boards decode only to show them.
#[tokio::test]
async fn a_search_by_lead_omits_an_unreadable_copy() {
    let (world, table, kept) = set().await;
    let wallet = &kept.wallet;
    let uri = format!("/crm/opportunities/3?i=acme&apitoken={}", wallet.key);
    let body = json!({ "page": 1, "limit": 50, "search": "Ivone", "searchBy": "lead" });
    let ask = async || world.call("POST", &uri).with(wallet).json(&body).send().await;
    let total = |body: &Value| body.pointer("/0/total").and_then(Value::as_u64).expect("a total");
    let before = ask().await;
    table.spoil_copy("acme#opportunity", "000000000000009");
    let after = ask().await;
    assert_eq!(after.status, 200, "{}", after.body);
    let counted = after.headers.get("x-items-unreadable");
    assert_eq!(counted.and_then(|count| count.to_str().ok()), Some("1"));
    assert_eq!(total(&after.body) + 1, total(&before.body));
}
