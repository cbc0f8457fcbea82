//! Reads of the table through the AWS SDK: single calls, each metered, with errors mapped to [`StoreError`].
//!
//! The SDK's futures are large, so each is boxed. The future of a handler that awaits several remains small.
//!
//! All reads are strongly consistent: every acknowledged write is visible to later reads (C-12).

use std::collections::HashMap;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::types::{KeysAndAttributes, ReturnConsumedCapacity};
use futures_util::future::try_join_all;

#[cfg(feature = "embedded")]
use crate::direct_engine::DirectEngine;
#[cfg(feature = "embedded")]
use crate::engine::DirectRead;
use crate::error::StoreError;
use crate::gate::{Gate, MAX_AHEAD};
use crate::item::Item;
use crate::key::{Key, key_of};
use crate::meter::{read, units};
use crate::pages::{KeyRange, Order, PAGE, Page, Pages};
use crate::retry::{Jitter, Policy, Retry};
use crate::spread::ContestedSums;

/// Maximum keys of one `BatchGetItem`.
const BATCH: usize = 100;

/// Attempts while DynamoDB leaves keys of a batch unprocessed.
const UNPROCESSED: Policy = Policy::CONFLICT.attempts(6);

/// The table, for reads.
#[derive(Debug, Clone)]
pub struct ReadTable {
    pub(crate) client: Client,
    pub(crate) name: String,
    pub(crate) jitter: Jitter,
    /// Delays reads until the request's check has passed.
    gate: Option<Gate>,
    /// An engine in this process, which reads without the SDK.
    #[cfg(feature = "embedded")]
    pub(crate) engine: Option<DirectEngine>,
}

/// The table, to read and write.
#[derive(Debug, Clone)]
pub struct Table {
    pub(crate) reads: ReadTable,
    pub(crate) contested: ContestedSums,
}

impl ReadTable {
    /// The same table with its reads delayed by a gate.
    #[must_use]
    pub fn gated(&self, gate: Gate) -> Self {
        Self {
            gate: Some(gate),
            ..self.clone()
        }
    }

