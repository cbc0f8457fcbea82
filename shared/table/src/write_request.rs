//! A write of a transaction as DynamoDB's API has it.

use std::collections::HashMap;

use aws_sdk_dynamodb::error::BuildError;
use aws_sdk_dynamodb::types::{
    ConditionCheck, Delete, Put, ReturnValuesOnConditionCheckFailure, TransactWriteItem, Update,
};

use crate::condition::some;
use crate::item::Item;

/// One write of a transaction.
#[derive(Debug)]
pub struct WriteRequest {
    /// The action on the item.
    pub action: WriteAction,
    /// The condition expression, if there is a condition.
    pub condition: Option<String>,
    /// The attributes that expressions name by aliases.
    pub names: HashMap<String, String>,
    /// The values that expressions name by aliases.
    pub values: Item,
}

/// The action of a write on its item.
#[derive(Debug)]
pub enum WriteAction {
    /// Puts this item, which contains its key.
    Put(Item),
    /// Updates the item with this key.
    Update {
        /// The key.
        key: Item,
        /// The update expression.
        expression: String,
    },
    /// Deletes the item with this key.
    Delete(Item),
    /// Checks the condition of the item with this key.
    Check(Item),
}

impl WriteRequest {
    /// The write as a request of the SDK.
    pub(crate) fn for_sdk(self, table: &str) -> Result<TransactWriteItem, BuildError> {
        /// Completes the builder of an action. The SDK has a separate type for each, all with these methods.
        macro_rules! completed {
            ($builder:expr) => {
                $builder
                    .table_name(table)
                    .set_condition_expression(self.condition)
                    .set_expression_attribute_names(some(self.names))
                    .set_expression_attribute_values(some(self.values))
                    .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
                    .build()?
            };
        }
        let request = TransactWriteItem::builder();
        let request = match self.action {
            WriteAction::Put(item) => request.put(completed!(Put::builder().set_item(Some(item)))),
            WriteAction::Update { key, expression } => {
                let update = Update::builder().set_key(Some(key));
                request.update(completed!(update.update_expression(expression)))
            }
            WriteAction::Delete(key) => request.delete(completed!(Delete::builder().set_key(Some(key)))),
            WriteAction::Check(key) => {
                request.condition_check(completed!(ConditionCheck::builder().set_key(Some(key))))
            }
        };
        Ok(request.build())
    }
}
