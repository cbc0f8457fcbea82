//! What is derived from all users' records: their names and the members of departments, in parts.

use std::collections::BTreeMap;

use super::Operator;
use crate::directory::Standing;
use crate::id::UserId;
use crate::people::User;
use crate::store::directory::{decode_members, encode_members};
use crate::store::error::StoreError;
use crate::store::item::Item;
use crate::store::key::Key;
use crate::store::people::{decode_names, encode_names};
use crate::store::table::{PAGE, Span, key_of};
use crate::store::transaction::{Condition, Transaction};

/// All users as their records say, and what is derived from them: some hundred bytes of each user.
#[derive(Default)]
pub(super) struct UserLists {
    pub standings: BTreeMap<UserId, Standing>,
    pub names: BTreeMap<Key, BTreeMap<UserId, String>>,
    /// Members, with nothing beside each.
    pub members: BTreeMap<Key, BTreeMap<UserId, String>>,
}

/// An item that is not what the records say.
pub(super) struct Differing {
    pub key: Key,
    /// What it should be; `None` where it should not be.
    pub right: Option<Item>,
    /// What is wrong.
    pub reasons: Vec<String>,
}

impl UserLists {
    /// Reads all users' records. One query for each MB of them.
    pub async fn of_records(operator: &Operator) -> Result<Self, StoreError> {
        let mut lists = Self::default();
        let mut users = operator.users();
        while let Some(page) = users.next().await? {
            for user in &page {
                lists.take(operator, user);
            }
        }
        Ok(lists)
    }

    fn take(&mut self, operator: &Operator, user: &User) {
        let keys = operator.keys();
        self.standings.insert(user.id, user.standing());
        let names = self.names.entry(keys.user_name(user.id)).or_default();
        names.insert(user.id, user.full_name());
        if let Some(department) = user.department {
            let members = self.members.entry(keys.member(department, user.id)).or_default();
            members.insert(user.id, String::new());
        }
    }

    /// Compares the items that are stored. One query for each MB of them.
    pub async fn differing(&self, operator: &Operator) -> Result<Vec<Differing>, StoreError> {
        let keys = operator.keys();
        let mut differing = Vec::new();
        let stored = stored(operator, keys.user_names()).await?;
        compare("name", &self.names, stored, (names, name_item), &mut differing);
        let stored = self::stored(operator, keys.members()).await?;
        compare(
            "place",
            &self.members,
            stored,
            (members, member_item),
            &mut differing,
        );
        Ok(differing)
    }
}

impl Differing {
    /// The write that makes it right.
    pub fn repair(self, transaction: &mut Transaction) {
        match self.right {
            Some(item) => transaction.put(self.key, item, Condition::Always),
            None => transaction.delete(self.key, Condition::Always),
        }
    }
}

type Users = BTreeMap<UserId, String>;
/// How an item is read and written.
type Form = (fn(&Item) -> Result<Users, StoreError>, fn(&Users) -> Item);

async fn stored(operator: &Operator, partition: String) -> Result<BTreeMap<Key, Item>, StoreError> {
    let items = operator.table().query_all(Span::head(partition, PAGE)).await?;
    items.into_iter().map(|item| Ok((key_of(&item)?, item))).collect()
}

fn names(item: &Item) -> Result<Users, StoreError> {
    decode_names(item)
}

fn name_item(users: &Users) -> Item {
    encode_names(users.clone())
}

fn members(item: &Item) -> Result<Users, StoreError> {
    let users = decode_members(item)?.into_iter();
    Ok(users.map(|user| (user, String::new())).collect())
}

fn member_item(users: &Users) -> Item {
    encode_members(&users.keys().copied().collect())
}

fn compare(
    what: &str,
    expected: &BTreeMap<Key, Users>,
    mut stored: BTreeMap<Key, Item>,
    (read, written): Form,
    differing: &mut Vec<Differing>,
) {
    for (key, users) in expected {
        let found = stored.remove(key);
        let reasons = match found.as_ref().map(read) {
            None => differences(what, users, &Users::new()),
            Some(Ok(found)) => differences(what, users, &found),
            Some(Err(cause)) => vec![cause.to_string()],
        };
        if !reasons.is_empty() {
            differing.push(Differing {
                key: key.clone(),
                right: Some(written(users)),
                reasons,
            });
        }
    }
    for (key, item) in stored {
        let users = read(&item).unwrap_or_default();
        let mut reasons = differences(what, &Users::new(), &users);
        if reasons.is_empty() {
            reasons.push("is of no user".to_owned());
        }
        let right = None;
        differing.push(Differing { key, right, reasons });
    }
}

/// What is missing, different or too much in `stored`.
pub(super) fn differences<K: Ord + std::fmt::Display, V: PartialEq>(
    what: &str,
    expected: &BTreeMap<K, V>,
    stored: &BTreeMap<K, V>,
) -> Vec<String> {
    let lacking = expected.iter().filter_map(|(id, value)| match stored.get(id) {
        Some(found) if found == value => None,
        Some(_) => Some(format!(
            "the {what} of user {id} is not what the user's record says"
        )),
        None => Some(format!("the {what} of user {id} is missing")),
    });
    let idle = stored.keys().filter(|id| !expected.contains_key(*id));
    let idle = idle.map(|id| format!("has the {what} of user {id}, whose record says otherwise"));
    lacking.chain(idle).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_difference_is_told_once() {
        let expected = BTreeMap::from([(1, "a"), (2, "b"), (3, "c")]);
        assert!(differences("name", &expected, &expected).is_empty());
        let stored = BTreeMap::from([(1, "a"), (2, "x"), (4, "d")]);
        assert_eq!(
            differences("name", &expected, &stored),
            [
                "the name of user 2 is not what the user's record says",
                "the name of user 3 is missing",
                "has the name of user 4, whose record says otherwise"
            ]
        );
    }
}
