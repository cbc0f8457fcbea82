//! `funil migrate`: migrates a table from a former format to this build's, concurrently with requests (C-88).
//!
//! A migration may be interrupted and repeated. First the item `#format` states that it has begun, and requests that
//! began before end. Then the steps migrate the items of each instance. At last `#format` states the new format.

use std::time::Duration;

use futures_util::future::BoxFuture;
use serde::Serialize;

use super::{Operator, OperatorError};
use shared::instance::InstanceName;
use shared::store::Store;
use shared::store::unscoped::format::{Format, TableFormat, found_format};
use shared::store::unscoped::key;
use table::{Condition, StoreError, Transaction};

/// Migrates one sort of an instance's items to [`Format::CURRENT`], and returns the number of changed items. Skips
/// items with that format. Writes on condition of the items that were read, because requests continue.
type Step = for<'o> fn(&'o Operator) -> BoxFuture<'o, Result<u64, OperatorError>>;

/// The steps from the former format to this build's, in their order and with their names in messages. A build that
/// raises [`Format::CURRENT`] replaces them.
const STEPS: [(&str, Step); 7] = [
    ("directory", |operator| Box::pin(operator.split_directory())),
    ("departments and groups", |operator| {
        Box::pin(operator.compact_directory())
    }),
    ("board totals", |operator| Box::pin(operator.move_former_totals())),
    ("look-ups", |operator| Box::pin(operator.add_look_ups())),
    ("lead ranks", |operator| Box::pin(operator.count_lead_ranks())),
    ("values of days", |operator| Box::pin(operator.add_day_values())),
    ("large leads", |operator| Box::pin(operator.divide_leads())),
];

/// Seconds after which every request that began before the migration has ended.
const SETTLED: u32 = 30;

/// The result of a migration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Migration {
    /// The table's format before.
    pub from: Format,
    /// Its format now.
    pub to: Format,
    /// The number of instances.
    pub instances: usize,
    /// The number of changed items.
    pub changed: u64,
}

/// Migrates the table to [`Format::CURRENT`]. Unless no other process uses the table (`alone`), it first waits for
/// requests that began before it. Calls `progress` with each instance and step.
///
/// # Errors
/// [`StoreError::Format`] if this build cannot read the table, or the table's failures. The finished work stays, and
/// another call continues.
pub async fn migrate(
    store: &Store,
    alone: bool,
    progress: &dyn Fn(&InstanceName, &'static str),
) -> Result<Migration, OperatorError> {
    store.check_format().await?;
    let found = found_format(store.table().reads()).await?;
    let from = found.as_ref().map_or(Format::CURRENT, |found| found.format);
    let instances = crate::instances(store).await?;
    let mut changed = 0;
    if from < Format::CURRENT {
        let under_way = begin_migration(store, from, found.as_ref()).await?;
        // The steps write the new format.
        store.check_format().await?;
        if !alone {
            wait_for_requests(store, &under_way).await;
        }
        for instance in &instances {
            let operator = Operator::new(store, instance.name.clone());
            for (name, step) in STEPS {
                progress(&instance.name, name);
                changed += step(&operator).await?;
            }
        }
    }
    let settled = TableFormat::settled(Format::CURRENT);
    if found.as_ref() != Some(&settled) || from == Format::FIRST {
        put_format(store, from, &settled).await?;
        store.check_format().await?;
    }
    Ok(Migration {
        from,
        to: Format::CURRENT,
        instances: instances.len(),
        changed,
    })
}

/// Writes to `#format` that a migration has begun, unless an interrupted migration wrote it.
async fn begin_migration(
    store: &Store,
    from: Format,
    found: Option<&TableFormat>,
) -> Result<TableFormat, StoreError> {
    if let Some(under_way) = found.filter(|found| found.next.is_some()) {
        return Ok(under_way.clone());
    }
    let under_way = TableFormat {
        format: from,
        next: Some(Format::CURRENT),
        since: Some(store.environment().now()),
    };
    put_format(store, from, &under_way).await?;
    Ok(under_way)
}

/// Waits until every request that began before the migration has ended.
async fn wait_for_requests(store: &Store, under_way: &TableFormat) {
    let Some(since) = under_way.since else { return };
    let now = store.environment().now();
    let left = since.plus_seconds(SETTLED).unix_millis() - now.unix_millis();
    tokio::time::sleep(Duration::from_millis(left.try_into().unwrap_or(0))).await;
}

/// Writes `#format` if the stored format is at most `from` or the new one; otherwise checks whether this build can read
/// the table.
async fn put_format(store: &Store, from: Format, item: &TableFormat) -> Result<(), StoreError> {
    let mut transaction = Transaction::default();
    let newest = i64::from(from.max(item.format).number());
    let condition = Condition::AbsentOrUpTo {
        name: "format",
        value: newest,
    };
    transaction.put(key::format(), item.encode()?, condition);
    if store.table().try_commit(transaction).await? {
        return Ok(());
    }
    store.check_format().await
}
