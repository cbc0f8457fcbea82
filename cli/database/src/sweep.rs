//! Deletion of expired items, which DynamoDB does by itself. The engine's own sweep reads every item of the table. This
//! one reads only the partitions with expiring items, because a scan is in the order of the keys and can begin at any
//! key.

use serde_json::{Value, json};
use table::embedded::EmbeddedEngine as _;

use crate::Database;

/// Items read at a time.
const PAGE: usize = 100;

/// Deletes the items of the partitions beginning with `prefix` that expired before Unix second `now`. Returns their
/// number, or the engine's error.
pub fn sweep(database: &Database, table: &str, prefix: &str, now: i64) -> Result<u64, String> {
    // A scan that begins after this key finds the partitions with the prefix first.
    let mut after = json!({ "pk": { "S": prefix }, "sk": { "S": "\u{1}" } });
    let mut deleted = 0;
    loop {
        let page = json!({
            "TableName": table, "Limit": PAGE, "ExclusiveStartKey": after, "ConsistentRead": true,
            "ProjectionExpression": "pk, sk, #ttl", "ExpressionAttributeNames": { "#ttl": "ttl" },
        });
        let mut page = call(database, "Scan", &page)?;
        let items = page["Items"].as_array().into_iter().flatten();
        let (mut expired, mut is_past_prefix) = (Vec::new(), false);
        for item in items {
            is_past_prefix |= !item["pk"]["S"].as_str().is_some_and(|pk| pk.starts_with(prefix));
            let ttl = item["ttl"]["N"].as_str().and_then(|ttl| ttl.parse::<i64>().ok());
            if !is_past_prefix && ttl.is_some_and(|ttl| ttl < now) {
                expired.push(json!({ "pk": item["pk"], "sk": item["sk"] }));
            }
        }
        for key in expired {
            deleted += u64::from(delete_expired(database, table, &key, now)?);
        }
        after = page["LastEvaluatedKey"].take();
        if is_past_prefix || after.is_null() {
            return Ok(deleted);
        }
    }
}

/// Deletes an item unless its expiry has moved. Returns whether it was deleted.
fn delete_expired(database: &Database, table: &str, key: &Value, now: i64) -> Result<bool, String> {
    let request = json!({
        "TableName": table, "Key": key, "ConditionExpression": "#ttl < :now",
        "ExpressionAttributeNames": { "#ttl": "ttl" },
        "ExpressionAttributeValues": { ":now": { "N": now.to_string() } },
    });
    match call(database, "DeleteItem", &request) {
        Ok(_) => Ok(true),
        Err(cause) if cause.contains("ConditionalCheckFailedException") => Ok(false),
        Err(cause) => Err(cause),
    }
}

fn call(database: &Database, operation: &str, request: &Value) -> Result<Value, String> {
    let (status, answer) = database.answer(operation, request.to_string().as_bytes());
    if status == 200 {
        serde_json::from_str(&answer).map_err(|cause| cause.to_string())
    } else {
        Err(answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{call, table};

    const NOW: i64 = 1_000;

    fn put(database: &Database, pk: &str, sk: &str, ttl: i64) {
        let item = json!({ "pk": { "S": pk }, "sk": { "S": sk }, "ttl": { "N": ttl.to_string() } });
        let request = json!({ "TableName": "funil", "Item": item });
        assert_eq!(call(database, "PutItem", &request).0, 200);
    }

    /// Only expired items of the named partitions are deleted, on all pages. An expired item of another partition
    /// stays.
    #[test]
    fn the_sweep_deletes_what_has_expired_where_items_expire() {
        let database = table();
        for number in 0..250 {
            put(
                &database,
                &format!("acme#rate#key#{number:03}"),
                "1",
                NOW - 1 + number % 2,
            );
        }
        for pk in ["acme#lead", "acme#rate", "acme#rates", "acmf#rate#key#1"] {
            put(&database, pk, "1", 1);
        }
        assert_eq!(sweep(&database, "funil", "acme#rate#", NOW), Ok(125));
        let left = call(
            &database,
            "Scan",
            &json!({ "TableName": "funil", "Select": "COUNT" }),
        )
        .1;
        assert_eq!(left["Count"], 125 + 4);
        assert_eq!(sweep(&database, "funil", "acme#rate#", NOW), Ok(0));
        assert_eq!(sweep(&database, "funil", "acme#bookmark#", NOW), Ok(0));
    }
}
