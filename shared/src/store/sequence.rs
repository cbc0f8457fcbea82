//! Sequential ids (C-11). Each is taken in the transaction of its record, so a rejected request takes none. After a
//! conflict at the counter the id is reserved by an unconditional addition, and so are the next ones of this process for some seconds:
//! an addition costs a call, but excludes no other.

use super::key::{Counter, Key};
use super::{Reader, Writer};
use table::StoreError;
use table::Table;
use table::Transaction;
use table::item::{self, Item};

/// Seconds after a conflict in which ids are reserved.
const CONTENDED_SECONDS: u32 = 10;

/// The id of a new record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sequence {
    /// The next id, on condition that the last one is unchanged.
    Expect(u64),
    /// A reserved id.
    Reserved(u64),
}

impl Sequence {
    /// The id after the last one taken, from the counter's item.
    pub fn next(counter: Option<&Item>, name: &str) -> Result<Self, StoreError> {
        counter.map_or(Ok(Self::Expect(0)), |item| {
            item::number("counter", item, name).map(Self::Expect)
        })
    }

    /// Reserves an id by an addition, which cannot conflict.
    pub async fn reserve(table: &Table, counter: &Key, name: &'static str) -> Result<Self, StoreError> {
        let [number] = Self::reserve_all(table, counter, [name]).await?;
        Ok(number)
    }

    /// Reserves several ids of one counter. One write.
    pub async fn reserve_all<const N: usize>(
        table: &Table,
        counter: &Key,
        names: [&'static str; N],
    ) -> Result<[Self; N], StoreError> {
        let taken = table.add(counter, &names, 1).await?;
        Ok(std::array::from_fn(|at| {
            Self::Reserved(taken.get(at).copied().unwrap_or_default())
        }))
    }

    /// Whether it is reserved.
    pub fn is_reserved(self) -> bool {
        matches!(self, Self::Reserved(_))
    }

    /// The id.
    pub fn id<I: TryFrom<u64>>(self) -> Result<I, StoreError> {
        let number = match self {
            Self::Expect(last) => last + 1,
            Self::Reserved(number) => number,
        };
        I::try_from(number).map_err(|_| StoreError::Contention("numbering"))
    }

    /// Takes the id in `transaction`, on condition that the last one is unchanged.
    pub fn take(self, transaction: &mut Transaction, counter: Key, name: &'static str) {
        if let Self::Expect(last) = self {
            transaction.take_number(counter, name, last);
        }
    }
}

impl Reader {
    /// Whether this process met a conflict at a counter within seconds.
    pub fn is_contended(&self, counter: Counter) -> bool {
        let until = self.hints.contended.get(&self.keys().counter(counter));
        until.is_some_and(|until| self.environment.now() < until)
    }

    /// Remembers a conflict at a counter.
    pub fn note_contention(&self, counter: Counter) {
        let until = self.environment.now().plus_seconds(CONTENDED_SECONDS);
        self.hints.contended.put(self.keys().counter(counter), until);
    }
}

impl Writer {
    /// The id for the first attempt: reserved if this process met a conflict at the counter within seconds, else as read.
    pub async fn first_number(
        &self,
        read: Sequence,
        counter: Counter,
        name: &'static str,
    ) -> Result<Sequence, StoreError> {
        if !self.reader.is_contended(counter) {
            return Ok(read);
        }
        Sequence::reserve(&self.table, &self.keys().counter(counter), name).await
    }

    /// Reserves an id after a conflict at its counter.
    pub async fn number_after_conflict(
        &self,
        counter: Counter,
        name: &'static str,
    ) -> Result<Sequence, StoreError> {
        self.reader.note_contention(counter);
        Sequence::reserve(&self.table, &self.keys().counter(counter), name).await
    }
}
