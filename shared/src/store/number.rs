//! Running numbers (C-11): each is taken in the transaction of the record that has it, so that a refused request takes
//! none, and by an addition of its own where others keep coming first.

use super::error::StoreError;
use super::item::{self, Item};
use super::key::Key;
use super::table::Table;
use super::transaction::{Condition, Transaction};

/// The number that a new record takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Number {
    /// The one behind this, if it still is the last.
    After(u64),
    /// This one: it is ours already.
    Taken(u64),
}

impl Number {
    /// The number behind the last one taken, as a counter's item says.
    pub fn next(counter: Option<&Item>, name: &str) -> Result<Self, StoreError> {
        counter.map_or(Ok(Self::After(0)), |item| {
            item::number("counter", item, name).map(Self::After)
        })
    }

    /// Whether it is ours whatever happens.
    pub fn is_taken(self) -> bool {
        matches!(self, Self::Taken(_))
    }

    /// The id that it makes.
    pub fn id<I: TryFrom<u64>>(self) -> Result<I, StoreError> {
        let number = match self {
            Self::After(last) => last + 1,
            Self::Taken(number) => number,
        };
        I::try_from(number).map_err(|_| StoreError::Contention("numbering"))
    }

    /// Takes the number in `transaction`, on condition that the last one still is the one seen.
    pub fn take(self, transaction: &mut Transaction, counter: Key, name: &'static str) {
        if let Self::After(value) = self {
            let seen = Condition::Number { name, value };
            transaction.update(counter, name, 1, Item::new(), seen);
        }
    }
}

impl Table {
    /// Takes a number by an addition that cannot collide: the way on where others keep taking those that were seen.
    pub async fn take_number(&self, counter: &Key, name: &'static str) -> Result<Number, StoreError> {
        let taken = self.add(counter, &[name], 1).await?;
        Ok(Number::Taken(taken.first().copied().unwrap_or_default()))
    }
}
