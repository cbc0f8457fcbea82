//! `funil migrate`: brings a table from the former format to this build's, concurrently with requests (C-88).
//!
//! Each part may be interrupted and done again: the item `#format` says that a migration is under way, so that every process
//! writes the new format within a minute; then the steps bring each instance's items to it; then the item says that all is done.

use std::time::Duration;

use futures_util::future::BoxFuture;
use serde::Serialize;

use super::{Operator, OperatorError};
use crate::instance::InstanceName;
use crate::store::Store;
use crate::store::error::StoreError;
use crate::store::format::{Format, LOOK_EVERY, TableFormat};
use crate::store::key;
use crate::store::transaction::{CommitError, Condition, Transaction};

/// Brings one kind of an instance's items to [`Format::CURRENT`]; says how many items it changed. It leaves alone what has that
/// format already, and writes on condition of what it read, because requests go on.
type Step = for<'o> fn(&'o Operator) -> BoxFuture<'o, Result<u64, OperatorError>>;

/// The steps from the former format to this build's, in their order, each with its name for the operator. A build that
/// raises [`Format::CURRENT`] replaces them.
const STEPS: [(&str, Step); 2] = [
    ("directory", |operator| Box::pin(operator.split_directory())),
    ("board totals", |operator| Box::pin(operator.move_former_totals())),
];

/// A process that looked just before the migration began writes the former format for so long.
const SETTLED: u32 = LOOK_EVERY + 30;

/// What a migration did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Migration {
    /// The format that the table had.
    pub from: Format,
    /// The format that it has.
    pub to: Format,
    /// How many instances it has.
    pub instances: usize,
    /// How many items were changed.
    pub changed: u64,
}

impl Store {
    /// Brings the table to [`Format::CURRENT`] and says so in its item `#format`. `alone` says that no other process uses the
    /// table; otherwise it first waits until all processes write the new format. `progress` hears of each instance and step.
    ///
    /// # Errors
    /// [`StoreError::Format`] where this build cannot read the table, or the table's failures. What was done stays, and
    /// another call goes on.
    pub async fn migrate(
        &self,
        alone: bool,
        progress: &dyn Fn(&InstanceName, &'static str),
    ) -> Result<Migration, OperatorError> {
        self.check_format().await?;
        let found = self.table.found_format().await?;
        let from = found.as_ref().map_or(Format::CURRENT, |found| found.format);
        let instances = self.instances().await?;
        let mut changed = 0;
        if from < Format::CURRENT {
            let under_way = self.begin_migration(from, found.as_ref()).await?;
            if !alone {
                self.let_settle(&under_way).await;
            }
            for instance in &instances {
                let operator = self.operator(instance.name.clone());
                for (name, step) in STEPS {
                    progress(&instance.name, name);
                    changed += step(&operator).await?;
                }
            }
        }
        let settled = TableFormat::settled(Format::CURRENT);
        if found.as_ref() != Some(&settled) || from == Format::FIRST {
            self.put_format(from, &settled).await?;
        }
        Ok(Migration {
            from,
            to: Format::CURRENT,
            instances: instances.len(),
            changed,
        })
    }

    /// Says that a migration is under way, unless an interrupted one said so already.
    async fn begin_migration(
        &self,
        from: Format,
        found: Option<&TableFormat>,
    ) -> Result<TableFormat, StoreError> {
        if let Some(under_way) = found.filter(|found| found.next.is_some()) {
            return Ok(under_way.clone());
        }
        let under_way = TableFormat {
            format: from,
            next: Some(Format::CURRENT),
            since: Some(self.table.ambient.now()),
        };
        self.put_format(from, &under_way).await?;
        Ok(under_way)
    }

    async fn let_settle(&self, under_way: &TableFormat) {
        let Some(since) = under_way.since else { return };
        let now = self.table.ambient.now();
        let left = since.plus_seconds(SETTLED).unix_millis() - now.unix_millis();
        tokio::time::sleep(Duration::from_millis(left.try_into().unwrap_or(0))).await;
    }

    /// Writes `#format` unless a newer build did so.
    async fn put_format(&self, from: Format, item: &TableFormat) -> Result<(), StoreError> {
        let mut transaction = Transaction::default();
        let newest = i64::from(from.max(item.format).number());
        let condition = Condition::AbsentOrUpTo {
            name: "format",
            value: newest,
        };
        transaction.put(key::format(), item.encode()?, condition);
        match self.table.commit(transaction).await {
            Ok(()) => Ok(()),
            Err(CommitError::Refused(_)) => self.check_format().await,
            Err(CommitError::Store(error)) => Err(error),
        }
    }
}
