//! The parameters of the list of leads (C-20).

use shared::http::{BadParameter, Params};
use shared::store::{LeadRequest, LeadSearch};

use crate::error::LeadError;
use crate::view::{MANY, View};

/// What a request for the list asks for.
#[derive(Debug)]
pub struct NewList {
    /// Which leads.
    pub request: LeadRequest,
    /// Shown how.
    pub view: View,
}

impl NewList {
    /// Reads `page`, `limit`, `search`, `archived`, `allFields` and `query`.
    pub fn read(params: &Params, walker: String, client: String) -> Result<Self, LeadError> {
        let view = View::read(params, MANY)?;
        let request = LeadRequest {
            archived: flag(params, "archived")?,
            search: params.one("search")?.and_then(LeadSearch::new),
            page: params.whole("page")?,
            limit: params.limit(50, 200, "must be a whole number from 1 to 200")?,
            whole: view.needs_record("leads"),
            walker,
            client,
        };
        Ok(Self { request, view })
    }
}

/// A parameter that is on or off; off where it is absent or blank.
pub fn flag(params: &Params, name: &'static str) -> Result<bool, BadParameter> {
    match params.one(name)?.unwrap_or_default() {
        "1" | "true" => Ok(true),
        "" | "0" | "false" => Ok(false),
        _ => Err(BadParameter(name, "must be true or false")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(query: &str) -> Result<NewList, String> {
        NewList::read(&Params::parse(query), String::new(), String::new()).map_err(|error| error.to_string())
    }

    #[test]
    fn absent_and_blank_parameters_have_their_defaults() {
        for query in [
            "",
            "page=&limit=&search=&archived=&allFields=&query=",
            "search=%20&query=+",
        ] {
            let NewList { request, view } = read(query).unwrap();
            assert_eq!(
                (request.page, request.limit, request.archived, view),
                (None, 50, false, View::Summary),
                "{query}"
            );
            assert!(request.search.is_none());
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
            ("archived=yes", "archived: must be true or false"),
            ("allFields=2", "allFields: must be true or false"),
        ] {
            assert_eq!(read(query).unwrap_err(), reason, "{query}");
        }
        assert_eq!(
            read("page=99999999999999999999999").unwrap().request.page,
            Some(u64::MAX)
        );
    }
}
