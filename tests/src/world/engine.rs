//! The engine of a world: SQLite, or DynamoDB by the SDK.

use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::Arc;

use database::Database;
use dynamodb::{Api, Emulator, Served};
use shared::environment::Environment;
use shared::store::{Location, Store};
use table::{DynamoDb, Engine, Jitter};

use crate::raw::RawTable;

/// Name of the table of an emulator.
pub const TABLE: &str = "funil";

/// Where the thread's new worlds are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Sqlite,
    Sdk,
    Emulator,
}

thread_local! {
    static PLACE: Cell<Place> = const { Cell::new(Place::Sqlite) };
}

/// Lets the thread's new worlds be on DynamoDB by the SDK, until it is dropped.
#[derive(Debug)]
pub struct OverSdk {
    before: Place,
    /// It belongs to its thread.
    _thread: PhantomData<*const ()>,
}

/// Lets the thread's new worlds be on DynamoDB by the SDK, as a test needs that injects faults or records calls.
#[must_use]
pub fn over_sdk() -> OverSdk {
    OverSdk::begin(Place::Sdk)
}

/// Like [`over_sdk`], never over the network, whose answers simulated time would not wait for.
#[must_use]
pub fn in_simulated_time() -> OverSdk {
    OverSdk::begin(Place::Emulator)
}

impl OverSdk {
    fn begin(place: Place) -> Self {
        Self {
            before: PLACE.replace(place),
            _thread: PhantomData,
        }
    }
}

impl Drop for OverSdk {
    fn drop(&mut self) {
        PLACE.set(self.before);
    }
}

/// The address of another engine, for worlds that may be anywhere.
pub fn endpoint() -> Option<String> {
    let endpoint = std::env::var("DYNAMODB_ENDPOINT").ok();
    endpoint.filter(|_| PLACE.get() != Place::Emulator)
}

/// The engine of a world.
#[derive(Debug, Clone)]
pub enum WorldEngine {
    /// SQLite.
    Sqlite(Database),
    /// DynamoDB in this process, by the SDK.
    Emulated(Emulator, DynamoDb),
    /// A DynamoDB API at another address, by the SDK.
    Elsewhere(DynamoDb),
}

impl WorldEngine {
    /// A new engine of this process.
    pub fn new(environment: &Environment) -> Self {
        if PLACE.get() == Place::Sqlite {
            return Self::Sqlite(Database::temporary().expect("an engine starts"));
        }
        let emulator = Emulator::new();
        let api = Arc::new(emulator.clone());
        Self::emulated(&emulator, api, environment)
    }

    /// An emulator whose calls pass through `api`.
    pub fn emulated(emulator: &Emulator, api: Arc<dyn Api>, environment: &Environment) -> Self {
        let sdk = dynamodb::engine(api, TABLE.to_owned(), jitter(environment));
        Self::Emulated(emulator.clone(), sdk)
    }

    /// A served emulator, called over its port.
    pub async fn served(served: &Served, environment: &Environment) -> Self {
        let location = Location {
            table: TABLE.to_owned(),
            endpoint: Some(served.endpoint()),
        };
        let sdk = DynamoDb::connect(location, jitter(environment)).await;
        Self::Emulated(served.emulator().clone(), sdk)
    }

    /// A new table of the DynamoDB API at an address.
    pub async fn elsewhere(endpoint: String, environment: &Environment) -> Self {
        let location = Location {
            table: format!("funil-test-{}", environment.token()),
            endpoint: Some(endpoint),
        };
        Self::Elsewhere(DynamoDb::connect(location, jitter(environment)).await)
    }

    /// The store on it.
    pub fn store(&self, environment: Environment) -> Store {
        let engine: Arc<dyn Engine> = match self {
            Self::Sqlite(database) => Arc::new(database.clone()),
            Self::Emulated(_, sdk) | Self::Elsewhere(sdk) => Arc::new(sdk.clone()),
        };
        Store::on(engine, environment)
    }

    /// The SDK's engine, for faults and recordings.
    pub fn sdk(&self) -> &DynamoDb {
        match self {
            Self::Emulated(_, sdk) | Self::Elsewhere(sdk) => sdk,
            Self::Sqlite(_) => panic!(
                "faults need DynamoDB by the SDK: begin the test with `let _sdk = tests::world::over_sdk();`"
            ),
        }
    }

    /// The raw table. Requires an engine of this process.
    pub fn raw(&self) -> Option<RawTable> {
        match self {
            Self::Sqlite(database) => Some(RawTable::of(database)),
            Self::Emulated(emulator, _) => Some(RawTable::of_emulator(emulator)),
            Self::Elsewhere(_) => None,
        }
    }
}

/// The jitter of retries, as the store's.
pub fn jitter(environment: &Environment) -> Jitter {
    let environment = environment.clone();
    Jitter::new(move |bound| environment.below(bound))
}
