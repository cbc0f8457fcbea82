//! The one table behind the AWS SDK: single calls, each counted, each with a meaning when it fails.
//!
//! The SDK's futures are large, so each is boxed: a handler that waits for several stays small.
//!
//! All reads are strongly consistent: what a call acknowledged every later read shows (C-12).

mod span;

use std::collections::HashMap;
use std::time::Duration;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::operation::batch_get_item::BatchGetItemOutput;
use aws_sdk_dynamodb::operation::update_item::UpdateItemError;
use aws_sdk_dynamodb::types::{
    AttributeValue, ConsumedCapacity, KeysAndAttributes, ReturnConsumedCapacity, ReturnValue,
};
use futures_util::future::try_join_all;

use super::error::StoreError;
use super::format::KnownFormat;
use super::gate::{Gate, MAX_AHEAD};
use super::item::{self, Item, keyed, s};
use super::key::Key;
use super::meter::{self, Call};
use crate::ambient::Ambient;

pub use span::{PAGE, Page, Span};

/// The most keys that one `BatchGetItem` takes.
const BATCH: usize = 100;

/// Attempts before other writers' conflicts are given up: about 2 s in all.
pub(super) const ATTEMPTS: u32 = 12;
const UPDATE: &str = "UpdateItem";

/// The table.
#[derive(Debug, Clone)]
pub struct Table {
    pub(super) client: Client,
    pub(super) name: String,
    pub(super) ambient: Ambient,
    pub(super) format: KnownFormat,
    /// What reads have to pass until the request's check has ended.
    pub(super) gate: Option<Gate>,
}

impl Table {
    /// Reads items by key; absent ones are not in the result. At most one round trip unless DynamoDB returns keys
    /// unprocessed; more than 100 keys are read in parallel.
    pub async fn get_many(
        &self,
        keys: impl IntoIterator<Item = Key>,
    ) -> Result<HashMap<Key, Item>, StoreError> {
        let mut keys: Vec<_> = keys.into_iter().collect();
        keys.sort_unstable();
        keys.dedup();
        self.pass(keys.len()).await?;
        let batches = try_join_all(keys.chunks(BATCH).map(|batch| self.get_batch(batch))).await?;
        Ok(batches.into_iter().flatten().collect())
    }

    /// Reads one item by key.
    pub async fn get(&self, key: &Key) -> Result<Option<Item>, StoreError> {
        self.pass(1).await?;
        let begun = meter::begin();
        let output = Box::pin(
            self.client
                .get_item()
                .table_name(&self.name)
                .set_key(Some(key.attributes()))
                .consistent_read(true)
                .return_consumed_capacity(ReturnConsumedCapacity::Total)
                .send(),
        )
        .await;
        let output = output.map_err(|cause| StoreError::unavailable("GetItem", &cause));
        let capacity = output.as_ref().ok().and_then(|output| output.consumed_capacity());
        begun.ended(read("GetItem", capacity.into_iter()));
        Ok(output?.item)
    }

    /// Reads one batch, and again what DynamoDB left unprocessed.
    async fn get_batch(&self, keys: &[Key]) -> Result<Vec<(Key, Item)>, StoreError> {
        let mut wanted: Vec<_> = keys.iter().map(Key::attributes).collect();
        let mut found = Vec::with_capacity(wanted.len());
        for attempt in 0..6 {
            let (items, rest) = self.try_batch(wanted).await?;
            for item in items {
                found.push((key_of(&item)?, item));
            }
            if rest.is_empty() {
                return Ok(found);
            }
            wanted = rest;
            self.pause(attempt).await;
        }
        Err(StoreError::Contention("BatchGetItem"))
    }

    /// The items that were found, and the keys that were not processed.
    async fn try_batch(&self, keys: Vec<Item>) -> Result<(Vec<Item>, Vec<Item>), StoreError> {
        const OPERATION: &str = "BatchGetItem";
        let request = KeysAndAttributes::builder()
            .set_keys(Some(keys))
            .consistent_read(true)
            .build();
        let request = request.map_err(|cause| StoreError::incomplete(OPERATION, &cause))?;
        let begun = meter::begin();
        let output = Box::pin(
            self.client
                .batch_get_item()
                .request_items(&self.name, request)
                .return_consumed_capacity(ReturnConsumedCapacity::Total)
                .send(),
        )
        .await;
        let output = output.map_err(|cause| StoreError::unavailable(OPERATION, &cause));
        let capacity = output.iter().flat_map(BatchGetItemOutput::consumed_capacity);
        begun.ended(read(OPERATION, capacity));
        let output = output?;
        let items = output.responses.and_then(|mut tables| tables.remove(&self.name));
        let rest = output
            .unprocessed_keys
            .and_then(|mut tables| tables.remove(&self.name));
        Ok((
            items.unwrap_or_default(),
            rest.map(|rest| rest.keys).unwrap_or_default(),
        ))
    }

