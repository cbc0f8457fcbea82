//! Creates the table on DynamoDB APIs other than the cloud's. In the cloud, template.yaml creates it.

use aws_sdk_dynamodb::operation::create_table::CreateTableError;
use aws_sdk_dynamodb::operation::describe_table::DescribeTableError;
use aws_sdk_dynamodb::operation::get_item::GetItemError;
use aws_sdk_dynamodb::types::{
    AttributeDefinition, AttributeValue, BillingMode, KeySchemaElement, KeyType, ScalarAttributeType,
    TableStatus, TimeToLiveSpecification,
};

use super::DynamoDb;
use crate::error::StoreError;
use crate::retry::{Policy, Retry};

/// Attempts until a new table is ready: about 18 s of pauses.
const CREATION: Policy = Policy::CONFLICT.attempts(60);

impl DynamoDb {
    /// Creates the table if it does not exist and waits until it is ready. An existing table is not changed.
    /// Returns whether it was created.
    ///
    /// # Errors
    /// [`StoreError`] if it can neither be found nor created.
    pub(super) async fn ensure_table(&self) -> Result<bool, StoreError> {
        if self.exists().await? {
            return Ok(false);
        }
        let created = self.create().await?;
        let mut retry = Retry::new(&self.jitter, CREATION, "CreateTable");
        while self.status().await? != Some(TableStatus::Active) {
            retry.again().await?;
        }
        self.let_items_expire().await;
        Ok(created)
    }

    /// Whether the table exists. Uses one get, because the embedded engine counts all items of a table that it
    /// describes.
    async fn exists(&self) -> Result<bool, StoreError> {
        let request = self.client.get_item().table_name(&self.name);
        let any = AttributeValue::S("#".to_owned());
        match request.key("pk", any.clone()).key("sk", any).send().await {
            Ok(_) => Ok(true),
            Err(cause)
                if cause
                    .as_service_error()
                    .is_some_and(GetItemError::is_resource_not_found_exception) =>
            {
                Ok(false)
            }
            Err(cause) => Err(StoreError::unavailable("GetItem", &cause)),
        }
    }

    /// Returns the status of the table; `None` if there is no table.
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

    /// Creates the table. Returns false if a concurrent call created it.
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

    /// Enables the deletion of expired items. A failure is only logged, because readers compare the expiry with the
    /// clock themselves.
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
