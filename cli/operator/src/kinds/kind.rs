//! The description of a kind of records: its line, what it refers to, how it is stored, imported and exported.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::fmt::{Debug, Display};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use shared::ids::{CallId, EventId, LeadId};
use shared::store::unscoped::erasure::PendingErasures;
use shared::store::unscoped::key::{Key, Keys};
use shared::time::Timestamp;
use table::item::{self, Item};
use table::{Condition, StoreError, Transaction, unknown};

use super::fields::Field;
use super::storage::Storage;
use super::{Kind, References};
use crate::batch::{Decision, Mode, Skip};
use crate::line::Fields;
use crate::{Operator, OperatorError, Outcome};

/// A kind of records, as lines contain them.
pub trait RecordKind: 'static {
    /// A record as it is stored and exported.
    type Record: Serialize;
    /// A record as a line contains it.
    type Line: LineOf<Self::Record> + Debug + Clone + PartialEq + 'static;
    /// The kind's place in imports and exports.
    const KIND: Kind;
    /// The fields of a line, in the order of the documentation.
    const FIELDS: &'static [Field];
    /// Whether a line may have `"merge": true`. Then an existing record stays as it is, and gets only what it lacks (C-105).
    const MERGES: bool = false;
    /// Whether a record may be much larger than its line, because absent fields are written out in elements of its lists.
    const GROWS: bool = true;

    /// Reads the fields of a line. An error begins with the field's name.
    ///
    /// # Errors
    /// The reason for the import's report.
    fn parse(fields: Fields) -> Result<Self::Line, String>;

    /// The names of a record's custom fields.
    fn custom(_record: &Self::Record) -> impl Iterator<Item = &str> {
        std::iter::empty()
    }

    /// Warnings of an accepted line. Each begins with the field.
    fn warnings(_record: &Self::Record) -> Vec<String> {
        Vec::new()
    }

    /// An id, or a digest of a name. Lines with one identity describe one record.
    fn identity(record: &Self::Record) -> u64;

    /// The number of a timeline event, and its call.
    fn event(_record: &Self::Record) -> Option<(EventId, CallId)> {
        None
    }

    /// The lead to which the record refers and which stores that it is linked.
    fn lead(_record: &Self::Record) -> Option<LeadId> {
        None
    }

    /// The fields of the exported line, without those that an import restores by default.
    ///
    /// # Errors
    /// A JSON error, if the record cannot be encoded.
    fn export(record: &Self::Record) -> serde_json::Result<Fields> {
        sparse(record)
    }

    /// The records that this one refers to, by the fields of its exported line.
    ///
    /// # Errors
    /// A JSON error, if the record cannot be encoded.
    fn references(record: &Self::Record) -> serde_json::Result<References> {
        Ok(References::of(Self::FIELDS, &Self::export(record)?))
    }

    /// The line as it is stored; `None` if it removes something and nothing is stored.
    #[cfg(feature = "fuzzing")]
    fn kept(line: Self::Line) -> Option<Self::Line> {
        Some(line)
    }
}

/// A record as a line contains it. The line may omit times that only the table contains.
pub trait LineOf<R>: Borrow<R> {
    /// The line with the times that an empty table gives it.
    #[must_use]
    fn dated(self, now: Timestamp) -> Self;
}

impl<R> LineOf<R> for R {
    fn dated(self, _now: Timestamp) -> Self {
        self
    }
}

/// A kind with records of its own. The other kinds are parts of the directory.
#[expect(async_fn_in_trait, reason = "only this crate implements and calls it")]
pub trait StoredKind: RecordKind {
    /// Where the records are stored, and what is derived from them.
    const STORAGE: Storage;
    /// The stored record of an item.
    const DECODE: fn(Item) -> Result<Self::Record, StoreError>;
    /// The sequence that limits an export of the kind. Its last value is read before everything else, and later records
    /// are omitted, so that no exported record refers to a lead that is not exported.
    const STOPS_AT: Option<&'static str> = None;
    /// The record without data of leads that are being deleted (C-24), for a kind that may contain such data.
    const WITHOUT: Option<Without<Self::Record>> = None;
    /// Whether a part of large records is in items of their own.
    const HAS_DETAILS: bool = false;
    /// Minimum lines of a full chunk, for a kind whose lines must be written together.
    const MIN_CHUNK: usize = 1;
    /// Whether a check of a line requires [`Self::write`] in a mode that writes nothing, because
    /// [`RecordKind::references`] is not enough.
    const CHECK_READS_TABLE: bool = false;
    /// Whether chunks may be written concurrently, because no line depends on another.
    const CONCURRENT: bool = false;