    /// Reads a part of a partition in one call; in none where it must be empty.
    pub async fn query(&self, span: Span) -> Result<Page, StoreError> {
        let limit = span.limit.clamp(1, PAGE);
        self.pass(limit).await?;
        self.query_up_to(limit, span).await
    }

    /// The same for markers, which before the check count with the counters.
    pub async fn query_markers(&self, span: Span) -> Result<Page, StoreError> {
        if let Some(gate) = &self.gate {
            gate.stretch(span.limit).await?;
        }
        self.query_up_to(span.limit, span).await
    }

    /// Returns once so many items may be read.
    async fn pass(&self, items: usize) -> Result<(), StoreError> {
        match &self.gate {
            Some(gate) if items > 0 => gate.pass(items).await,
            _ => Ok(()),
        }
    }

    async fn query_up_to(&self, limit: usize, span: Span) -> Result<Page, StoreError> {
        const OPERATION: &str = "Query";
        // DynamoDB refuses such bounds.
        if span.is_empty() {
            return Ok(Page::default());
        }
        let mut request = self
            .client
            .query()
            .table_name(&self.name)
            .consistent_read(true)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .limit(i32::try_from(limit).unwrap_or(i32::MAX))
            .expression_attribute_values(":pk", s(span.partition));
        // `BETWEEN` includes both ends, so the item behind `after` begins at the next text there is.
        let condition = match (span.after, span.through) {
            (None, None) => "pk = :pk",
            (Some(after), None) => {
                request = request.expression_attribute_values(":after", s(after));
                "pk = :pk AND sk > :after"
            }
            (None, Some(through)) => {
                request = request.expression_attribute_values(":through", s(through));
                "pk = :pk AND sk <= :through"
            }
            (Some(after), Some(through)) => {
                request = request
                    .expression_attribute_values(":after", s(after + "\0"))
                    .expression_attribute_values(":through", s(through));
                "pk = :pk AND sk BETWEEN :after AND :through"
            }
        };
        let begun = meter::begin();
        let output = Box::pin(request.key_condition_expression(condition).send()).await;
        let output = output.map_err(|cause| StoreError::unavailable(OPERATION, &cause));
        let capacity = output.as_ref().ok().and_then(|output| output.consumed_capacity());
        begun.ended(read(OPERATION, capacity.into_iter()));
        let output = output?;
        let more = output.last_evaluated_key.is_some_and(|key| !key.is_empty());
        Ok(Page {
            items: output.items.unwrap_or_default(),
            more,
        })
    }

    /// Reads as much of a part of a partition as one call gives, 1 MB, whatever the span's limit is.
    pub async fn query_megabyte(&self, span: Span) -> Result<Page, StoreError> {
        self.pass(PAGE).await?;
        self.query_up_to(usize::MAX, span).await
    }

    /// Reads a whole partition, or the part of it that `span` bounds, in calls of 1 MB, whatever the span's limit is.
    /// What is more than [`MAX_AHEAD`] items waits for the request's check.
    pub async fn query_all(&self, span: Span) -> Result<Vec<Item>, StoreError> {
        self.query_all_ahead(span, MAX_AHEAD).await
    }

    /// The same with another number of items that are read before the check has passed.
    pub async fn query_all_ahead(&self, mut span: Span, mut ahead: usize) -> Result<Vec<Item>, StoreError> {
        let mut items = Vec::new();
        loop {
            let limit = match &self.gate {
                Some(gate) => gate.stretch(ahead).await?,
                None => usize::MAX,
            };
            ahead = 0;
            let page = self.query_up_to(limit, span.clone()).await?;
            items.extend(page.items);
            if !page.more {
                return Ok(items);
            }
            span.after = items.last().map(key_of).transpose()?.map(|key| key.sk);
        }
    }

    /// Puts an item unconditionally.
    pub async fn put(&self, key: &Key, item: Item) -> Result<(), StoreError> {
        let begun = meter::begin();
        let output = Box::pin(
            self.client
                .put_item()
                .table_name(&self.name)
                .set_item(Some(keyed(item, key)))
                .return_consumed_capacity(ReturnConsumedCapacity::Total)
                .send(),
        )
        .await;
        let output = output.map_err(|cause| StoreError::unavailable("PutItem", &cause));
        let capacity = output.as_ref().ok().and_then(|output| output.consumed_capacity());
        begun.ended(write("PutItem", capacity.into_iter()));
        output.map(drop)
    }

    /// Adds `by` to numbers of an item and returns them as they are then, in the order of their names.
    pub async fn add(&self, key: &Key, names: &[&str], by: u64) -> Result<Vec<u64>, StoreError> {
        let added: Vec<_> = (0..names.len()).map(|at| format!("#n{at} :by")).collect();
        let updated = self
            .update(
                key,
                format!("ADD {}", added.join(", ")),
                None,
                names,
                by_value(by),
            )
            .await?;
        updated.ok_or(StoreError::Contention(UPDATE))
    }

