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
const MAX_BATCH_WRITES: usize = MAX_WRITES - 1;
/// Maximum bytes in one transaction, below DynamoDB's 4 MB.
const MAX_BATCH_BYTES: usize = 2_500_000;

/// The users.
#[derive(Debug)]
pub struct Users;

impl RecordKind for Users {
    type Record = User;
    type Line = User;
    const KIND: Kind = Kind::Users;
    const MERGES: bool = true;
    const FIELDS: &'static [Field] = &[
        ID,
        field(Shape::Person, "name").needed(),
        field(Shape::Person, "lastName email telephone"),
        field(Shape::Text, "photo position_company username"),
        field(Shape::TextOrNumber, "whatsapp branch"),
        field(Shape::Id, "department")
            .refers(Kind::Departments)
            .such_as("the id of a department: 1"),
        field(Shape::Id, "group")
            .refers(Kind::Groups)
            .such_as("the id of a group: 1"),
        field(Shape::Flag, "admin").or("false"),
        field(Shape::Flag, "active").or("true"),
        field(Shape::Time, "last_login last_action"),
    ];

    fn parse(fields: Fields) -> Result<User, String> {
        read(Self::FIELDS, fields)
    }

    fn identity(user: &User) -> u64 {
        user.id.get()
    }
}

impl StoredKind for Users {
    const STORAGE: Storage = Storage {
        removal: Some(Removal::OfUser),
        ..Storage::of(
            ["user", "users"],
            |keys| vec![keys.users()],
            |keys, id| Some(keys.user(UserId::parse(id)?)),
            |_, user| nothing(Self::DECODE(user.clone())),
        )
    };
    const DECODE: fn(Item) -> Result<User, StoreError> = |item| item::decode("user", item);

    /// If several lines are of one user, the last one applies. Requests see the change from the next one on (C-2).
    async fn write(operator: &Operator, users: &[&User], _mode: Mode) -> Written {
        operator.write_users(users).await
    }
}

impl Operator {
    /// Writes users in as few transactions as possible, and returns the outcome of each.
    async fn write_users(&self, users: &[&User]) -> Result<Vec<Outcome>, OperatorError> {
        let mut outcomes = Vec::with_capacity(users.len());
        let new_retry = || self.table().retry(Policy::CONFLICT, DIRECTORY);
        let (mut keyring, mut retry) = (Keyring::default(), new_retry());
        while let Some(rest) = users.get(outcomes.len()..).filter(|rest| !rest.is_empty()) {
            if let Some(written) = self.write_user_batch(rest, &mut keyring).await? {
                outcomes.extend(written);
                retry = new_retry();
                continue;
            }
            keyring = Keyring::default();
            retry.again().await?;
        }
        Ok(outcomes)
    }

