//! The parts of a DynamoDB stream event that the function needs: kind of change, key and sequence number.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use shared::instance::InstanceName;
use shared::store::{Cause, streamed};

/// Records of the stream, parsed leniently, because Lambda may send kinds of records that do not exist yet, and an
/// unreadable record must not block later ones.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct EventBatch {
    #[serde(rename = "Records", default)]
    records: Vec<Value>,
}

/// The records to redeliver: `{ "batchItemFailures": [{ "itemIdentifier": "…" }] }`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Failures {
    batch_item_failures: Vec<FailedItem>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct FailedItem {
    item_identifier: String,
}

impl EventBatch {
    /// The new outbox entries: the sequence number of the record, the instance, and the cause.
    pub fn records(&self) -> impl Iterator<Item = (String, InstanceName, Cause)> {
        self.records.iter().filter_map(|record| {
            let text = |path: &str| record.pointer(path).and_then(Value::as_str);
            if text("/eventName") != Some("INSERT") {
                return None;
            }
            let (pk, sk) = (text("/dynamodb/Keys/pk/S")?, text("/dynamodb/Keys/sk/S")?);
            let (instance, cause) = streamed(pk, sk)?;
            let number = text("/dynamodb/SequenceNumber")?;
            Some((number.to_owned(), instance, cause))
        })
    }
}

impl Failures {
    /// The failures of the records with these sequence numbers.
    pub fn of(records: impl Iterator<Item = String>) -> Self {
        let failures = records.map(|item_identifier| FailedItem { item_identifier });
        Self {
            batch_item_failures: failures.collect(),
        }
    }

    /// Number of records.
    #[must_use]
    pub fn count(&self) -> usize {
        self.batch_item_failures.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(records: &Value) -> Vec<(String, String, String)> {
        let batch: EventBatch = serde_json::from_value(json!({ "Records": records })).unwrap();
        let found = batch.records();
        found
            .map(|(record, instance, call)| (record, instance.as_str().to_owned(), call.label()))
            .collect()
    }

    fn record(name: &str, pk: &str, sk: &str) -> Value {
        json!({ "eventID": "c4ca", "eventName": name, "eventSource": "aws:dynamodb", "dynamodb": {
            "Keys": { "pk": { "S": pk }, "sk": { "S": sk } }, "SequenceNumber": "111",
            "NewImage": { "v": { "N": "1" } }, "StreamViewType": "NEW_AND_OLD_IMAGES" } })
    }

    #[test]
    fn new_triggers_are_recognised() {
        let (pk, sk) = ("acme#trigger", "call#000000000000012");
        assert_eq!(
            read(&json!([record("INSERT", pk, sk)])),
            [("111".to_owned(), "acme".to_owned(), "12".to_owned())]
        );
        let write = "fact#lead#000000000000012#000000000000003";
        assert_eq!(
            read(&json!([record("INSERT", pk, write)])),
            [("111".to_owned(), "acme".to_owned(), "lead-12-3".to_owned())]
        );
        for other in [
            record("MODIFY", pk, sk),
            record("REMOVE", pk, sk),
            record("INSERT", "acme#call", sk),
            record("INSERT", pk, "notify#000000000000012#000000000000001#00"),
            record("INSERT", pk, "call#x"),
            json!({ "eventName": "INSERT" }),
            json!({ "eventName": "INSERT", "dynamodb": { "Keys": { "pk": { "N": "1" } } } }),
            json!(null),
            json!("INSERT"),
        ] {
            assert_eq!(read(&json!([other])), [], "{other}");
        }
    }

    #[test]
    fn failures_have_lambdas_format() {
        let told = json!(Failures::of(["111".to_owned(), "112".to_owned()].into_iter()));
        assert_eq!(
            told,
            json!({ "batchItemFailures": [{ "itemIdentifier": "111" }, { "itemIdentifier": "112" }] })
        );
        assert_eq!(json!(Failures::default()), json!({ "batchItemFailures": [] }));
    }
}
