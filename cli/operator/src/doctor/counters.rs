//! Checks that each running number is at least the largest one of a record, so that none is assigned twice, and that its
//! sequence has not ended (C-11).

use std::collections::BTreeMap;

use super::{Doctor, Result};
use crate::kinds::storage::{Number, Storage};
use shared::ids::{MAX_ID, MAX_IMPORTED_ID};
use table::item::{self, Item};
use table::{Condition, StoreError, Transaction};

/// The largest number of each sort that a record has.
pub type Largest = BTreeMap<Number, u64>;

impl Doctor<'_> {
    /// Remembers the largest numbers of records.
    pub(super) fn note_numbers(&mut self, kind: &Storage, record: &Item) -> Result<(), StoreError> {
        for (sort, number) in kind.numbers(record)? {
            // A record may have a higher id from a former build.
            let usual = Some(&mut self.usual_numbers).filter(|_| number <= MAX_IMPORTED_ID);
            for numbers in usual.into_iter().chain([&mut self.largest_numbers]) {
                let largest = numbers.entry(sort).or_default();
                *largest = number.max(*largest);
            }
        }
        Ok(())
    }

    /// Compares the counters. They only rise, and a number is taken before its record is written. So a counter that is
    /// read after the records and is below one of them is wrong, and raising it is always right.
    pub(super) async fn check_counters(&mut self) -> Result<()> {
        for sort in self.largest_numbers.keys().copied().collect::<Vec<_>>() {
            let (name, last) = (sort.1, self.last_taken(sort).await?);
            let largest = self.usual_numbers.get(&sort).copied().unwrap_or_default();
            self.count_checked("counters", 1);
            let key = self.operator.keys().counter(sort.0);
            if last >= MAX_ID {
                let mut back = Transaction::default();
                let number = Item::from([(name.to_owned(), item::n(largest))]);
                back.set(key.clone(), number, &[], Condition::Number { name, value: last });
                let is_repaired = self.repair && self.operator.table().try_commit(back).await?;
                let reason =
                    format!("the sequence of ids has ended with {name} {last}; it goes on after {largest}");
                self.report(key, reason, is_repaired);
            } else if last < largest {
                if self.repair {
                    self.operator.table().raise(&key, name, largest).await?;
                }
                let reason = format!("the last {name} is number {last}, but there is number {largest}");
                self.report(key, reason, self.repair);
            }
        }
        Ok(())
    }

    /// The number that was taken last, by its counter.
    pub(super) async fn last_taken(&self, (counter, name): Number) -> Result<u64, StoreError> {
        let item = self
            .operator
            .reads()
            .get(&self.operator.keys().counter(counter))
            .await?;
        item::number("counter", &item.unwrap_or_default(), name)
    }
}
