//! Credentials: an entry that is not revoked has the item that a request finds by hash, a revoked one has none; and each
//! item that opens the instance has its entry, without which nobody could revoke it.
//!
//! A repair never widens what a credential opens. Where item and entry disagree nobody can tell which is right, so the
//! credential is revoked. One that is in no list is put there as it is, so that its owner can be found before it is revoked.

use super::Doctor;
use super::settle::{Look, Wrong};
use crate::store::credentials::Credential;
use crate::store::item::{self, Item};
use crate::store::key::{self, Key};
use crate::store::operator::credentials::{CredentialEntry, Listed};
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

impl Doctor<'_> {
    /// Looks at an item that opens the instance: is it in the operator's list?
    pub(super) async fn opening(&mut self, at: &Key, item: &Item) -> Result<(), OperatorError> {
        let operator = self.operator;
        let Ok(opens) = item::decode::<Credential>("credential", item.clone()) else {
            self.report("a credential of the instance", "cannot be read", false);
            return Ok(());
        };
        let key = operator.keys().credential(opens.kind, &opens.id);
        if self.told(&key.to_string()) {
            return Ok(());
        }
        let look = async || unlisted(operator, at, &key).await;
        self.settle(&key.to_string(), look).await
    }
}

/// Looks whether a credential that opens the instance is in the operator's list. It is put there as it is; one whose place
/// another has is deleted.
async fn unlisted(operator: &Operator, at: &Key, key: &Key) -> Result<Look, OperatorError> {
    let table = operator.table();
    let (entry, item) = (table.get(key).await?, table.get(at).await?);
    let Some(item) = item else {
        return Ok(Look::Fine);
    };
    let opens: Credential = item::decode("credential", item)?;
    let hash = at.pk.trim_start_matches(key::OPENING);
    let mut remedy = Transaction::default();
    let reason = match entry {
        Some(entry) if decode(&entry).is_ok_and(|entry| entry.hash.as_str() != hash) => {
            remedy.delete(at.clone(), Condition::Present);
            "is in the list with another secret than the one that opens the instance too"
        }
        Some(_) => return Ok(Look::Fine),
        None => {
            let same = Item::from([("id".to_owned(), item::s(&*opens.id))]);
            let entry = CredentialEntry {
                id: opens.id,
                kind: opens.kind,
                user: opens.user,
                label: None,
                create_date: operator.now(),
                expires: opens.expires,
                revoked: None,
                requests_per_minute: opens.requests_per_minute,
            };
            let mut entry = item::encode("credential entry", &entry)?;
            entry.insert("hash".to_owned(), item::s(hash));
            remedy.put(key.clone(), entry, Condition::Absent);
            // No import of its user found it, so where that user stands is read from its record.
            remedy.set(at.clone(), same, &["standing"], Condition::Present);
            "opens the instance and is not in the list"
        }
    };
    Ok(Look::Wrong(Wrong {
        wounds: vec![(key.to_string(), reason.to_owned())],
        remedy: Some(remedy),
    }))
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
    let mut opens: Credential = item::decode("credential", found.clone())?;
    // What it carries of its user is compared with the user.
    opens.standing = None;
    let right = entry.credential(operator.instance());
    Ok((opens != right).then_some("opens something else than its entry says"))
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
    remedy.delete(at, Condition::Always);
    let mut has = item;
    has.retain(|name, _| name != "pk" && name != "sk");
    if entry.entry.revoked.is_some() {
        let lacks = Vec::new();
        remedy.check(key.clone(), Condition::Exactly { has, lacks });
    } else {
        let mut revoked = has.clone();
        revoked.insert("revoked".to_owned(), item::s(operator.now().to_string()));
        let lacks = vec!["revoked"];
        remedy.put(key.clone(), revoked, Condition::Exactly { has, lacks });
    }
    let wounds = vec![(key.to_string(), reason.to_owned())];
    let remedy = Some(remedy);
    Ok(Look::Wrong(Wrong { wounds, remedy }))
}
