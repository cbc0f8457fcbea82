//! Requests to unknown paths.

use axum::http::{Method, Uri};
use axum::response::Redirect;

use super::Problem;

/// Answers 404. The link of a booking page with a trailing slash, which people and mail programs write, is redirected
/// permanently to the link. API Gateway passes such a path to the function of unknown paths, so no route can handle it.
pub async fn answer(method: Method, uri: Uri) -> Result<Redirect, Problem> {
    let is_read = [Method::GET, Method::HEAD].contains(&method);
    let without_slash = uri.path().strip_suffix('/');
    let link = without_slash.filter(|path| is_read && is_booking_link(path));
    let link = link.ok_or(Problem::NoRoute)?;
    let query = uri.query().map(|query| format!("?{query}")).unwrap_or_default();
    Ok(Redirect::permanent(&format!("{link}{query}")))
}

/// Whether a path is `/book/{instance}/{keyName}`.
fn is_booking_link(path: &str) -> bool {
    let parts = path.strip_prefix("/book/").and_then(|rest| rest.split_once('/'));
    parts.is_some_and(|(instance, name)| !instance.is_empty() && !name.is_empty() && !name.contains('/'))
}
