//! Scans by the SDK.

use aws_sdk_dynamodb::operation::scan::ScanOutput;
use aws_sdk_dynamodb::types::ReturnConsumedCapacity;

use super::{DynamoDb, Units, units};
use crate::error::StoreError;
use crate::item::s;
use crate::key::{Key, key_of};
use crate::pages::PAGE;
use crate::scan::{Scanned, Selection};

impl DynamoDb {
    /// Reads the next page in one call. The filter saves transfer, not units.
    pub(super) async fn scan_page(
        &self,
        wanted: &Selection<'_>,
        after: Option<&Key>,
    ) -> Result<Scanned, StoreError> {
        const OPERATION: &str = "Scan";
        let (name, value) = wanted.attribute;
        let request = self
            .client
            .scan()
            .table_name(&self.name)
            .consistent_read(true)
            .limit(i32::try_from(PAGE).unwrap_or(i32::MAX))
            .filter_expression("begins_with(pk, :prefix) OR (begins_with(pk, :other) AND #name = :value)")
            .expression_attribute_names("#name", name)
            .expression_attribute_values(":prefix", s(&wanted.prefix))
            .expression_attribute_values(":other", s(wanted.other_prefix))
            .expression_attribute_values(":value", s(value))
            .set_exclusive_start_key(after.map(Key::attributes))
            .return_consumed_capacity(ReturnConsumedCapacity::Total);
        let units_of = |output: &ScanOutput| Units::Read(units(output.consumed_capacity()));
        let output = self.send(OPERATION, || request.clone().send(), units_of).await;
        let output = output.map_err(|error| error.for_operation(OPERATION))?;
        let next = output.last_evaluated_key.filter(|key| !key.is_empty());
        Ok(Scanned {
            items: output.items.unwrap_or_default(),
            next: next.as_ref().map(key_of).transpose()?,
        })
    }
}
