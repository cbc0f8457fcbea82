//! Forms, which only the operator changes, and the look-up by name and token.

use super::Reader;
use super::derived::Derived;
use super::entity::{Entity, Stored};
use super::key::{Key, Keys};
use crate::calendar::LinkName;
use crate::form::{Form, TokenHash};
use crate::ids::{FormId, UserId};
use crate::instance::InstanceName;
use table::item::{self, Item, n, s};
use table::{KeyRange, StoreError};

const KIND: &str = "hook";
/// The attribute with the form as JSON, in its record and in its look-up.
const TEXT: &str = "hook";

/// A form as it is stored.
pub type FormRecord = Stored<Form>;

impl Reader {
    /// The active form with this name and token, which is then cached; `None` clears the cache. One get by the name and
    /// a prefix of the token's hash, so the whole hash is compared.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be read.
    pub async fn form(&self, name: &LinkName, token: &TokenHash) -> Result<Option<Form>, StoreError> {
        let item = self.table.get(&self.keys().form_link(name, token)).await?;
        let form = item.as_ref().map(form).transpose()?;
        let form = form.filter(|form| form.token_hash.is(token) && form.active);
        self.hints.forms.set(self.cache_key(name, token), form.clone());
        Ok(form)
    }

    /// The form that this process last read by this name and token: a prefetch hint.
    #[must_use]
    pub fn hinted_form(&self, name: &LinkName, token: &TokenHash) -> Option<Form> {
        self.hints.forms.get(&self.cache_key(name, token))
    }

    /// The key of a form in the process's cache.
    fn cache_key(&self, name: &LinkName, token: &TokenHash) -> (InstanceName, String) {
        (self.instance.clone(), format!("{name} {}", token.as_str()))
    }

    /// The user with the lowest id, who is responsible if no other user is. One query of one item.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be read.
    pub async fn first_user(&self) -> Result<Option<UserId>, StoreError> {
        let page = self.table.query(KeyRange::head(self.keys().users(), 1)).await?;
        let first = page.items.first().map(table::key_of).transpose()?;
        Ok(first.and_then(|key| UserId::new(key.sk.parse().ok()?)))
    }
}

impl Entity for Form {
    const KIND: &'static str = KIND;

    fn key(&self, keys: Keys<'_>) -> Key {
        keys.form(self.id)
    }

    fn encode(&self) -> Result<Item, StoreError> {
        Ok(Item::from([
            ("id".to_owned(), n(self.id)),
            (TEXT.to_owned(), s(serde_json::json!(self).to_string())),
        ]))
    }

    fn decode(item: &Item) -> Result<Self, StoreError> {
        form(item)
    }

    fn derived(record: &Stored<Self>, item: &Item, keys: Keys<'_>) -> Result<Derived, StoreError> {
        let mut link = item::part(item, TEXT);
        link.insert("id".to_owned(), s(record.id.to_string()));
        let mut derived = Derived::default();
        let key = keys.form_link(&record.name, &record.token_hash);
        derived.items.insert(key, link);
        Ok(derived)
    }
}

/// The form in a record or in a look-up.
pub fn form(item: &Item) -> Result<Form, StoreError> {
    item::need_json(KIND, item, TEXT)
}

/// The id in a look-up.
pub fn linked(item: &Item) -> Option<FormId> {
    FormId::parse(item.get("id")?.as_s().ok()?)
}
