//! JSON responses. Lists that exceed the size of a Lambda response are cut.

use axum::response::{IntoResponse, Response};
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderName, HeaderValue};
use serde::Serialize;

use super::{ErrorFormat, Problem};

/// Maximum bytes of a response. Lambda accepts at most 6 MB and replaces a larger response by an empty 500.
pub(super) const ANSWER_LIMIT: u64 = 5 * 1024 * 1024;

/// Refusal of a larger response, and of reads for one.
pub const TOO_LARGE: &str = "limit: this exceeds 5 MB; ask for less at a time";

/// Header with the number of items cut from a response that is too large.
pub const ITEMS_CUT: HeaderName = HeaderName::from_static("x-items-cut");

/// Adds the header of a response whose numbers are lower bounds (C-20, C-43).
pub fn show_lower_bound(headers: &mut HeaderMap) {
    headers.insert("x-total-relation", HeaderValue::from_static("gte"));
}

/// A JSON response. `axum::Json` is not used, because its buffer is slow for the many small writes of long lists.
pub fn json(shown: &impl Serialize) -> Response {
    match serde_json::to_vec(shown) {
        Ok(text) => ([(CONTENT_TYPE, "application/json; charset=utf-8")], text).into_response(),
        Err(cause) => {
            tracing::error!(%cause, "the answer could not be written");
            ErrorFormat::Fixed.answer(&Problem::Internal)
        }
    }
}

/// A JSON response with lists. If the response would be too large, all lists are cut at the same length, and the header
/// [`ITEMS_CUT`] counts the omitted items.
///
/// `shown` builds the response with at most that many items per list. `sizes` returns the bytes of each item of each
/// list, and is called only if the lists must be cut.
pub fn json_that_fits<T: Serialize>(
    shown: impl Fn(usize) -> T,
    sizes: impl FnOnce() -> Vec<Vec<usize>>,
) -> Response {
    let whole = json(&shown(usize::MAX));
    let bytes = http_body::Body::size_hint(whole.body()).lower();
    if bytes <= ANSWER_LIMIT {
        return whole;
    }
    let excess = bytes - ANSWER_LIMIT;
    let sizes = sizes();
    let mut length = sizes.iter().map(Vec::len).max().unwrap_or_default();
    let (mut omitted_bytes, mut omitted_items) = (0, 0);
    while length > 0 && omitted_bytes < excess {
        // Omits the last item of each list that is this long.
        length -= 1;
        for item_bytes in sizes.iter().filter_map(|list| list.get(length)) {
            omitted_bytes += *item_bytes as u64;
            omitted_items += 1;
        }
    }
    let mut answer = json(&shown(length));
    answer
        .headers_mut()
        .insert(ITEMS_CUT, HeaderValue::from(omitted_items));
    answer
}

/// Bytes of a value as JSON.
pub fn bytes_of(value: &impl Serialize) -> usize {
    serde_json::to_vec(value).map_or(0, |json| json.len())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// All lists are cut at one length, the largest that fits.
    #[test]
    fn long_details_are_cut() {
        let lists = [
            vec!["x".repeat(600_000); 9],
            vec!["y".to_owned(); 3],
            vec!["z".repeat(1000); 20],
        ];
        let shown = |most: usize| {
            lists
                .iter()
                .map(|list| &list[..list.len().min(most)])
                .collect::<Vec<_>>()
        };
        let sizes = || {
            lists
                .iter()
                .map(|list| list.iter().map(bytes_of).collect())
                .collect()
        };
        let answer = json_that_fits(shown, sizes);
        assert_eq!(answer.headers()[ITEMS_CUT], "13");
        let bytes = http_body::Body::size_hint(answer.body()).lower();
        assert!(
            (ANSWER_LIMIT - 600_000..=ANSWER_LIMIT).contains(&bytes),
            "{bytes}"
        );
        let small = json_that_fits(|_| json!([1]), || unreachable!());
        assert_eq!(small.headers().get(ITEMS_CUT), None);
    }
}
