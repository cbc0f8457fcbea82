//! A world: an engine, the service on it, and a frozen clock.

#![expect(
    clippy::expect_used,
    clippy::missing_panics_doc,
    clippy::must_use_candidate,
    clippy::panic,
    reason = "a test that cannot be set up must fail, and say where"
)]

mod answer;
mod engine;
mod request;

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use database::Database;
use dynamodb::faults::{self, CallFaultPlan, FaultPlan, Findings};
use dynamodb::replay::{self, Tape};
use dynamodb::{Api, Emulator, Served};
use http::StatusCode;
use operator::kinds::{Calls, Leads};
use operator::{Operator, RecordPages};
use serde_json::Value;
use shared::call::Call;
use shared::credential::CredentialKind;
use shared::environment::{Environment, FrozenClock};
use shared::event::{CallEvent, FormEvent, TimelineEvent};
use shared::http::{App, Origins, RouteGroup, service};
use shared::ids::UserId;
use shared::instance::InstanceName;
use shared::lead::Lead;
use shared::store::Store;
use shared::time::Timestamp;
use table::Engine;

use crate::people::{self, ACME, NOW};
use crate::raw::RawTable;
use crate::watch;

use engine::WorldEngine;

pub use answer::{Answer, Raw, unpacked};
pub use engine::{OverSdk, TABLE, in_simulated_time, jitter, over_sdk};
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
    engine: WorldEngine,
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
        let Some(endpoint) = engine::endpoint() else {
            return Self::own().await;
        };
        let (environment, clock) = Environment::frozen(at(NOW));
        let engine = WorldEngine::elsewhere(endpoint, &environment).await;
        Self::over(engine, environment, clock).await
    }

    /// A world with an empty table on an engine of its own: SQLite, or what [`over_sdk`] says.
    pub async fn own() -> Self {
        let (environment, clock) = Environment::frozen(at(NOW));
        let engine = WorldEngine::new(&environment);
        Self::over(engine, environment, clock).await
    }

    /// A world on a database.
    pub async fn on(database: Database) -> Self {
        let (environment, clock) = Environment::frozen(at(NOW));
        Self::over(WorldEngine::Sqlite(database), environment, clock).await
    }

    /// A world on an emulator, whose calls pass through `api`.
    pub async fn emulated(emulator: &Emulator, api: Arc<dyn Api>) -> Self {
        let (environment, clock) = Environment::frozen(at(NOW));
        let engine = WorldEngine::emulated(emulator, api, &environment);
        Self::over(engine, environment, clock).await
    }

    /// A world on an emulator, called over its port.
    pub async fn served(served: &Served) -> Self {
        let (environment, clock) = Environment::frozen(at(NOW));
        let engine = WorldEngine::served(served, &environment).await;
        Self::over(engine, environment, clock).await
    }

    async fn over(engine: WorldEngine, environment: Environment, clock: FrozenClock) -> Self {
        watch::begin();
        let store = engine.store(environment.clone());
        operator::ensure_table(&store)
            .await
            .expect("the table can be created");
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

    /// A world with the same time and items on another engine. Requires an engine of this process.
    pub async fn copy(&self) -> Self {
        let copy = Self::own().await;
        copy.raw().put_all(&self.raw().items());
        copy.clock.set(self.clock.get());
        copy
    }

    /// The raw table. Requires an engine of this process.
    pub fn raw(&self) -> RawTable {
        self.engine.raw().expect("an engine")
    }

    /// Operator access to an instance.
    pub fn operator(&self, instance: &str) -> Operator {
        Operator::new(
            &self.store,
            InstanceName::parse(instance).expect("an instance name"),
        )
    }

    /// The same world with faults in the service's calls. Requires [`over_sdk`].
    #[must_use]
    pub fn with_faults(mut self, plan: FaultPlan) -> Self {
        self.service = serve(self.faulty(plan), &self.environment);
        self
    }

    /// The store with faults in its calls. Requires [`over_sdk`].
    pub fn faulty(&self, plan: FaultPlan) -> Store {
        self.store_on(faults::with_faults(self.engine.sdk(), plan))
    }

    /// Like [`Self::faulty`], with a plan that distinguishes the calls of one operation.
    pub fn faulty_in_calls(&self, plan: CallFaultPlan, found: Findings) -> Store {
        self.store_on(faults::with_faults_in_calls(self.engine.sdk(), plan, found))
    }

    /// The store with its calls recorded or replayed. Requires [`over_sdk`].
    pub fn on_tape(&self, tape: &Tape) -> Store {
        self.store_on(replay::on_tape(self.engine.sdk(), tape))
    }

    fn store_on(&self, engine: impl Engine) -> Store {
        self.store.clone().through(Arc::new(engine))
    }

    /// The same instance through a service without faults.
    #[must_use]
    pub fn beside(&self) -> Self {
        self.through(self.store.clone())
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
            engine: self.engine.clone(),
        }
    }

    /// The service.
    pub fn router(&self) -> Router {
        self.service.clone()
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
        let booking = r#"{"keyName":"nowhere","date":"2026-11-23T09:00:00Z","leadId":1}"#;
        for (method, uri, body) in [
            ("GET", "/calendarmeeting/slots?keyName=nowhere", ""),
            ("POST", "/calendarmeeting?", booking),
            ("POST", "/voip/webhook?", "{"),
        ] {
            let met = self.call(method, &format!("{uri}&i={instance}")).bytes(body);
            assert_eq!(met.send_unwatched().await.status, StatusCode::BAD_REQUEST);
        }
    }

    /// The call history of `acme`.
    pub async fn calls(&self) -> Vec<Call> {
        let operator = self.operator(ACME);
        all(operator.records::<Calls>()).await
    }

    /// The events of calls in `acme`.
    pub async fn events(&self) -> Vec<CallEvent> {
        let of_call = |event| match event {
            TimelineEvent::Call(event) => Some(event),
            TimelineEvent::Form(_) => None,
        };
        self.all_events().await.into_iter().filter_map(of_call).collect()
    }

    /// The events of forms in `acme`, in the order of their ids.
    pub async fn form_events(&self) -> Vec<FormEvent> {
        let of_form = |event| match event {
            TimelineEvent::Form(event) => Some(event),
            TimelineEvent::Call(_) => None,
        };
        let mut events: Vec<_> = self.all_events().await.into_iter().filter_map(of_form).collect();
        events.sort_by_key(|event| event.id);
        events
    }

    async fn all_events(&self) -> Vec<TimelineEvent> {
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

    /// Sends a GET request with key and token in their headers.
    pub async fn read(&self, wallet: &Wallet, uri: &str) -> Answer {
        self.get(uri).with(wallet).send().await
    }

    /// Sends a request with a body, and with key and token in their headers.
    pub async fn write(&self, wallet: &Wallet, method: &str, uri: &str, body: &Value) -> Answer {
        self.call(method, uri).with(wallet).json(body).send().await
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

/// The routes of all functions with routes of the interface.
pub fn serve(store: Store, environment: &Environment) -> Router {
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
