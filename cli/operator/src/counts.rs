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
        let keys = self.keys();
        let kinds = [
            (Kind::Users, vec![keys.users()]),
            (Kind::Profiles, vec![keys.profiles()]),
            (Kind::Tags, vec![keys.tags()]),
            (Kind::LossReasons, vec![keys.loss_reasons()]),
            (Kind::Companies, vec![keys.companies()]),
            (Kind::Leads, vec![keys.leads()]),
            (Kind::Funnels, vec![keys.funnels()]),
            (Kind::Opportunities, vec![keys.opportunities()]),
            (Kind::Calendars, vec![keys.calendars()]),
            (Kind::Meetings, vec![keys.meetings()]),
            (Kind::Tickets, vec![keys.tickets()]),
            (Kind::Files, vec![keys.files()]),
            (Kind::Hooks, vec![keys.forms()]),
            (Kind::Calls, keys.calls()),
            (Kind::Events, vec![keys.form_events()]),
            (Kind::Reports, vec![keys.reports()]),
            (Kind::Automations, vec![keys.automations()]),
        ];
        let counted = kinds.map(async |(kind, partitions)| {
            let (mut records, mut events) = (0, 0);
            let mut pages = MergeScan::new(KeyRange::of_each(partitions, None, None), 1);
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
