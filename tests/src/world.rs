//! A world: an engine, the service on it, and a frozen clock.

#![expect(
    clippy::expect_used,
    clippy::missing_panics_doc,
    clippy::must_use_candidate,
    reason = "a test that cannot be set up must fail, and say where"
)]

mod answer;
mod request;

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use database::Database;
use funil::engine::Engine;
use http::StatusCode;
use operator::kinds::{Calls, Leads};
use operator::{Operator, RecordPages};
use serde_json::Value;
use shared::call::{Call, CallEvent};
use shared::credential::CredentialKind;
use shared::environment::{Environment, FrozenClock};
use shared::http::{App, Origins, RouteGroup, service};
use shared::ids::UserId;
use shared::instance::InstanceName;
use shared::lead::Lead;
use shared::store::embedded::EmbeddedEngine;
use shared::store::testing::faults;
use shared::store::{Location, Store};
use shared::time::Timestamp;

use crate::people::{self, ACME, NOW};
use crate::raw::RawTable;
use crate::watch;

pub use answer::{Answer, Raw, unpacked};
pub use request::Request;

/// An engine with the service on it.
pub struct World {
    /// The clock.
    pub clock: FrozenClock,
    /// The table.
    pub store: Store,
    environment: Environment,
    service: Router,
    /// Whether the service has additional routes, unknown to openapi.yaml.
    has_more: bool,
    /// The world's engine; stops with it.
    engine: Option<OwnEngine>,
}

/// An engine of one world.
enum OwnEngine {
    /// Called in this process, like that of `funil serve`.
    Embedded(Database),
    /// Called on its port.
    Served(Engine),
}

/// A user's credentials.
#[derive(Debug, Clone)]
pub struct Wallet {
    /// `fk_…`
    pub key: String,
    /// `fa_…`
    pub token: String,
    /// The key's public id.
    pub key_id: String,
    /// The token's public id.
    pub token_id: String,
}

impl World {
    /// A world with an empty table.
    pub async fn empty() -> Self {
        match std::env::var("DYNAMODB_ENDPOINT") {
            Ok(elsewhere) => Self::at(elsewhere, None).await,
            Err(_) => Self::own().await,
        }
    }

    /// A world with an empty table on an engine of its own, called without a connection.
    pub async fn own() -> Self {
        let database = Database::temporary().expect("an engine starts");
        let (environment, clock) = Environment::frozen(at(NOW));
        let (engine, table) = (Arc::new(database.clone()), table_name(&environment));
        let store = Store::embedded(engine, table, environment);
        Self::over(store, clock, Some(OwnEngine::Embedded(database))).await
    }

    /// A world with an empty table on an engine with a port.
    pub async fn on(engine: Engine) -> Self {
        Self::at(engine.endpoint(), Some(OwnEngine::Served(engine))).await
    }

    async fn at(endpoint: String, engine: Option<OwnEngine>) -> Self {
        let (environment, clock) = Environment::frozen(at(NOW));
        let location = Location {
            table: table_name(&environment),
            endpoint: Some(endpoint),
        };
        let store = Store::connect(location, environment).await;
        Self::over(store, clock, engine).await
    }

    /// A world with an empty table of this name on an engine of this process, called without a connection.
    pub async fn embedded(engine: Arc<dyn EmbeddedEngine>, table: &str) -> Self {
        let (environment, clock) = Environment::frozen(at(NOW));
        let store = Store::embedded(engine, table.to_owned(), environment);
        Self::over(store, clock, None).await
    }

    async fn over(store: Store, clock: FrozenClock, engine: Option<OwnEngine>) -> Self {
        watch::begin();
        operator::ensure_table(&store)
            .await
            .expect("the table can be created");
        let environment = store.environment().clone();
        Self {
            clock,
            service: serve(store.clone(), &environment),
            store,
            environment,
            has_more: false,
            engine,
        }
    }

    /// A world with the instance `acme`, its people and its leads.
    pub async fn new() -> Self {
        let world = Self::empty().await;
        people::settle(&world.operator(ACME)).await;
        world
    }

    /// A world with the same time and items on another engine. Requires an engine of the world's own.
    pub async fn copy(&self) -> Self {
        let copy = Self::own().await;
        copy.raw().put_all(&self.raw().items());
        copy.clock.set(self.clock.get());
        copy.store.check_format().await.expect("the format is read");
        copy
    }

    /// The raw table. Requires an engine of the world's own.
    pub fn raw(&self) -> RawTable {
        match self.engine.as_ref().expect("an engine") {
            OwnEngine::Embedded(database) => RawTable::of(database),
            OwnEngine::Served(engine) => RawTable::at(&engine.endpoint()),
        }
    }

    /// Operator access to an instance.
    pub fn operator(&self, instance: &str) -> Operator {
        Operator::new(
            &self.store,
            InstanceName::parse(instance).expect("an instance name"),
        )
    }

    /// The same world with faults in the service's calls.
    #[must_use]
    pub fn with_faults(mut self, plan: faults::FaultPlan) -> Self {
        self.service = serve(self.store.clone().with_faults(plan), &self.environment);
        self
    }

    /// The same instance through a service without faults.
    #[must_use]
    pub fn beside(&self) -> Self {
        Self {
            clock: self.clock.clone(),
            store: self.store.clone(),
            environment: self.environment.clone(),
            service: serve(self.store.clone(), &self.environment),
            has_more: false,
            engine: None,
        }
    }

