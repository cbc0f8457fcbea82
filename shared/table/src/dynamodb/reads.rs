//! Reads by the SDK.

use aws_sdk_dynamodb::operation::batch_get_item::BatchGetItemOutput;
use aws_sdk_dynamodb::operation::get_item::GetItemOutput;
use aws_sdk_dynamodb::operation::query::QueryOutput;
use aws_sdk_dynamodb::types::{KeysAndAttributes, ReturnConsumedCapacity};

use super::busy::Busy;
use super::{DynamoDb, Units, units};
use crate::error::StoreError;
use crate::item::Item;
use crate::key::Key;
use crate::pages::{KeyRange, Order, Page};

impl DynamoDb {
    /// Reads one item.
    pub(super) async fn get(&self, key: &Key) -> Result<Vec<Item>, StoreError> {
        const OPERATION: &str = "GetItem";
        let request = self
            .client
            .get_item()
            .table_name(&self.name)
            .set_key(Some(key.attributes()))
            .consistent_read(true)
            .return_consumed_capacity(ReturnConsumedCapacity::Total);
        let units_of = |output: &GetItemOutput| Units::Read(units(output.consumed_capacity()));
        let output = self.send(OPERATION, || request.clone().send(), units_of).await;
        let output = output.map_err(|error| error.for_operation(OPERATION))?;
        Ok(output.item.into_iter().collect())
    }

    /// Reads one batch, and again the keys that DynamoDB leaves unprocessed, as throttling does.
    pub(super) async fn get_batch(&self, keys: &[Key]) -> Result<Vec<Item>, StoreError> {
        const OPERATION: &str = "BatchGetItem";
        let mut wanted: Vec<_> = keys.iter().map(Key::attributes).collect();
        let mut found = Vec::with_capacity(wanted.len());
        let mut patience = self.patience(OPERATION);
        loop {
            let (items, unprocessed) = self.try_batch(wanted).await?;
            found.extend(items);
            if unprocessed.is_empty() {
                return Ok(found);
            }
            wanted = unprocessed;
            patience.again(Busy::Throttled).await?;
        }
    }

    /// One call for a batch: the found items, and the keys that DynamoDB left unprocessed.
    async fn try_batch(&self, keys: Vec<Item>) -> Result<(Vec<Item>, Vec<Item>), StoreError> {
        const OPERATION: &str = "BatchGetItem";
        let keys = KeysAndAttributes::builder()
            .set_keys(Some(keys))
            .consistent_read(true)
            .build();
        let keys = keys.map_err(|cause| StoreError::incomplete(OPERATION, &cause))?;
        let request = self
            .client
            .batch_get_item()
            .request_items(&self.name, keys)
            .return_consumed_capacity(ReturnConsumedCapacity::Total);
        let units_of = |output: &BatchGetItemOutput| Units::Read(units(output.consumed_capacity()));
        let output = self.send(OPERATION, || request.clone().send(), units_of).await;
        let output = output.map_err(|error| error.for_operation(OPERATION))?;
        let items = output.responses.and_then(|mut tables| tables.remove(&self.name));
        let rest = output
            .unprocessed_keys
            .and_then(|mut tables| tables.remove(&self.name));
        Ok((
            items.unwrap_or_default(),
            rest.map(|rest| rest.keys).unwrap_or_default(),
        ))
    }

    /// Reads up to the limit of a range.
    pub(super) async fn query_range(&self, range: KeyRange, order: Order) -> Result<Page, StoreError> {
        const OPERATION: &str = "Query";
        let limit = i32::try_from(range.limit).unwrap_or(i32::MAX);
        let (condition, values) = range.condition();
        let request = self
            .client
            .query()
            .table_name(&self.name)
            .consistent_read(true)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .limit(limit)
            .set_scan_index_forward((order == Order::Descending).then_some(false))
            .key_condition_expression(condition)
            .set_expression_attribute_values(Some(values));
        let units_of = |output: &QueryOutput| Units::Read(units(output.consumed_capacity()));
        let output = self.send(OPERATION, || request.clone().send(), units_of).await;
        let output = output.map_err(|error| error.for_operation(OPERATION))?;
        let more = output.last_evaluated_key.is_some_and(|key| !key.is_empty());
        Ok(Page {
            items: output.items.unwrap_or_default(),
            more,
        })
    }
}
