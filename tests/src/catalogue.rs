//! One row per route: a request that succeeds in a stocked world, and what the laws over all routes need to know of it.

#![expect(clippy::panic, reason = "a route without a row is one that nobody tests")]

use serde_json::{Value, json};

use crate::template::{Route, routes};
use crate::world::Request;
use crate::{ACME, World};

/// Placement of an endpoint's credentials (spec.md, Authentication; C-2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The route is public.
    None,
    /// Key and access token in their headers.
    Headers,
    /// The key in its header, without access token.
    Header,
    /// The key in the query.
    Query,
    /// The key in either place; `i` is optional (C-1).
    Either,
}

/// A route, as a request that succeeds with valid credentials.
#[derive(Debug, Clone)]
pub struct Entry {
    /// In upper case.
    pub method: String,
    /// The path of the template, with parameters in braces.
    pub route: String,
    /// The path with ids. Only `{instance}` is left.
    pub path: String,
    /// Required parameters other than `i` and the credentials.
    pub params: String,
    /// `null` if the request has none.
    pub body: Value,
    /// Placement of the credentials.
    pub place: Place,
    /// Members of the body, as JSON pointers, that the one reader of people's data reads as text (C-108).
    pub people: Vec<&'static str>,
    /// Name of the text in its errors.
    pub text: &'static str,
    /// Whether spec.md fixes the complete body of a 400.
    pub fixed: bool,
}

/// A row for each route: method and route, a request's path, placement of the credentials, parameters other than `i`, members of
/// the body that are read as people's data, and the body. Each may be absent at the end.
///
/// No other route uses leads 1005 to 1007, which are changed or deleted.
const ROWS: &str = r#"
GET /advancedreports | | query
POST /api/hook/{name} | /api/hook/contact | none | access_token=tok-4b1d9e | /nome /email /cidade /cargo | {"nome":"Bia"}
GET /book/{instance}/{keyName} | /book/{instance}/demo | none
POST /calendarmeeting | | none | | /formData/firstname /formData/email /formData/city /formData/filial | {"keyName":"demo","date":"2026-11-23T09:40:00.000Z","leadId":null,"formData":{"firstname":"Bia","email":"bia@example.com"}}
GET /calendarmeeting/slots | | none | keyName=demo
GET /calendarmeeting/{id} | /calendarmeeting/5 | either
GET /crm | | query
POST /crm/opportunities/{id} | /crm/opportunities/3 | query | | | {"page":1,"limit":25}
GET /crmfastloadv2/{id} | /crmfastloadv2/3 | headers
GET /crmlossreason | | headers
POST /crmopportunity | | headers | id=3 | /title | {"title":"x","crm_column":31,"lead_id":1001}
GET /crmopportunity/{id} | /crmopportunity/1 | headers
PUT /crmopportunity/{id} | /crmopportunity/1 | headers | id=3 | /title | {}
GET /departament | | headers
POST /lead/archive | | query | | | {"archived":true,"id":1005}
DELETE /leads | | query | | | {"ids":[1007]}
GET /leads | | headers
POST /leads | | headers | | /firstname /lastname /email /city /filial | {"firstname":"Nara"}
PUT /leads | | headers | | /firstname /lastname /email /city /filial | {"id":1002,"city":"Ibiporã"}
DELETE /leads/{id} | /leads/1006 | query
GET /leads/{id} | /leads/1001 | headers
PUT /leads/{id} | /leads/1002 | headers | | /firstname /lastname /email /city /filial | {"city":"Londrina"}
GET /leads/{id}/meetings | /leads/1001/meetings | headers
GET /leads/{id}/timeline | /leads/1001/timeline | headers
POST /leadsadvanced | | headers | | | {"limit":500}
GET /listopportunitysleadcomplete/{id} | /listopportunitysleadcomplete/1001 | headers
GET /me | | headers
GET /pcalendar | | either
GET /reportchart/{id} | /reportchart/1 | query
GET /sac360/lead/{id} | /sac360/lead/1001 | header
GET /sac360/list_file_attendance/{id} | /sac360/list_file_attendance/501 | header
GET /sac360/list_file_lead/{id} | /sac360/list_file_lead/1001 | header
POST /sac360/relaction | | headers | | | {"lead":1001,"attendance":501}
GET /tags | | headers
GET /user | | headers
POST /voip/webhook | | none | | | {"event":"call","data":{"user":8,"leadPhone":"+55 11 97326-3471","type":"INCOMING","status":"COMPLETE","duration":65,"record":true,"service":"acme-voip"}}
"#;

/// The fields of a route's row.
///
/// # Panics
///
/// If the route has no row: nobody would test it.
fn row(method: &str, route: &str) -> Vec<&'static str> {
    let name = format!("{method} {route}");
    let mut rows = ROWS
        .lines()
        .map(|row| row.split('|').map(str::trim).collect::<Vec<_>>());
    let row = rows.find(|row| row[0] == name);
    row.unwrap_or_else(|| panic!("{name} has no row"))
}

/// Placement of a route's credentials.
///
/// # Panics
///
/// If the route has no row.
#[must_use]
pub fn place(method: &str, route: &str) -> Place {
    match row(method, route)[2] {
        "none" => Place::None,
        "header" => Place::Header,
        "query" => Place::Query,
        "either" => Place::Either,
        _ => Place::Headers,
    }
}

