//! Writes of single items by the SDK.

use aws_sdk_dynamodb::operation::put_item::PutItemOutput;
use aws_sdk_dynamodb::operation::update_item::{UpdateItemError, UpdateItemOutput};
use aws_sdk_dynamodb::types::{ReturnConsumedCapacity, ReturnValue};

use super::{DynamoDb, SendError, Units, units};
use crate::engine::Update;
use crate::error::StoreError;
use crate::item::{self, Item};
use crate::key::Key;
use crate::retry::{Policy, Retry};

/// An update in DynamoDB's words. The expressions name the attribute `names[i]` as `#n{i}`.
struct Expressions<'a> {
    update: String,
    condition: Option<&'static str>,
    names: Vec<&'a str>,
    values: Item,
}

impl<'a> Expressions<'a> {
    /// The expressions of an update other than a put, which is returned as its item.
    fn of(update: Update<'a>) -> Result<Self, Item> {
        let value = |name: &str, number: i128| (name.to_owned(), item::n(number));
        Ok(match update {
            Update::Put(item) => return Err(item),
            Update::Add { names, by } => {
                let added: Vec<_> = (0..names.len()).map(|at| format!("#n{at} :by")).collect();
                Self {
                    update: format!("ADD {}", added.join(", ")),
                    condition: None,
                    names: names.to_vec(),
                    values: Item::from([value(":by", by.into())]),
                }
            }
            Update::AddBelow {
                name,
                by,
                limit,
                until,
            } => Self {
                update: "ADD #n0 :by SET #n1 = :until".to_owned(),
                condition: Some("attribute_not_exists(#n0) OR #n0 < :limit"),
                names: vec![name, "ttl"],
                values: Item::from([
                    value(":by", by.into()),
                    value(":limit", limit.into()),
                    value(":until", until.into()),
                ]),
            },
            Update::Raise { name, to } => Self {
                update: "SET #n0 = :to".to_owned(),
                condition: Some("attribute_not_exists(#n0) OR #n0 < :to"),
                names: vec![name],
                values: Item::from([value(":to", to.into())]),
            },
        })
    }
}

impl DynamoDb {
    /// Writes one item. Repeats conflicts with concurrent transactions.
    pub(super) async fn update_item(
        &self,
        key: &Key,
        update: Update<'_>,
    ) -> Result<Option<Vec<u64>>, StoreError> {
        const OPERATION: &str = "UpdateItem";
        let expressions = match Expressions::of(update) {
            Ok(expressions) => expressions,
            Err(item) => return self.put(key, item).await.map(|()| Some(Vec::new())),
        };
        let aliases = expressions.names.iter().enumerate();
        let aliases = aliases.map(|(at, name)| (format!("#n{at}"), (*name).to_owned()));
        let request = self
            .client
            .update_item()
            .table_name(&self.name)
            .set_key(Some(key.attributes()))
            .update_expression(expressions.update)
            .set_condition_expression(expressions.condition.map(str::to_owned))
            .set_expression_attribute_names(Some(aliases.collect()))
            .set_expression_attribute_values(Some(expressions.values))
            .return_values(ReturnValue::UpdatedNew)
            .return_consumed_capacity(ReturnConsumedCapacity::Total);
        let units_of = |output: &UpdateItemOutput| Units::Write(units(output.consumed_capacity()));
        let mut retry = Retry::new(&self.jitter, Policy::OVERLAP, OPERATION);
        let attributes = loop {
            match self.send(OPERATION, || request.clone().send(), units_of).await {
                Ok(output) => break output.attributes.unwrap_or_default(),
                Err(SendError::Store(error)) => return Err(error),
                Err(SendError::Call(cause)) => match cause.as_service_error() {
                    Some(UpdateItemError::ConditionalCheckFailedException(_)) => return Ok(None),
                    Some(UpdateItemError::TransactionConflictException(_)) => retry.again().await?,
                    _ => return Err(StoreError::unavailable(OPERATION, &cause)),
                },
            };
        };
        // The expiry is not asked for.
        let names = expressions.names.iter().filter(|name| **name != "ttl");
        let numbers = names.map(|name| item::number("counter", &attributes, name));
        numbers.collect::<Result<_, _>>().map(Some)
    }

    /// Replaces an item.
    async fn put(&self, key: &Key, item: Item) -> Result<(), StoreError> {
        const OPERATION: &str = "PutItem";
        let request = self
            .client
            .put_item()
            .table_name(&self.name)
            .set_item(Some(key.complete(item)))
            .return_consumed_capacity(ReturnConsumedCapacity::Total);
        let units_of = |output: &PutItemOutput| Units::Write(units(output.consumed_capacity()));
        let output = self.send(OPERATION, || request.clone().send(), units_of).await;
        output.map(drop).map_err(|error| error.for_operation(OPERATION))
    }
}