    /// Writes users from the front of the list, as many as one transaction can write. Returns an outcome for each of
    /// these; `None` if another write changed the directory first.
    async fn write_user_batch(
        &self,
        users: &[&User],
        keyring: &mut Keyring,
    ) -> Result<Option<Vec<Outcome>>, OperatorError> {
        let stored = self.stored_directory().await?;
        let users = users.get(..MAX_BATCH_WRITES).unwrap_or(users);
        keyring.load(self, stored.version).await?;
        let mut batch = UserBatch::read(self, users, keyring).await?;
        let mut outcomes = Vec::with_capacity(users.len());
        for user in users {
            match batch.add(user)? {
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
        let members_key = |user: &User| Some(keys.member(user.department?, user.id));
        // The items of both the new and the stored departments.
        let versions = users.iter().copied().chain(&records);
        let members: BTreeSet<_> = versions.filter_map(members_key).collect();
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
            let own = stored_memberships(user.id, keyring.of(user.id), &found)?;
            batch.credentials.insert(user.id, own);
        }
        Ok(batch)
    }

    /// Adds a user and returns its outcome; `None` if the transaction has no room. The first user is always added.
    fn add(&mut self, user: &User) -> Result<Option<Outcome>, StoreError> {
        let (name, membership) = (user.full_name(), Membership::from(user));
        let touched = self.touched_by(user, &name);
        let outdated = self.outdated_credentials(user.id, membership);
        if self.records.get(&user.id) == Some(user) && touched.is_empty() && outdated.is_empty() {
            return Ok(Some(Outcome::Unchanged));
        }
        let names_key = self.operator.keys().user_name(user.id);
        let old = self.names.get(&names_key).and_then(|names| names.get(&user.id));
        let grows = touched.contains(&names_key) && old.is_none_or(|old| json_bytes(old) < json_bytes(&name));
        if grows && self.list_bytes(&names_key) + json_bytes(&name) > MAX_BYTES {
            let reason = OperatorError::TooLarge("list of users' names").to_string();
            return Ok(Some(Outcome::Refused(reason)));
        }
        let newly_touched = touched.difference(&self.touched);
        let list_bytes = newly_touched.clone().map(|key| self.list_bytes(key));
        let bytes = json_bytes(user) + list_bytes.sum::<usize>();
        let writes = self.transaction.len() + self.touched.len() + 1 + outdated.len() + newly_touched.count();
        let is_full = writes > MAX_BATCH_WRITES || self.bytes + bytes > MAX_BATCH_BYTES;
        if is_full && !self.transaction.is_empty() {
            return Ok(None);
        }
        self.bytes += bytes;
        let members_key = self.members_key(user);
        for key in &touched {
            self.change_list(key, user, &name, members_key.as_ref() == Some(key));
        }
        self.touched.extend(touched);
        let key = self.operator.keys().user(user.id);
        let item = unknown::rewritten("user", self.items.get(&key), user)?;
        self.transaction.put(key, item, Condition::Always);
        self.set_membership(user.id, membership, &outdated)?;
        self.records.insert(user.id, user.clone());
        Ok(Some(Outcome::Written))
    }

    /// The items of names and members that change for a user.
    fn touched_by(&self, user: &User, name: &str) -> BTreeSet<Key> {
        let mut touched = BTreeSet::new();
        let names_key = self.operator.keys().user_name(user.id);
        let stored = self.names.get(&names_key).and_then(|names| names.get(&user.id));
        if stored.is_none_or(|stored| stored != name) {
            touched.insert(names_key);
        }
        let is_member = |key: &Key| {
            self.members
                .get(key)
                .is_some_and(|users| users.contains(&user.id))
        };
        let new_key = self.members_key(user);
        let old_key = self
            .records
            .get(&user.id)
            .and_then(|stored| self.members_key(stored));
        touched.extend(old_key.filter(|key| new_key.as_ref() != Some(key) && is_member(key)));
        touched.extend(new_key.filter(|key| !is_member(key)));
        touched
    }

    /// The key of the item of members that contains a user; `None` without a department.
    fn members_key(&self, user: &User) -> Option<Key> {
        let keys = self.operator.keys();
        user.department.map(|department| keys.member(department, user.id))
    }

    /// The credentials of a user with another membership.
    fn outdated_credentials(&self, user: UserId, membership: Membership) -> Vec<Key> {
        let credentials = self.credentials.get(&user).into_iter().flatten();
        let outdated = credentials.filter(|(_, copied)| *copied != Some(membership));
        outdated.map(|(key, _)| key.clone()).collect()
    }

    /// Stores a user's membership in these of its credentials.
    fn set_membership(
        &mut self,
        user: UserId,
        membership: Membership,
        outdated: &[Key],
    ) -> Result<(), StoreError> {
        for (key, copied) in self.credentials.entry(user).or_default() {
            if outdated.contains(key) {
                *copied = Some(membership);
                let own = Condition::Number {
                    name: "user",
                    value: user.get(),
                };
                self.transaction
                    .set(key.clone(), membership_attributes(membership)?, &[], own);
            }
        }
        Ok(())
    }

    /// Changes a user's entry in the item of names or members at a key. `is_member` applies to an item of members.
    fn change_list(&mut self, key: &Key, user: &User, name: &str, is_member: bool) {
        if let Some(names) = self.names.get_mut(key) {
            names.insert(user.id, name.to_owned());
        }
        if let Some(users) = self.members.get_mut(key) {
            if is_member {
                users.insert(user.id);
            } else {
                users.remove(&user.id);
            }
        }
    }

    /// The size of an item of names or members.
    fn list_bytes(&self, key: &Key) -> usize {
        let names = self.names.get(key).map_or(0, |names| {
            // The id with quotes, colon and comma has at most 20 bytes.
            let entry = |name: &String| 20 + json_bytes(name);
            names.values().map(entry).sum()
        });
        names + self.members.get(key).map_or(0, json_bytes)
    }

    /// The transaction with the changed items of names and members.
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
fn stored_memberships(
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
            own.push((key, credential.membership));
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
pub(crate) fn membership_attributes(membership: Membership) -> Result<Item, StoreError> {
    #[derive(Serialize)]
    struct Attributes {
        #[serde(rename = "standing")]
        membership: Membership,
    }
    item::encode("credential", &Attributes { membership })
}

fn json_bytes(value: &impl Serialize) -> usize {
    serde_json::to_vec(value).map_or(usize::MAX, |json| json.len())
}
