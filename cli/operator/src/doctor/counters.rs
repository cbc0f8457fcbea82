//! Checks that each running number is at least the largest one of a record, so that none is assigned twice (C-11).

use std::collections::BTreeMap;

use super::kind::{KindRef, Number};
use super::{Doctor, Result};
use table::StoreError;
use table::item::{self, Item};

/// The largest number of each sort that a record has.
pub type Largest = BTreeMap<Number, u64>;

impl Doctor<'_> {
    /// Remembers the largest numbers of records.
    pub(super) fn note_numbers(&mut self, kind: KindRef, record: &Item) -> Result<(), StoreError> {
        for (sort, number) in kind.numbers(record)? {
            let largest = self.largest_numbers.entry(sort).or_default();
            *largest = number.max(*largest);
        }
        Ok(())
    }

    /// Compares the counters. They only rise, and a number is taken before its record is written. So a counter that is
    /// read after the records and is below one of them is wrong, and raising it is always right.
    pub(super) async fn check_counters(&mut self) -> Result<()> {
        for (sort, largest) in self.largest_numbers.clone() {
            let (name, last) = (sort.1, self.last_taken(sort).await?);
            self.count_checked("counters", 1);
            if last < largest {
                let key = self.operator.keys().counter(sort.0);
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
