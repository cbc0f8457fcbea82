//! The body of `POST /crm/opportunities/{id}` (C-41, C-43).

use std::sync::LazyLock;

use serde_json::{Map, Value};
use shared::http::query::json_schema::LIST_OPPORTUNITIES;
use shared::opportunity::{Conditions, DateRange, Search, SearchBy};
use shared::time::Zone;

use crate::json_schema::Judges;

static JUDGES: LazyLock<Option<Judges>> = LazyLock::new(|| {
    let text = include_str!("../../../shared/schemas/list-opportunities.schema.json");
    Judges::new(text, &LIST_OPPORTUNITIES)
});

/// A body is rejected exactly with AJV's first error; every filter of an accepted body can be parsed and
/// applied, and a search term matches itself.
///
/// # Panics
/// If any of this is violated.
pub fn board(data: &[u8]) {
    let Some(body) = crate::json(data) else { return };
    let judges = JUDGES.as_ref();
    assert!(judges.is_some(), "the schema is one");
    if judges.is_none_or(|judges| !judges.judge(&body)) {
        return;
    }
    for name in ["filterByCreateDate", "filterByExpectedCloseDate"] {
        if let Ok(Ok(range)) = DateRange::read(&body[name]).map(|range| range.within(Zone::UTC)) {
            assert_eq!(range.covers(None), range.is_open(), "{body}");
        }
    }
    let filters = body["filters"].as_array().map_or(&[][..], Vec::as_slice);
    let (conditions, discarded) = Conditions::read(filters);
    assert!(discarded <= filters.len());
    assert_eq!(conditions.is_empty(), discarded == filters.len());
    let none = Map::new();
    assert!(conditions.are_met(&none) || !conditions.is_empty());
    let term = body["search"].as_str().unwrap_or_default();
    let search = Search::new(term, SearchBy::Opportunity);
    assert!(search.is_none() || !term.trim().is_empty(), "{body}");
    let words = term.contains(char::is_alphanumeric);
    let found = search.is_none_or(|search| !words || search.term.finds_title(0, &format!("<{term}>")));
    assert!(found, "{term:?} does not find itself");
    assert_eq!(Conditions::read(&[Value::Null]).1, 1);
}
