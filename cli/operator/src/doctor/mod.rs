//! `funil doctor` (C-84): recomputes every derived item from the records, and reports or repairs differences.
//!
//! A difference is reported only if a second read confirms it under an unchanged record. The transaction of a repair
//! checks that the reasons of the repair still apply. So live writes are safe.
//!
//! The table of [`kinds`] lists the records with derived items. A copy is derived from two records, so both are in
//! memory during the comparison, and the stale marker is read in between ([`copies`]). Memory is bounded by the size of
//! pages, the number of columns, and the maximums of sums in one pass and of known items. It does not grow with the
//! number of records.

mod calls;
mod check;
mod columns;
mod copies;
mod copy_rules;
mod counters;
mod credentials;
mod details;
mod directory;
mod extent;
mod kind;
mod kinds;
mod known;
mod memberships;
mod notices;
mod orphans;
mod others;
mod quarantine;
mod ranks;
mod records;
mod reports;
mod resume;
mod tally;
mod totals;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;

use serde::{Deserialize, Serialize};

use super::pages::RecordPages;
use super::{Operator, OperatorError};
use extent::Extent;
use resume::Position;
pub use resume::ResumeFile;
use shared::store::unscoped::format::{Format, found_format};
use table::item::Item;
use table::{Key, KeyRange, StoreError};

/// The maximum of listed differences; further ones are counted.
const MAX_LISTED: usize = 1000;

/// The result of a doctor's run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Diagnosis {
    /// The number of checked records and items of each sort.
    pub checked: BTreeMap<Cow<'static, str>, u64>,
    /// Differences from the records, at most a thousand.
    pub differences: Vec<Difference>,
    /// The number of further differences.
    #[serde(rename = "differencesMore", skip_serializing_if = "is_zero")]
    pub unlisted: u64,
    /// The format of a table before `funil migrate`. A repair writes that format.
    #[serde(rename = "formerFormat", skip_serializing_if = "Option::is_none")]
    pub former_format: Option<Format>,
    /// The number of differences that remain, listed or not.
    #[serde(skip)]
    pub remaining: u64,
}

impl Diagnosis {
    /// A diagnosis without differences.
    fn of(former_format: Option<Format>) -> Self {
        Self {
            former_format,
            ..Self::default()
        }
    }
}

/// An item that differs from the records.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
    /// The work that is done.
    pub done: u64,
    /// All work, in the same unit.
    pub total: u64,
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
    /// The columns of all funnels.
    columns: columns::Columns,
    /// The names of the kinds with totals in a former form.
    kinds_with_former_totals: BTreeSet<&'static str>,
    /// Whether new look-ups of leads may be missing, because the table has a former format. A repair adds them.
    can_lack_look_ups: bool,
    /// Whether all daily counts of boards contain cents.
    has_day_values: bool,
    extent: Extent,
    /// The derived items of the records that were read.
    known: known::DerivedItems,
    /// The counts of the kinds whose records were read, in the order of [`kinds::KINDS`].
    first_counts: Vec<tally::Recount>,
    /// The partitions of totals that the scan found.
    total_partitions: orphans::TotalPartitions,
    /// The next work.
    position: Position,
    resume_file: Option<&'a ResumeFile>,
    /// Unix second of the last write of the file.
    last_saved: i64,
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
        self.resumable_doctor(repair, watch, None).await
    }

    /// As [`doctor`](Self::doctor), with its progress in a file. If the file exists, goes on from there.
    ///
    /// # Errors
    /// As [`doctor`](Self::doctor), [`OperatorError::Progress`] if the file cannot be read or written, and
    /// [`OperatorError::Stopped`] if the run was stopped.
    pub async fn resumable_doctor(
        &self,
        repair: bool,
        watch: &(dyn Fn(Progress) + Sync),
        resume_file: Option<&ResumeFile>,
    ) -> Result<Diagnosis, OperatorError> {
        self.reader().learn_format().await?;
        let diagnosis = Diagnosis::of(self.former_format().await?);
        let former = diagnosis.former_format;
        let mut doctor = Doctor {
            operator: self,
            repair,
            watch,
            diagnosis,
            largest_numbers: counters::Largest::default(),
            columns: columns::Columns::default(),
            kinds_with_former_totals: BTreeSet::new(),
            can_lack_look_ups: !repair && former.is_some_and(|former| former < Format::UNLINKED),
            has_day_values: self.reader().known_format().has(Format::DAY_VALUES),
            extent: self.extent().await?,
            known: known::DerivedItems::default(),
            first_counts: Vec::new(),
            total_partitions: orphans::TotalPartitions::new(),
            position: Position::Start,
            resume_file,
            last_saved: self.now().unix_seconds(),
        };
        doctor.resume()?;
        doctor.check_small_kinds().await?;
        doctor.check_records_and_totals().await?;
        doctor.check_ranks().await?;
        doctor.check_reports().await?;
        doctor.report_quarantine().await?;
        doctor.check_notices().await?;
        if repair {
            doctor.refresh_copies().await?;
        }
        doctor.delete_resume_file()?;
        Ok(doctor.diagnosis)
    }
}

impl Operator {
    /// The table's format if it is a former one.
    async fn former_format(&self) -> Result<Option<Format>, StoreError> {
        let found = found_format(self.reads()).await?.map(|found| found.format);
        Ok(found.filter(|found| *found < Format::CURRENT))
    }
}

impl Doctor<'_> {
    /// Checks the directory and the kinds with few records, unless an earlier run did.
    async fn check_small_kinds(&mut self) -> Result<()> {
        if self.position != Position::Start {
            return Ok(());
        }
        self.check_directory().await?;
        self.check_credentials().await?;
        self.check_memberships().await?;
        self.read_columns().await?;
        self.check_other_records().await?;
        self.advance_to(Position::Records(0, None))
    }

    /// Compares the records with their derived items in both directions, then with the numbers and totals.
    async fn check_records_and_totals(&mut self) -> Result<()> {
        // Each step advances the position, from which a stopped run resumes.
        while let Position::Records(index, after) = self.position.clone() {
            match kinds::KINDS.get(index) {
                Some(kind) => self.check_kind(index, *kind, after).await?,
                None => self.advance_to(Position::Scan(None))?,
            }
        }
        if let Position::Scan(after) = self.position.clone() {
            self.check_orphans(after.map(|(pk, sk)| Key::new(pk, sk))).await?;
            for (index, kind) in kinds::KINDS.into_iter().enumerate() {
                self.check_unseen(index, kind).await?;
            }
            self.check_counters().await?;
            self.advance_to(Position::Totals(0))?;
        }
        // After the counters, because a count depends on the numbers of the records (see `totals`).
        while let Position::Totals(index) = self.position {
            let Some(kind) = kinds::KINDS.get(index) else {
                return self.advance_to(Position::Rest);
            };
            if !self.kinds_with_former_totals.contains(kind.name()) {
                let partitions = self
                    .total_partitions
                    .get(kind.name())
                    .cloned()
                    .unwrap_or_default();
                self.check_totals(index, *kind, &partitions).await?;
            }
            self.advance_to(Position::Totals(index + 1))?;
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
        *self.diagnosis.checked.entry(stage.into()).or_default() += count as u64;
        self.report_progress(stage);
    }

    /// Reports progress.
    fn report_progress(&self, stage: &'static str) {
        let Extent { done, .. } = self.extent;
        let total = self.extent.total();
        (self.watch)(Progress { stage, done, total });
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
