//! `GET /leads`: endpoint 1.

use axum::response::Response;
use serde::Serialize;
use shared::auth::{AnyUser, KeyAndToken, Keyed};
use shared::http::{InvalidField, Params, RawRequest, RequestError, TOO_LARGE, show_lower_bound};
use shared::ids::TagId;
use shared::store::{LeadRequest, LeadSearch};

use crate::view::{MANY, Shown, View};

/// Advice for a filter by a tag over the read budget (C-86).
const TAG_OVER_BUDGET: &str = "tag: this would read more than read_budget allows, or for too long; read the pages without a tag and in their order";

/// A page of the list (C-20).
#[derive(Debug)]
pub struct ListLeads {
    pub page: LeadRequest,
    pub view: View,
}

#[derive(Serialize)]
struct ListAnswer<'a> {
    total: u64,
    leads: Vec<Shown<'a>>,
}

impl ListLeads {
    fn parse(RawRequest { params, .. }: &RawRequest) -> Result<Self, RequestError> {
        let view = View::of(params.one("query")?, params.flag("allFields")?, &MANY)?;
        let page = LeadRequest {
            archived: params.flag("archived")?,
            search: params.one("search")?.and_then(LeadSearch::new),
            tag: tag(params)?,
            page: params.whole("page")?,
            from_zero: false,
            limit: params
                .limit(200, "must be a whole number from 1 to 200")?
                .unwrap_or(50),
            whole: view.needs_record(),
        };
        Ok(Self { page, view })
    }
}

/// The parameter `tag` (C-98).
pub fn tag(params: &Params) -> Result<Option<TagId>, InvalidField> {
    params.id("tag")
}

/// The visible leads by id, with their total under the same filters. One round trip for the first pages of a user who sees every
/// lead. One more for each of these: to store where a numbered page ends, for more than 50 leads, and for owners' names and tags
/// that were not prefetched, and for large leads with all fields.
pub async fn list(request: Keyed<KeyAndToken, AnyUser>) -> Result<Response, RequestError> {
    answer(request, ListLeads::parse).await
}

/// The page that `parse` reads from the request.
pub async fn answer(
    request: Keyed<KeyAndToken, AnyUser>,
    parse: impl FnOnce(&RawRequest) -> Result<ListLeads, RequestError>,
) -> Result<Response, RequestError> {
    let (ListLeads { page: request, view }, reader, check) = request.parse(parse).await?;
    let reads = async { tokio::try_join!(reader.begin_leads(&request), view.expected(&reader)) };
    let (scope, (start, expected)) = check.join(reads).await?;
    let page = scope.store.finish_leads(&scope.viewer, &request, start).await;
    let page = if request.tag.is_some() {
        page.map_err(RequestError::over_budget(TAG_OVER_BUDGET))?
    } else {
        page.map_err(RequestError::of_page)?
    };
    // If the total is not exact, at least so many leads match.
    let (total, is_lower_bound) = (page.total, page.more);
    let mut answer = if view.needs_record() {
        let reader = scope.store.reader();
        let mut leads = reader.leads_of(page).await?;
        if view.has_custom_fields() {
            let whole = reader.with_custom_fields(leads).await;
            leads = whole.map_err(RequestError::over_budget(TOO_LARGE))?;
        }
        let related = view.related(&scope, expected, &leads).await?;
        let leads = leads
            .iter_mut()
            .map(|lead| view.lead(lead, &scope, &related))
            .collect();
        view.answer(ListAnswer { total, leads })
    } else {
        let leads = page.entries.iter().map(Shown::entry).collect();
        view.answer(ListAnswer { total, leads })
    };
    if is_lower_bound {
        show_lower_bound(answer.headers_mut());
    }
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::time::Timestamp;

    fn read(query: &str) -> Result<ListLeads, String> {
        let now = Timestamp::from_unix_millis(0).unwrap();
        ListLeads::parse(&RawRequest::new(query, now)).map_err(|error| error.to_string())
    }

    #[test]
    fn absent_and_blank_parameters_have_their_defaults() {
        for query in [
            "",
            "page=&limit=&search=&tag=&archived=&allFields=&query=",
            "search=%20&query=+",
        ] {
            let ListLeads { page, view } = read(query).unwrap();
            assert_eq!(
                (page.page, page.limit, page.archived, view),
                (None, 50, false, View::of(None, false, &MANY).unwrap()),
                "{query}"
            );
            assert!(page.search.is_none() && page.tag.is_none());
        }
    }

    #[test]
    fn values_out_of_range_are_refused_by_name() {
        for (query, reason) in [
            ("limit=0", "limit: must be a whole number from 1 to 200"),
            ("limit=201", "limit: must be a whole number from 1 to 200"),
            (
                "limit=99999999999999999999",
                "limit: must be a whole number from 1 to 200",
            ),
            ("limit=ten", "limit: must be a whole number"),
            ("page=-1", "page: must be a whole number"),
            ("page=1.0", "page: must be a whole number"),
            ("page=1&page=2", "page: must not be repeated"),
            ("tag=0", "tag: must be a whole number from 1 to 999999999999999"),
            ("archived=yes", "archived: must be true or false"),
            ("allFields=2", "allFields: must be true or false"),
            ("tag=x", "tag: must be a whole number from 1 to 999999999999999"),
        ] {
            assert_eq!(read(query).unwrap_err(), reason, "{query}");
        }
        assert_eq!(
            read("page=99999999999999999999999").unwrap().page.page,
            Some(u64::MAX)
        );
    }
}
