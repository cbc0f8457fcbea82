//! Users as an import writes them.
//!
//! What follows from a user changes in the transaction that changes its record: its name, its place among the members of its
//! department, and where it stands, which each of its credentials carries. Such transactions follow one another by the
//! directory's version, and so does issuing a credential, so that none is left with where its user stood before.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::Serialize;

use super::credentials::Keyring;
use super::directory::{ATTEMPTS, MOST_BYTES, contention};
use super::{Operator, OperatorError, Outcome};
use crate::directory::Standing;
use crate::id::UserId;
use crate::people::User;
use crate::store::credentials::Credential;
use crate::store::directory::{decode_members, encode_members};
use crate::store::error::StoreError;
use crate::store::item::{self, Item};
use crate::store::key::Key;
use crate::store::people::{decode_names, encode_names};
use crate::store::transaction::{CommitError, Condition, MOST_WRITES, Transaction};
use crate::store::unknown;

/// Writes in one transaction, beside the directory's version.
const WRITES: usize = MOST_WRITES - 1;
/// Bytes in one transaction, which may have 4 MB.
const BYTES: usize = 2_500_000;

impl Operator {
    /// Writes users with all that follows from them, each replacing the one of its id; of several with one id the last
    /// counts. The references are the caller's to check. What was written holds from the next request (C-2).
    ///
    /// # Errors
    /// [`OperatorError::NoInstance`], or [`OperatorError::Store`] where the table fails; what was written by then
    /// stays.
    pub async fn import_users(&self, users: &[User]) -> Result<Vec<Outcome>, OperatorError> {
        let mut outcomes = Vec::with_capacity(users.len());
        let (mut keyring, mut refusals) = (Keyring::default(), 0);
        while let Some(rest) = users.get(outcomes.len()..).filter(|rest| !rest.is_empty()) {
            if let Some(written) = self.import_some_users(rest, &mut keyring).await? {
                outcomes.extend(written);
                refusals = 0;
                continue;
            }
            keyring = Keyring::default();
            refusals += 1;
            if refusals == ATTEMPTS {
                return Err(contention());
            }
            self.table().pause(refusals).await;
        }
        Ok(outcomes)
    }

    /// Writes the first of these users; `None` where something changed meanwhile.
    async fn import_some_users(
        &self,
        users: &[User],
        keyring: &mut Keyring,
    ) -> Result<Option<Vec<Outcome>>, OperatorError> {
        let mut stored = self.stored_directory().await?;
        if let Some(standings) = stored.standings.take() {
            return self.import_first_format(users, stored, standings).await;
        }
        let users = users.get(..WRITES).unwrap_or(users);
        keyring.at(self, stored.version).await?;
        let mut batch = Batch::read(self, users, keyring).await?;
        let mut outcomes = Vec::with_capacity(users.len());
        for user in users {
            match batch.take(user)? {
                Some(outcome) => outcomes.push(outcome),
                None => break,
            }
        }
        let mut transaction = batch.finish();
        if transaction.is_empty() {
            return Ok(Some(outcomes));
        }
        self.move_on(&mut transaction, stored.version);
        match self.table().commit(transaction).await {
            Ok(()) => {
                keyring.moved_on();
                Ok(Some(outcomes))
            }
            Err(CommitError::Refused(_)) => Ok(None),
            Err(CommitError::Store(error)) => Err(error.into()),
        }
    }
}

/// Users that are written together, and the items in which something of them is, as they will be.
struct Batch<'a> {
    operator: &'a Operator,
    records: BTreeMap<UserId, User>,
    /// The records' items.
    items: HashMap<Key, Item>,
    names: BTreeMap<Key, BTreeMap<UserId, String>>,
    members: BTreeMap<Key, BTreeSet<UserId>>,
    /// The credentials of each user, with where it stands by them.
    credentials: BTreeMap<UserId, Vec<(Key, Option<Standing>)>>,
    /// Which of `names` and `members` change.
    touched: BTreeSet<Key>,
    bytes: usize,
    transaction: Transaction,
}

