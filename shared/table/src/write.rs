//! Writes of single items. Transactions are in [`transaction`](crate::transaction).

use aws_sdk_dynamodb::operation::update_item::UpdateItemError;
use aws_sdk_dynamodb::types::{ReturnConsumedCapacity, ReturnValue};

use crate::client::Table;
use crate::error::StoreError;
use crate::item::{self, Item};
use crate::key::Key;
use crate::meter::{units, write};
use crate::retry::Policy;

const UPDATE: &str = "UpdateItem";

impl Table {
    /// Puts an item unconditionally.
    pub async fn put(&self, key: &Key, item: Item) -> Result<(), StoreError> {
        const OPERATION: &str = "PutItem";
        let send = self
            .reads
            .client
            .put_item()
            .table_name(&self.reads.name)
            .set_item(Some(key.complete(item)))
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .send();
        let output = write(OPERATION, send, |output| units(output.consumed_capacity())).await;
        output
            .map(drop)
            .map_err(|cause| StoreError::unavailable(OPERATION, &cause))
    }

    /// Adds `by` to numbers of an item and returns the new values, in the order of their names.
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

    /// Adds `by` to number `name` of an item if it is below `limit`, and sets the expiry to Unix second `until`.
    /// Returns the new value, which may exceed the limit. Returns `None` if the number was not below the limit.
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

    /// Updates an item and returns its new numbers, or `None` if the condition fails. `expression` and `condition` name
    /// the attribute `names[i]` as `#n{i}`. Retries conflicts with concurrent transactions, because the SDK retries
    /// throttling but not conflicts.
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
            .reads
            .client
            .update_item()
            .table_name(&self.reads.name)
            .set_key(Some(key.attributes()))
            .update_expression(expression)
            .set_condition_expression(condition.map(str::to_owned))
            .set_expression_attribute_names(Some(aliases.collect()))
            .set_expression_attribute_values(Some(values))
            .return_values(ReturnValue::UpdatedNew)
            .return_consumed_capacity(ReturnConsumedCapacity::Total);
        let mut retry = self.retry(Policy::OVERLAP, UPDATE);
        let attributes = loop {
            let send = request.clone().send();
            match write(UPDATE, send, |output| units(output.consumed_capacity())).await {
                Ok(output) => break output.attributes.unwrap_or_default(),
                Err(cause) => match cause.as_service_error() {
                    Some(UpdateItemError::ConditionalCheckFailedException(_)) => return Ok(None),
                    Some(UpdateItemError::TransactionConflictException(_)) => retry.again().await?,
                    _ => return Err(StoreError::unavailable(UPDATE, &cause)),
                },
            };
        };
        let numbers = names
            .iter()
            .map(|name| item::number("counter", &attributes, name));
        numbers.collect::<Result<_, _>>().map(Some)
    }
}

fn by_value(by: u64) -> Item {
    Item::from([(":by".to_owned(), item::n(by))])
}
