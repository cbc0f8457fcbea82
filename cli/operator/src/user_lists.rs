//! The lists derived from all users' records, in several items: the users' names, and the members of departments.

use std::collections::BTreeMap;
use std::fmt::Display;

use super::{Operator, kinds};
use shared::ids::UserId;
use shared::people::User;
use shared::store::unscoped::directory::{decode_members, encode_members};
use shared::store::unscoped::people::{decode_names, encode_names};
use table::item::Item;
use table::{Condition, Key, KeyRange, StoreError, Transaction, key_of};

type UserTexts = BTreeMap<UserId, String>;

/// The lists derived from the users' records. Some hundred bytes for each user.
#[derive(Default)]
pub(super) struct UserLists {
    pub names: BTreeMap<Key, UserTexts>,
    /// The members of each item, with empty texts.
    pub members: BTreeMap<Key, UserTexts>,
}

/// An item that differs from the records.
pub(super) struct DifferingItem {
    pub key: Key,
    /// The item as it should be; `None` if it should not exist.
    pub right: Option<Item>,
    /// The fault.
    pub reasons: Vec<String>,
}

impl UserLists {
    /// Reads all users' records. One query for each MB of them.
    pub async fn of_records(operator: &Operator) -> Result<Self, StoreError> {
        let mut lists = Self::default();
        let mut users = operator.records::<kinds::Users>();
        while let Some(page) = users.next().await? {
            for user in &page {
                lists.add(operator, user);
            }
        }
        Ok(lists)
    }

    fn add(&mut self, operator: &Operator, user: &User) {
        let keys = operator.keys();
        let names = self.names.entry(keys.user_name(user.id)).or_default();
        names.insert(user.id, user.full_name());
        if let Some(department) = user.department {
            let members = self.members.entry(keys.member(department, user.id)).or_default();
            members.insert(user.id, String::new());
        }
    }

    /// Compares the stored items. One query for each MB of them.
    pub async fn differing_items(&self, operator: &Operator) -> Result<Vec<DifferingItem>, StoreError> {
        let keys = operator.keys();
        let mut differing = NAMES.compare(operator, keys.user_names(), &self.names).await?;
        differing.extend(MEMBERS.compare(operator, keys.members(), &self.members).await?);
        Ok(differing)
    }
}

impl DifferingItem {
    /// Adds the write that corrects the item.
    pub fn fix(self, transaction: &mut Transaction) {
        match self.right {
            Some(item) => transaction.put(self.key, item, Condition::Always),
            None => transaction.delete(self.key, Condition::Always),
        }
    }
}

/// A list and the form of its items.
struct UserList {
    what: &'static str,
    decode: fn(&Item) -> Result<UserTexts, StoreError>,
    encode: fn(&UserTexts) -> Item,
}

const NAMES: UserList = UserList {
    what: "name",
    decode: decode_names,
    encode: |users| encode_names(users.clone()),
};

const MEMBERS: UserList = UserList {
    what: "place",
    decode: |item| {
        let users = decode_members(item)?.into_iter();
        Ok(users.map(|user| (user, String::new())).collect())
    },
    encode: |users| encode_members(&users.keys().copied().collect()),
};

impl UserList {
    /// Compares the items of a list with those that follow from the users' records. An unreadable item differs.
    async fn compare(
        &self,
        operator: &Operator,
        partition: String,
        expected: &BTreeMap<Key, UserTexts>,
    ) -> Result<Vec<DifferingItem>, StoreError> {
        let range = KeyRange::whole(partition);
        let items = operator.reads().query_all(range).await?.into_iter();
        let items = items.map(|item| Ok((key_of(&item)?, item)));
        let mut stored = items.collect::<Result<BTreeMap<_, _>, StoreError>>()?;
        let mut differing = Vec::new();
        for (key, users) in expected {
            let found = stored.remove(key);
            let reasons = match found.as_ref().map(self.decode).transpose() {
                Ok(found) => differences(self.what, users, &found.unwrap_or_default()),
                Err(cause) => vec![cause.to_string()],
            };
            if !reasons.is_empty() {
                let (key, right) = (key.clone(), Some((self.encode)(users)));
                differing.push(DifferingItem { key, right, reasons });
            }
        }
        // The items that are left should not exist.
        for (key, item) in stored {
            let users = (self.decode)(&item).unwrap_or_default();
            let mut reasons = differences(self.what, &UserTexts::new(), &users);
            if reasons.is_empty() {
                reasons.push("is of no user".to_owned());
            }
            let right = None;
            differing.push(DifferingItem { key, right, reasons });
        }
        Ok(differing)
    }
}

/// The differences of `stored` from `expected` as texts: missing, different and surplus values, which `what` names.
fn differences<K: Ord + Display, V: PartialEq>(
    what: &str,
    expected: &BTreeMap<K, V>,
    stored: &BTreeMap<K, V>,
) -> Vec<String> {
    let lacking = expected.iter().filter_map(|(id, value)| match stored.get(id) {
        Some(found) if found == value => None,
        Some(_) => Some(format!("the {what} of user {id} differs from the user's record")),
        None => Some(format!("the {what} of user {id} is missing")),
    });
    let surplus = stored.keys().filter(|id| !expected.contains_key(*id));
    let surplus =
        surplus.map(|id| format!("has the {what} of user {id}, which differs from the user's record"));
    lacking.chain(surplus).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_difference_is_named_once() {
        let expected = BTreeMap::from([(1, "a"), (2, "b"), (3, "c")]);
        assert!(differences("name", &expected, &expected).is_empty());
        let stored = BTreeMap::from([(1, "a"), (2, "x"), (4, "d")]);
        assert_eq!(
            differences("name", &expected, &stored),
            [
                "the name of user 2 differs from the user's record",
                "the name of user 3 is missing",
                "has the name of user 4, which differs from the user's record"
            ]
        );
    }
}
