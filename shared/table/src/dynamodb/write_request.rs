//! Writes of a transaction as requests of the SDK.

use aws_sdk_dynamodb::error::BuildError;
use aws_sdk_dynamodb::types::{
    ConditionCheck, Delete, Put, ReturnValuesOnConditionCheckFailure, TransactWriteItem, Update,
};

use super::expression::{Expression, some};
use crate::condition::Condition;
use crate::key::Key;
use crate::transaction::Change;

/// The request of a write.
pub fn request_of(
    table: &str,
    (key, change, condition): (&Key, &Change, &Condition),
) -> Result<TransactWriteItem, BuildError> {
    /// Completes the builder of an action. The SDK has a separate type for each, all with these methods.
    macro_rules! completed {
        ($builder:expr, $expression:expr) => {
            $builder
                .table_name(table)
                .set_condition_expression($expression.text)
                .set_expression_attribute_names(some($expression.names))
                .set_expression_attribute_values(some($expression.values))
                .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
                .build()?
        };
    }
    let condition = Expression::of(condition);
    let request = TransactWriteItem::builder();
    let key_attributes = Some(key.attributes());
    let update_of = |update: String, condition: Expression| {
        let update = Update::builder()
            .set_key(Some(key.attributes()))
            .update_expression(update);
        Ok::<_, BuildError>(completed!(update, condition))
    };
    let request = match change {
        Change::Put(item) => {
            let put = Put::builder().set_item(Some(key.complete(item.clone())));
            request.put(completed!(put, condition))
        }
        Change::Delete => {
            let delete = Delete::builder().set_key(key_attributes);
            request.delete(completed!(delete, condition))
        }
        Change::Check => {
            let check = ConditionCheck::builder().set_key(key_attributes);
            request.condition_check(completed!(check, condition))
        }
        Change::Set { set, remove } => {
            let (update, condition) = condition.setting(set, remove);
            request.update(update_of(update, condition)?)
        }
        Change::Update { add, set, .. } => {
            let (update, condition) = condition.updating(add, set);
            request.update(update_of(update, condition)?)
        }
    };
    Ok(request.build())
}
