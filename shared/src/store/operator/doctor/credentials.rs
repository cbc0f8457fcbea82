//! Credentials: an entry that is not revoked has the item that a request finds by hash, a revoked one has none.
//!
//! The other way round, from hashes to entries, leads through the credentials of all instances, and an item without an
//! entry is none that this program makes: both are written in one transaction.

use super::Doctor;
use super::settle::{Look, Wrong};
use crate::store::credentials::Credential;
use crate::store::item::{self, Item};
use crate::store::key::{self, Key};
use crate::store::operator::credentials::Listed;
use crate::store::operator::export::Pages;
use crate::store::operator::{Operator, OperatorError};
use crate::store::table::{PAGE, Span, key_of};
use crate::store::transaction::{Condition, Transaction};

/// Entries whose items are read together: a batch of gets.
const TOGETHER: usize = 100;

impl Doctor<'_> {
    /// Compares the credentials with the entries in the operator's list.
    pub(super) async fn credentials(&mut self) -> Result<(), OperatorError> {
        let operator = self.operator;
        let span = Span::head(operator.keys().credentials(), PAGE);
        let mut pages = Pages::new(operator, span, Ok);
        while let Some(page) = pages.next().await? {
            for entries in page.chunks(TOGETHER) {
                self.looked_at("credentials", entries.len());
                self.some_credentials(entries).await?;
            }
        }
        Ok(())
    }

    async fn some_credentials(&mut self, entries: &[Item]) -> Result<(), OperatorError> {
        let operator = self.operator;
        let mut listed = Vec::with_capacity(entries.len());
        for entry in entries {
            let key = key_of(entry)?;
            match decode(entry) {
                Ok(entry) => listed.push((key, entry)),
                Err(cause) => self.report(key.to_string(), cause.to_string(), false),
            }
        }
        let hashes = listed.iter().map(|(_, entry)| key::credential(&entry.hash));
        let stored = operator.table().get_many(hashes).await?;
        for (key, entry) in listed {
            let found = stored.get(&key::credential(&entry.hash));
            if fault(operator, &entry, found)?.is_some() {
                let look = async || look(operator, &key).await;
                self.settle(&key.to_string(), look).await?;
            }
        }
        Ok(())
    }
}

fn decode(entry: &Item) -> Result<Listed, OperatorError> {
    Ok(item::decode("credential entry", entry.clone())?)
}

/// What is wrong with the item of an entry. The entry is named, never the hash.
fn fault(
    operator: &Operator,
    entry: &Listed,
    found: Option<&Item>,
) -> Result<Option<&'static str>, OperatorError> {
    if entry.entry.revoked.is_some() {
        return Ok(found.map(|_| "is revoked and opens the instance all the same"));
    }
    let Some(found) = found else {
        return Ok(Some("is not revoked and opens nothing"));
    };
    let known: Credential = item::decode("credential", found.clone())?;
    let known = item::encode("credential", &known)?;
    let right = item::encode("credential", &entry.credential(operator.instance()))?;
    Ok((known != right).then_some("opens something else than its entry says"))
}

/// A repair depends on the entry as it was read, and on its not being revoked where it was not: a revocation that comes
/// between is never undone.
async fn look(operator: &Operator, key: &Key) -> Result<Look, OperatorError> {
    let table = operator.table();
    let Some(item) = table.get(key).await? else {
        return Ok(Look::Fine);
    };
    let entry = decode(&item)?;
    let at = key::credential(&entry.hash);
    let found = table.get(&at).await?;
    if table.get(key).await?.as_ref() != Some(&item) {
        return Ok(Look::Changing);
    }
    let Some(reason) = fault(operator, &entry, found.as_ref())? else {
        return Ok(Look::Fine);
    };
    let mut remedy = Transaction::default();
    let mut lacks = Vec::new();
    if entry.entry.revoked.is_some() {
        remedy.delete(at, Condition::Always);
    } else {
        lacks.push("revoked");
        let right = item::encode("credential", &entry.credential(operator.instance()))?;
        remedy.put(at, right, Condition::Always);
    }
    let mut has = item;
    has.retain(|name, _| name != "pk" && name != "sk");
    remedy.check(key.clone(), Condition::Exactly { has, lacks });
    let wounds = vec![(key.to_string(), reason.to_owned())];
    let remedy = Some(remedy);
    Ok(Look::Wrong(Wrong { wounds, remedy }))
}
