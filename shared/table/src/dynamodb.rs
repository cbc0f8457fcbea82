//! The engine on DynamoDB, by the AWS SDK. Only this module names the SDK's calls, expressions and errors.
//!
//! The SDK repeats failed attempts of a call a few times. This engine then repeats what DynamoDB was too busy for
//! (C-110), and conflicts. An attempt of unknown outcome is an error and not repeated.

mod busy;
mod connection;
mod expression;
mod outcome;
mod pace;
#[cfg(feature = "admin")]
mod provision;
mod reads;
#[cfg(feature = "admin")]
mod scan;
mod transact;
mod update;
mod write_request;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodb::types::ConsumedCapacity;

use crate::engine::{Engine, Update, Work};
use crate::error::StoreError;
use crate::item::Item;
use crate::key::Key;
use crate::meter::{self, TableCall};
use crate::pages::{KeyRange, Order, Page};
use crate::retry::Jitter;
#[cfg(feature = "admin")]
use crate::scan::{Scanned, Selection};
use crate::spread::ContestedSums;
use crate::transaction::{CommitError, MAX_WRITES, Transaction};
use pace::Pace;

pub use connection::{Location, MAX_CALL};

/// A table on DynamoDB, or on another implementation of its API.
#[derive(Debug, Clone)]
pub struct DynamoDb {
    client: Client,
    name: String,
    jitter: Jitter,
    contested: ContestedSums,
    /// The pace of bulk work; `None` for requests.
    pace: Option<Pace>,
}

impl DynamoDb {
    /// A table for requests.
    pub(crate) fn new(client: Client, name: String, jitter: Jitter) -> Self {
        Self {
            client,
            name,
            jitter,
            contested: ContestedSums::default(),
            pace: None,
        }
    }

    /// The same table for bulk work: it waits longer for a busy table, and writes at the pace that the table admits.
    #[cfg(feature = "admin")]
    #[must_use]
    pub fn in_bulk(self) -> Self {
        Self {
            pace: Some(Pace::default()),
            ..self
        }
    }

    /// Sends a call until DynamoDB is not too busy for it, and counts each attempt. `send` starts an attempt.
    async fn send<O, E, R, F>(
        &self,
        operation: &'static str,
        send: impl Fn() -> F,
        units: impl Fn(&O) -> Units,
    ) -> Result<O, SendError<E, R>>
    where
        F: Future<Output = Result<O, SdkError<E, R>>>,
        E: ProvideErrorMetadata,
    {
        let mut patience = self.patience(operation);
        loop {
            match metered(operation, send(), &units).await {
                Ok(output) => return Ok(output),
                Err(error) => match busy::reason(&error) {
                    Some(reason) => patience.again(reason).await.map_err(SendError::Store)?,
                    None => return Err(SendError::Call(error)),
                },
            }
        }
    }
}

/// Why a call failed.
enum SendError<E, R> {
    /// DynamoDB's error, other than that it is too busy.
    Call(SdkError<E, R>),
    /// It was too busy for too long.
    Store(StoreError),
}

impl<E, R> SendError<E, R>
where
    E: ProvideErrorMetadata + std::error::Error + 'static,
    R: std::fmt::Debug,
{
    fn for_operation(self, operation: &'static str) -> StoreError {
        match self {
            Self::Call(error) => StoreError::unavailable(operation, &error),
            Self::Store(error) => error,
        }
    }
}

/// The units of a call.
#[derive(Debug, Clone, Copy)]
enum Units {
    Read(f64),
    Write(f64),
}

/// The total units of a response. Batches and transactions report units for each table.
fn units<'a>(capacity: impl IntoIterator<Item = &'a ConsumedCapacity>) -> f64 {
    let units = capacity.into_iter().filter_map(ConsumedCapacity::capacity_units);
    units.sum()
}

/// Sends one attempt and counts it. Boxes the SDK's large future before anything else contains it.
fn metered<O, E>(
    operation: &'static str,
    send: impl Future<Output = Result<O, E>>,
    units: impl Fn(&O) -> Units,
) -> impl Future<Output = Result<O, E>> {
    let send = Box::pin(send);
    async move {
        let call = meter::begin();
        let output = send.await;
        let (read_units, write_units) = match output.as_ref().map(units) {
            Ok(Units::Read(units)) => (units, 0.0),
            Ok(Units::Write(units)) => (0.0, units),
            Err(_) => (0.0, 0.0),
        };
        call.ended(TableCall {
            operation,
            read_units,
            write_units,
        });
        output
    }
}

impl Engine for DynamoDb {
    fn get_many<'a>(&'a self, keys: &'a [Key]) -> Work<'a, Result<Vec<Item>, StoreError>> {
        match keys {
            [key] => Box::pin(self.get(key)),
            keys => Box::pin(self.get_batch(keys)),
        }
    }

    fn query(&self, range: KeyRange, order: Order) -> Work<'_, Result<Page, StoreError>> {
        Box::pin(self.query_range(range, order))
    }

    fn transact(&self, transaction: Transaction) -> Work<'_, Result<(), CommitError>> {
        Box::pin(self.commit(transaction))
    }

    fn update<'a>(
        &'a self,
        key: &'a Key,
        update: Update<'a>,
    ) -> Work<'a, Result<Option<Vec<u64>>, StoreError>> {
        Box::pin(self.update_item(key, update))
    }

    #[cfg(feature = "admin")]
    fn scan<'a>(
        &'a self,
        wanted: &'a Selection<'a>,
        after: Option<&'a Key>,
    ) -> Work<'a, Result<Scanned, StoreError>> {
        Box::pin(self.scan_page(wanted, after))
    }

    #[cfg(feature = "admin")]
    fn ensure(&self) -> Work<'_, Result<bool, StoreError>> {
        Box::pin(self.ensure_table())
    }

    fn max_writes(&self) -> usize {
        MAX_WRITES
    }
}
