//! The keys of forms.

use super::{Key, Keys};
use crate::calendar::LinkName;
use crate::form::TokenHash;
use crate::ids::FormId;

impl Keys<'_> {
    /// All forms by id.
    pub fn forms(self) -> String {
        self.pk("hook")
    }

    /// A form.
    pub fn form(self, id: FormId) -> Key {
        Key::new(self.forms(), id.padded())
    }

    /// The look-up of a form by its name and a prefix of its token's hash (C-101).
    pub fn form_link(self, name: &LinkName, token: &TokenHash) -> Key {
        Key::new(self.pk(&format!("hook-link#{name}")), token.prefix())
    }
}