impl<'a> Batch<'a> {
    /// Reads what there is of these users. Two batches of gets.
    async fn read(operator: &'a Operator, users: &[User], keyring: &Keyring) -> Result<Self, StoreError> {
        let (keys, table) = (operator.keys(), operator.table());
        let items = table
            .get_many(users.iter().map(|user| keys.user(user.id)))
            .await?;
        let records = items.values().map(|item| item::decode("user", item.clone()));
        let records = records.collect::<Result<Vec<User>, _>>()?;
        let of = |user: &User| user.department.map(|department| keys.member(department, user.id));
        let members: BTreeSet<_> = users.iter().chain(&records).filter_map(of).collect();
        let names: BTreeSet<_> = users.iter().map(|user| keys.user_name(user.id)).collect();
        let held = users
            .iter()
            .flat_map(|user| keyring.of(user.id))
            .collect::<Vec<_>>();
        let wanted = members.iter().chain(&names).chain(&held).cloned();
        let mut found = table.get_many(wanted).await?;
        let mut batch = Self {
            operator,
            records: records.into_iter().map(|user| (user.id, user)).collect(),
            items,
            names: BTreeMap::new(),
            members: BTreeMap::new(),
            credentials: BTreeMap::new(),
            touched: BTreeSet::new(),
            bytes: 0,
            transaction: Transaction::default(),
        };
        for key in names {
            let item = found.remove(&key).as_ref().map(decode_names).transpose()?;
            batch.names.insert(key, item.unwrap_or_default());
        }
        for key in members {
            let item = found.remove(&key).as_ref().map(decode_members).transpose()?;
            batch.members.insert(key, item.unwrap_or_default());
        }
        for user in users {
            let own = carried(user.id, keyring.of(user.id), &found)?;
            batch.credentials.insert(user.id, own);
        }
        Ok(batch)
    }

    /// Takes a user in; `None` where it does not fit any more.
    fn take(&mut self, user: &User) -> Result<Option<Outcome>, StoreError> {
        let (name, standing) = (user.full_name(), user.standing());
        let touched = self.touched_by(user, &name);
        let behind = self.behind(user.id, standing);
        if self.records.get(&user.id) == Some(user) && touched.is_empty() && behind.is_empty() {
            return Ok(Some(Outcome::Unchanged));
        }
        let named = self.operator.keys().user_name(user.id);
        let old = self.names.get(&named).and_then(|names| names.get(&user.id));
        let grows = touched.contains(&named) && old.is_none_or(|old| json_bytes(old) < json_bytes(&name));
        if grows && self.named_bytes(&named) + json_bytes(&name) > MOST_BYTES {
            let reason = OperatorError::TooLarge("list of users' names").to_string();
            return Ok(Some(Outcome::Refused(reason)));
        }
        let fresh = touched.difference(&self.touched);
        let bytes = json_bytes(user) + fresh.clone().map(|key| self.named_bytes(key)).sum::<usize>();
        let writes = 1 + behind.len() + fresh.count();
        let full =
            self.transaction.len() + self.touched.len() + writes > WRITES || self.bytes + bytes > BYTES;
        if full && !self.transaction.is_empty() {
            return Ok(None);
        }
        self.bytes += bytes;
        let place = self.place_of(user);
        for key in &touched {
            self.place(key, user, &name, place.as_ref() == Some(key));
        }
        self.touched.extend(touched);
        let key = self.operator.keys().user(user.id);
        let item = unknown::rewritten("user", self.items.get(&key), user)?;
        self.transaction.put(key, item, Condition::Always);
        self.carry(user.id, standing, &behind)?;
        self.records.insert(user.id, user.clone());
        Ok(Some(Outcome::Written))
    }

