//! Companies of leads. The record of each lead contains a copy of its company. A company has no version, so conditions
//! compare its content.

use std::collections::BTreeMap;

use super::key::{Key, Keys};
use crate::people::Company;
use table::item::{self, Item};
use table::{Condition, StoreError, Transaction};

const KIND: &str = "company";
/// The optional fields of a stored company.
const OPTIONAL_ATTRIBUTES: [&str; 22] = [
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

/// The company of a lead to write, and the condition that it is unchanged since it was read.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedCompany {
    /// The company.
    pub company: Company,
    is_unchanged: Condition,
}

impl NamedCompany {
    /// The company that an item contains.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] if it cannot be read.
    pub(crate) fn of(item: &Item) -> Result<Self, StoreError> {
        Ok(Self {
            company: item::decode(KIND, item.clone())?,
            is_unchanged: same_company(item),
        })
    }

    /// Adds the condition that the company is unchanged to a transaction.
    pub(crate) fn require(&self, transaction: &mut Transaction, keys: Keys<'_>) {
        transaction.check(keys.company(self.company.id), self.is_unchanged.clone());
    }

    /// The current company after a transaction was refused, from the items of the failed conditions; `None` if it was
    /// deleted. It is unchanged if its own condition did not fail.
    pub(crate) fn renewed(
        self,
        keys: Keys<'_>,
        refused: &BTreeMap<Key, Item>,
    ) -> Result<Option<Self>, StoreError> {
        match refused.get(&keys.company(self.company.id)) {
            None => Ok(Some(self)),
            Some(item) if item.is_empty() => Ok(None),
            Some(item) => Self::of(item).map(Some),
        }
    }
}

/// The condition that a company still has the content of `stored`.
pub fn same_company(stored: &Item) -> Condition {
    let mut has = stored.clone();
    has.retain(|name, _| name != "pk" && name != "sk");
    let lacks = OPTIONAL_ATTRIBUTES
        .into_iter()
        .filter(|name| !has.contains_key(*name));
    Condition::Exactly {
        lacks: lacks.collect(),
        has,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn the_optional_fields_of_a_company_are_known() {
        let company: Company = serde_json::from_value(json!({ "id": 1, "companyname": "A" })).unwrap();
        let Value::Object(fields) = json!(company) else {
            unreachable!("a company is an object");
        };
        let mut lacked: Vec<_> = fields.iter().filter(|(_, value)| value.is_null()).collect();
        lacked.sort_unstable_by_key(|(name, _)| *name);
        let mut optional = OPTIONAL_ATTRIBUTES;
        optional.sort_unstable();
        assert_eq!(
            lacked.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(),
            optional
        );
    }
}
