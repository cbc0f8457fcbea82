//! The custom fields of a large lead, in an item of their own: the lead's details. So the record, which calls, bookings and
//! links of opportunities write or check, stays small.
//!
//! Record and details contain the same digest, which begins with the size, and change in one transaction. A reader that
//! finds different digests reads both again. A change of other fields needs no details, and leaves them as they are. Only a
//! [`WholeLead`](super::WholeLead), a record with its custom fields, is changed by a client's fields.

use sha2::{Digest, Sha256};

use crate::lead::Lead;
use crate::text::hex;
use table::StoreError;
use table::item::{self, Item, s};

/// Bytes of the JSON text of a lead's custom fields above which they are an item of their own. A record that is smaller by
/// this much costs a call 8 write units less, and each reader of the custom fields a call more.
pub const MAX_INLINE: usize = 4096;
/// The kind of the record in errors.
pub(super) const KIND: &str = "lead";
/// The attribute with the custom fields, of a record or of details.
pub(super) const CUSTOM: &str = "custom";
/// The attribute that a record with details and the details have in common.
pub const DIGEST: &str = "digest";

/// The place of a lead's custom fields.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Details {
    /// In the record, or in details if they are large.
    #[default]
    Known,
    /// In details with this digest, which were not read: the lead lacks them.
    Unread(String),
}

impl Details {
    /// The place of a record's custom fields.
    pub(super) fn of(record: &Item) -> Self {
        digest(record).map_or(Self::Known, |digest| Self::Unread(digest.to_owned()))
    }

    /// Adds the custom fields, or the digest of their details, to a record.
    ///
    /// # Errors
    /// [`StoreError::Unstorable`] if the lead has custom fields although its details were not read.
    pub(super) fn encode(&self, lead: &Lead, record: &mut Item) -> Result<(), StoreError> {
        if let Self::Unread(digest) = self {
            if !lead.custom.is_empty() {
                let (kind, cause) = (KIND, "its custom fields were not read".to_owned());
                return Err(StoreError::Unstorable { kind, cause });
            }
            record.insert(DIGEST.to_owned(), s(digest));
            return Ok(());
        }
        if lead.custom.is_empty() {
            return Ok(());
        }
        let text = custom_text(lead);
        if text.len() > MAX_INLINE {
            record.insert(DIGEST.to_owned(), s(digest_of(&text)));
        } else {
            record.insert(CUSTOM.to_owned(), s(text));
        }
        Ok(())
    }

    /// The item of the details of an encoded record; `None` if it has none. Contains only the digest if the details
    /// were not read, so that a write leaves their other attributes as they are.
    pub(super) fn item(&self, lead: &Lead, record: &Item) -> Option<Item> {
        let mut details = item::part(record, DIGEST);
        if details.is_empty() {
            return None;
        }
        if !matches!(self, Self::Unread(_)) {
            details.insert(CUSTOM.to_owned(), s(custom_text(lead)));
        }
        Some(details)
    }
}

/// The custom fields as JSON text.
fn custom_text(lead: &Lead) -> String {
    serde_json::json!(lead.custom).to_string()
}

/// The digest of custom fields, after their size in bytes.
fn digest_of(text: &str) -> String {
    format!("{}:{}", text.len(), hex(&Sha256::digest(text)[..16]))
}

/// The size of the details with this digest, in bytes.
pub(super) fn size(digest: &str) -> usize {
    let size = digest.split_once(':').and_then(|(size, _)| size.parse().ok());
    size.unwrap_or_default()
}

/// The digest in a record with details, or in details.
pub fn digest(item: &Item) -> Option<&str> {
    attribute(item, DIGEST)
}

fn attribute<'i>(item: &'i Item, name: &str) -> Option<&'i str> {
    item.get(name)?.as_s().ok().map(String::as_str)
}

/// Whether the stored details have this digest, and their content too.
pub fn is_sound(details: &Item, expected: &str) -> bool {
    let custom = attribute(details, CUSTOM);
    digest(details) == Some(expected) && custom.is_some_and(|custom| digest_of(custom) == expected)
}