    /// The same instance through another process: only table and clock are shared.
    #[must_use]
    pub fn elsewhere(&self) -> Self {
        self.through(self.store.elsewhere())
    }

    /// The same instance through a process with this store.
    #[must_use]
    pub fn through(&self, store: Store) -> Self {
        Self {
            clock: self.clock.clone(),
            service: serve(store.clone(), &self.environment),
            store,
            environment: self.environment.clone(),
            has_more: false,
            engine: None,
        }
    }

    /// The same world with additional routes.
    #[must_use]
    pub fn with_group(mut self, group: RouteGroup) -> Self {
        let app = App::new(self.store.clone(), self.environment.clone(), Origins::Any);
        self.service = service(&app, [leads::group(), group]);
        self.has_more = true;
        self
    }

    /// Credentials for a user of `acme`.
    pub async fn wallet(&self, user: u64) -> Wallet {
        self.wallet_of(ACME, user).await
    }

    /// Credentials for a user of an instance.
    pub async fn wallet_of(&self, instance: &str, user: u64) -> Wallet {
        let operator = self.operator(instance);
        let user = UserId::new(user).expect("a user id");
        let key = operator
            .issue(CredentialKind::Key, user, Some("test".to_owned()), None)
            .await
            .expect("a key");
        let token = operator
            .issue(CredentialKind::Token, user, None, Some(90))
            .await
            .expect("a token");
        Wallet {
            key: key.secret.reveal().to_owned(),
            token: token.secret.reveal().to_owned(),
            key_id: key.entry.id,
            token_id: token.entry.id,
        }
    }

    /// Credentials for a user of `acme` that this world's process has accepted recently (C-86).
    pub async fn known(&self, user: u64) -> Wallet {
        let wallet = self.wallet(user).await;
        self.meet(&wallet).await;
        wallet
    }

    /// Makes credentials of `acme` known by a request that is rejected before it reads its target.
    pub async fn meet(&self, wallet: &Wallet) {
        let met = self.get("/leads/x?i=acme").with(wallet).send_unwatched().await;
        assert_eq!(met.status, StatusCode::BAD_REQUEST);
    }

    /// Makes each public route of `acme` known by a request that changes nothing.
    pub async fn meet_public(&self) {
        self.meet_public_of(ACME).await;
    }

    /// The same for an instance.
    pub async fn meet_public_of(&self, instance: &str) {
        for (method, uri) in [
            ("GET", "/calendarmeeting/slots?keyName=nowhere"),
            ("POST", "/calendarmeeting?"),
            ("POST", "/voip/webhook?"),
        ] {
            let met = self.call(method, &format!("{uri}&i={instance}")).bytes("{");
            assert_eq!(met.send_unwatched().await.status, StatusCode::BAD_REQUEST);
        }
    }

    /// The call history of `acme`.
    pub async fn calls(&self) -> Vec<Call> {
        let operator = self.operator(ACME);
        all(operator.records::<Calls>()).await
    }

    /// The timeline events of `acme`.
    pub async fn events(&self) -> Vec<CallEvent> {
        let operator = self.operator(ACME);
        let mut found = Vec::new();
        let mut pages = operator.events(None);
        while let Some(page) = pages.next().await.expect("the events can be read") {
            found.extend(page);
        }
        found
    }

    /// All leads of `acme`.
    pub async fn leads(&self) -> Vec<Lead> {
        all(self.operator(ACME).records::<Leads>()).await
    }

    /// Requires that all derived items match the records of `acme` (C-84).
    pub async fn is_sound(&self) {
        let diagnosis = self
            .operator(ACME)
            .doctor(false, &|_| {})
            .await
            .expect("a diagnosis");
        let mut differences = diagnosis.differences;
        // Tests advance the clock without maintenance, so a pending marker is not an inconsistency.
        differences.retain(|difference| !difference.reason.starts_with("was raised more than an hour ago"));
        assert!(differences.is_empty(), "{differences:?}");
    }

    /// Begins a GET request.
    pub fn get(&self, uri: &str) -> Request<'_> {
        self.call("GET", uri)
    }

    /// Begins a request to the call webhook of `acme`.
    pub fn webhook(&self, body: &Value) -> Request<'_> {
        self.call("POST", "/voip/webhook?i=acme").json(body)
    }

    /// Begins a request.
    pub fn call(&self, method: &str, uri: &str) -> Request<'_> {
        let head = http::Request::builder().method(method).uri(uri);
        Request {
            world: self,
            head,
            body: Bytes::new(),
            breaks_off: false,
        }
    }
}

fn table_name(environment: &Environment) -> String {
    format!("funil-test-{}", environment.token())
}

fn serve(store: Store, environment: &Environment) -> Router {
    let app = App::new(store, environment.clone(), Origins::Any);
    let groups = [
        leads::group(),
        calendars::group(),
        tickets::group(),
        reports::group(),
        directory::group(),
    ];
    service(
        &app,
        groups
            .into_iter()
            .chain(opportunities::groups())
            .chain(call_webhook::groups()),
    )
}

async fn all<T>(mut pages: RecordPages<T>) -> Vec<T> {
    let mut found = Vec::new();
    while let Some(page) = pages.next().await.expect("the records can be read") {
        found.extend(page);
    }
    found
}

/// A point in time.
pub fn at(text: &str) -> Timestamp {
    Timestamp::parse(text).expect("a point in time")
}
