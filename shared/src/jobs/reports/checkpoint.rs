//! Progress of a scan through an entity's records.
//!
//! A scan may exceed the time of a maintenance run, so it is made in slices. The sums of a slice are written
//! as drafts, and then the checkpoint, which lists the valid slices. A slice has the number of its claim, and
//! claims have distinct numbers, so drafts of a run that died or lost its claim are never added. Drafts
//! expire.

use serde::{Deserialize, Serialize};

use crate::ids::ReportId;
use crate::report::{Cube, ReportEntity};
use crate::store::Writer;
use crate::store::key::{self, Key};
use crate::store::quarantine::as_read;
use crate::store::reports::scan::ReportAccumulator;
use crate::store::reports::stored::{days_of, encode_part};
use crate::time::Timestamp;
use table::StoreError;
use table::item::{self, Item, n, s};
use table::{Condition, Transaction};
use table::{KeyRange, Pages};

const KIND: &str = "report's walk";
/// The checkpoint as text.
const TEXT: &str = "walk";
/// Seconds of a claim: longer than the function's timeout.
const CLAIM: u32 = 6 * 60;
/// Maximum age of a scan in seconds. Results of this age are due again.
const LIFETIME: u32 = 6 * 60 * 60;
/// Sums of a draft. Each has up to about 700 bytes, and an item 400 KB.
const DRAFT_SUMS: usize = 500;

/// A scan through an entity's records for some reports.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScanCheckpoint {
    /// Distinguishes its drafts from those of other scans.
    pub token: String,
    /// Time of its start, which is the time of its results.
    pub since: Timestamp,
    /// The reports to compute.
    pub reports: Vec<ScannedReport>,
    /// Sort key of the last added record.
    pub after: Option<String>,
    /// Numbers of the valid slices.
    pub slices: Vec<u64>,
    /// End of the current claim.
    pub claimed_until: Timestamp,
    /// Incremented by every write.
    #[serde(skip)]
    pub version: u64,
}

/// A report in a scan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScannedReport {
    pub id: ReportId,
    /// Digest of query and zone.
    pub digest: String,
    /// Whether its result is too large.
    pub given_up: bool,
}

impl ScanCheckpoint {
    /// A scan not yet begun.
    fn new(token: String, reports: Vec<ScannedReport>, now: Timestamp) -> Self {
        Self {
            token,
            since: now,
            reports,
            after: None,
            slices: Vec::new(),
            claimed_until: now,
            version: 0,
        }
    }

    /// The scan restricted to those of its reports that are still due with the same query and zone. `None` if there are
    /// none or the scan began too long ago.
    fn restricted_to(mut self, due: &[ScannedReport], now: Timestamp) -> Option<Self> {
        self.reports.retain(|report| {
            due.iter()
                .any(|due| due.id == report.id && due.digest == report.digest)
        });
        let is_recent = now < self.since.plus_seconds(LIFETIME);
        (is_recent && !self.reports.is_empty()).then_some(self)
    }

    fn encode(&self) -> Item {
        let text = serde_json::json!(self).to_string();
        let expires = self.since.plus_seconds(2 * LIFETIME).unix_seconds();
        Item::from([
            (TEXT.to_owned(), s(text)),
            ("v".to_owned(), n(self.version)),
            ("ttl".to_owned(), n(expires)),
        ])
    }

    fn decode(item: &Item) -> Result<Self, StoreError> {
        let text = item.get(TEXT).and_then(|text| text.as_s().ok());
        let text = text.ok_or_else(|| item::corrupt(KIND, "it has no text"))?;
        let checkpoint: Self = serde_json::from_str(text).map_err(|cause| item::corrupt(KIND, cause))?;
        let version = item::number(KIND, item, "v")?;
        Ok(Self {
            version,
            ..checkpoint
        })
    }

    /// Key of a slice's drafts.
    fn slice(&self, number: u64) -> String {
        key::report_slice(&self.token, number)
    }
}

impl Writer {
    /// Claims the scan for due reports: the stored one, or a new one of the first `max_reports` if there is none that
    /// can be continued. `None` if another process has claimed the scan. A get and a transaction of one item.
    pub(crate) async fn claim_scan(
        &self,
        entity: ReportEntity,
        due: &[ScannedReport],
        max_reports: usize,
    ) -> Result<Option<ScanCheckpoint>, StoreError> {
        let (now, key) = (self.reader().environment.now(), self.keys().report_walk(entity));
        let stored = self.reader().table.get(&key).await?;
        let current = stored.as_ref().and_then(|item| ScanCheckpoint::decode(item).ok());
        let version = current.as_ref().map(|checkpoint| checkpoint.version);
        let condition = match (version, &stored) {
            (Some(version), _) => Condition::Version(version),
            (None, Some(unreadable)) => {
                self.reader()
                    .log_unreadable(&key, KIND, "a scan for reports is restarted");
                as_read(unreadable)
            }
            (None, None) => Condition::Absent,
        };
        if current
            .as_ref()
            .is_some_and(|checkpoint| now < checkpoint.claimed_until)
        {
            return Ok(None);
        }
        let new_scan = || {
            let reports = due.iter().take(max_reports).cloned().collect();
            ScanCheckpoint::new(self.reader().environment.token(), reports, now)
        };
        let mut checkpoint = current
            .and_then(|checkpoint| checkpoint.restricted_to(due, now))
            .unwrap_or_else(new_scan);
        checkpoint.claimed_until = now.plus_seconds(CLAIM);
        checkpoint.version = version.unwrap_or(0);
        Ok(self
            .put_checkpoint(&key, &mut checkpoint, condition)
            .await?
            .then_some(checkpoint))
    }

