//! Details of large leads, which records written before format 7 contain.

use super::{Operator, OperatorError};
use shared::store::unscoped::leads::{self, LeadRecord, LeadState};
use table::item::Item;
use table::{KeyRange, Pages, Policy, StoreError, key_of};

impl Operator {
    /// Moves the custom fields of large leads into items of their own, and returns how many items changed. Reads every lead.
    ///
    /// # Errors
    /// [`OperatorError::Store`] if the table fails; what was moved by then stays.
    pub(super) async fn divide_leads(&self) -> Result<u64, OperatorError> {
        let mut changed = 0;
        let mut pages = Pages::of(KeyRange::whole(self.keys().leads()));
        while let Some(records) = pages.next(self.reads()).await? {
            for record in records {
                // The record and its details.
                changed += if self.divide_lead(record).await? { 2 } else { 0 };
            }
        }
        Ok(changed)
    }

    /// Divides a record, unless it is small or divided, or cannot be read; the doctor reports that.
    async fn divide_lead(&self, record: Item) -> Result<bool, StoreError> {
        let key = key_of(&record)?;
        let mut retry = self.table().retry(Policy::CONFLICT, "dividing a lead");
        let mut found = Some(record);
        while let Some(record) = found.filter(leads::is_divisible) {
            let Ok(stored) = LeadRecord::decode(record) else {
                return Ok(false);
            };
            let divided = stored.next(LeadState {
                details: self.new_details(),
                ..stored.value.clone()
            });
            if self
                .table()
                .try_commit(divided.put(self.keys(), Some(&stored))?)
                .await?
            {
                return Ok(true);
            }
            retry.again().await?;
            found = self.reads().get(&key).await?;
        }
        Ok(false)
    }
}