    /// Counts the attempts at `work`. The error after the last attempt contains this name.
    #[must_use]
    pub fn retry(&self, policy: Policy, work: &'static str) -> Retry<'_> {
        Retry::new(&self.jitter, policy, work)
    }

    /// Reads items by key, like [`Self::get_items`].
    pub async fn get_many(
        &self,
        keys: impl IntoIterator<Item = Key>,
    ) -> Result<HashMap<Key, Item>, StoreError> {
        let items = self.get_items(keys).await?.into_iter();
        items.map(|item| Ok((key_of(&item)?, item))).collect()
    }

    /// Reads items, in any order; absent ones are missing from the result. One round trip, unless DynamoDB returns
    /// unprocessed keys. Reads more than 100 keys in parallel batches.
    pub async fn get_items(&self, keys: impl IntoIterator<Item = Key>) -> Result<Vec<Item>, StoreError> {
        let mut keys: Vec<_> = keys.into_iter().collect();
        keys.sort_unstable();
        keys.dedup();
        self.pass(keys.len()).await?;
        let batches = try_join_all(keys.chunks(BATCH).map(|batch| self.get_batch(batch))).await?;
        Ok(batches.into_iter().flatten().collect())
    }

    /// Reads one item by key.
    pub async fn get(&self, key: &Key) -> Result<Option<Item>, StoreError> {
        const OPERATION: &str = "GetItem";
        self.pass(1).await?;
        #[cfg(feature = "embedded")]
        if let Some(found) = self
            .read_directly(OPERATION, DirectRead::Keys(vec![key.clone()]))
            .await
        {
            return Ok(found.items.into_iter().next());
        }
        let send = self
            .client
            .get_item()
            .table_name(&self.name)
            .set_key(Some(key.attributes()))
            .consistent_read(true)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .send();
        let output = read(OPERATION, send, |output| units(output.consumed_capacity())).await?;
        Ok(output.item)
    }

    /// Reads one batch and retries unprocessed keys.
    async fn get_batch(&self, keys: &[Key]) -> Result<Vec<Item>, StoreError> {
        const OPERATION: &str = "BatchGetItem";
        #[cfg(feature = "embedded")]
        if let Some(found) = self
            .read_directly(OPERATION, DirectRead::Keys(keys.to_vec()))
            .await
        {
            return Ok(found.items);
        }
        let mut wanted: Vec<_> = keys.iter().map(Key::attributes).collect();
        let mut found = Vec::with_capacity(wanted.len());
        let mut retry = self.retry(UNPROCESSED, OPERATION);
        loop {
            let (items, unprocessed) = self.try_batch(wanted).await?;
            found.extend(items);
            if unprocessed.is_empty() {
                return Ok(found);
            }
            wanted = unprocessed;
            retry.again().await?;
        }
    }

    /// One attempt at a batch: the found items, and the keys that DynamoDB left unprocessed.
    async fn try_batch(&self, keys: Vec<Item>) -> Result<(Vec<Item>, Vec<Item>), StoreError> {
        const OPERATION: &str = "BatchGetItem";
        let request = KeysAndAttributes::builder()
            .set_keys(Some(keys))
            .consistent_read(true)
            .build();
        let request = request.map_err(|cause| StoreError::incomplete(OPERATION, &cause))?;
        let send = self
            .client
            .batch_get_item()
            .request_items(&self.name, request)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .send();
        let output = read(OPERATION, send, |output| units(output.consumed_capacity())).await?;
        let items = output.responses.and_then(|mut tables| tables.remove(&self.name));
        let rest = output
            .unprocessed_keys
            .and_then(|mut tables| tables.remove(&self.name));
        Ok((
            items.unwrap_or_default(),
            rest.map(|rest| rest.keys).unwrap_or_default(),
        ))
    }

    /// Reads a key range in one call. Makes no call for an empty range.
    pub async fn query(&self, span: KeyRange) -> Result<Page, StoreError> {
        let limit = span.limit.clamp(1, PAGE);
        self.pass(limit).await?;
        self.query_up_to(limit, span, Order::Ascending).await
    }

    /// Like [`Self::query`], from the end of the range: the items are in descending order of their sort keys.
    pub async fn query_last(&self, span: KeyRange) -> Result<Page, StoreError> {
        let limit = span.limit.clamp(1, PAGE);
        self.pass(limit).await?;
        self.query_up_to(limit, span, Order::Descending).await
    }

    /// Like [`Self::query`], for counters and markers, of which the gate admits more.
    pub async fn query_counters(&self, span: KeyRange) -> Result<Page, StoreError> {
        if let Some(gate) = &self.gate {
            gate.admit_up_to(span.limit).await?;
        }
        self.query_up_to(span.limit, span, Order::Ascending).await
    }

    /// Waits until the gate admits this number of items.
    async fn pass(&self, items: usize) -> Result<(), StoreError> {
        match &self.gate {
            Some(gate) if items > 0 => gate.admit(items).await,
            _ => Ok(()),
        }
    }

    /// Reads up to `limit` items of a range in one call, regardless of the gate and of the range's own limit.
    async fn query_up_to(&self, limit: usize, span: KeyRange, order: Order) -> Result<Page, StoreError> {
        const OPERATION: &str = "Query";
        // DynamoDB rejects empty ranges.
        if span.is_empty() {
            return Ok(Page::default());
        }
        #[cfg(feature = "embedded")]
        {
            let range = DirectRead::Range {
                range: KeyRange {
                    limit,
                    ..span.clone()
                },
                is_descending: order == Order::Descending,
            };
            if let Some(found) = self.read_directly(OPERATION, range).await {
                return Ok(Page {
                    items: found.items,
                    more: found.more,
                });
            }
        }
        let (condition, values) = span.condition();
        let send = self
            .client
            .query()
            .table_name(&self.name)
            .consistent_read(true)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .limit(i32::try_from(limit).unwrap_or(i32::MAX))
            .set_scan_index_forward((order == Order::Descending).then_some(false))
            .key_condition_expression(condition)
            .set_expression_attribute_values(Some(values))
            .send();
        let output = read(OPERATION, send, |output| units(output.consumed_capacity())).await?;
        let more = output.last_evaluated_key.is_some_and(|key| !key.is_empty());
        Ok(Page {
            items: output.items.unwrap_or_default(),
            more,
        })
    }

    /// Reads up to 1 MB of a key range in one call, ignoring its limit.
    pub async fn query_megabyte(&self, span: KeyRange) -> Result<Page, StoreError> {
        self.pass(PAGE).await?;
        self.query_up_to(usize::MAX, span, Order::Ascending).await
    }

    /// Reads a whole key range in calls of 1 MB, ignoring its limit. Items beyond [`MAX_AHEAD`] are read
    /// after the request's check.
    pub async fn query_all(&self, span: KeyRange) -> Result<Vec<Item>, StoreError> {
        self.query_all_ahead(span, MAX_AHEAD).await
    }

    /// Like [`Self::query_all`], with another number of items read before the check.
    pub async fn query_all_ahead(&self, span: KeyRange, mut ahead: usize) -> Result<Vec<Item>, StoreError> {
        let mut items = Vec::new();
        let mut pages = Pages::of(span);
        while pages.rest().is_some() {
            let limit = match &self.gate {
                Some(gate) => gate.admit_up_to(ahead).await?,
                None => usize::MAX,
            };
            // After the first page, further pages wait for the check.
            ahead = 0;
            let page = pages
                .next_with(|span| self.query_up_to(limit, span, Order::Ascending))
                .await?;
            items.extend(page.into_iter().flat_map(|page| page.items));
        }
        Ok(items)
    }
}

impl Table {
    pub(crate) fn new(client: Client, name: String, jitter: Jitter) -> Self {
        let gate = None;
        Self {
            reads: ReadTable {
                client,
                name,
                jitter,
                gate,
                #[cfg(feature = "embedded")]
                engine: None,
            },
            contested: ContestedSums::default(),
        }
    }

    /// Replaces the client. It executes all calls, also those that an engine in this process would read without it.
    #[cfg(feature = "testing")]
    pub(crate) fn set_client(&mut self, client: Client) {
        self.reads.client = client;
        #[cfg(feature = "embedded")]
        {
            self.reads.engine = None;
        }
    }

    /// The table, for reads.
    #[must_use]
    pub fn reads(&self) -> &ReadTable {
        &self.reads
    }

    /// Counts the attempts at `work`. The error after the last attempt contains this name.
    #[must_use]
    pub fn retry(&self, policy: Policy, work: &'static str) -> Retry<'_> {
        self.reads.retry(policy, work)
    }
}

impl Pages {
    /// Reads the items of the next page, possibly none, with one query. Returns `None` after the last page.
    ///
    /// # Errors
    /// [`StoreError`] if the read fails.
    pub async fn next(&mut self, table: &ReadTable) -> Result<Option<Vec<Item>>, StoreError> {
        let page = self.next_with(|range| table.query(range)).await?;
        Ok(page.map(|page| page.items))
    }

    /// Reads the keys of the next page, like [`next`](Self::next).
    ///
    /// # Errors
    /// [`StoreError`] if the read fails.
    pub async fn next_keys(&mut self, table: &ReadTable) -> Result<Option<Vec<Key>>, StoreError> {
        let items = self.next(table).await?;
        let keys = items.map(|items| items.iter().map(key_of).collect());
        keys.transpose()
    }
}
