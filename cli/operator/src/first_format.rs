//! Users in the first format, which the previous release also reads. Their memberships are in the directory's item and
//! their names in another item, so the size of these items limits the number of users.

use std::collections::BTreeMap;

use super::directory::MAX_BYTES;
use super::kinds::users::json_bytes;
use super::{Operator, OperatorError, Outcome};
use shared::directory::Membership;
use shared::ids::UserId;
use shared::people::User;
use shared::store::unscoped::directory::{Standings, StoredDirectory};
use table::item::{self, Item, s};
use table::{Condition, StoreError, Transaction, unknown};

/// The attribute with all users' names.
const NAMES: &str = "names";
/// User records in one transaction.
const USERS: usize = 90;

impl Operator {
    /// Writes the first of these users in an instance of the first format; `None` if the directory changed
    /// concurrently.
    pub(super) async fn import_first_format(
        &self,
        users: &[&User],
        mut stored: StoredDirectory,
        standings: Standings,
    ) -> Result<Option<Vec<Outcome>>, OperatorError> {
        let mut aggregate = Aggregate::new(standings, self.first_names().await?, &stored);
        let users = users.get(..USERS).unwrap_or(users);
        let keys = users.iter().map(|user| self.keys().user(user.id));
        let mut records = self.reads().get_many(keys).await?;
        let mut transaction = Transaction::default();
        let mut outcomes = Vec::with_capacity(users.len());
        for user in users {
            let key = self.keys().user(user.id);
            let item = unknown::rewritten("user", records.get(&key), *user)?;
            let record = records.get(&key).cloned();
            let record = record.map(|item| item::decode::<User>("user", item));
            let known = record.transpose()?.as_ref() == Some(*user);
            let outcome = aggregate.take(user, known);
            if outcome == Outcome::Written {
                records.insert(key.clone(), item.clone());
                transaction.put(key, item, Condition::Always);
            }
            outcomes.push(outcome);
        }
        if transaction.is_empty() {
            return Ok(Some(outcomes));
        }
        self.put_first_names(&mut transaction, &aggregate.names);
        stored.standings = Some(aggregate.standings);
        self.put_next(&mut transaction, stored);
        let written = self.table().try_commit(transaction).await?;
        Ok(written.then_some(outcomes))
    }

    /// All users' names in the first format.
    pub(super) async fn first_names(&self) -> Result<BTreeMap<String, String>, StoreError> {
        let mut item = self.reads().get(&self.keys().names()).await?.unwrap_or_default();
        item::take_json(NAMES, &mut item, NAMES)
    }

    pub(super) fn put_first_names(&self, transaction: &mut Transaction, names: &BTreeMap<String, String>) {
        let item = Item::from([(NAMES.to_owned(), s(serde_json::json!(names).to_string()))]);
        transaction.set(self.keys().names(), item, &[], Condition::Always);
    }
}

/// The contents and sizes of the two items.
struct Aggregate {
    standings: BTreeMap<UserId, Membership>,
    names: BTreeMap<String, String>,
    directory_bytes: usize,
    names_bytes: usize,
}

impl Aggregate {
    fn new(standings: Standings, names: BTreeMap<String, String>, stored: &StoredDirectory) -> Self {
        Self {
            directory_bytes: item::bytes(&shared::store::unscoped::directory::encode(stored)),
            names_bytes: json_bytes(&names),
            standings,
            names,
        }
    }

    /// Adds a user, unless one of the items would become too large. `known` states that the record is the stored one.
    fn take(&mut self, user: &User, known: bool) -> Outcome {
        let (id, name, standing) = (user.id.to_string(), user.full_name(), Membership::from(user));
        let old_standing = self.standings.get(&user.id);
        let old_name = self.names.get(&id);
        if known && old_standing == Some(&standing) && old_name == Some(&name) {
            return Outcome::Unchanged;
        }
        // In JSON an entry consists of its id in quotes, a colon, its value and a comma.
        let entry = |value: usize| id.len() + 4 + value;
        let before = |value: Option<usize>| value.map_or(0, entry);
        let directory_bytes = self.directory_bytes + entry(json_bytes(&standing))
            - before(old_standing.map(json_bytes)).min(self.directory_bytes);
        let names_bytes = self.names_bytes + entry(json_bytes(&name))
            - before(old_name.map(json_bytes)).min(self.names_bytes);
        for (what, bytes) in [
            ("directory", directory_bytes),
            ("list of users' names", names_bytes),
        ] {
            if bytes > MAX_BYTES {
                return Outcome::Refused(OperatorError::TooLarge(what).to_string());
            }
        }
        (self.directory_bytes, self.names_bytes) = (directory_bytes, names_bytes);
        self.standings.insert(user.id, standing);
        self.names.insert(id, name);
        Outcome::Written
    }
}
