//! The protected routes, each as a request that returns 200 with valid credentials, and the public routes.

use serde_json::{Value, json};
use tests::World;
use tests::sales::page;
use tests::template::{Route, routes};
use tests::world::Request;

/// The public routes. All other routes of the template are protected.
pub const PUBLIC: [(&str, &str); 5] = [
    ("GET", "/book/{instance}/{keyName}"),
    ("POST", "/calendarmeeting"),
    ("GET", "/calendarmeeting/slots"),
    ("POST", "/voip/webhook"),
    ("POST", "/api/hook/{name}"),
];

/// Placement of an endpoint's credentials (spec.md, Authentication; C-2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Key and access token in their headers.
    Headers,
    /// The key in its header, without access token.
    Header,
    /// The key in the query.
    Query,
    /// The key in either place; `i` is optional (C-1).
    Either,
}

/// Placement of a protected route's credentials.
pub fn place(method: &str, path: &str) -> Place {
    match (method, path) {
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

/// A protected route, as a request that returns 200 with valid credentials.
#[derive(Debug, Clone)]
pub struct Guarded {
    pub method: String,
    pub path: String,
    /// Required parameters other than `i` and the credentials.
    pub params: &'static str,
    pub body: Value,
    /// Placement of the credentials.
    pub place: Place,
    /// Name of the text in its errors.
    pub text: &'static str,
    /// Whether spec.md fixes the complete body of a 400.
    pub fixed: bool,
}

impl Guarded {
    #[expect(
        clippy::panic,
        reason = "a route without a request here would be one that nobody tests"
    )]
    pub fn of(Route { method, path, .. }: Route) -> Self {
        let (id, params, body) = match (method.as_str(), path.as_str()) {
            (
                "GET",
                "/leads"
                | "/leads/{id}"
                | "/listopportunitysleadcomplete/{id}"
                | "/sac360/lead/{id}"
                | "/sac360/list_file_lead/{id}",
            ) => ("1001", "", Value::Null),
            ("POST", "/leads") => ("", "", json!({ "firstname": "Nara" })),
            ("PUT", "/leads/{id}") => ("1002", "", json!({ "city": "Londrina" })),
            ("PUT", "/leads") => ("", "", json!({ "id": 1002, "city": "Ibiporã" })),
            // No other route uses the deleted lead.
            ("DELETE", "/leads/{id}") => ("1006", "", Value::Null),
            ("DELETE", "/leads") => ("", "", json!({ "ids": [1007] })),
            (_, "/leadsadvanced") => ("", "", json!({ "limit": 500 })),
            (_, "/lead/archive") => ("", "", json!({ "archived": true, "id": 1005 })),
            (
                _,
                "/crm" | "/pcalendar" | "/advancedreports" | "/user" | "/departament" | "/tags"
                | "/crmlossreason",
            ) => ("", "", Value::Null),
            (_, "/crmfastloadv2/{id}") => ("3", "", Value::Null),
            (_, "/crm/opportunities/{id}") => ("3", "", page(1, 25, &Value::Null)),
            (_, "/crmopportunity") => (
                "",
                "id=3",
                json!({ "title": "x", "crm_column": 31, "lead_id": 1001 }),
            ),
            ("PUT", "/crmopportunity/{id}") => ("1", "id=3", json!({})),
            (_, "/calendarmeeting/{id}") => ("5", "", Value::Null),
            (_, "/crmopportunity/{id}" | "/reportchart/{id}") => ("1", "", Value::Null),
            (_, "/sac360/relaction") => ("", "", json!({ "lead": 1001, "attendance": 501 })),
            (_, "/sac360/list_file_attendance/{id}") => ("501", "", Value::Null),
            other => panic!("{other:?} has no good request here"),
        };
        Self {
            place: place(&method, &path),
            text: if path == "/crmopportunity" { "msg" } else { "error" },
            fixed: ["/crmopportunity/{id}", "/crm/opportunities/{id}"].contains(&path.as_str())
                || path.starts_with("/sac360/"),
            path: path.replace("{id}", id),
            method,
            params,
            body,
        }
    }

    /// A request with these parameters and without credentials in headers.
    pub fn call<'w>(&self, world: &'w World, params: &[&str]) -> Request<'w> {
        let params: Vec<_> = params
            .iter()
            .chain([&self.params])
            .filter(|one| !one.is_empty())
            .copied()
            .collect();
        let call = world.call(&self.method, &format!("{}?{}", self.path, params.join("&")));
        if self.body.is_null() {
            call
        } else {
            call.json(&self.body)
        }
    }

    /// A request to `acme` with key and token in their places.
    pub fn with<'w>(&self, world: &'w World, i: &str, key: &str, token: &str) -> Request<'w> {
        if key.is_empty() {
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
    pub fn unauthorized(&self, lacks_key: bool, lacks_token: bool) -> Value {
        let key = match self.place {
            Place::Headers | Place::Header => "apitoken: the API key belongs in the header apitoken",
            Place::Query => "apitoken: the API key belongs in the query parameter apitoken",
            Place::Either => "apitoken: the API key belongs in the header or the query parameter apitoken",
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

    pub fn says(&self, text: &str) -> Value {
        json!({ self.text: text })
    }
}

/// All routes that are not public.
pub fn guarded() -> Vec<Guarded> {
    let is_public = |route: &Route| PUBLIC.contains(&(route.method.as_str(), route.path.as_str()));
    let guarded = routes()
        .into_iter()
        .filter(|route| route.method != "ANY" && !is_public(route));
    guarded.map(Guarded::of).collect()
}
