//! Users' names and the profiles of messaging accounts.

use std::collections::BTreeMap;

use super::Reader;
use super::error::StoreError;
use super::item::{self, Item, s};
use crate::id::UserId;
use crate::people::Profile;
use crate::phone::Phone;

/// The attribute that holds the users' names.
const NAMES: &str = "names";

/// The users' names by id.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Names(pub(super) BTreeMap<String, String>);

impl Names {
    /// A user's name.
    #[must_use]
    pub fn of(&self, user: UserId) -> Option<&str> {
        self.0.get(&user.to_string()).map(String::as_str)
    }

    /// The item that holds them: one text, which is read several times faster than attributes.
    pub(super) fn encode(&self) -> Item {
        Item::from([(NAMES.to_owned(), s(serde_json::json!(self.0).to_string()))])
    }
}

impl Reader {
    /// All users' names. One get; units: one for each started 4 KB, about 100 users.
    ///
    /// # Errors
    /// [`StoreError`] where they cannot be read.
    pub async fn names(&self) -> Result<Names, StoreError> {
        let mut item = self.table.get(&self.keys().names()).await?.unwrap_or_default();
        item::take_json(NAMES, &mut item, NAMES).map(Names)
    }

    /// The profile of the messaging account that has a number, matched like a lead's (C-73). One batch of two gets.
    ///
    /// # Errors
    /// [`StoreError`] where it cannot be read.
    pub async fn profile(&self, phone: &Phone) -> Result<Option<Profile>, StoreError> {
        let keys = [Some(phone.digits()), phone.twin()].into_iter().flatten();
        let keys: Vec<_> = keys.map(|digits| self.keys().profile(digits)).collect();
        let mut found = self.table.get_many(keys.clone()).await?;
        let best = keys.iter().find_map(|key| found.remove(key));
        best.map(|item| item::decode("profile", item)).transpose()
    }
}
