//! Running numbers: each at least as large as the largest that a record has, so that none is given twice (C-11).

use std::collections::BTreeMap;

use super::Doctor;
use super::kind::{Kind, Number};
use crate::store::error::StoreError;
use crate::store::item::{self, Item};
use crate::store::operator::OperatorError;

/// The largest number of each sort that a record has.
pub type Largest = BTreeMap<Number, u64>;

impl Doctor<'_> {
    /// Notes the numbers of a record.
    pub(super) fn note_numbers(&mut self, kind: &Kind, item: &Item) -> Result<(), StoreError> {
        for (sort, number) in (kind.numbers)(item)? {
            let largest = self.largest.entry(sort).or_default();
            *largest = number.max(*largest);
        }
        Ok(())
    }

    /// Compares the counters. They only rise, and a record's number is taken no later than it is written: read after
    /// the records, a counter below one of them is wrong, and raising it is right at any moment.
    pub(super) async fn counters(&mut self) -> Result<(), OperatorError> {
        for ((counter, name), largest) in self.largest.clone() {
            let key = self.operator.keys().counter(counter);
            let item = self.operator.table().get(&key).await?.unwrap_or_default();
            self.looked_at("counters", 1);
            let last = item::number("counter", &item, name)?;
            if last < largest {
                if self.repair {
                    self.operator.table().raise(&key, name, largest).await?;
                }
                let reason = format!("the last {name} is number {last}, but there is number {largest}");
                self.report(key.to_string(), reason, self.repair);
            }
        }
        Ok(())
    }
}
