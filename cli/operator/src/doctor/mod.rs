//! `funil doctor` (C-84): recomputes every derived item from the records, and reports or repairs differences.
//!
//! A difference is reported only if a second read confirms it under an unchanged record. The transaction of a repair
//! checks that the reasons of the repair still apply. So live writes are safe.
//!
//! The [storage](crate::kinds::Storage) of a kind describes the items derived from its records. A copy is derived from
//! two records, so both are in memory during the comparison, and the stale marker is read in between ([`copies`]).
//! Memory is bounded by the size of pages, the number of columns, and the maximums of sums in one pass and of known
//! items. It does not grow with the number of records.

mod calls;
mod check;
mod columns;
mod copies;
mod counters;
mod credentials;
mod details;
mod directory;
mod known;
mod memberships;
mod notices;
mod orphans;
mod quarantine;
mod records;
mod reports;
mod tally;
mod totals;

use std::collections::BTreeMap;
use std::fmt::Display;

use serde::Serialize;

use super::kinds::Kind;
use super::pages::RecordPages;
use super::{Operator, OperatorError};
use table::item::Item;
use table::{Key, KeyRange, StoreError};

/// The maximum of listed differences; further ones are counted.
const MAX_LISTED: usize = 1000;

/// The result of a doctor's run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Diagnosis {
    /// The number of checked records and items of each sort.
    pub checked: BTreeMap<&'static str, u64>,
    /// Differences from the records, at most a thousand.
    pub differences: Vec<Difference>,
    /// The number of further differences.
    #[serde(rename = "differencesMore", skip_serializing_if = "is_zero")]
    pub unlisted: u64,
    /// Published calendars that cannot be booked. No differences, so a repair keeps them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// The number of differences that remain, listed or not.
    #[serde(skip)]
    pub remaining: u64,
}

/// An item that differs from the records.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Its key, or a name of several items.
    pub item: String,
    /// The fault.
    pub reason: String,
    /// Whether it is right now.
    pub repaired: bool,
}

/// A step of a doctor's run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// The sort of records or items.
    pub stage: &'static str,
    /// The number of them that were checked.
    pub done: u64,
}

type Result<T, E = OperatorError> = std::result::Result<T, E>;

/// A run of the doctor.
struct Doctor<'a> {
    operator: &'a Operator,
    repair: bool,
    watch: &'a (dyn Fn(Progress) + Sync),
    diagnosis: Diagnosis,
    /// The largest number of each sort that a record has.
    largest_numbers: counters::Largest,
    /// The largest ones that an import accepts.
    usual_numbers: counters::Largest,
    /// The columns of all funnels.
    columns: columns::Columns,
    /// The derived items of the records that were read.
    known: known::DerivedItems,
    /// The counts of the kinds whose records were read, in the order of [`Kind::STORED`].
    first_counts: Vec<tally::Recount>,
    /// The partitions of totals that the scan found.
    total_partitions: orphans::TotalPartitions,
}

impl Operator {
    /// Compares every derived item with the records, and with `repair` corrects what differs. Safe during live writes.
    /// Calls `watch` with each step.
    ///
    /// # Errors
    /// [`OperatorError::NoInstance`], or [`OperatorError::Store`] if the table fails; what was repaired by then stays.
    pub async fn doctor(
        &self,
        repair: bool,
        watch: &(dyn Fn(Progress) + Sync),
    ) -> Result<Diagnosis, OperatorError> {
        let mut doctor = Doctor {
            operator: self,
            repair,
            watch,
            diagnosis: Diagnosis::default(),
            largest_numbers: counters::Largest::default(),
            usual_numbers: counters::Largest::default(),
            columns: columns::Columns::default(),
            known: known::DerivedItems::default(),
            first_counts: Vec::new(),
            total_partitions: orphans::TotalPartitions::new(),
        };
        doctor.check_small_kinds().await?;
        doctor.check_records_and_totals().await?;
        doctor.check_reports().await?;
        doctor.report_quarantine().await?;
        doctor.check_notices().await?;
        if repair {
            doctor.refresh_copies().await?;
        }
        doctor.diagnosis.warnings = self.inactive_calendars().await?;
        Ok(doctor.diagnosis)
    }
}

impl Doctor<'_> {
    /// Checks the directory and reads the columns.
    async fn check_small_kinds(&mut self) -> Result<()> {
        self.check_directory().await?;
        self.check_credentials().await?;
        self.check_memberships().await?;
        self.read_columns().await
    }

    /// Compares the records with their derived items in both directions, then with the numbers and totals.
    async fn check_records_and_totals(&mut self) -> Result<()> {
        let kinds = Kind::STORED.iter().filter_map(|kind| kind.storage());
        for (index, kind) in kinds.clone().enumerate() {
            self.check_kind(index, kind).await?;
        }
        self.check_orphans().await?;
        for (index, kind) in kinds.clone().enumerate() {
            self.check_unseen(index, kind).await?;
        }
        self.check_counters().await?;
        // After the counters, because a count depends on the numbers of the records (see `totals`).
        let counts = std::mem::take(&mut self.first_counts);
        for (kind, count) in kinds.zip(counts) {
            let partitions = self.total_partitions.remove(kind.name).unwrap_or_default();
            self.check_totals(kind, &partitions, count).await?;
        }
        Ok(())
    }

    /// Refreshes copies with stale markers, including those that a repair marked. Runs last, because it finds the
    /// copies by links, which are right then.
    async fn refresh_copies(&self) -> Result<()> {
        match self.operator.refresh_copies().await {
            // The stale markers remain, and every reader checks them.
            Ok(()) | Err(StoreError::Contention(_) | StoreError::Corrupt { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// The items of a partition.
    fn pages(&self, partition: String) -> RecordPages<Item> {
        self.pages_of(vec![KeyRange::whole(partition)])
    }

    fn pages_of(&self, ranges: Vec<KeyRange>) -> RecordPages<Item> {
        RecordPages::new(self.operator, ranges, Ok)
    }

    /// Counts checked records or items.
    fn count_checked(&mut self, stage: &'static str, count: usize) {
        *self.diagnosis.checked.entry(stage).or_default() += count as u64;
        self.report_progress(stage);
    }

    /// Reports progress.
    fn report_progress(&self, stage: &'static str) {
        let done = self.diagnosis.checked.get(stage).copied().unwrap_or_default();
        (self.watch)(Progress { stage, done });
    }

    /// Whether an item is among the listed differences.
    fn is_reported(&self, item: &Key) -> bool {
        let item = item.to_string();
        let mut differences = self.diagnosis.differences.iter();
        differences.any(|difference| difference.item == item)
    }

    fn report(&mut self, item: impl Display, reason: impl Display, repaired: bool) {
        let diagnosis = &mut self.diagnosis;
        diagnosis.remaining += u64::from(!repaired);
        if diagnosis.differences.len() < MAX_LISTED {
            diagnosis.differences.push(Difference {
                item: item.to_string(),
                reason: reason.to_string(),
                repaired,
            });
        } else {
            diagnosis.unlisted += 1;
        }
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde gives the field by reference"
)]
fn is_zero(count: &u64) -> bool {
    *count == 0
}
