//! Writes the head of a refreshed result, which makes its parts valid, and deletes parts that no head names.

use std::collections::BTreeSet;

use crate::ids::ReportId;
use crate::jobs::reports::refresh::Due;
use crate::store::Writer;
use crate::store::key::{Months, report_generation};
use crate::store::quarantine::as_read;
use crate::store::reports::stored::Head;
use table::{Condition, MAX_WRITES, Pages, StoreError, Transaction};

impl Writer {
    /// Replaces the head that was read and then deletes parts that the new one does not name. Returns false, and
    /// deletes nothing, if the stored head changed concurrently.
    pub(super) async fn put_head(&self, due: &Due, head: &Head) -> Result<bool, StoreError> {
        let id = due.definition.id;
        let mut transaction = Transaction::default();
        let condition = match (&due.head, &due.head_item) {
            (Some(stored), _) => Condition::Version(stored.generation),
            (None, Some(unreadable)) => as_read(unreadable),
            (None, None) => Condition::Absent,
        };
        transaction.put(self.keys().report_head(id), head.encode(), condition);
        let written = self.table.try_commit(transaction).await?;
        if written {
            self.delete_unused_parts(id, head).await?;
        }
        Ok(written)
    }

    /// Deletes the parts that the written head does not name. Spares those of later generations: their refresh may
    /// still be in progress. A concurrent refresh of the same or an earlier generation can no longer write its head.
    async fn delete_unused_parts(&self, id: ReportId, head: &Head) -> Result<(), StoreError> {
        let named: BTreeSet<_> = head.parts.iter().map(|(name, part)| part.key(name)).collect();
        let mut pages = Pages::of(self.keys().report_parts(id, &Months::all()));
        while let Some(mut keys) = pages.next_keys(&self.reader().table).await? {
            keys.retain(|key| {
                let is_old = report_generation(&key.sk).is_some_and(|number| number <= head.generation);
                is_old && !named.contains(&key.sk)
            });
            for chunk in keys.chunks(MAX_WRITES) {
                let mut transaction = Transaction::default();
                for key in chunk {
                    transaction.delete(key.clone(), Condition::Always);
                }
                // Never refused, because the deletions have no conditions.
                self.table.try_commit(transaction).await?;
            }
        }
        Ok(())
    }
}
