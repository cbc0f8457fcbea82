//! The parameters of the list of leads (C-20), and the bodies that name leads (C-24, C-25).

use axum::extract::Path;
use serde_json::{Map, Value};
use shared::http::{BadParameter, Params, parse_json};
use shared::id::LeadId;
use shared::number::whole;
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

/// The most leads of one request in bulk (C-24, C-25).
const MOST_IDS: usize = 120;
const MUST_BE_ID: &str = "must be a whole number from 1 to 999999999999999";
const MUST_BE_IDS: &str = "must be at most 120 ids of leads";

/// The id in a path. One that is not UTF-8 is no id either.
pub fn lead_id(id: Option<Path<String>>) -> Result<LeadId, LeadError> {
    id.and_then(|Path(id)| LeadId::parse(&id)).ok_or(LeadError::Id)
}

/// The body of a deletion in bulk: `{ "ids": [...] }`. An id that stands twice counts once.
pub fn lead_ids(body: &[u8]) -> Result<Vec<LeadId>, LeadError> {
    let body = object(body)?;
    ids("ids", body.get("ids"))
}

/// Which leads a request is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Archived {
    /// One.
    One([LeadId; 1]),
    /// Any number of them.
    Many(Vec<LeadId>),
}

impl Archived {
    /// Their ids.
    pub fn ids(&self) -> &[LeadId] {
        match self {
            Self::One(id) => id,
            Self::Many(ids) => ids,
        }
    }
}

/// The body of endpoint 6.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewArchive {
    /// Into the archive, or out of it.
    pub archived: bool,
    /// Which leads.
    pub leads: Archived,
}

impl NewArchive {
    /// Reads `archived`, and `id` or `ids`.
    pub fn read(body: &[u8]) -> Result<Self, LeadError> {
        let body = object(body)?;
        let archived = body.get("archived").and_then(Value::as_bool);
        let archived = archived.ok_or(LeadError::Field("archived", "must be true or false"))?;
        let leads = match (body.get("id"), body.get("ids")) {
            (None, many @ Some(_)) => ids("ids", many).map(Archived::Many),
            (Some(many @ Value::Array(_)), None) => ids("id", Some(many)).map(Archived::Many),
            (Some(one), None) => {
                let id = whole(one).and_then(LeadId::new);
                id.map(|id| Archived::One([id]))
                    .ok_or(LeadError::Field("id", MUST_BE_ID))
            }
            (Some(_), Some(_)) => Err(LeadError::Field("ids", "must not stand beside id")),
            (None, None) => Err(LeadError::Field("id", MUST_BE_ID)),
        };
        Ok(Self {
            archived,
            leads: leads?,
        })
    }
}

fn object(body: &[u8]) -> Result<Map<String, Value>, LeadError> {
    match parse_json(body) {
        Ok(Value::Object(body)) => Ok(body),
        Ok(_) => Err(LeadError::Field("body", "must be a JSON object")),
        Err(_) => Err(LeadError::Field("body", "must be JSON")),
    }
}

/// The ids of a list by the name of its property.
fn ids(name: &'static str, value: Option<&Value>) -> Result<Vec<LeadId>, LeadError> {
    let listed = value.and_then(Value::as_array);
    let listed = listed.filter(|listed| listed.len() <= MOST_IDS);
    let listed = listed.ok_or(LeadError::Field(name, MUST_BE_IDS))?;
    let mut ids: Vec<LeadId> = Vec::with_capacity(listed.len());
    for (index, value) in listed.iter().enumerate() {
        let id = whole(value).and_then(LeadId::new);
        let id = id.ok_or(LeadError::ListedId(name, index))?;
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    Ok(ids)
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