    /// Sets on a line whether the event of its call has its own line.
    fn with_events(_line: &mut Self::Line, _has_event: impl Fn(CallId) -> bool) {}

    /// Sets on the line of a lead whether opportunities of the import refer to the lead.
    fn with_links(_line: &mut Self::Line, _is_linked: impl Fn(LeadId) -> bool) {}

    /// The record to write for a line that merges with a stored record: that record with what it lacks of the line. `None`
    /// if the record lacks nothing.
    fn merged(_line: Self::Line, _stored: Self::Record) -> Option<Self::Line> {
        None
    }

    /// Writes lines, each replacing the stored record of its identity.
    async fn write(operator: &Operator, lines: &[&Self::Line], mode: Mode) -> Written;

    /// Runs after each chunk of an import.
    #[expect(clippy::must_use_candidate, reason = "an implementation writes")]
    async fn written(_operator: &Operator) -> Result<(), StoreError> {
        Ok(())
    }

    /// The value of a record in the sequence of its kind, and in [`Self::STOPS_AT`].
    fn number(record: &Self::Record) -> u64 {
        Self::identity(record)
    }

    /// The name of a record in lists and as an argument of commands, which is its id if it has one.
    fn label(record: &Self::Record) -> String {
        Self::identity(record).to_string()
    }

    /// The key of a record with an id.
    fn key(keys: Keys<'_>, record: &Self::Record) -> Option<Key> {
        (Self::STORAGE.key)(keys, &Self::label(record))
    }
}

/// Removes data of leads that are being deleted from a record.
pub type Without<R> = fn(R, &PendingErasures) -> R;

/// The outcome of each line.
pub type Written = Result<Vec<Outcome>, OperatorError>;

/// A kind with lines that are decided one by one, from the items on which they depend.
pub trait Decide: StoredKind {
    /// The keys of the items that [`Self::decide`] depends on.
    fn reads(keys: Keys<'_>, record: &Self::Record, mode: Mode) -> Vec<Key>;

    /// The keys of further items, derived from the first ones.
    ///
    /// # Errors
    /// [`StoreError`] if one of those items cannot be read.
    fn follow(_keys: Keys<'_>, _record: &Self::Record, _found: &FoundItems) -> Result<Vec<Key>, StoreError> {
        Ok(Vec::new())
    }

    /// The writes of a line, on condition that the items are still as they were read.
    ///
    /// # Errors
    /// [`Skip`] if nothing is to be written.
    fn decide(operator: &Operator, line: &Self::Line, found: &FoundItems, mode: Mode) -> Decision;
}

/// The items that a decision depends on.
#[derive(Debug, Default)]
pub struct FoundItems(HashMap<Key, Item>);

impl From<HashMap<Key, Item>> for FoundItems {
    fn from(items: HashMap<Key, Item>) -> Self {
        Self(items)
    }
}

impl FoundItems {
    /// The item of a key.
    #[must_use]
    pub fn get(&self, key: &Key) -> Option<&Item> {
        self.0.get(key)
    }

    /// Whether the item exists.
    #[must_use]
    pub fn has(&self, key: &Key) -> bool {
        self.0.contains_key(key)
    }

    /// The record that a field refers to.
    ///
    /// # Errors
    /// [`Skip::Refused`] if there is none.
    pub fn need(&self, key: &Key, field: &str, kind: Kind, id: impl Display) -> Result<&Item, Skip> {
        let missing = || Skip::Refused(format!("{field}: {} {id} does not exist", kind.name()));
        self.get(key).ok_or_else(missing)
    }

