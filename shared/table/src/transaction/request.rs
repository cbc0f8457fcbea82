//! The writes of a transaction as DynamoDB's API has them.

use std::collections::HashMap;

use aws_sdk_dynamodb::error::BuildError;
use aws_sdk_dynamodb::types::{
    ConditionCheck, Delete, Put, ReturnValuesOnConditionCheckFailure, TransactWriteItem, Update,
};

use super::{Change, Transaction};
use crate::condition::{Condition, Expression, some};
use crate::item::Item;
use crate::key::Key;

/// One write of a transaction.
#[derive(Debug)]
pub struct WriteRequest {
    /// What it writes.
    pub action: Action,
    /// The condition expression, if there is a condition.
    pub condition: Option<String>,
    /// The attributes that expressions name by aliases.
    pub names: HashMap<String, String>,
    /// The values that expressions name by aliases.
    pub values: Item,
}

/// What a write does to its item.
#[derive(Debug)]
pub enum Action {
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

impl Transaction {
    /// The writes, in the order of their keys.
    pub(super) fn requests(&self) -> Vec<WriteRequest> {
        let writes = self.writes.iter();
        writes
            .map(|(key, (change, condition))| WriteRequest::new(key, change, condition))
            .collect()
    }
}

impl WriteRequest {
    fn new(key: &Key, change: &Change, condition: &Condition) -> Self {
        let condition = Expression::of(condition);
        let update = |expression| Action::Update {
            key: key.attributes(),
            expression,
        };
        let (action, condition) = match change {
            Change::Put(item) => (Action::Put(key.complete(item.clone())), condition),
            Change::Delete => (Action::Delete(key.attributes()), condition),
            Change::Check => (Action::Check(key.attributes()), condition),
            Change::Set { set, remove } => {
                let (expression, condition) = condition.setting(set, remove);
                (update(expression), condition)
            }
            Change::Update { add, set, .. } => {
                let (expression, condition) = condition.updating(add, set);
                (update(expression), condition)
            }
        };
        Self {
            action,
            condition: condition.text,
            names: condition.names,
            values: condition.values,
        }
    }

    /// The write as a request of the SDK.
    pub(super) fn for_sdk(self, table: &str) -> Result<TransactWriteItem, BuildError> {
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
            Action::Put(item) => request.put(completed!(Put::builder().set_item(Some(item)))),
            Action::Update { key, expression } => {
                let update = Update::builder().set_key(Some(key));
                request.update(completed!(update.update_expression(expression)))
            }
            Action::Delete(key) => request.delete(completed!(Delete::builder().set_key(Some(key)))),
            Action::Check(key) => {
                request.condition_check(completed!(ConditionCheck::builder().set_key(Some(key))))
            }
        };
        Ok(request.build())
    }
}
