//! `funil doctor` (C-84): recomputes every derived item from the records and says, or repairs, what differs.
//!
//! What must stay true beside live writes: nothing is reported that was not read again and still differed under an
//! unchanged record, and no repair happens unless what it was decided on is still so at that moment, which its own
//! transaction checks.
//!
//! Which records have derived items is said in one place, the table of [`kind`]s. A copy of another record is derived
//! from two, so both are held while it is compared, and the notice that it may be behind is read between ([`copies`]).
//! Memory is bounded by pages, by the columns there are, and by the most sums that are counted in one pass, never by the
//! number of records.

mod calls;
mod columns;
mod copies;
mod counters;
mod credentials;
mod directory;
mod kind;
mod notices;
mod orphans;
mod others;
mod quarantine;
mod records;
mod reports;
mod scan;
mod settle;
mod standings;
mod tally;
mod ticket_kinds;
mod totals;

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Operator, OperatorError};
use crate::store::error::StoreError;

/// The most differences that are listed; the others are counted.
const MOST_LISTED: usize = 1000;

/// What a doctor found.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Diagnosis {
    /// How many records and items of each sort were looked at.
    pub checked: BTreeMap<&'static str, u64>,
    /// What differs from what the records say, at most a thousand of them.
    pub differences: Vec<Difference>,
    /// Further differences that are not listed.
    #[serde(rename = "differencesMore", skip_serializing_if = "is_zero")]
    pub unlisted: u64,
    /// How many differences remain, listed or not.
    #[serde(skip)]
    pub remaining: u64,
}

/// An item that is not what the records say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Its key, or what was looked at where it is more than one item.
    pub item: String,
    /// What is wrong with it.
    pub reason: String,
    /// It is right now.
    pub repaired: bool,
}

/// How far a doctor has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// What is looked at.
    pub stage: &'static str,
    /// How many were looked at since the last word.
    pub looked_at: u64,
}

/// A doctor at work.
struct Doctor<'a> {
    operator: &'a Operator,
    repair: bool,
    watch: &'a (dyn Fn(Progress) + Sync),
    diagnosis: Diagnosis,
    /// The largest number of each sort that a record has.
    largest: counters::Largest,
    /// The columns of all funnels.
    columns: columns::Columns,
    /// Some totals of opportunities are in the form before format 2.
    former_totals: bool,
}

impl Operator {
    /// Compares every derived item with the records, and repairs what differs where `repair` says so. Safe beside live
    /// writes. `watch` is told how far it is.
    ///
    /// # Errors
    /// [`OperatorError::NoInstance`], or [`OperatorError::Store`] where the table fails; what was repaired by then stays.
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
            largest: counters::Largest::default(),
            columns: columns::Columns::default(),
            former_totals: false,
        };
        doctor.directory().await?;
        doctor.credentials().await?;
        doctor.standings().await?;
        doctor.funnels().await?;
        doctor.others().await?;
        let mut counted = Vec::new();
        for kind in kind::KINDS {
            counted.push((kind, doctor.records(kind).await?));
        }
        let mut totals = doctor.orphans().await?;
        doctor.counters().await?;
        // Behind the counters, because counting again is only as good as the numbers of the records (see `totals`).
        for (kind, tally) in counted {
            if doctor.former_totals && kind.name == kind::OPPORTUNITIES.name {
                continue;
            }
            let partitions = totals.remove(kind.name).unwrap_or_default();
            doctor.totals(kind, tally, &partitions).await?;
        }
        doctor.reports().await?;
        doctor.set_aside().await?;
        doctor.notices().await?;
        if repair {
            doctor.heed_notices().await?;
        }
        Ok(doctor.diagnosis)
    }
}

impl Doctor<'_> {
    /// Brings copies up to date of which notices say that they may be behind, those raised by a repair among them. Last,
    /// because the copies are found by links, which are sound by now.
    async fn heed_notices(&self) -> Result<(), OperatorError> {
        match self.operator.refresh_copies().await {
            // Then the notices stand, which mislead nobody.
            Ok(()) | Err(StoreError::Contention(_) | StoreError::Corrupt { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn looked_at(&mut self, stage: &'static str, count: usize) {
        *self.diagnosis.checked.entry(stage).or_default() += count as u64;
        self.look_on(stage, count);
    }

    /// Records that are read once more.
    fn look_on(&self, stage: &'static str, count: usize) {
        let looked_at = count as u64;
        (self.watch)(Progress { stage, looked_at });
    }

    /// Whether an item is among the differences that are listed.
    fn told(&self, item: &str) -> bool {
        let mut differences = self.diagnosis.differences.iter();
        differences.any(|difference| difference.item == item)
    }

    fn report(&mut self, item: impl Into<String>, reason: impl Into<String>, repaired: bool) {
        let diagnosis = &mut self.diagnosis;
        diagnosis.remaining += u64::from(!repaired);
        if diagnosis.differences.len() < MOST_LISTED {
            diagnosis.differences.push(Difference {
                item: item.into(),
                reason: reason.into(),
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
