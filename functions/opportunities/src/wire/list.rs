//! The body of endpoint 10 (C-41). The schema says what each property is; what depends on the funnel is judged once it
//! is known to be the key's.

use std::collections::BTreeSet;

use serde_json::Value;
use shared::funnel::Funnel;
use shared::http::parse_json_doubles;
use shared::id::{ColumnId, FunnelId, UserId};
use shared::number::whole;
use shared::opportunity::{BadDate, Conditions, DateRange, Filter, Search, SearchBy, Status};
use shared::schema::LIST_OPPORTUNITIES;
use shared::store::BoardRequest;
use shared::time::Zone;

use crate::error::ListError;

const CREATED: &str = "filterByCreateDate";
const EXPECTED: &str = "filterByExpectedCloseDate";
/// The most conditions in `filters`: each is held against every record that is read.
const MAX_CONDITIONS: usize = 50;

/// What is asked for, not yet held against the funnel.
#[derive(Debug)]
pub struct NewList {
    /// What lists and totals can tell apart. Its column is absent where `columnId` is a number that no column can have.
    pub request: BoardRequest,
    /// `columnId` is such a number.
    no_column: bool,
    created: Result<DateRange, ListError>,
    expected: Result<DateRange, ListError>,
    /// There are more conditions than [`MAX_CONDITIONS`].
    too_many: bool,
    conditions: Conditions,
    ignored: usize,
    search: Option<Search>,
}

/// What is asked for of a funnel.
#[derive(Debug)]
pub struct Asked {
    /// What lists and totals can tell apart.
    pub request: BoardRequest,
    /// What only the records tell.
    pub filter: Filter,
    /// How many conditions were discarded (C-44).
    pub ignored: usize,
}

impl NewList {
    /// Reads a body: JSON, then the schema, then the funnel's id from the path.
    pub fn read(
        body: &[u8],
        funnel: Option<FunnelId>,
        walker: String,
        client: &str,
    ) -> Result<Self, ListError> {
        let mut body = parse_json_doubles(body)?;
        LIST_OPPORTUNITIES
            .check(&body)
            .map_err(|violation| ListError::Schema(Box::new(violation)))?;
        let page = body.as_object_mut().and_then(|body| body.shift_remove("page"));
        let page = page.as_ref().and_then(whole).unwrap_or_default();
        Ok(Self::of(
            &body,
            funnel.ok_or(ListError::Id)?,
            page,
            walker,
            client,
        ))
    }

    /// The schema has said what each property is, so what is read here is never absent where it is required.
    fn of(body: &Value, funnel: FunnelId, page: u64, walker: String, client: &str) -> Self {
        let column = &body["columnId"];
        let id = whole(column).and_then(ColumnId::new);
        let date = |name| DateRange::read(&body[name]).map_err(|bad: BadDate| ListError::Date(name, bad));
        let (created, expected) = (date(CREATED), date(EXPECTED));
        let filters = items(&body["filters"]);
        let too_many = filters.len() > MAX_CONDITIONS;
        let (conditions, ignored) = Conditions::read(filters.get(..MAX_CONDITIONS).unwrap_or(filters));
        let by = if body["searchBy"] == "opportunity" {
            SearchBy::Opportunity
        } else {
            SearchBy::Lead
        };
        let search = Search::new(body["search"].as_str().unwrap_or_default(), by);
        let dated = [&created, &expected]
            .into_iter()
            .any(|range| !matches!(range, Ok(range) if *range == DateRange::default()));
        let request = BoardRequest {
            funnel,
            column: id,
            users: users(&body["filterByUsers"]),
            statuses: statuses(&body["filterByStatus"]),
            archived: body["onlyArchived"] == true,
            filtered: dated || !conditions.is_empty() || search.is_some(),
            page,
            // The schema's maximum is 100.
            limit: whole(&body["limit"])
                .and_then(|limit| limit.try_into().ok())
                .unwrap_or_default(),
            walker,
            client: client.to_owned(),
            query: format!("{funnel} {body}"),
        };
        Self {
            request,
            no_column: id.is_none() && !column.is_null(),
            created,
            expected,
            too_many,
            conditions,
            ignored,
            search,
        }
    }

    /// What is asked for of a funnel, where the instance's days begin as `zone` says. Refused are a column that is not the
    /// funnel's, too many conditions, and dates that are none or out of order.
    pub fn of_funnel(self, funnel: &Funnel, zone: Zone) -> Result<Asked, ListError> {
        let foreign = self
            .request
            .column
            .is_some_and(|column| !funnel.has_column(column));
        if self.no_column || foreign {
            return Err(ListError::Column(funnel.id));
        }
        if self.too_many {
            return Err(ListError::TooManyConditions);
        }
        let within = |name, range: Result<DateRange, ListError>| {
            let within = range?.within(zone);
            within.map_err(|bad| ListError::Date(name, bad))
        };
        let filter = Filter {
            created: within(CREATED, self.created)?,
            expected: within(EXPECTED, self.expected)?,
            conditions: self.conditions.of(funnel),
            search: self.search,
        };
        Ok(Asked {
            request: self.request,
            filter,
            ignored: self.ignored,
        })
    }
}

fn items(list: &Value) -> &[Value] {
    list.as_array().map_or(&[], Vec::as_slice)
}

/// Those of the numbers that can be users; none asked for where the list is absent, null or empty.
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

#[cfg(test)]
mod tests;
