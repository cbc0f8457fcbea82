//! What the directory says of other records: users' standings and names, and whether an automation is active.

use std::collections::BTreeMap;

use super::Doctor;
use super::settle::{Look, Wrong};
use crate::directory::Standing;
use crate::id::UserId;
use crate::people::User;
use crate::store::automations;
use crate::store::directory::Stored;
use crate::store::error::StoreError;
use crate::store::operator::{Operator, OperatorError};
use crate::store::people::Names;
use crate::store::transaction::{Condition, Transaction};

/// What users' records say of all users: two items' worth, so memory is bounded by them. And what automations say of all.
#[derive(Default)]
struct Expected {
    standings: BTreeMap<UserId, Standing>,
    names: BTreeMap<String, String>,
    triggers: bool,
}

impl Doctor<'_> {
    /// Compares the directory and the names with the users' records, and with the automations.
    pub(super) async fn directory(&mut self) -> Result<(), OperatorError> {
        let operator = self.operator;
        let users = operator.directory().await?.users.len();
        self.looked_at("users", users);
        let what = operator.keys().directory().to_string();
        self.settle(&what, async || look(operator).await).await
    }
}

/// Every write of a user or an automation changes the directory's version in its transaction, so under one version all is
/// of one moment, and a repair on condition of that version is right.
async fn look(operator: &Operator) -> Result<Look, OperatorError> {
    let stored = operator.stored_directory().await?;
    let Names(names) = operator.0.names().await?;
    let expected = match Expected::read(operator).await {
        Ok(expected) => expected,
        Err(cause @ StoreError::Corrupt { .. }) => {
            let item = operator.keys().directory().to_string();
            let reason = format!("cannot be compared with the users and the automations: {cause}");
            return Ok(Look::Wrong(Wrong::beyond_repair(item, reason)));
        }
        Err(error) => return Err(error.into()),
    };
    if operator.stored_directory().await?.version != stored.version {
        return Ok(Look::Changing);
    }
    Ok(expected.compare(operator, stored, &names))
}

impl Expected {
    async fn read(operator: &Operator) -> Result<Self, StoreError> {
        let mut expected = Self::default();
        let mut users = operator.users();
        while let Some(page) = users.next().await? {
            for user in &page {
                expected.take(user);
            }
        }
        for item in operator.0.automation_items().await? {
            expected.triggers |= automations::decode(&item)?.is_active();
        }
        Ok(expected)
    }

    fn take(&mut self, user: &User) {
        self.standings.insert(user.id, user.standing());
        self.names.insert(user.id.to_string(), user.full_name());
    }

    fn compare(self, operator: &Operator, stored: Stored, names: &BTreeMap<String, String>) -> Look {
        let keys = operator.keys();
        let mut wounds = differing(
            &keys.directory().to_string(),
            "standing",
            &self.standings,
            &stored.directory.users,
        );
        wounds.extend(differing(&keys.names().to_string(), "name", &self.names, names));
        if self.triggers != stored.directory.triggers {
            let reason = if self.triggers {
                "says that no automation is active, but one is: calls set none off"
            } else {
                "says that an automation is active, but none is"
            };
            wounds.push((keys.directory().to_string(), reason.to_owned()));
        }
        if wounds.is_empty() {
            return Look::Fine;
        }
        let mut remedy = Transaction::default();
        remedy.set(keys.names(), Names(self.names).encode(), &[], Condition::Always);
        let mut directory = stored.directory.clone();
        directory.users = self.standings;
        directory.triggers = self.triggers;
        operator.put_next(&mut remedy, directory, &stored);
        let remedy = Some(remedy);
        Look::Wrong(Wrong { wounds, remedy })
    }
}

/// What is missing, different or too much in `stored`, each with the item it is in.
fn differing<K: Ord + std::fmt::Display, V: PartialEq>(
    item: &str,
    what: &str,
    expected: &BTreeMap<K, V>,
    stored: &BTreeMap<K, V>,
) -> Vec<(String, String)> {
    let lacking = expected.iter().filter_map(|(id, value)| match stored.get(id) {
        Some(found) if found == value => None,
        Some(_) => Some(format!(
            "the {what} of user {id} is not what the user's record says"
        )),
        None => Some(format!("the {what} of user {id} is missing")),
    });
    let idle = stored.keys().filter(|id| !expected.contains_key(*id));
    let idle = idle.map(|id| format!("has the {what} of user {id}, who does not exist"));
    let reasons = lacking.chain(idle);
    reasons.map(|reason| (item.to_owned(), reason)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_difference_is_told_once() {
        let expected = BTreeMap::from([(1, "a"), (2, "b"), (3, "c")]);
        assert!(differing("x", "name", &expected, &expected).is_empty());
        let stored = BTreeMap::from([(1, "a"), (2, "x"), (4, "d")]);
        let reasons: Vec<_> = differing("x", "name", &expected, &stored)
            .into_iter()
            .map(|(_, reason)| reason)
            .collect();
        assert_eq!(
            reasons,
            [
                "the name of user 2 is not what the user's record says",
                "the name of user 3 is missing",
                "has the name of user 4, who does not exist"
            ]
        );
    }
}
