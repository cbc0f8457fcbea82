//! Users. Only imports change them.
//!
//! The items derived from a user change in the transaction of the user's record: the name, the members of the
//! department, and the membership in each of the user's credentials. The directory's version serialises such
//! transactions and the issue of credentials, so that no credential keeps a former membership.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::Serialize;

use crate::credentials::Keyring;
use crate::directory::{DIRECTORY, MAX_BYTES};
use shared::directory::Membership;
use shared::ids::UserId;
use shared::people::User;
use shared::store::unscoped::credentials::Credential;
use shared::store::unscoped::directory::{decode_members, encode_members};
use shared::store::unscoped::people::{decode_names, encode_names};
use table::unknown;
use table::{MAX_WRITES, Policy};

use super::prelude::*;

/// Maximum writes in one transaction, besides that of the directory's version.
const WRITES: usize = MAX_WRITES - 1;
/// Maximum bytes in one transaction, below DynamoDB's 4 MB.
const BYTES: usize = 2_500_000;

/// The users.
#[derive(Debug)]
pub struct Users;

impl RecordKind for Users {
    type Record = User;
    type Line = User;
    const KIND: Kind = Kind::Users;

    fn parse(fields: Fields) -> Result<User, String> {
        line::read(fields)
    }

    fn field_names() -> &'static [&'static str] {
        faults::names_of::<User>()
    }

    fn identity(user: &User) -> u64 {
        user.id.get()
    }

    fn references(user: &User, to: &mut References) {
        to.add("department", Referent::Department, user.department);
        to.add("group", Referent::Group, user.group);
    }

    fn export(user: &User) -> serde_json::Result<Fields> {
        sparse(user)
    }
}

impl ImportKind for Users {
    /// If several lines are of one user, the last one applies. Requests see the change from the next one on (C-2).
    async fn write(operator: &Operator, users: &[&User], _mode: Mode) -> Written {
        operator.write_users(users).await
    }
}

impl ExportKind for Users {
    fn partitions(keys: Keys<'_>) -> Vec<String> {
        vec![keys.users()]
    }

    fn decode(item: Item) -> Result<User, StoreError> {
        item::decode("user", item)
    }
}

impl Operator {
    async fn write_users(&self, users: &[&User]) -> Result<Vec<Outcome>, OperatorError> {
        let mut outcomes = Vec::with_capacity(users.len());
        let anew = || self.table().retry(Policy::CONFLICT, DIRECTORY);
        let (mut keyring, mut retry) = (Keyring::default(), anew());
        while let Some(rest) = users.get(outcomes.len()..).filter(|rest| !rest.is_empty()) {
            if let Some(written) = self.import_some_users(rest, &mut keyring).await? {
                outcomes.extend(written);
                retry = anew();
                continue;
            }
            keyring = Keyring::default();
            retry.again().await?;
        }
        Ok(outcomes)
    }

    /// Imports users from the front of the list, as many as one transaction can write. Returns an outcome for each of
    /// these; `None` if another write came first.
    async fn import_some_users(
        &self,
        users: &[&User],
        keyring: &mut Keyring,
    ) -> Result<Option<Vec<Outcome>>, OperatorError> {
        let mut stored = self.stored_directory().await?;
        if let Some(standings) = stored.standings.take() {
            return self.import_first_format(users, stored, standings).await;
        }
        let users = users.get(..WRITES).unwrap_or(users);
        keyring.at(self, stored.version).await?;
        let mut batch = UserBatch::read(self, users, keyring).await?;
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
        self.raise_version(&mut transaction, stored.version);
        if !self.table().try_commit(transaction).await? {
            return Ok(None);
        }
        keyring.follow_version();
        Ok(Some(outcomes))
    }
}

/// Users that are written together, and the future content of the items that contain their data.
struct UserBatch<'a> {
    operator: &'a Operator,
    records: BTreeMap<UserId, User>,
    /// The records' items.
    items: HashMap<Key, Item>,
    names: BTreeMap<Key, BTreeMap<UserId, String>>,
    members: BTreeMap<Key, BTreeSet<UserId>>,
    /// The credentials of each user, with the memberships that they carry.
    credentials: BTreeMap<UserId, Vec<(Key, Option<Membership>)>>,
    /// The changed keys of `names` and `members`.
    touched: BTreeSet<Key>,
    bytes: usize,
    transaction: Transaction,
}

