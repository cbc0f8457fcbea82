//! A walk through the whole table, for the operator alone: no function may ever `Scan`.

use aws_sdk_dynamodb::types::ReturnConsumedCapacity;

use crate::instance::InstanceName;
use crate::store::error::StoreError;
use crate::store::item::{Item, s};
use crate::store::key::{self, Key, Keys};
use crate::store::meter;
use crate::store::table::{PAGE, Table, key_of, read};

/// A part of the table that was read.
#[derive(Debug)]
pub struct Scanned {
    /// The items in it that were asked for, perhaps none.
    pub items: Vec<Item>,
    /// Behind which key to go on; `None` at the end.
    pub next: Option<Key>,
}

impl Table {
    /// Reads on through the table in one call: items of an instance, and the credentials that open it. The filter saves
    /// transport, not units: every item of the table is read.
    pub async fn scan(&self, instance: &InstanceName, after: Option<&Key>) -> Result<Scanned, StoreError> {
        const OPERATION: &str = "Scan";
        let begun = meter::begin();
        let output = Box::pin(
            self.client
                .scan()
                .table_name(&self.name)
                .consistent_read(true)
                .limit(i32::try_from(PAGE).unwrap_or(i32::MAX))
                .filter_expression(
                    "begins_with(pk, :prefix) OR (begins_with(pk, :credential) AND #instance = :instance)",
                )
                .expression_attribute_names("#instance", "instance")
                .expression_attribute_values(":prefix", s(Keys(instance).prefix()))
                .expression_attribute_values(":credential", s(key::OPENING))
                .expression_attribute_values(":instance", s(instance.as_str()))
                .set_exclusive_start_key(after.map(Key::attributes))
                .return_consumed_capacity(ReturnConsumedCapacity::Total)
                .send(),
        )
        .await;
        let output = output.map_err(|cause| StoreError::unavailable(OPERATION, &cause));
        let capacity = output.as_ref().ok().and_then(|output| output.consumed_capacity());
        begun.ended(read(OPERATION, capacity.into_iter()));
        let output = output?;
        let next = output.last_evaluated_key.filter(|key| !key.is_empty());
        Ok(Scanned {
            items: output.items.unwrap_or_default(),
            next: next.as_ref().map(key_of).transpose()?,
        })
    }
}
