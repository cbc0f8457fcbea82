//! Outcomes of attempts at transactions.

use std::collections::BTreeMap;

use aws_sdk_dynamodb::error::{ProvideErrorMetadata as _, SdkError};
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::types::CancellationReason;

use super::{OPERATION, Transaction};
use crate::error::StoreError;
use crate::item::Item;
use crate::key::Key;

/// The outcome of an attempt at a transaction.
pub(super) enum Attempt {
    Done,
    Refused(BTreeMap<Key, Item>),
    /// Conflicts at these items.
    Conflict(Vec<Key>),
    /// These items are throttled.
    Throttled(Vec<Key>),
}

/// Maps the error of an attempt.
pub(super) fn judge<R: std::fmt::Debug>(
    transaction: &Transaction,
    error: &SdkError<TransactWriteItemsError, R>,
) -> Result<Attempt, StoreError> {
    let unavailable = || StoreError::unavailable(OPERATION, error);
    let refused = |cause: Option<&str>| StoreError::Refused {
        operation: OPERATION,
        cause: cause.unwrap_or("no reason given").to_owned(),
    };
    let Some(TransactWriteItemsError::TransactionCanceledException(canceled)) = error.as_service_error()
    else {
        let service = error.as_service_error();
        return Err(
            match service.filter(|error| error.code() == Some("ValidationException")) {
                Some(error) => refused(error.message()),
                None => unavailable(),
            },
        );
    };
    let reasons = canceled.cancellation_reasons();
    let is = |code: &'static str| move |reason: &CancellationReason| reason.code() == Some(code);
    let unmet: BTreeMap<_, _> = transaction
        .writes
        .keys()
        .zip(reasons)
        .filter(|(_, reason)| is("ConditionalCheckFailed")(reason))
        .map(|(key, reason)| (key.clone(), reason.item().cloned().unwrap_or_default()))
        .collect();
    if !unmet.is_empty() {
        return Ok(Attempt::Refused(unmet));
    }
    let contested = |codes: &[&'static str]| -> Vec<Key> {
        let keys = transaction.writes.keys().zip(reasons);
        let at = keys.filter(|(_, reason)| codes.iter().any(|code| is(code)(reason)));
        at.map(|(key, _)| key.clone()).collect()
    };
    let at = contested(&["TransactionConflict"]);
    if !at.is_empty() {
        return Ok(Attempt::Conflict(at));
    }
    let at = contested(&["ThrottlingError", "ProvisionedThroughputExceeded"]);
    if !at.is_empty() {
        return Ok(Attempt::Throttled(at));
    }
    // For example an item over 400 KB.
    match reasons.iter().find(|reason| is("ValidationError")(reason)) {
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
    fn judged(codes: [&str; 2]) -> &'static str {
        let [first, second] = ["1", "2"].map(|sort| Key::new("acme#lead", sort));
        let mut transaction = Transaction::default();
        for key in [&first, &second] {
            transaction.put(key.clone(), Item::new(), Condition::Absent);
        }
        let reasons = codes.map(|code| CancellationReason::builder().code(code).build());
        let canceled = TransactionCanceledException::builder().set_cancellation_reasons(Some(reasons.into()));
        let error = TransactWriteItemsError::TransactionCanceledException(canceled.build());
        match judge(&transaction, &SdkError::service_error(error, ())) {
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
            assert_eq!(judged(codes), outcome, "{codes:?}");
        }
    }
}