/// The route of the template that a path belongs to, and its function.
///
/// # Panics
///
/// If there is none.
#[must_use]
pub fn route_of(method: &str, path: &str) -> Route {
    let parts: Vec<_> = path.split('/').collect();
    let is_of = |route: &Route| {
        let of_route: Vec<_> = route.path.split('/').collect();
        let is_part = |(part, given): (&&str, &&str)| part.starts_with('{') || part == given;
        route.method == method && of_route.len() == parts.len() && of_route.iter().zip(&parts).all(is_part)
    };
    let all = routes().into_iter().filter(is_of);
    // A path without parameters precedes one with them.
    let route = all.min_by_key(|route| route.path.matches('{').count());
    route.unwrap_or_else(|| panic!("{method} {path} is no route"))
}

impl Entry {
    fn of(Route { method, path, .. }: Route) -> Self {
        let row = row(&method, &path);
        let field = |place: usize| row.get(place).copied().unwrap_or_default();
        let is_message = ["/crmopportunity", "/voip/webhook"].contains(&path.as_str());
        let is_fixed = ["/crmopportunity/{id}", "/crm/opportunities/{id}"].contains(&path.as_str());
        let body = if field(5).is_empty() { "null" } else { field(5) };
        Self {
            place: place(&method, &path),
            text: if is_message { "msg" } else { "error" },
            fixed: is_fixed || path.starts_with("/sac360/"),
            people: field(4).split_whitespace().collect(),
            path: if field(1).is_empty() {
                path.clone()
            } else {
                field(1).to_owned()
            },
            params: field(3).to_owned(),
            body: serde_json::from_str(body).unwrap_or_else(|cause| panic!("{body}: {cause}")),
            route: path,
            method,
        }
    }

    /// `METHOD /path/{id}`, as in the template.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{} {}", self.method, self.route)
    }

    /// A request with these parameters and without credentials in headers.
    #[must_use]
    pub fn call<'w>(&self, world: &'w World, params: &[&str]) -> Request<'w> {
        let params: Vec<_> = params
            .iter()
            .copied()
            .chain([&*self.params])
            .filter(|one| !one.is_empty())
            .collect();
        // The page has its instance in the path, and ignores a parameter.
        let path = self.path.replace("{instance}", ACME);
        let call = world.call(&self.method, &format!("{path}?{}", params.join("&")));
        if self.body.is_null() {
            call
        } else {
            call.json(&self.body)
        }
    }

    /// A request to an instance, without credentials.
    #[must_use]
    pub fn to<'w>(&self, world: &'w World, instance: &str) -> Request<'w> {
        let path = self.path.replace("{instance}", instance);
        let entry = Self { path, ..self.clone() };
        entry.call(world, &[&format!("i={instance}")])
    }

    /// A request to `acme` with key and token in their places.
    #[must_use]
    pub fn with<'w>(&self, world: &'w World, i: &str, key: &str, token: &str) -> Request<'w> {
        if key.is_empty() || self.place == Place::None {
            return self.call(world, &[i]);
        }
        if self.place == Place::Query {
            return self.call(world, &[i, &format!("apitoken={key}")]);
        }
        let call = self.call(world, &[i]).header("apitoken", key);
        call.header("authorization", &format!("Bearer {token}"))
    }

    /// The body of a 401, whose `details` name the places of a key and a token that are not there (C-103). spec.md fixes the body
    /// of endpoint 10.
    #[must_use]
    pub fn unauthorized(&self, lacks_key: bool, lacks_token: bool) -> Value {
        let key = match self.place {
            Place::Headers | Place::Header => "apitoken: the API key belongs in the header apitoken",
            Place::Query => "apitoken: the API key belongs in the query parameter apitoken",
            Place::None | Place::Either => {
                "apitoken: the API key belongs in the header or the query parameter apitoken"
            }
        };
        let token = "authorization: the access token belongs in the header Authorization, after Bearer";
        let lacks_token = lacks_token && self.place == Place::Headers;
        let details = match (lacks_key, lacks_token) {
            _ if self.path.starts_with("/crm/opportunities/") => String::new(),
            (true, true) => format!("{key}; {token}"),
            (true, false) => key.to_owned(),
            (false, true) => token.to_owned(),
            (false, false) => String::new(),
        };
        let mut body = self.says("Unauthorized");
        if !details.is_empty() {
            body["details"] = details.into();
        }
        body
    }

    /// A body with this text.
    #[must_use]
    pub fn says(&self, text: &str) -> Value {
        json!({ self.text: text })
    }
}

/// The rows of all routes of the template.
#[must_use]
pub fn catalogue() -> Vec<Entry> {
    let routes = routes().into_iter();
    routes.map(Entry::of).collect()
}

/// The rows of the routes with credentials.
#[must_use]
pub fn protected() -> Vec<Entry> {
    let mut all = catalogue();
    all.retain(|entry| entry.place != Place::None);
    all
}

/// The rows of the public routes.
#[must_use]
pub fn public() -> Vec<Entry> {
    let mut all = catalogue();
    all.retain(|entry| entry.place == Place::None);
    all
}
