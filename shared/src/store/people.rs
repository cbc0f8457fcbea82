//! Users, their names and the profiles of messaging accounts.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::Reader;
use super::key::{Key, Keys};
use super::lists::Listed;
use crate::directory::by_id;
use crate::ids::UserId;
use crate::people::{Profile, User};
use crate::phone::Phone;
use crate::viewer::Viewer;
use table::StoreError;
use table::item::{self, Item, s};
use table::{KeyRange, key_of};

/// The attribute with users' names.
const NAMES: &str = "names";
/// Maximum items of names that are prefetched.
const MAX_EXPECTED: usize = 4;

/// Users' names by id.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Names {
    of: BTreeMap<UserId, String>,
    /// The items that were read by their keys, which [`Reader::names_of`] does not read again.
    read: BTreeSet<Key>,
}

/// The names of the first items.
#[derive(Debug, Default)]
pub struct PrefetchedNames {
    names: Names,
    /// The last item that was read; `None` if these are all.
    last: Option<Key>,
}

/// The JSON text of an item of names.
#[derive(Serialize, Deserialize)]
struct NameText(#[serde(with = "by_id")] BTreeMap<UserId, String>);

impl Names {
    /// A user's name.
    #[must_use]
    pub fn of(&self, user: UserId) -> Option<&str> {
        self.of.get(&user).map(String::as_str)
    }

    /// The users and their names.
    pub fn iter(&self) -> impl Iterator<Item = (UserId, &str)> {
        self.of.iter().map(|(id, name)| (*id, name.as_str()))
    }

    /// Adds the names in these items.
    fn add<'a>(&mut self, items: impl IntoIterator<Item = &'a Item>) -> Result<(), StoreError> {
        for item in items {
            self.of.extend(decode_names(item)?);
        }
        Ok(())
    }
}

impl Reader {
    /// A user's record. One get.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be read.
    pub async fn user(&self, user: UserId) -> Result<Option<User>, StoreError> {
        let item = self.table.get(&self.keys().user(user)).await?;
        item.map(|item| item::decode("user", item)).transpose()
    }

    /// The existing users among these. One batch of gets; no call without users.
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be read.
    pub async fn existing_users(
        &self,
        users: impl IntoIterator<Item = UserId>,
    ) -> Result<BTreeSet<UserId>, StoreError> {
        let users: BTreeSet<_> = users.into_iter().collect();
        let keys = users.iter().map(|user| self.keys().user(*user));
        let found = self.table.get_items(keys).await?.into_iter();
        let found = found.map(|item| item::decode("user", item).map(|user: User| user.id));
        found.collect()
    }

    /// The names that a response probably needs, from the items that earlier responses of this instance used. A new
    /// process reads the item of the lowest ids. One batch of at most 4 gets; no call if earlier responses used more
    /// items.
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be read.
    pub async fn expected_names(&self) -> Result<Names, StoreError> {
        let known = self.hints.names.get(&self.instance);
        let first = || UserId::new(1).map(|first| self.keys().user_name(first));
        let items = known.unwrap_or_else(|| first().into_iter().collect());
        let mut names = Names::default();
        if items.len() <= MAX_EXPECTED {
            self.read_names(&mut names, items).await?;
        }
        Ok(names)
    }

    /// Adds the names of these users to `names`. No call if they are there. Otherwise a batch of gets of their items,
    /// each with the names of a hundred ids, and a batch of gets of the records of users without a name in these items.
    /// Remembers the items for [`expected_names`](Self::expected_names).
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be read.
    pub async fn names_of(
        &self,
        mut names: Names,
        users: impl IntoIterator<Item = UserId>,
    ) -> Result<Names, StoreError> {
        let users: BTreeSet<_> = users.into_iter().collect();
        let items: BTreeSet<_> = users.iter().map(|user| self.keys().user_name(*user)).collect();
        let unread = items.difference(&names.read).cloned().collect();
        self.read_names(&mut names, unread).await?;
        if !items.is_empty() {
            let known = self.hints.names.get(&self.instance).unwrap_or_default();
            // One more than the maximum means that there are too many to prefetch.
            let expected = known.union(&items).take(MAX_EXPECTED + 1);
            let expected: BTreeSet<_> = expected.cloned().collect();
            self.hints.names.put(self.instance.clone(), expected);
        }
        let nameless = users.iter().filter(|user| !names.of.contains_key(user));
        let records = self.table.get_many(nameless.map(|user| self.keys().user(*user)));
        for item in records.await?.into_values() {
            let user: User = item::decode("user", item)?;
            names.of.insert(user.id, user.full_name());
        }
        Ok(names)
    }

