//! Stored records that have no version: reading calls, and conditions on the content that was read.

use shared::ids::EventId;
use shared::store::unscoped::calls::{self, CallRecord};
use table::item::Item;
use table::{Condition, StoreError};

/// The fields that a stored company may lack.
const COMPANY_MAY_LACK: [&str; 22] = [
    "cnpj",
    "companyaddress",
    "companyannualrevenue",
    "companycity",
    "companycountry",
    "companyemail",
    "companyindustry",
    "companynemployees",
    "companyphone",
    "companystate",
    "companyzipcode",
    "createDate",
    "createdBy",
    "createdByName",
    "pain_points",
    "owner",
    "photoUrl",
    "points",
    "customer_count",
    "updatedBy",
    "updatedByName",
    "updatedDate",
];

/// The call of an item, if there is one.
pub fn record(item: Option<Item>) -> Result<Option<CallRecord>, StoreError> {
    item.map(calls::decode_record).transpose()
}

/// The company still has the content that was read.
pub fn same_company(stored: &Item) -> Condition {
    let mut has = stored.clone();
    has.retain(|name, _| name != "pk" && name != "sk");
    let lacks = COMPANY_MAY_LACK
        .into_iter()
        .filter(|name| !has.contains_key(*name));
    Condition::Exactly {
        lacks: lacks.collect(),
        has,
    }
}

/// The call still has the event that was read. Calls are never deleted.
pub fn same_event(stored: &CallRecord) -> Condition {
    Condition::Number {
        name: "event",
        value: stored.event.map_or(0, EventId::get),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};
    use shared::people::Company;

    #[test]
    fn the_optional_fields_of_a_company_are_known() {
        let company: Company = serde_json::from_value(json!({ "id": 1, "companyname": "A" })).unwrap();
        let Value::Object(fields) = json!(company) else {
            unreachable!("a company is an object");
        };
        let mut lacked: Vec<_> = fields.iter().filter(|(_, value)| value.is_null()).collect();
        lacked.sort_unstable_by_key(|(name, _)| *name);
        let mut optional = COMPANY_MAY_LACK;
        optional.sort_unstable();
        assert_eq!(
            lacked.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(),
            optional
        );
    }
}
