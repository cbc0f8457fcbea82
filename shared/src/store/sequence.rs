//! Running numbers (C-11). Each is taken in the transaction of the record that has it, so a refused request takes none.
//! Where others keep taking it first, it is reserved by an addition of its own.

use super::key::Key;
use table::StoreError;
use table::Table;
use table::item::{self, Item};
use table::{Condition, Transaction};

/// The number that a new record takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sequence {
    /// The one after this, if this is still the last.
    Expect(u64),
    /// This one, which nobody else can take.
    Reserved(u64),
}

impl Sequence {
    /// The number after the last one taken, as a counter's item says.
    pub fn next(counter: Option<&Item>, name: &str) -> Result<Self, StoreError> {
        counter.map_or(Ok(Self::Expect(0)), |item| {
            item::number("counter", item, name).map(Self::Expect)
        })
    }

    /// Takes a number by an addition, which cannot conflict.
    pub async fn reserve(table: &Table, counter: &Key, name: &'static str) -> Result<Self, StoreError> {
        let [number] = Self::reserve_all(table, counter, [name]).await?;
        Ok(number)
    }

    /// The same for several numbers of one counter. One write.
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

    /// Whether nobody else can take it.
    pub fn is_reserved(self) -> bool {
        matches!(self, Self::Reserved(_))
    }

    /// The id that it makes.
    pub fn id<I: TryFrom<u64>>(self) -> Result<I, StoreError> {
        let number = match self {
            Self::Expect(last) => last + 1,
            Self::Reserved(number) => number,
        };
        I::try_from(number).map_err(|_| StoreError::Contention("numbering"))
    }

    /// Takes the number in `transaction`, on condition that the last one is still the expected one.
    pub fn take(self, transaction: &mut Transaction, counter: Key, name: &'static str) {
        if let Self::Expect(value) = self {
            let last = Condition::Number { name, value };
            transaction.update(counter, name, 1, Item::new(), last);
        }
    }
}