    /// Adds the names of these items to `names`. One batch of gets; no call without items.
    async fn read_names(&self, names: &mut Names, items: BTreeSet<Key>) -> Result<(), StoreError> {
        let found = self.table.get_many(items.clone()).await?;
        names.add(found.values())?;
        names.read.extend(items);
        Ok(())
    }

    /// The names in the first 4 items: all names of an instance with up to some three hundred users. One query.
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be read.
    pub async fn begin_names(&self) -> Result<PrefetchedNames, StoreError> {
        let span = KeyRange::head(self.keys().user_names(), MAX_EXPECTED);
        let page = self.table.query(span).await?;
        let mut names = Names::default();
        names.add(&page.items)?;
        let last = page.items.last().filter(|_| page.more);
        let last = last.map(key_of).transpose()?;
        Ok(PrefetchedNames { names, last })
    }

    /// All users' names. No call if [`begin_names`](Self::begin_names) has read them; else one query per MB, about
    /// 30,000 users.
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be read.
    pub async fn finish_names(&self, start: PrefetchedNames) -> Result<Names, StoreError> {
        let PrefetchedNames { mut names, last } = start;
        if let Some(last) = last {
            let rest = KeyRange {
                after: Some(last.sk),
                ..KeyRange::whole(self.keys().user_names())
            };
            names.add(&self.table.query_all(rest).await?)?;
        }
        Ok(names)
    }

    /// The profile of the messaging account that has a number, matched like a lead's number (C-73). One batch of at
    /// most two gets.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be read.
    pub async fn profile(&self, phone: &Phone) -> Result<Option<Profile>, StoreError> {
        let keys = [Some(phone.digits()), phone.twin()].into_iter().flatten();
        let keys: Vec<_> = keys.map(|digits| self.keys().profile(digits)).collect();
        let mut found = self.table.get_many(keys.clone()).await?;
        let best = keys.iter().find_map(|key| found.remove(key));
        best.map(|item| item::decode("profile", item)).transpose()
    }
}

impl Listed for User {
    /// Whether only active users are requested.
    type Of = bool;

    fn partition(keys: Keys<'_>, _: bool) -> String {
        keys.users()
    }

    fn read(item: Item) -> Result<Self, StoreError> {
        item::decode("user", item)
    }

    fn filter_name(active: bool) -> Option<&'static str> {
        active.then_some("active")
    }

    fn is_admitted(&self, active: bool, _: &Viewer) -> bool {
        self.active || !active
    }
}

/// The names in an item.
pub fn decode_names(item: &Item) -> Result<BTreeMap<UserId, String>, StoreError> {
    item::need_json(NAMES, item, NAMES).map(|NameText(names)| names)
}

/// An item of names. JSON text is parsed several times faster than attributes.
pub fn encode_names(names: BTreeMap<UserId, String>) -> Item {
    let text = serde_json::json!(NameText(names)).to_string();
    Item::from([(NAMES.to_owned(), s(text))])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::MAX_ID;
    use crate::instance::InstanceName;
    use crate::store::directory::encode_members;

    /// C-89: an item of names or members has a fixed range of ids, and fits DynamoDB's 400 KB at its largest.
    #[test]
    fn no_item_grows_with_the_number_of_users() {
        let instance = InstanceName::parse("acme").unwrap();
        let keys = Keys::of(&instance);
        let department = crate::ids::DepartmentId::new(MAX_ID).unwrap();
        let ids = (MAX_ID - 4999..=MAX_ID).map(|id| UserId::new(id).unwrap());
        let last = UserId::new(MAX_ID).unwrap();
        let named = ids
            .clone()
            .filter(|id| keys.user_name(*id) == keys.user_name(last));
        let named: BTreeMap<_, _> = named.map(|id| (id, "𝄞".repeat(511))).collect();
        let beside = ids.filter(|id| keys.member(department, *id) == keys.member(department, last));
        let beside: BTreeSet<_> = beside.collect();
        assert_eq!((named.len(), beside.len()), (100, 1000));
        assert!(item::bytes(&encode_names(named)) < 250_000);
        assert!(item::bytes(&encode_members(&beside)) < 20_000);
    }
}
