//! A record as it is stored: its value with a version, a nonce and the item that it was read from. All kinds with a
//! version share this implementation.

use std::borrow::Borrow;
use std::ops::Deref;

use super::derived::Derived;
use super::key::{Key, Keys};
use table::item::{self, Item, n, s};
use table::unknown::Raw;
use table::{Condition, StoreError, Transaction};

/// The attribute `edited` of a record that a request made.
const MADE: u64 = 2;

/// A kind of record.
pub trait Entity: Sized {
    /// Name of the kind in errors.
    const KIND: &'static str;

    /// The key of the record.
    fn key(&self, keys: Keys<'_>) -> Key;

    /// The attributes of the value.
    ///
    /// # Errors
    /// [`StoreError::Unstorable`] if it cannot be encoded.
    fn encode(&self) -> Result<Item, StoreError>;

    /// The value that an item contains. Attributes of [`Stored`] are ignored.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] if it cannot be read.
    fn decode(item: &Item) -> Result<Self, StoreError>;

    /// The items derived from a record, such as list entries and look-ups, and its contributions to totals. A pure
    /// function of the record. `item` is its encoded form, because entries copy parts of it.
    ///
    /// # Errors
    /// [`StoreError::Unstorable`] if an item cannot be encoded.
    fn derived(record: &Stored<Self>, item: &Item, keys: Keys<'_>) -> Result<Derived, StoreError>;
}

/// A record as it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct Stored<E> {
    /// The record's value.
    pub value: E,
    /// Increases by one with every write of the record.
    pub version: u64,
    /// Whether the API created or changed the record since its last import (C-81).
    pub edited: bool,
    /// Whether a request made the record and no import has replaced it since. Then it is another record than one that was
    /// imported with the same id (C-81).
    pub made: bool,
    /// Nonce of the last request that wrote the record; it recognises its own write by it. `None` if only imports wrote
    /// the record.
    pub nonce: Option<String>,
    /// The item from which the record was read; empty for a new record.
    pub raw: Raw,
}

impl<E> Deref for Stored<E> {
    type Target = E;

    fn deref(&self) -> &E {
        &self.value
    }
}

impl<E: Entity> Stored<E> {
    /// The first version of an imported record.
    pub fn new(value: E) -> Self {
        Self {
            value,
            version: 1,
            edited: false,
            made: false,
            nonce: None,
            raw: Raw::default(),
        }
    }

    /// The first version of a record that the request with this nonce creates.
    pub fn made(value: E, nonce: Option<&str>) -> Self {
        Self {
            edited: true,
            made: true,
            nonce: nonce.map(str::to_owned),
            ..Self::new(value)
        }
    }

    /// The next version of the record with another value. Nonce and edited flag stay.
    #[must_use]
    pub fn next(&self, value: E) -> Self {
        Self {
            value,
            version: self.version + 1,
            edited: self.edited,
            made: self.made,
            nonce: self.nonce.clone(),
            raw: self.raw.clone(),
        }
    }

    /// The next version of the stored record with an imported value; the first version if `stored` is `None`.
    #[must_use]
    pub fn imported(stored: Option<&Self>, value: E) -> Self {
        match stored {
            None => Self::new(value),
            Some(stored) => Self {
                edited: false,
                made: false,
                ..stored.next(value)
            },
        }
    }

    /// The record as an item. Attributes of the item it was read from that this build does not know are kept.
    ///
    /// # Errors
    /// [`StoreError::Unstorable`] if it cannot be encoded.
    pub fn encode(&self) -> Result<Item, StoreError> {
        let recode = |raw: &Item| Self::decode_known(raw).ok()?.encode_known().ok();
        Ok(self.raw.carry(self.encode_known()?, recode))
    }

    /// The attributes that this build knows.
    fn encode_known(&self) -> Result<Item, StoreError> {
        let mut item = self.value.encode()?;
        item.insert("v".to_owned(), n(self.version));
        if self.edited {
            item.insert("edited".to_owned(), n(if self.made { MADE } else { 1 }));
        }
        item.extend(self.nonce.as_ref().map(|nonce| ("nonce".to_owned(), s(nonce))));
        Ok(item)
    }

    /// The record that an item contains.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] if it cannot be read.
    pub fn decode(item: impl Borrow<Item>) -> Result<Self, StoreError> {
        let item = item.borrow();
        Ok(Self {
            raw: Raw::of(item),
            ..Self::decode_known(item)?
        })
    }

    /// Decodes the attributes that this build knows.
    fn decode_known(item: &Item) -> Result<Self, StoreError> {
        let edited: u64 = item::number(E::KIND, item, "edited")?;
        Ok(Self {
            value: E::decode(item)?,
            version: item::number(E::KIND, item, "v")?,
            edited: edited > 0,
            made: edited == MADE,
            nonce: item.get("nonce").and_then(|nonce| nonce.as_s().ok()).cloned(),
            raw: Raw::default(),
        })
    }

    /// All items derived from the record.
    ///
    /// # Errors
    /// [`StoreError::Unstorable`] if an item cannot be encoded.
    pub fn derived(&self, keys: Keys<'_>) -> Result<Derived, StoreError> {
        E::derived(self, &self.encode()?, keys)
    }

    /// Like [`derived`](Self::derived), for a record that is probably unchanged since it was read: then the item that
    /// was read is used, in place of encoding the record again.
    ///
    /// # Errors
    /// [`StoreError::Unstorable`] if an item cannot be encoded.
    pub fn derived_as_read(&self, keys: Keys<'_>) -> Result<Derived, StoreError> {
        if let Some(item) = self.raw.item() {
            let is_unchanged = item::number(E::KIND, item, "v").is_ok_and(|read: u64| read == self.version);
            if is_unchanged {
                return E::derived(self, item, keys);
            }
        }
        self.derived(keys)
    }

    /// The writes that delete the record and its derived items, on condition that the stored version is unchanged.
    ///
    /// # Errors
    /// [`StoreError::Unstorable`] if a derived item cannot be encoded.
    #[cfg(feature = "operator")]
    pub fn removal(&self, keys: Keys<'_>) -> Result<Transaction, StoreError> {
        let mut transaction = Transaction::default();
        transaction.delete(self.key(keys), Condition::Version(self.version));
        Derived::change(&mut transaction, &self.derived_as_read(keys)?, Derived::default());
        Ok(transaction)
    }

    /// The writes that replace the record `stored`, or add this one if there is none, and change its derived items. The
    /// condition is that the stored version is unchanged.
    ///
    /// # Errors
    /// [`StoreError::Unstorable`] if it cannot be encoded.
    pub fn put(&self, keys: Keys<'_>, stored: Option<&Self>) -> Result<Transaction, StoreError> {
        let condition = stored.map_or(Condition::Absent, |stored| Condition::Version(stored.version));
        let old = stored.map(|stored| stored.derived_as_read(keys)).transpose()?;
        let item = self.encode()?;
        let new = E::derived(self, &item, keys)?;
        let mut transaction = Transaction::default();
        transaction.put(self.key(keys), item, condition);
        Derived::change(&mut transaction, &old.unwrap_or_default(), new);
        Ok(transaction)
    }
}
