//! What credentials carry of where their users stand, compared with the users' records.
//!
//! One that carries nothing is right, because then a request reads the user's record; a repair restores it. No repair lets
//! anybody do more than before: where the record says so, importing the user again does it.

use super::Doctor;
use super::settle::{Look, Wrong};
use crate::directory::Standing;
use crate::id::UserId;
use crate::people::User;
use crate::store::credentials::Credential;
use crate::store::item::{self, Item};
use crate::store::key::Key;
use crate::store::operator::credentials::Keyring;
use crate::store::operator::users::carrying;
use crate::store::operator::{Operator, OperatorError};
use crate::store::transaction::{Condition, Transaction};

/// Credentials that are read together.
const BATCH: usize = 100;

impl Doctor<'_> {
    /// Compares what the valid credentials carry. Nothing in the first format, in which they carry nothing.
    pub(super) async fn standings(&mut self) -> Result<(), OperatorError> {
        let operator = self.operator;
        let stored = operator.stored_directory().await?;
        if stored.standings.is_some() {
            return Ok(());
        }
        let mut keyring = Keyring::default();
        keyring.at(operator, stored.version).await?;
        let held: Vec<_> = keyring.all().collect();
        for some in held.chunks(BATCH) {
            let keys = some.iter().map(|(user, _)| operator.keys().user(*user));
            let wanted = keys.chain(some.iter().map(|(_, key)| key.clone()));
            let found = operator.table().get_many(wanted).await?;
            for (user, key) in some {
                let record = found.get(&operator.keys().user(*user));
                let Ok(Some((credential, standing))) = both(*user, found.get(key), record) else {
                    continue;
                };
                if credential.standing.is_some() && credential.standing != Some(standing)
                    || credential.standing.is_none() && self.repair
                {
                    let entry = operator.keys().credential(credential.kind, &credential.id);
                    let look = async || look(operator, *user, key).await;
                    self.settle(&entry.to_string(), look).await?;
                }
            }
        }
        Ok(())
    }
}

/// A user's credential and where its record says that it stands; `None` where either is not there, which is told elsewhere.
fn both(
    user: UserId,
    credential: Option<&Item>,
    record: Option<&Item>,
) -> Result<Option<(Credential, Standing)>, OperatorError> {
    let (Some(credential), Some(record)) = (credential, record) else {
        return Ok(None);
    };
    let credential: Credential = item::decode("credential", credential.clone())?;
    let record: User = item::decode("user", record.clone())?;
    Ok((credential.user == user).then(|| (credential, record.standing())))
}

/// Under one version of the directory users and credentials are of one moment.
async fn look(operator: &Operator, user: UserId, key: &Key) -> Result<Look, OperatorError> {
    let stored = operator.stored_directory().await?;
    let record = operator.keys().user(user);
    let found = operator.table().get_many([record.clone(), key.clone()]).await?;
    let Some((credential, standing)) = both(user, found.get(key), found.get(&record))? else {
        return Ok(Look::Fine);
    };
    if operator.stored_directory().await?.version != stored.version {
        return Ok(Look::Changing);
    }
    if credential.standing == Some(standing) {
        return Ok(Look::Fine);
    }
    let mut remedy = Transaction::default();
    let own = Condition::Number {
        name: "user",
        value: user.get(),
    };
    remedy.set(key.clone(), carrying(standing)?, &[], own);
    operator.move_on(&mut remedy, stored.version);
    let mut wrong = Wrong {
        wounds: Vec::new(),
        remedy: Some(remedy),
    };
    if let Some(carried) = credential.standing {
        let entry = operator.keys().credential(credential.kind, &credential.id);
        let mut reason = format!("stands elsewhere than the record of user {user} says");
        if carried.inactive && !standing.inactive || standing.admin && !carried.admin {
            reason = format!("{reason}, which lets it do more: import the user again");
            wrong.remedy = None;
        }
        wrong.wounds.push((entry.to_string(), reason));
    }
    Ok(Look::Wrong(wrong))
}
