//! A table with the demo, and a function's router on it for comparison with the binary.

use axum::Router;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use dynamodb::Served;
use funil::demo::{self, Demo};
use operator::Operator;
use serde_json::{Value, json};
use shared::environment::Environment;
use shared::http::{App, Origins, RouteGroup, service};
use shared::instance::InstanceName;
use shared::store::{Location, Store};
use shared::time::Timestamp;
use tower::ServiceExt as _;

use crate::raw::RawTable;
use crate::world::unpacked;

use super::event::{Recorded, answered, request};

/// The allowed origins in these tests.
pub const ORIGINS: &str = "https://app.example.com,https://crm.example.com";

/// Placeholder for times of the test itself, of the same length.
const SOME_TIME: &str = "2000-01-01T00:00:00.000Z";

/// A table with the demo in it.
pub struct Stage {
    /// The table.
    pub store: Store,
    /// The table's endpoint.
    pub endpoint: String,
    key: String,
    token: String,
    router: Router,
    served: Served,
}

impl Stage {
    /// A new table and the function's router.
    pub async fn new(function: &str) -> Self {
        let served = Served::start();
        let location = Location {
            table: "funil".to_owned(),
            endpoint: Some(served.endpoint()),
        };
        // The binary uses the system's clock, so the router does too.
        let environment = Environment::system();
        let store = Store::connect(location, environment.clone()).await;
        operator::ensure_table(&store)
            .await
            .expect("the table can be created");
        let Demo::Created { key, token } = demo::load(&store).await.expect("the demo can be loaded") else {
            panic!("the demo is new");
        };
        let app = App::new(store.clone(), environment, Origins::parse(ORIGINS));
        Self {
            router: service(&app, groups(function)),
            endpoint: served.endpoint(),
            store,
            key,
            token,
            served,
        }
    }

    /// Two equal stages, for binary and router.
    pub async fn twins(function: &str) -> (Self, Self) {
        tokio::join!(Box::pin(Self::new(function)), Box::pin(Self::new(function)))
    }

    /// The table without the service.
    #[must_use]
    pub fn raw(&self) -> RawTable {
        RawTable::of_emulator(self.served.emulator())
    }

    /// Location of the table.
    pub fn table(&self) -> Location {
        Location {
            table: "funil".to_owned(),
            endpoint: Some(self.endpoint.clone()),
        }
    }

    /// Operator access to the demo.
    pub fn demo(&self) -> Operator {
        Operator::new(
            &self.store,
            InstanceName::parse("demo").expect("an instance name"),
        )
    }

    /// A recorded event with the demo's credentials.
    pub fn event(&self, recorded: &Recorded) -> Value {
        recorded.with(&self.key, &self.token)
    }

    /// The router's response.
    pub async fn answer(&self, event: &Value) -> Value {
        let answer = self.router.clone().oneshot(request(event)).await;
        answered(answer.expect("the router answers everything")).await
    }

    /// Requires that a text contains no credential of this demo.
    #[track_caller]
    pub fn keeps_secret(&self, text: &str) {
        for secret in [&self.key, &self.token] {
            assert!(!text.contains(secret), "a credential was told");
        }
    }
}

/// The routes of a function; functions without client routes get those that trigger them.
fn groups(function: &str) -> Vec<RouteGroup> {
    match function {
        "LeadsFunction" => vec![leads::group()],
        "OpportunitiesFunction" => opportunities::groups().into_iter().collect(),
        "CalendarsFunction" => vec![calendars::group()],
        "CallWebhookFunction" => call_webhook::groups().into(),
        "TicketsFunction" => vec![tickets::group()],
        "ReportsFunction" => vec![reports::group()],
        "DirectoryFunction" => vec![directory::group()],
        "AutomationsFunction" | "MaintenanceFunction" => call_webhook::groups()
            .into_iter()
            .chain([leads::group()])
            .collect(),
        _ => panic!("the template has a function {function} that no test starts"),
    }
}

/// Days after which a token ends.
const TOKEN_DAYS: u32 = 90;

/// A response without its unique parts: request id, times since `began`, and the key of a meeting.
pub fn settled(mut answer: Value, began: Timestamp) -> Value {
    if let Some(headers) = answer["headers"].as_object_mut() {
        let id = headers.remove("x-request-id").expect("every answer has an id");
        assert_eq!(id.as_str().map(str::len), Some(32), "{id}");
    }
    let body = text(&answer).map(|body| without_key(&without_times(&body, began)));
    if let Some(body) = body {
        answer["body"] = json!(body);
    }
    answer
}

/// The body, decoded if it is gzip in base64 (C-103).
fn text(answer: &Value) -> Option<String> {
    let body = answer["body"].as_str()?;
    if answer["isBase64Encoded"] != true {
        return Some(body.to_owned());
    }
    assert_eq!(answer["headers"]["content-encoding"], "gzip", "{answer}");
    Some(unpacked(&STANDARD.decode(body).expect("base64")))
}

fn without_times(text: &str, began: Timestamp) -> String {
    let now = Environment::system().now();
    let mut settled = text.to_owned();
    for (last, _) in text.match_indices('Z') {
        let Some(first) = (last + 1).checked_sub(SOME_TIME.len()) else {
            continue;
        };
        let time = text.get(first..=last).and_then(Timestamp::parse);
        // A token issued now ends after its default lifetime.
        let ends = |days| began.plus_days(days)..=now.plus_days(days);
        if time.is_some_and(|time| [0, TOKEN_DAYS].into_iter().any(|days| ends(days).contains(&time))) {
            settled.replace_range(first..=last, SOME_TIME);
        }
    }
    // Members such as `updateDateUnix`.
    for second in began.unix_millis() / 1000..=now.unix_millis() / 1000 {
        settled = settled.replace(&format!("Unix\":{second}"), "Unix\":0");
    }
    settled
}

fn without_key(text: &str) -> String {
    let Some((before, rest)) = text.split_once(r#""rescheduleKey":""#) else {
        return text.to_owned();
    };
    let (key, after) = rest.split_once('"').expect("a text ends");
    assert!(key.len() >= 32, "{key}");
    format!(r#"{before}"rescheduleKey":"KEY"{after}"#)
}
