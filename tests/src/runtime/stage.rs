//! A table with the demo in it, and the router of a function over it: what its binary is compared with.

use axum::Router;
use funil::demo::{self, Demo};
use funil::engine::Engine;
use serde_json::{Value, json};
use shared::ambient::Ambient;
use shared::http::{App, Group, Origins, service};
use shared::instance::InstanceName;
use shared::store::operator::Operator;
use shared::store::{Location, Store};
use shared::time::Timestamp;
use tower::ServiceExt as _;

use super::event::{Recorded, answered, request};

/// The origins that a function of these tests allows.
pub const ORIGINS: &str = "https://app.example.com,https://crm.example.com";

/// What stands for the times of the test itself: all times in answers are of this length.
const SOME_TIME: &str = "2000-01-01T00:00:00.000Z";

/// A table with the demo in it.
pub struct Stage {
    /// The table.
    pub store: Store,
    /// The engine's endpoint.
    pub endpoint: String,
    key: String,
    token: String,
    router: Router,
    _engine: Engine,
}

impl Stage {
    /// A new table, and the router of the function of this name.
    pub async fn new(function: &str) -> Self {
        let engine = Engine::in_memory().expect("an engine starts");
        let location = Location {
            table: "funil".to_owned(),
            endpoint: Some(engine.endpoint()),
        };
        // The binary has the system's clock, so its router has it too.
        let ambient = Ambient::system();
        let store = Store::connect(location, ambient.clone()).await;
        store.ensure_table().await.expect("the table can be created");
        let Demo::Created { key, token } = demo::load(&store).await.expect("the demo can be loaded") else {
            panic!("the demo is new");
        };
        let app = App::new(store.clone(), ambient, Origins::parse(ORIGINS));
        Self {
            router: service(&app, groups(function)),
            endpoint: engine.endpoint(),
            store,
            key,
            token,
            _engine: engine,
        }
    }

    /// Two that are alike: one for the binary, one for the router.
    pub async fn twins(function: &str) -> (Self, Self) {
        tokio::join!(Box::pin(Self::new(function)), Box::pin(Self::new(function)))
    }

    /// Where the table is.
    pub fn table(&self) -> Location {
        Location {
            table: "funil".to_owned(),
            endpoint: Some(self.endpoint.clone()),
        }
    }

    /// The operator's hand on the demo.
    pub fn demo(&self) -> Operator {
        self.store
            .operator(InstanceName::parse("demo").expect("an instance name"))
    }

    /// A recorded event with the credentials of this demo.
    pub fn event(&self, recorded: &Recorded) -> Value {
        recorded.with(&self.key, &self.token)
    }

    /// What the router answers.
    pub async fn answer(&self, event: &Value) -> Value {
        let answer = self.router.clone().oneshot(request(event)).await;
        answered(answer.expect("the router answers everything")).await
    }

    /// Requires that a text holds no credential of this demo.
    #[track_caller]
    pub fn keeps_secret(&self, text: &str) {
        for secret in [&self.key, &self.token] {
            assert!(!text.contains(secret), "a credential was told");
        }
    }
}

/// The routes of a function. Those that no client calls have none; what sets them off has.
fn groups(function: &str) -> Vec<Group> {
    match function {
        "LeadsFunction" => vec![leads::group()],
        "OpportunitiesFunction" => opportunities::groups().into_iter().collect(),
        "CalendarsFunction" => vec![calendars::group()],
        "CallWebhookFunction" => vec![call_webhook::group()],
        "TicketsFunction" => vec![tickets::group()],
        "ReportsFunction" => vec![reports::group()],
        "AutomationsFunction" | "MaintenanceFunction" => vec![call_webhook::group(), leads::group()],
        _ => panic!("the template has a function {function} that no test starts"),
    }
}

/// An answer without what no two requests share: its id, the times since `began`, and the key of a meeting.
pub fn settled(mut answer: Value, began: Timestamp) -> Value {
    if let Some(headers) = answer["headers"].as_object_mut() {
        let id = headers.remove("x-request-id").expect("every answer has an id");
        assert_eq!(id.as_str().map(str::len), Some(32), "{id}");
    }
    let body = answer["body"]
        .as_str()
        .map(|body| without_key(&without_times(body, began)));
    if let Some(body) = body {
        answer["body"] = json!(body);
    }
    answer
}

fn without_times(text: &str, began: Timestamp) -> String {
    let now = Ambient::system().now();
    let mut settled = text.to_owned();
    for (last, _) in text.match_indices('Z') {
        let Some(first) = (last + 1).checked_sub(SOME_TIME.len()) else {
            continue;
        };
        let time = text.get(first..=last).and_then(Timestamp::parse);
        if time.is_some_and(|time| (began..=now).contains(&time)) {
            settled.replace_range(first..=last, SOME_TIME);
        }
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
