//! Outcomes of cancelled transactions.

use aws_sdk_dynamodb::types::error::TransactionCanceledException;

use super::*;

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
        Ok(Attempt::Conflict(contested)) if contested == [first] => "the first is contested",
        Ok(Attempt::Conflict(contested)) if contested == [second] => "the second is contested",
        Ok(Attempt::Conflict(_)) => "contested",
        Err(_) => "failed",
    }
}

#[test]
fn transient_cancellations_are_retried() {
    for (codes, outcome) in [
        (["None", "TransactionConflict"], "the second is contested"),
        (["ThrottlingError", "None"], "the first is contested"),
        (
            ["TransactionConflict", "ProvisionedThroughputExceeded"],
            "contested",
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
