//! Sequential ids (C-11). Each is taken in the transaction of its record, so a rejected request takes none. After
//! repeated conflicts the id is reserved by an unconditional addition.

use super::key::Key;
use table::StoreError;
use table::Table;
use table::item::{self, Item};
use table::{Condition, Transaction};

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
        if let Self::Expect(value) = self {
            let last = Condition::Number { name, value };
            transaction.update(counter, name, 1, Item::new(), last);
        }
    }
}
