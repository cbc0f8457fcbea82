//! Scans of the whole table, for operators' commands only. Functions never `Scan`.

use aws_sdk_dynamodb::types::ReturnConsumedCapacity;

use crate::client::Table;
use crate::error::StoreError;
use crate::item::{Item, s};
use crate::key::{Key, key_of};
use crate::meter::{read, units};
use crate::pages::PAGE;

/// The items that a scan returns: those of partitions with one prefix, and those of another prefix whose
/// attribute has a value.
#[derive(Debug, Clone)]
pub struct Selection<'s> {
    /// The first prefix of partition keys.
    pub prefix: String,
    /// The second prefix of partition keys.
    pub other_prefix: &'s str,
    /// Attribute and value required of items with the second prefix.
    pub attribute: (&'s str, &'s str),
}

/// A page of a scan.
#[derive(Debug)]
pub struct Scanned {
    /// The selected items of the page, possibly none.
    pub items: Vec<Item>,
    /// The key to continue after; `None` at the end.
    pub next: Option<Key>,
}

impl Table {
    /// Reads the next page in one call. The filter saves transfer, not units: every item of the table is
    /// read.
    ///
    /// # Errors
    /// [`StoreError`] if the call fails.
    pub async fn scan(&self, wanted: &Selection<'_>, after: Option<&Key>) -> Result<Scanned, StoreError> {
        let (name, value) = wanted.attribute;
        let send = self
            .reads
            .client
            .scan()
            .table_name(&self.reads.name)
            .consistent_read(true)
            .limit(i32::try_from(PAGE).unwrap_or(i32::MAX))
            .filter_expression("begins_with(pk, :prefix) OR (begins_with(pk, :other) AND #name = :value)")
            .expression_attribute_names("#name", name)
            .expression_attribute_values(":prefix", s(&wanted.prefix))
            .expression_attribute_values(":other", s(wanted.other_prefix))
            .expression_attribute_values(":value", s(value))
            .set_exclusive_start_key(after.map(Key::attributes))
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .send();
        let output = read("Scan", send, |output| units(output.consumed_capacity())).await?;
        let next = output.last_evaluated_key.filter(|key| !key.is_empty());
        Ok(Scanned {
            items: output.items.unwrap_or_default(),
            next: next.as_ref().map(key_of).transpose()?,
        })
    }
}
