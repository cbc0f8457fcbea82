//! The table itself, where nobody deployed one: on the embedded engine and other DynamoDB APIs of one's own. In the
//! cloud template.yaml creates it, with all that a table there needs.

use aws_sdk_dynamodb::operation::create_table::CreateTableError;
use aws_sdk_dynamodb::operation::describe_table::DescribeTableError;
use aws_sdk_dynamodb::types::{
    AttributeDefinition, BillingMode, KeySchemaElement, KeyType, ScalarAttributeType, TableStatus,
    TimeToLiveSpecification,
};

use crate::store::Store;
use crate::store::error::StoreError;
use crate::store::table::Table;

/// Attempts to see a new table ready: about 15 s.
const ATTEMPTS: u32 = 60;

impl Store {
    /// Creates the table where there is none and waits until it can be used. An existing table is not touched.
    /// Answers whether it was created.
    ///
    /// # Errors
    /// [`StoreError`] where it can neither be found nor created.
    pub async fn ensure_table(&self) -> Result<bool, StoreError> {
        if self.table.status().await?.is_some() {
            return Ok(false);
        }
        let created = self.table.create().await?;
        for attempt in 0..ATTEMPTS {
            if self.table.status().await? == Some(TableStatus::Active) {
                self.table.let_items_expire().await;
                return Ok(created);
            }
            self.table.pause(attempt).await;
        }
        Err(StoreError::Contention("CreateTable"))
    }
}

impl Table {
    /// `None` where there is no table.
    async fn status(&self) -> Result<Option<TableStatus>, StoreError> {
        match self.client.describe_table().table_name(&self.name).send().await {
            Ok(output) => Ok(output.table.and_then(|table| table.table_status)),
            Err(cause)
                if cause
                    .as_service_error()
                    .is_some_and(DescribeTableError::is_resource_not_found_exception) =>
            {
                Ok(None)
            }
            Err(cause) => Err(StoreError::unavailable("DescribeTable", &cause)),
        }
    }

    /// Whether this call created the table, and not another at the same time.
    async fn create(&self) -> Result<bool, StoreError> {
        let incomplete = |cause| StoreError::incomplete("CreateTable", &cause);
        let mut request = self
            .client
            .create_table()
            .table_name(&self.name)
            .billing_mode(BillingMode::PayPerRequest);
        for (name, kind) in [("pk", KeyType::Hash), ("sk", KeyType::Range)] {
            let attribute = AttributeDefinition::builder()
                .attribute_name(name)
                .attribute_type(ScalarAttributeType::S);
            let element = KeySchemaElement::builder().attribute_name(name).key_type(kind);
            request = request
                .attribute_definitions(attribute.build().map_err(incomplete)?)
                .key_schema(element.build().map_err(incomplete)?);
        }
        match request.send().await {
            Ok(_) => Ok(true),
            Err(cause)
                if cause
                    .as_service_error()
                    .is_some_and(CreateTableError::is_resource_in_use_exception) =>
            {
                Ok(false)
            }
            Err(cause) => Err(StoreError::unavailable("CreateTable", &cause)),
        }
    }

    /// Readers compare the clock themselves, so an API that deletes nothing by itself serves too.
    async fn let_items_expire(&self) {
        let Ok(expiry) = TimeToLiveSpecification::builder()
            .attribute_name("ttl")
            .enabled(true)
            .build()
        else {
            return;
        };
        let request = self
            .client
            .update_time_to_live()
            .table_name(&self.name)
            .time_to_live_specification(expiry);
        if let Err(cause) = request.send().await {
            tracing::debug!(?cause, "expired items will not be deleted by the table");
        }
    }
}