    /// The items of names and members that have to change for a user.
    fn touched_by(&self, user: &User, name: &str) -> BTreeSet<Key> {
        let mut touched = BTreeSet::new();
        let named = self.operator.keys().user_name(user.id);
        let stored = self.names.get(&named).and_then(|names| names.get(&user.id));
        if stored.is_none_or(|stored| stored != name) {
            touched.insert(named);
        }
        let is_in = |key: &Key| {
            self.members
                .get(key)
                .is_some_and(|users| users.contains(&user.id))
        };
        let place = self.place_of(user);
        let left = self
            .records
            .get(&user.id)
            .and_then(|stored| self.place_of(stored));
        touched.extend(left.filter(|key| place.as_ref() != Some(key) && is_in(key)));
        touched.extend(place.filter(|key| !is_in(key)));
        touched
    }

    /// The item of members that a user belongs in.
    fn place_of(&self, user: &User) -> Option<Key> {
        let keys = self.operator.keys();
        user.department.map(|department| keys.member(department, user.id))
    }

    /// The credentials of a user that carry another standing than this.
    fn behind(&self, user: UserId, standing: Standing) -> Vec<Key> {
        let held = self.credentials.get(&user).into_iter().flatten();
        let behind = held.filter(|(_, carried)| *carried != Some(standing));
        behind.map(|(key, _)| key.clone()).collect()
    }

    /// Has these credentials of a user carry where it stands.
    fn carry(&mut self, user: UserId, standing: Standing, behind: &[Key]) -> Result<(), StoreError> {
        for (key, carried) in self.credentials.entry(user).or_default() {
            if behind.contains(key) {
                *carried = Some(standing);
                let own = Condition::Number {
                    name: "user",
                    value: user.get(),
                };
                self.transaction.set(key.clone(), carrying(standing)?, &[], own);
            }
        }
        Ok(())
    }

    /// Changes what an item of names or members says of a user.
    fn place(&mut self, key: &Key, user: &User, name: &str, works_there: bool) {
        if let Some(names) = self.names.get_mut(key) {
            names.insert(user.id, name.to_owned());
        }
        if let Some(users) = self.members.get_mut(key) {
            if works_there {
                users.insert(user.id);
            } else {
                users.remove(&user.id);
            }
        }
    }

    /// How large an item of names or members is.
    fn named_bytes(&self, key: &Key) -> usize {
        let names = self.names.get(key).map_or(0, |names| {
            let entry = |name: &String| 20 + json_bytes(name);
            names.values().map(entry).sum()
        });
        names + self.members.get(key).map_or(0, json_bytes)
    }

    fn finish(mut self) -> Transaction {
        for key in self.touched {
            if let Some(names) = self.names.remove(&key) {
                self.transaction
                    .set(key, encode_names(names), &[], Condition::Always);
            } else if let Some(users) = self.members.remove(&key) {
                put_members(&mut self.transaction, key, &users);
            }
        }
        self.transaction
    }
}

/// Those of these credentials that are a user's, with where it stands by them. One that is another's, or not there, is the
/// doctor's to tell.
fn carried(
    user: UserId,
    keys: impl IntoIterator<Item = Key>,
    found: &HashMap<Key, Item>,
) -> Result<Vec<(Key, Option<Standing>)>, StoreError> {
    let mut own = Vec::new();
    for key in keys {
        let item = found.get(&key).cloned();
        let held = item.map(|item| item::decode::<Credential>("credential", item));
        if let Some(held) = held.transpose()?.filter(|held| held.user == user) {
            own.push((key, held.standing));
        }
    }
    Ok(own)
}

/// Puts an item of members, or deletes it where there are none.
pub(super) fn put_members(transaction: &mut Transaction, key: Key, users: &BTreeSet<UserId>) {
    if users.is_empty() {
        transaction.delete(key, Condition::Always);
    } else {
        transaction.set(key, encode_members(users), &[], Condition::Always);
    }
}

/// What a credential carries of where its user stands.
pub(super) fn carrying(standing: Standing) -> Result<Item, StoreError> {
    #[derive(Serialize)]
    struct Carried {
        standing: Standing,
    }
    item::encode("credential", &Carried { standing })
}

pub(super) fn json_bytes(value: &impl Serialize) -> usize {
    serde_json::to_vec(value).map_or(usize::MAX, |json| json.len())
}
