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
use crate::store::reports::stored::{days_of, encode_part};
use crate::store::reports::walk::ReportAccumulator;
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
    pub reports: Vec<Walked>,
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
pub struct Walked {
    pub id: ReportId,
    /// Digest of query and zone.
    pub digest: String,
    /// Whether its result is too large.
    pub given_up: bool,
}

impl ScanCheckpoint {
    /// A scan not yet begun.
    fn new(token: String, reports: Vec<Walked>, now: Timestamp) -> Self {
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

    /// The scan for those of its reports that are still due; `None` if there are none or it began too long
    /// ago.
    fn still(mut self, due: &[Walked], now: Timestamp) -> Option<Self> {
        let same = |walked: &Walked| {
            let is_it = |due: &Walked| (due.id, &due.digest) == (walked.id, &walked.digest);
            due.iter().any(is_it)
        };
        self.reports.retain(same);
        let fresh = now < self.since.plus_seconds(LIFETIME);
        (fresh && !self.reports.is_empty()).then_some(self)
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
        let walk: Self = serde_json::from_str(text).map_err(|cause| item::corrupt(KIND, cause))?;
        let version = item::number(KIND, item, "v")?;
        Ok(Self { version, ..walk })
    }

    /// Key of a slice's drafts.
    fn slice(&self, number: u64) -> String {
        key::report_slice(&self.token, number)
    }
}

impl Writer {
    /// Claims the scan for due reports. Without a scan, begins one for the first `most` reports. `None` if another
    /// process has claimed the scan. A get and a transaction of one item.
    pub(crate) async fn claim_walk(
        &self,
        entity: ReportEntity,
        due: &[Walked],
        most: usize,
    ) -> Result<Option<ScanCheckpoint>, StoreError> {
        let (now, key) = (self.reader().environment.now(), self.keys().report_walk(entity));
        let stored = self.reader().table.get(&key).await?;
        let before = stored.as_ref().and_then(|item| ScanCheckpoint::decode(item).ok());
        let version = before.as_ref().map(|walk| walk.version);
        let condition = match (version, &stored) {
            (Some(version), _) => Condition::Version(version),
            (None, Some(unreadable)) => {
                self.reader()
                    .log_unreadable(&key, KIND, "a scan for reports is restarted");
                as_read(unreadable)
            }
            (None, None) => Condition::Absent,
        };
        if before.as_ref().is_some_and(|walk| now < walk.claimed_until) {
            return Ok(None);
        }
        let begin = || {
            let reports = due.iter().take(most).cloned().collect();
            ScanCheckpoint::new(self.reader().environment.token(), reports, now)
        };
        let mut walk = before.and_then(|walk| walk.still(due, now)).unwrap_or_else(begin);
        walk.claimed_until = now.plus_seconds(CLAIM);
        walk.version = version.unwrap_or(0);
        Ok(self.put_walk(&key, &mut walk, condition).await?.then_some(walk))
    }

    /// Releases a claimed scan unchanged. Sums since the claim are lost.
    pub(crate) async fn release_walk(
        &self,
        entity: ReportEntity,
        walk: &ScanCheckpoint,
    ) -> Result<(), StoreError> {
        let (key, mut walk) = (self.keys().report_walk(entity), walk.clone());
        walk.claimed_until = self.reader().environment.now();
        let condition = Condition::Version(walk.version);
        self.put_walk(&key, &mut walk, condition).await.map(drop)
    }

    /// Writes the sums of a slice up to record `after`, and releases the scan. Writes nothing if the claim
    /// was lost.
    pub(crate) async fn save_slice(
        &self,
        entity: ReportEntity,
        mut walk: ScanCheckpoint,
        tally: ReportAccumulator<'_>,
        after: Option<String>,
    ) -> Result<(), StoreError> {
        let slice = walk.slice(walk.version);
        for (walked, (_, cube)) in walk.reports.iter_mut().zip(tally.cubes) {
            match cube {
                Some(cube) => self.put_drafts(walked.id, &slice, walk.since, cube).await?,
                None => walked.given_up = true,
            }
        }
        walk.slices.push(walk.version);
        walk.after = after;
        self.release_walk(entity, &walk).await
    }

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

    /// Adds the sums of the valid slices for a report to the given ones; `None` if they exceed `most` bytes of memory.
    /// A query for each 1 MB. No query without saved slices.
    pub(crate) async fn with_slices(
        &self,
        walk: &ScanCheckpoint,
        id: ReportId,
        mut cube: Cube,
        most: usize,
    ) -> Result<Option<Cube>, StoreError> {
        for number in &walk.slices {
            let begins = key::report_slice_begins(&walk.slice(*number));
            let mut pages = Pages::of(KeyRange::beginning(self.keys().report_drafts(id), begins));
            while let Some(items) = pages.next(&self.reader().table).await? {
                for item in &items {
                    cube.merge(days_of(item)?);
                }
                if cube.weight() > most {
                    return Ok(None);
                }
            }
        }
        Ok(Some(cube))
    }

    /// Deletes the checkpoint after its results are stored.
    pub(crate) async fn end_walk(
        &self,
        entity: ReportEntity,
        walk: &ScanCheckpoint,
    ) -> Result<(), StoreError> {
        let mut transaction = Transaction::default();
        let condition = Condition::Version(walk.version);
        transaction.delete(self.keys().report_walk(entity), condition);
        self.table.try_commit(transaction).await.map(drop)
    }

    /// Writes the checkpoint with its next version. Returns whether the condition was met.
    async fn put_walk(
        &self,
        key: &Key,
        walk: &mut ScanCheckpoint,
        condition: Condition,
    ) -> Result<bool, StoreError> {
        walk.version += 1;
        let mut transaction = Transaction::default();
        transaction.put(key.clone(), walk.encode(), condition);
        self.table.try_commit(transaction).await
    }
}
