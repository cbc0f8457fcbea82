//! The instance, service and recorder for measuring uses of endpoints.

#![expect(
    clippy::expect_used,
    clippy::missing_panics_doc,
    reason = "a measurement that cannot be set up must stop, and say where"
)]

use std::cell::RefCell;
use std::sync::Arc;

use dynamodb::Emulator;
use operator::Operator;
use serde_json::Value;
use shared::environment::Environment;
use shared::store::Store;

use super::bill::Bill;
use super::row::{Row, lists};
use super::target::Line;
use super::wire::Wire;
use crate::people::{ACME, NOW, settle};
use crate::world::{Answer, Request, TABLE, Wallet, World, at, jitter};

/// An instance that is set up directly on the table and called through the recorder.
pub struct Desk {
    arranged: World,
    service: World,
    wire: Arc<Wire>,
    rows: RefCell<Vec<Row>>,
}

impl Desk {
    /// The instance `acme` with its people and leads, on a temporary engine.
    pub async fn open() -> Self {
        let emulator = Emulator::new();
        let arranged = World::emulated(&emulator, Arc::new(emulator.clone())).await;
        settle(&arranged.operator(ACME)).await;
        let wire = Wire::before(&emulator);
        let (environment, _) = Environment::frozen(at(NOW));
        let engine = dynamodb::engine(wire.clone(), TABLE.to_owned(), jitter(&environment));
        let service = arranged.through(Store::on(Arc::new(engine), environment));
        service.meet_public().await;
        Self {
            arranged,
            service,
            wire,
            rows: RefCell::default(),
        }
    }

    /// Operator access to the instance, without the service.
    #[must_use]
    pub fn operator(&self) -> Operator {
        self.arranged.operator(ACME)
    }

    /// The table, without the service.
    #[must_use]
    pub fn store(&self) -> &Store {
        &self.arranged.store
    }

    /// Credentials for a user that the service has accepted recently.
    pub async fn wallet(&self, user: u64) -> Wallet {
        let wallet = self.new_wallet(user).await;
        self.service.meet(&wallet).await;
        wallet
    }

    /// Credentials for a user that the service has not seen.
    pub async fn new_wallet(&self, user: u64) -> Wallet {
        self.arranged.wallet(user).await
    }

    /// Sets a setting of the instance.
    pub async fn set(&self, name: &str, value: &Value) {
        self.operator().set_setting(name, value).await.expect("a setting");
    }

    /// Begins a GET request.
    #[must_use]
    pub fn get(&self, uri: &str) -> Request<'_> {
        self.service.get(uri)
    }

    /// Begins a request.
    #[must_use]
    pub fn call(&self, method: &str, uri: &str) -> Request<'_> {
        self.service.call(method, uri)
    }

    /// Sends a request without measuring it.
    pub async fn prepare(&self, request: Request<'_>) -> Answer {
        request.send().await
    }

    /// Sends a request, requires this status, and measures it.
    pub async fn measure(&self, line: Line, status: u16, request: Request<'_>) -> Answer {
        let _ = self.wire.take();
        let answer = request.send().await;
        assert_eq!(answer.status, status, "{}: {}", line.what, answer.body);
        let bill = Bill::of(&answer.cost, &self.wire.take(), line.made, &lists(&answer.body));
        let row = Row {
            calls: answer.cost.calls.len(),
            round_trips: answer.cost.round_trips,
            write_units: answer.cost.write_units(),
            line,
            bill,
        };
        self.rows.borrow_mut().push(row);
        answer
    }

    /// The measurements.
    #[must_use]
    pub fn close(self) -> Vec<Row> {
        self.rows.into_inner()
    }
}
