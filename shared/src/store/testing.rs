//! Support for tests. No function enables the feature `testing`.

use std::sync::Arc;

pub use table::testing::{faults, replay, timed};

use faults::{CallFaultPlan, FaultPlan, Findings};
use replay::Tape;
use table::Table;
use timed::TimedEngine;

use super::{Store, StoreError, jitter, key};
use crate::environment::Environment;
use crate::instance::InstanceName;

impl Store {
    /// All items of an instance as text.
    ///
    /// # Errors
    /// [`StoreError`] if the table cannot be read.
    pub async fn dump(&self, instance: &InstanceName) -> Result<Vec<String>, StoreError> {
        let (mut items, mut after) = (Vec::new(), None);
        let wanted = key::everything(instance);
        loop {
            let page = self.table.scan(&wanted, after.as_ref()).await?;
            items.extend(page.items.iter().map(|item| format!("{item:?}")));
            match page.next {
                Some(next) => after = Some(next),
                None => return Ok(items),
            }
        }
    }

    /// The store of one process on an engine that takes time.
    #[must_use]
    pub fn timed(engine: Arc<dyn TimedEngine>, table: String, environment: Environment) -> Self {
        let table = Table::timed(engine, table, jitter(&environment));
        Self::over(table, environment)
    }

    /// The same table in another process, with empty caches.
    #[must_use]
    pub fn elsewhere(&self) -> Self {
        Self {
            known_format: self.known_format.clone(),
            ..self.unaware()
        }
    }

    /// The same table in another process that has not read its format.
    #[must_use]
    pub fn unaware(&self) -> Self {
        Self::over(self.table.clone(), self.environment.clone())
    }

    /// The same store with faults in its calls; see [`Table::with_faults`](table::Table::with_faults).
    #[must_use]
    pub fn with_faults(self, plan: FaultPlan) -> Self {
        Self {
            table: self.table.with_faults(plan),
            ..self
        }
    }

    /// The same store with a plan that distinguishes calls of one operation; see
    /// [`Table::with_faults_in_calls`](table::Table::with_faults_in_calls).
    #[must_use]
    pub fn with_faults_in_calls(self, plan: CallFaultPlan, found: Findings) -> Self {
        Self {
            table: self.table.with_faults_in_calls(plan, found),
            ..self
        }
    }

    /// The same store with its calls recorded or replayed.
    #[must_use]
    pub fn on_tape(self, tape: &Tape) -> Self {
        Self {
            table: self.table.on_tape(tape),
            ..self
        }
    }
}
