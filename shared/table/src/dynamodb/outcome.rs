//! Outcomes of attempts at transactions.

use std::collections::BTreeMap;

use aws_sdk_dynamodb::error::{ProvideErrorMetadata as _, SdkError};
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::types::CancellationReason;

use super::busy::is_throttled;
use crate::error::StoreError;
use crate::item::Item;
use crate::key::Key;
use crate::transaction::Transaction;

/// The API operation of transactions.
pub(super) const OPERATION: &str = "TransactWriteItems";

/// The outcome of an attempt at a transaction.
pub enum Attempt {
    Done,
    Refused(BTreeMap<Key, Item>),
    /// Conflicts at these items.
    Conflict(Vec<Key>),
    /// These items are throttled.
    Throttled(Vec<Key>),
}

/// The outcome of an attempt that DynamoDB cancelled. A failed condition prevails over a conflict, and a conflict over
/// throttling. Other errors are permanent refusals ([`StoreError::Refused`]) or failures.
pub fn outcome_of<R: std::fmt::Debug>(
    transaction: &Transaction,
    error: &SdkError<TransactWriteItemsError, R>,
) -> Result<Attempt, StoreError> {
    let unavailable = || StoreError::unavailable(OPERATION, error);
    let refused = |cause: Option<&str>| StoreError::Refused {
        operation: OPERATION,
        cause: cause.unwrap_or("no reason given").to_owned(),
    };
    let service_error = error.as_service_error();
    let Some(TransactWriteItemsError::TransactionCanceledException(canceled)) = service_error else {
        return Err(match service_error {
            Some(error) if error.code() == Some("ValidationException") => refused(error.message()),
            _ => unavailable(),
        });
    };
    let reasons = canceled.cancellation_reasons();
    let has_code =
        |reason: &CancellationReason, is_wanted: fn(&str) -> bool| reason.code().is_some_and(is_wanted);
    // DynamoDB returns one reason for each write, in their order.
    let with_code = |is_wanted: fn(&str) -> bool| {
        let writes = transaction.writes().map(|(key, ..)| key).zip(reasons);
        writes.filter(move |(_, reason)| has_code(reason, is_wanted))
    };
    let refused_items: BTreeMap<_, _> = with_code(|code| code == "ConditionalCheckFailed")
        .map(|(key, reason)| (key.clone(), reason.item().cloned().unwrap_or_default()))
        .collect();
    if !refused_items.is_empty() {
        return Ok(Attempt::Refused(refused_items));
    }
    let keys_with = |is_wanted: fn(&str) -> bool| {
        with_code(is_wanted)
            .map(|(key, _)| key.clone())
            .collect::<Vec<_>>()
    };
    let conflicts = keys_with(|code| code == "TransactionConflict");
    if !conflicts.is_empty() {
        return Ok(Attempt::Conflict(conflicts));
    }
    let throttled = keys_with(is_throttled);
    if !throttled.is_empty() {
        return Ok(Attempt::Throttled(throttled));
    }
    // For example an item over 400 KB.
    match reasons
        .iter()
        .find(|reason| has_code(reason, |code| code == "ValidationError"))
    {
        Some(reason) => Err(refused(reason.message())),
        None => Err(unavailable()),
    }
}

#[cfg(test)]
mod tests {
    use aws_sdk_dynamodb::types::error::TransactionCanceledException;

    use super::*;
    use crate::condition::Condition;

    /// The outcome of an attempt at two writes that was cancelled with these codes.
    fn outcome_of_codes(codes: [&str; 2]) -> &'static str {
        let [first, second] = ["1", "2"].map(|sort| Key::new("acme#lead", sort));
        let mut transaction = Transaction::default();
        for key in [&first, &second] {
            transaction.put(key.clone(), Item::new(), Condition::Absent);
        }
        let reasons = codes.map(|code| CancellationReason::builder().code(code).build());
        let canceled = TransactionCanceledException::builder().set_cancellation_reasons(Some(reasons.into()));
        let error = TransactWriteItemsError::TransactionCanceledException(canceled.build());
        match outcome_of(&transaction, &SdkError::service_error(error, ())) {
            Ok(Attempt::Done) => "done",
            Ok(Attempt::Refused(items)) if items.keys().eq([&second]) => "the second is refused",
            Ok(Attempt::Refused(_)) => "refused",
            Ok(Attempt::Conflict(at)) if at.iter().eq([&second]) => "the second conflicts",
            Ok(Attempt::Conflict(_)) => "a conflict",
            Ok(Attempt::Throttled(at)) if at.iter().eq([&first]) => "the first is throttled",
            Ok(Attempt::Throttled(at)) if at.iter().eq([&second]) => "the second is throttled",
            Ok(Attempt::Throttled(_)) => "throttled",
            Err(_) => "failed",
        }
    }

    #[test]
    fn transient_cancellations_are_retried() {
        for (codes, outcome) in [
            (["None", "TransactionConflict"], "the second conflicts"),
            (["ThrottlingError", "None"], "the first is throttled"),
            (
                ["None", "ProvisionedThroughputExceeded"],
                "the second is throttled",
            ),
            (
                ["TransactionConflict", "ProvisionedThroughputExceeded"],
                "a conflict",
            ),
            (
                ["TransactionConflict", "ConditionalCheckFailed"],
                "the second is refused",
            ),
            (["None", "ItemCollectionSizeLimitExceeded"], "failed"),
            (["ValidationError", "None"], "failed"),
        ] {
            assert_eq!(outcome_of_codes(codes), outcome, "{codes:?}");
        }
    }
}
