//! The body of endpoint 10 (C-41). The schema checks types; rules that depend on the funnel are checked once the user
//! is known to see it.

use std::collections::BTreeSet;

use serde_json::Value;
use shared::funnel::Funnel;
use shared::http::query::json_schema::LIST_OPPORTUNITIES;
use shared::http::{InvalidField, parse_json_doubles};
use shared::ids::{ColumnId, FunnelId, UserId};
use shared::integer::whole;
use shared::opportunity::{BadDate, Conditions, DateRange, Filter, Search, SearchBy, Status};
use shared::store::BoardRequest;
use shared::time::{Timestamp, Zone};

use crate::error::ListError;

const CREATED: &str = "filterByCreateDate";
const EXPECTED: &str = "filterByExpectedCloseDate";
const MODIFIED: &str = "modifiedSince";
/// Maximum conditions in `filters`, because each is evaluated on every record read.
const MAX_CONDITIONS: usize = 50;

/// A request for opportunities, not yet validated against its funnel.
#[derive(Debug)]
pub struct ListOpportunities {
    /// The filters answered by lists and totals. The column is absent if `columnId` is a number that cannot be a
    /// column's.
    pub request: BoardRequest,
    /// Number of ignored conditions (C-44).
    pub ignored: usize,
    conditions: Conditions,
    search: Option<Search>,
    body: Value,
}

impl ListOpportunities {
    /// Parses a body: JSON, then the schema, then the funnel's id in the path.
    pub fn read(
        body: &[u8],
        funnel: impl FnOnce() -> Result<FunnelId, InvalidField>,
    ) -> Result<Self, ListError> {
        let mut body = parse_json_doubles(body)?;
        LIST_OPPORTUNITIES
            .check(&body)
            .map_err(|violation| ListError::Schema(Box::new(violation)))?;
        let page = body.as_object_mut().and_then(|body| body.shift_remove("page"));
        let page = page.as_ref().and_then(whole).unwrap_or_default();
        Ok(Self::of(body, funnel()?, page))
    }

    /// The request in a body that matches the schema, which guarantees the required fields.
    fn of(body: Value, funnel: FunnelId, page: u64) -> Self {
        let filters = items(&body["filters"]);
        let (conditions, ignored) = Conditions::read(filters.get(..MAX_CONDITIONS).unwrap_or(filters));
        let by = match body["searchBy"].as_str() {
            Some("opportunity") => SearchBy::Opportunity,
            _ => SearchBy::Lead,
        };
        let search = Search::new(body["search"].as_str().unwrap_or_default(), by);
        // An invalid range is reported after the funnel was found visible.
        let has_range = |name| date_range(&body, name).map_or(true, |range| range != DateRange::default());
        let has_dates = has_range(CREATED) || has_range(EXPECTED);
        let request = BoardRequest {
            funnel,
            column: whole(&body["columnId"]).and_then(ColumnId::new),
            users: users(&body["filterByUsers"]),
            statuses: statuses(&body["filterByStatus"]),
            archived: body["onlyArchived"] == true,
            filtered: has_dates || body.get(MODIFIED).is_some() || !conditions.is_empty() || search.is_some(),
            searched: search.is_some(),
            page,
            // The schema's maximum is 100.
            limit: whole(&body["limit"])
                .and_then(|limit| limit.try_into().ok())
                .unwrap_or_default(),
            query: format!("{funnel} {body}"),
        };
        Self {
            request,
            ignored,
            conditions,
            search,
            body,
        }
    }

    /// The filter that needs whole records, with the instance's days in `zone`. Rejects a column of another funnel,
    /// too many conditions, and invalid date ranges.
    pub fn filter(&self, funnel: &Funnel, zone: Zone) -> Result<Filter, ListError> {
        let is_valid_column = match self.request.column {
            Some(column) => funnel.has_column(column),
            // Without a column, unless `columnId` is a number that cannot be an id.
            None => self.body["columnId"].is_null(),
        };
        if !is_valid_column {
            return Err(ListError::Column(funnel.id));
        }
        if items(&self.body["filters"]).len() > MAX_CONDITIONS {
            return Err(ListError::TooManyConditions);
        }
        let within = |name| {
            let range = date_range(&self.body, name).and_then(|range| range.within(zone));
            range.map_err(|bad| ListError::Date(name, bad))
        };
        Ok(Filter {
            created: within(CREATED)?,
            expected: within(EXPECTED)?,
            modified_since: self.modified_since()?,
            conditions: self.conditions.clone().of(funnel),
            search: self.search.clone(),
        })
    }

    fn modified_since(&self) -> Result<Option<Timestamp>, ListError> {
        let since = self.body.get(MODIFIED).and_then(Value::as_str);
        let parse = |text| Timestamp::parse(text).ok_or(ListError::ModifiedSince);
        since.map(parse).transpose()
    }
}

fn date_range(body: &Value, name: &str) -> Result<DateRange, BadDate> {
    DateRange::read(&body[name])
}

fn items(list: &Value) -> &[Value] {
    list.as_array().map_or(&[], Vec::as_slice)
}

/// The numbers that can be user ids; `None` if the list is absent, null or empty.
fn users(list: &Value) -> Option<BTreeSet<UserId>> {
    let users = items(list);
    let ids = users.iter().filter_map(|user| whole(user).and_then(UserId::new));
    (!users.is_empty()).then(|| ids.collect())
}

fn statuses(list: &Value) -> BTreeSet<Status> {
    let statuses = items(list).iter();
    statuses
        .filter_map(|status| Status::parse(status.as_str()?))
        .collect()
}