impl<'a> UserBatch<'a> {
    /// Reads the stored items of these users. Two batches of gets.
    async fn read(operator: &'a Operator, users: &[&User], keyring: &Keyring) -> Result<Self, StoreError> {
        let (keys, table) = (operator.keys(), operator.table());
        let items = table
            .reads()
            .get_many(users.iter().map(|user| keys.user(user.id)))
            .await?;
        let records = items.values().map(|item| item::decode("user", item.clone()));
        let records = records.collect::<Result<Vec<User>, _>>()?;
        let of = |user: &User| user.department.map(|department| keys.member(department, user.id));
        let members: BTreeSet<_> = users.iter().copied().chain(&records).filter_map(of).collect();
        let names: BTreeSet<_> = users.iter().map(|user| keys.user_name(user.id)).collect();
        let credentials = users
            .iter()
            .flat_map(|user| keyring.of(user.id))
            .collect::<Vec<_>>();
        let wanted = members.iter().chain(&names).chain(&credentials).cloned();
        let mut found = table.reads().get_many(wanted).await?;
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

    /// Adds a user; `None` if the transaction has no room.
    fn take(&mut self, user: &User) -> Result<Option<Outcome>, StoreError> {
        let (name, standing) = (user.full_name(), Membership::from(user));
        let touched = self.touched_by(user, &name);
        let outdated = self.outdated_credentials(user.id, standing);
        if self.records.get(&user.id) == Some(user) && touched.is_empty() && outdated.is_empty() {
            return Ok(Some(Outcome::Unchanged));
        }
        let named = self.operator.keys().user_name(user.id);
        let old = self.names.get(&named).and_then(|names| names.get(&user.id));
        let grows = touched.contains(&named) && old.is_none_or(|old| json_bytes(old) < json_bytes(&name));
        if grows && self.named_bytes(&named) + json_bytes(&name) > MAX_BYTES {
            let reason = OperatorError::TooLarge("list of users' names").to_string();
            return Ok(Some(Outcome::Refused(reason)));
        }
        let fresh = touched.difference(&self.touched);
        let bytes = json_bytes(user) + fresh.clone().map(|key| self.named_bytes(key)).sum::<usize>();
        let writes = 1 + outdated.len() + fresh.count();
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
        self.carry(user.id, standing, &outdated)?;
        self.records.insert(user.id, user.clone());
        Ok(Some(Outcome::Written))
    }

    /// The items of names and members that change for a user.
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

    /// The item of members that contains a user.
    fn place_of(&self, user: &User) -> Option<Key> {
        let keys = self.operator.keys();
        user.department.map(|department| keys.member(department, user.id))
    }

    /// The credentials of a user that carry another membership.
    fn outdated_credentials(&self, user: UserId, standing: Membership) -> Vec<Key> {
        let credentials = self.credentials.get(&user).into_iter().flatten();
        let outdated = credentials.filter(|(_, carried)| *carried != Some(standing));
        outdated.map(|(key, _)| key.clone()).collect()
    }

    /// Stores a user's membership in these of its credentials.
    fn carry(&mut self, user: UserId, standing: Membership, outdated: &[Key]) -> Result<(), StoreError> {
        for (key, carried) in self.credentials.entry(user).or_default() {
            if outdated.contains(key) {
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

    /// Changes a user's entry in an item of names or members.
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

    /// The size of an item of names or members.
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

/// The credentials of a user among these keys, with the memberships that they carry. The doctor reports credentials
/// that are missing or another user's.
fn carried(
    user: UserId,
    keys: impl IntoIterator<Item = Key>,
    found: &HashMap<Key, Item>,
) -> Result<Vec<(Key, Option<Membership>)>, StoreError> {
    let mut own = Vec::new();
    for key in keys {
        let item = found.get(&key).cloned();
        let credential = item.map(|item| item::decode::<Credential>("credential", item));
        if let Some(credential) = credential
            .transpose()?
            .filter(|credential| credential.user == user)
        {
            own.push((key, credential.standing));
        }
    }
    Ok(own)
}

/// Puts an item of members, or deletes it if there are none.
pub(crate) fn put_members(transaction: &mut Transaction, key: Key, users: &BTreeSet<UserId>) {
    if users.is_empty() {
        transaction.delete(key, Condition::Always);
    } else {
        transaction.set(key, encode_members(users), &[], Condition::Always);
    }
}

/// The attributes that store a membership in a credential.
pub(crate) fn carrying(standing: Membership) -> Result<Item, StoreError> {
    #[derive(Serialize)]
    struct Carried {
        standing: Membership,
    }
    item::encode("credential", &Carried { standing })
}

pub(crate) fn json_bytes(value: &impl Serialize) -> usize {
    serde_json::to_vec(value).map_or(usize::MAX, |json| json.len())
}