    /// Writes the checkpoint without a claim, unless the claim was lost. Records read since the last saved slice are
    /// read again.
    pub(crate) async fn release_scan(
        &self,
        entity: ReportEntity,
        checkpoint: &ScanCheckpoint,
    ) -> Result<(), StoreError> {
        let (key, mut checkpoint) = (self.keys().report_walk(entity), checkpoint.clone());
        checkpoint.claimed_until = self.reader().environment.now();
        let condition = Condition::Version(checkpoint.version);
        self.put_checkpoint(&key, &mut checkpoint, condition)
            .await
            .map(drop)
    }

    /// Writes the sums of a slice up to record `after` as drafts, then the checkpoint that lists them, without a claim.
    /// If the claim was lost, the checkpoint is not written and the drafts stay unused.
    pub(crate) async fn save_slice(
        &self,
        entity: ReportEntity,
        mut checkpoint: ScanCheckpoint,
        accumulator: ReportAccumulator<'_>,
        after: Option<String>,
    ) -> Result<(), StoreError> {
        let slice = checkpoint.slice(checkpoint.version);
        for (report, (_, cube)) in checkpoint.reports.iter_mut().zip(accumulator.cubes) {
            match cube {
                Some(cube) => self.put_drafts(report.id, &slice, checkpoint.since, cube).await?,
                None => report.given_up = true,
            }
        }
        checkpoint.slices.push(checkpoint.version);
        checkpoint.after = after;
        self.release_scan(entity, &checkpoint).await
    }

    /// Writes the sums of a report in a slice as items that expire. One put per [`DRAFT_SUMS`] sums.
    async fn put_drafts(
        &self,
        id: ReportId,
        slice: &str,
        since: Timestamp,
        cube: Cube,
    ) -> Result<(), StoreError> {
        let expires = n(since.plus_seconds(2 * LIFETIME).unix_seconds());
        let parts = cube.parts(DRAFT_SUMS).into_values().flatten();
        for (at, part) in parts.enumerate() {
            let mut item = encode_part(&part);
            item.insert("ttl".to_owned(), expires.clone());
            let key = self.keys().report_draft(id, slice, at);
            self.table.put(&key, item).await?;
        }
        Ok(())
    }

    /// The sums of a report in the whole scan: `cube`, those of the last slice, plus those of the saved slices. `None`
    /// if they exceed `max_bytes` of memory. A query for each 1 MB. No query without saved slices.
    pub(crate) async fn with_slices(
        &self,
        checkpoint: &ScanCheckpoint,
        id: ReportId,
        mut cube: Cube,
        max_bytes: usize,
    ) -> Result<Option<Cube>, StoreError> {
        for number in &checkpoint.slices {
            let prefix = key::report_slice_begins(&checkpoint.slice(*number));
            let mut pages = Pages::of(KeyRange::beginning(self.keys().report_drafts(id), prefix));
            while let Some(items) = pages.next(&self.reader().table).await? {
                for item in &items {
                    cube.merge(days_of(item)?);
                }
                if cube.weight() > max_bytes {
                    return Ok(None);
                }
            }
        }
        Ok(Some(cube))
    }

    /// Deletes the checkpoint, unless the claim was lost.
    pub(crate) async fn delete_checkpoint(
        &self,
        entity: ReportEntity,
        checkpoint: &ScanCheckpoint,
    ) -> Result<(), StoreError> {
        let mut transaction = Transaction::default();
        let condition = Condition::Version(checkpoint.version);
        transaction.delete(self.keys().report_walk(entity), condition);
        self.table.try_commit(transaction).await.map(drop)
    }

    /// Increments the checkpoint's version and writes it. Returns whether the condition was met.
    async fn put_checkpoint(
        &self,
        key: &Key,
        checkpoint: &mut ScanCheckpoint,
        condition: Condition,
    ) -> Result<bool, StoreError> {
        checkpoint.version += 1;
        let mut transaction = Transaction::default();
        transaction.put(key.clone(), checkpoint.encode(), condition);
        self.table.try_commit(transaction).await
    }
}
