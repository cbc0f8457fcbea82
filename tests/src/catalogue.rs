//! One row per route: a request that succeeds in a stocked world, and what the laws over all routes need to know of it.

use serde_json::{Value, json};

use crate::bookings::{FREE, booking};
use crate::forms::TOKEN;
use crate::sales::page;
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
    pub people: &'static [&'static str],
    /// Name of the text in its errors.
    pub text: &'static str,
    /// Whether spec.md fixes the complete body of a 400.
    pub fixed: bool,
}

/// Placement of a route's credentials.
#[must_use]
pub fn place(method: &str, path: &str) -> Place {
    match (method, path) {
        (
            _,
            "/book/{instance}/{keyName}"
            | "/calendarmeeting"
            | "/calendarmeeting/slots"
            | "/voip/webhook"
            | "/api/hook/{name}",
        ) => Place::None,
        ("DELETE", _)
        | (
            _,
            "/crm" | "/crm/opportunities/{id}" | "/lead/archive" | "/advancedreports" | "/reportchart/{id}",
        ) => Place::Query,
        (_, "/pcalendar" | "/calendarmeeting/{id}") => Place::Either,
        ("GET", path) if path.starts_with("/sac360/") => Place::Header,
        _ => Place::Headers,
    }
}

/// A call that makes a lead.
fn call() -> Value {
    json!({ "event": "call", "data": { "user": 8, "leadPhone": "+55 11 97326-3471", "type": "INCOMING",
        "status": "COMPLETE", "duration": 65, "record": true, "service": "acme-voip" } })
}

/// The members of a lead that are read as people's data.
const LEAD: &[&str] = &["/firstname", "/lastname", "/email", "/city", "/filial"];

/// The members of a body that are read as people's data.
fn people(method: &str, path: &str) -> &'static [&'static str] {
    match (method, path) {
        ("POST" | "PUT", "/leads" | "/leads/{id}") => LEAD,
        (_, "/crmopportunity" | "/crmopportunity/{id}") if method != "GET" => &["/title"],
        (_, "/calendarmeeting") => &[
            "/formData/firstname",
            "/formData/email",
            "/formData/city",
            "/formData/filial",
        ],
        (_, "/api/hook/{name}") => &["/nome", "/email", "/cidade", "/cargo"],
        _ => &[],
    }
}

/// The id or name in the path.
///
/// # Panics
///
/// If the route has no row here: nobody would test it.
#[expect(clippy::panic, reason = "a route without a row is one that nobody tests")]
fn id(method: &str, route: &str) -> &'static str {
    match (method, route) {
        // No other route uses the deleted lead.
        ("DELETE", "/leads/{id}") => "1006",
        ("PUT", "/leads/{id}") => "1002",
        (
            _,
            "/leads/{id}"
            | "/leads/{id}/timeline"
            | "/leads/{id}/meetings"
            | "/listopportunitysleadcomplete/{id}"
            | "/sac360/lead/{id}"
            | "/sac360/list_file_lead/{id}",
        ) => "1001",
        (_, "/crmfastloadv2/{id}" | "/crm/opportunities/{id}") => "3",
        (_, "/crmopportunity/{id}" | "/reportchart/{id}") => "1",
        (_, "/calendarmeeting/{id}") => "5",
        (_, "/sac360/list_file_attendance/{id}") => "501",
        (_, "/api/hook/{name}") => "contact",
        (_, "/book/{instance}/{keyName}") => "demo",
        _ if !route.contains('{') => "",
        _ => panic!("{method} {route} has no row"),
    }
}

/// The required parameters.
fn params(route: &str, method: &str) -> String {
    match route {
        "/crmopportunity" => "id=3".to_owned(),
        "/crmopportunity/{id}" if method == "PUT" => "id=3".to_owned(),
        "/calendarmeeting/slots" => "keyName=demo".to_owned(),
        "/api/hook/{name}" => format!("access_token={TOKEN}"),
        _ => String::new(),
    }
}

/// The body; `null` for none.
///
/// # Panics
///
/// If a route that takes one has no row here.
#[expect(clippy::panic, reason = "a route without a row is one that nobody tests")]
fn body(method: &str, route: &str) -> Value {
    match (method, route) {
        ("GET", _) | ("DELETE", "/leads/{id}") => Value::Null,
        ("POST", "/leads") => json!({ "firstname": "Nara" }),
        (_, "/leads/{id}") => json!({ "city": "Londrina" }),
        ("PUT", "/leads") => json!({ "id": 1002, "city": "Ibiporã" }),
        ("DELETE", "/leads") => json!({ "ids": [1007] }),
        (_, "/leadsadvanced") => json!({ "limit": 500 }),
        (_, "/lead/archive") => json!({ "archived": true, "id": 1005 }),
        (_, "/crm/opportunities/{id}") => page(1, 25, &Value::Null),
        (_, "/crmopportunity") => json!({ "title": "x", "crm_column": 31, "lead_id": 1001 }),
        (_, "/crmopportunity/{id}") => json!({}),
        (_, "/sac360/relaction") => json!({ "lead": 1001, "attendance": 501 }),
        (_, "/calendarmeeting") => booking(FREE[1], &json!({})),
        (_, "/voip/webhook") => call(),
        (_, "/api/hook/{name}") => json!({ "nome": "Bia" }),
        _ => panic!("{method} {route} has no row"),
    }
}

impl Entry {
    fn of(Route { method, path, .. }: Route) -> Self {
        let id = id(&method, &path);
        let is_message = ["/crmopportunity", "/voip/webhook"].contains(&path.as_str());
        let is_fixed = ["/crmopportunity/{id}", "/crm/opportunities/{id}"].contains(&path.as_str());
        Self {
            place: place(&method, &path),
            text: if is_message { "msg" } else { "error" },
            fixed: is_fixed || path.starts_with("/sac360/"),
            people: people(&method, &path),
            path: ["{id}", "{name}", "{keyName}"]
                .into_iter()
                .fold(path.clone(), |path, name| path.replace(name, id)),
            params: params(&path, &method),
            body: body(&method, &path),
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
    let routes = routes().into_iter().filter(|route| route.method != "ANY");
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
