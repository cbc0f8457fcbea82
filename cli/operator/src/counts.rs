//! The number of an instance's records of each kind (C-104).

use futures_util::future::try_join_all;

use super::export::Counts;
use super::kinds::Kind;
use super::{Operator, OperatorError};
use table::{KeyRange, MergeScan};

/// The attribute of a call that has a timeline event.
const EVENT: &str = "event";

impl Operator {
    /// Counts the records of each kind, in the order of exports. Queries every record, the kinds in parallel. Calls
    /// `watch` with the number of records of each page.
    ///
    /// # Errors
    /// [`OperatorError`] if there is no such instance or the table fails.
    pub async fn counts(&self, watch: &(dyn Fn(u64) + Sync)) -> Result<Counts, OperatorError> {
        let directory = self.directory_head().await?;
        let mut counts = vec![
            (Kind::Settings.name(), directory.settings.entries().len() as u64),
            (Kind::Departments.name(), directory.departments.len() as u64),
            (Kind::Groups.name(), directory.groups.len() as u64),
        ];
        let stored = Kind::ALL.iter().filter_map(|kind| Some((*kind, kind.storage()?)));
        let counted = stored.map(async |(kind, storage)| {
            let (mut records, mut events) = (0, 0);
            let ranges = KeyRange::of_each((storage.partitions)(self.keys()), None, None);
            let mut pages = MergeScan::new(ranges, 1);
            while let Some(page) = pages.next_page(self.reads()).await? {
                records += page.len() as u64;
                events += page.iter().filter(|item| item.contains_key(EVENT)).count() as u64;
                watch(page.len() as u64);
            }
            Ok::<_, OperatorError>((kind, records, events))
        });
        let counted = try_join_all(counted).await?;
        let of_calls: u64 = counted.iter().map(|(_, _, events)| events).sum();
        counts.extend(counted.into_iter().map(|(kind, records, _)| match kind {
            Kind::Events => (kind.name(), records + of_calls),
            _ => (kind.name(), records),
        }));
        Ok(counts)
    }
}