    /// Adds `by` to number `name` of an item that is below `limit`, and lets the item expire in second `until`. What the
    /// number is then, beyond the limit perhaps; `None` where it was not below.
    pub async fn add_below(
        &self,
        key: &Key,
        name: &str,
        by: u64,
        limit: u64,
        until: i64,
    ) -> Result<Option<u64>, StoreError> {
        let mut values = by_value(by);
        values.extend([
            (":limit".to_owned(), item::n(limit)),
            (":until".to_owned(), item::n(until)),
        ]);
        let expression = "ADD #n0 :by SET #n1 = :until".to_owned();
        let condition = Some("attribute_not_exists(#n0) OR #n0 < :limit");
        let updated = self
            .update(key, expression, condition, &[name, "ttl"], values)
            .await?;
        Ok(updated.and_then(|numbers| numbers.first().copied()))
    }

    /// Raises number `name` of an item to at least `to`.
    pub async fn raise(&self, key: &Key, name: &str, to: u64) -> Result<(), StoreError> {
        let condition = Some("attribute_not_exists(#n0) OR #n0 < :by");
        self.update(key, "SET #n0 = :by".to_owned(), condition, &[name], by_value(to))
            .await
            .map(drop)
    }

    /// `None` where the condition does not hold. A transaction that writes the same item meanwhile is waited for: unlike
    /// throttling, the SDK does not try that again.
    async fn update(
        &self,
        key: &Key,
        expression: String,
        condition: Option<&str>,
        names: &[&str],
        values: Item,
    ) -> Result<Option<Vec<u64>>, StoreError> {
        let aliases = names.iter().enumerate();
        let aliases = aliases.map(|(at, name)| (format!("#n{at}"), (*name).to_owned()));
        let request = self
            .client
            .update_item()
            .table_name(&self.name)
            .set_key(Some(key.attributes()))
            .update_expression(expression)
            .set_condition_expression(condition.map(str::to_owned))
            .set_expression_attribute_names(Some(aliases.collect()))
            .set_expression_attribute_values(Some(values))
            .return_values(ReturnValue::UpdatedNew)
            .return_consumed_capacity(ReturnConsumedCapacity::Total);
        for attempt in 0..ATTEMPTS {
            let begun = meter::begin();
            let output = Box::pin(request.clone().send()).await;
            let capacity = output.as_ref().ok().and_then(|output| output.consumed_capacity());
            begun.ended(write(UPDATE, capacity.into_iter()));
            let attributes = match output {
                Ok(output) => output.attributes.unwrap_or_default(),
                Err(cause) => match cause.as_service_error() {
                    Some(UpdateItemError::ConditionalCheckFailedException(_)) => return Ok(None),
                    Some(UpdateItemError::TransactionConflictException(_)) => {
                        self.pause(attempt).await;
                        continue;
                    }
                    _ => return Err(StoreError::unavailable(UPDATE, &cause)),
                },
            };
            let numbers = names
                .iter()
                .map(|name| item::number("counter", &attributes, name));
            return numbers.collect::<Result<_, _>>().map(Some);
        }
        Err(StoreError::Contention(UPDATE))
    }

    /// Waits before another attempt: longer each time, and spread, so that those who collided do not meet again.
    pub async fn pause(&self, attempt: u32) {
        let most = 10_u64 << attempt.min(5);
        tokio::time::sleep(Duration::from_millis(most / 2 + self.ambient.below(most))).await;
    }
}

fn by_value(by: u64) -> Item {
    Item::from([(":by".to_owned(), item::n(by))])
}

/// The key of an item that was read.
pub fn key_of(item: &Item) -> Result<Key, StoreError> {
    let part = |name: &str| match item.get(name) {
        Some(AttributeValue::S(text)) => Ok(text.clone()),
        _ => Err(item::corrupt("key", format_args!("an item has no {name}"))),
    };
    Ok(Key {
        pk: part("pk")?,
        sk: part("sk")?,
    })
}

fn units<'a>(capacity: impl Iterator<Item = &'a ConsumedCapacity>) -> f64 {
    capacity.filter_map(ConsumedCapacity::capacity_units).sum()
}

pub(super) fn read<'a>(
    operation: &'static str,
    capacity: impl Iterator<Item = &'a ConsumedCapacity>,
) -> Call {
    Call {
        operation,
        read_units: units(capacity),
        write_units: 0.0,
    }
}

pub(super) fn write<'a>(
    operation: &'static str,
    capacity: impl Iterator<Item = &'a ConsumedCapacity>,
) -> Call {
    Call {
        operation,
        read_units: 0.0,
        write_units: units(capacity),
    }
}