    /// Puts a record without derived items, unless the same record is stored.
    ///
    /// # Errors
    /// [`Skip::Unchanged`], or [`Skip::Failed`] if the stored record cannot be read.
    pub fn replace<T>(&self, kind: Kind, key: Key, record: &T) -> Decision
    where
        T: Serialize + DeserializeOwned + PartialEq,
    {
        let stored = self.get(&key);
        let before = stored.map(|item| item::decode::<T>(kind.name(), item.clone()));
        if before.transpose()?.as_ref() == Some(record) {
            return Err(Skip::Unchanged);
        }
        let mut transaction = Transaction::default();
        let item = unknown::rewritten(kind.name(), stored, record)?;
        transaction.put(key, item, Condition::Always);
        Ok(transaction)
    }
}

/// Refuses to replace a record that was changed through the API, unless `mode` overwrites.
///
/// # Errors
/// [`Skip::Refused`].
pub fn replaceable(kind: Kind, id: impl Display, edited: bool, mode: Mode) -> Result<(), Skip> {
    if !edited || mode.overwrite {
        return Ok(());
    }
    Err(Skip::Refused(format!(
        "{} {id} was changed through the API since it was imported; use --overwrite to replace it",
        kind.name()
    )))
}

/// Requires that a line with this time of creation is of the stored record, which it is not if a request made the record at
/// another time (C-81).
///
/// # Errors
/// [`Skip::Refused`].
pub fn same_record(made: bool, line: Option<Timestamp>, stored: Timestamp) -> Result<(), Skip> {
    if !made || line == Some(stored) {
        return Ok(());
    }
    Err(Skip::Refused(format!(
        "{ANOTHER_RECORD}, made here at {stored}; convert with --instance, or give the line another id"
    )))
}

/// The beginning of the reason for a line whose id another record has.
pub const ANOTHER_RECORD: &str = "another record has this id";

/// The identity of a record without an id, from a text.
#[must_use]
pub fn digest(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// A record's fields without nulls and empty lists.
///
/// # Errors
/// A JSON error, if the record cannot be encoded.
pub fn sparse(record: &impl Serialize) -> serde_json::Result<Fields> {
    let Value::Object(mut fields) = serde_json::to_value(record)? else {
        return Ok(Fields::new());
    };
    fields.retain(|_, value| !value.is_null() && value.as_array().is_none_or(|list| !list.is_empty()));
    Ok(fields)
}

impl Operator {
    /// Writes lines and all their derived items, each in place of the stored record of its identity.
    /// [`RecordKind::references`] are not checked.
    ///
    /// # Errors
    /// [`OperatorError`] if the table fails; the lines written before stay.
    pub async fn import<K: StoredKind>(&self, lines: &[K::Line], overwrite: bool) -> Written {
        let mode = Mode {
            overwrite,
            ..Mode::default()
        };
        K::write(self, &lines.iter().collect::<Vec<_>>(), mode).await
    }

    /// Decides each line by itself and writes the lines in as few transactions as possible. Raises the counter of the
    /// kind's ids first.
    pub(super) async fn write_each<K: Decide>(&self, lines: &[&K::Line], mode: Mode) -> Written {
        if !mode.is_check_only {
            self.raise_ids::<K>(lines).await?;
        }
        let decide = async |lines: &[&K::Line], mode| self.decide_each::<K>(lines, mode).await;
        self.write_batches(lines, mode, decide).await
    }

    /// Raises the counter of a kind to the highest id of some lines, so that no request takes the id of a line (C-11).
    pub(super) async fn raise_ids<K: StoredKind>(&self, lines: &[&K::Line]) -> Result<(), StoreError> {
        let highest = lines.iter().map(|line| K::number((*line).borrow())).max();
        if let (Some((counter, attribute)), Some(highest)) = (K::STORAGE.sequence, highest) {
            let key = self.keys().counter(counter);
            self.table().raise(&key, attribute, highest).await?;
        }
        Ok(())
    }

    /// Decides lines from the items on which they depend. One batch of gets, and another one for
    /// items whose keys are in the first ones.
    async fn decide_each<K: Decide>(
        &self,
        lines: &[&K::Line],
        mode: Mode,
    ) -> Result<Vec<Decision>, OperatorError> {
        let keys = self.keys();
        let reads = lines
            .iter()
            .flat_map(|line| K::reads(keys, (*line).borrow(), mode));
        let mut found = FoundItems(self.reads().get_many(reads).await?);
        let mut further = Vec::new();
        for line in lines {
            further.extend(K::follow(keys, (*line).borrow(), &found)?);
        }
        if !further.is_empty() {
            found.0.extend(self.reads().get_many(further).await?);
        }
        let decisions = lines.iter().map(|line| K::decide(self, line, &found, mode));
        Ok(decisions.collect())
    }
}
