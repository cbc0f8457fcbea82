//! How far the walk through an entity's records has come.
//!
//! A walk may be longer than a maintainer's time, so it is made in slices. What a slice added up is written as drafts, and
//! then the walk itself, which names the slices that count. A slice has the number of the claim under which it was made, and
//! no two claims have the same, so whatever a maintainer that died, or lost its claim, left behind is never added. Drafts
//! expire by themselves.

use serde::{Deserialize, Serialize};

use super::stored::{days_of, encode_part};
use super::walk::Tally;
use crate::id::ReportId;
use crate::report::{Cube, Entity};
use crate::store::Reader;
use crate::store::error::StoreError;
use crate::store::item::{self, Item, n, s};
use crate::store::key::Key;
use crate::store::quarantine::as_read;
use crate::store::table::{PAGE, Span, key_of};
use crate::store::transaction::{CommitError, Condition, Transaction};
use crate::time::Timestamp;

const KIND: &str = "report's walk";
/// The walk as text.
const TEXT: &str = "walk";
/// How long a claim lasts, in seconds: longer than a maintainer may live.
const CLAIM: u32 = 6 * 60;
/// How old a walk may become before it is begun anew, in seconds. Results as old are due again.
const LIFETIME: u32 = 6 * 60 * 60;
/// The sums of a draft. Each has at most some 700 bytes, and an item 400 KB.
const DRAFT_SUMS: usize = 500;

/// A walk through an entity's records for some reports.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Walk {
    /// Tells its drafts from those of other walks.
    pub token: String,
    /// When it began: of when its results tell.
    pub since: Timestamp,
    /// The reports that are added up.
    pub reports: Vec<Walked>,
    /// The sort key of the last record that was added.
    pub after: Option<String>,
    /// The numbers of the slices that count.
    pub slices: Vec<u64>,
    /// Until when nobody else goes on with it.
    pub claimed_until: Timestamp,
    /// Rises by one with every write.
    #[serde(skip)]
    pub version: u64,
}

/// A report in a walk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Walked {
    pub id: ReportId,
    /// Stands for the question and the zone.
    pub digest: String,
    /// It turned out to be too large.
    pub given_up: bool,
}

impl Walk {
    /// A walk that nobody has begun.
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

    /// The walk for those of its reports that are due still; `None` where that is none, or it began too long ago.
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

    /// The name of a slice's drafts.
    fn slice(&self, number: u64) -> String {
        format!("{}#{number:012}", self.token)
    }
}

impl Reader {
    /// The walk through an entity's records for due reports, of which the first `most` begin a new one where there is none;
    /// `None` where another maintainer is at it. A get and a transaction of one item.
    pub(super) async fn claim_walk(
        &self,
        entity: Entity,
        due: &[Walked],
        most: usize,
    ) -> Result<Option<Walk>, StoreError> {
        let (now, key) = (self.table.ambient.now(), self.keys().report_walk(entity));
        let stored = self.table.get(&key).await?;
        let before = stored.as_ref().and_then(|item| Walk::decode(item).ok());
        let version = before.as_ref().map(|walk| walk.version);
        let condition = match (version, &stored) {
            (Some(version), _) => Condition::Version(version),
            (None, Some(unreadable)) => {
                self.log_unreadable(&key, KIND, "a walk begins anew");
                as_read(unreadable)
            }
            (None, None) => Condition::Absent,
        };
        if before.as_ref().is_some_and(|walk| now < walk.claimed_until) {
            return Ok(None);
        }
        let begin = || {
            let reports = due.iter().take(most).cloned().collect();
            Walk::new(self.table.ambient.token(), reports, now)
        };
        let mut walk = before.and_then(|walk| walk.still(due, now)).unwrap_or_else(begin);
        walk.claimed_until = now.plus_seconds(CLAIM);
        walk.version = version.unwrap_or(0);
        Ok(self.put_walk(&key, &mut walk, condition).await?.then_some(walk))
    }

    /// Gives a walk back as it was when it was claimed, for others to go on with. What was added up since is lost.
    pub(super) async fn release_walk(&self, entity: Entity, walk: &Walk) -> Result<(), StoreError> {
        let (key, mut walk) = (self.keys().report_walk(entity), walk.clone());
        walk.claimed_until = self.table.ambient.now();
        let condition = Condition::Version(walk.version);
        self.put_walk(&key, &mut walk, condition).await.map(drop)
    }

    /// Writes what a slice added up, up to the record `after`, and gives the walk back. Nothing where the claim was lost.
    pub(super) async fn save_slice(
        &self,
        entity: Entity,
        mut walk: Walk,
        tally: Tally<'_>,
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

    /// What the slices that count added up for a report, beside what is given; `None` where it takes more bytes of memory
    /// than `most`. A query for each 1 MB; none where no slice was saved.
    pub(super) async fn with_slices(
        &self,
        walk: &Walk,
        id: ReportId,
        mut cube: Cube,
        most: usize,
    ) -> Result<Option<Cube>, StoreError> {
        for number in &walk.slices {
            let begins = format!("{}#", walk.slice(*number));
            let mut span = Span::beginning(self.keys().report_drafts(id), begins);
            span.limit = PAGE;
            loop {
                let page = self.table.query(span.clone()).await?;
                for item in &page.items {
                    cube.merge(days_of(item)?);
                }
                if cube.weight() > most {
                    return Ok(None);
                }
                let Some(last) = page.items.last().filter(|_| page.more) else {
                    break;
                };
                span.after = Some(key_of(last)?.sk);
            }
        }
        Ok(Some(cube))
    }

    /// Ends a walk whose results are stored.
    pub(super) async fn end_walk(&self, entity: Entity, walk: &Walk) -> Result<(), StoreError> {
        let mut transaction = Transaction::default();
        let condition = Condition::Version(walk.version);
        transaction.delete(self.keys().report_walk(entity), condition);
        match self.table.commit(transaction).await {
            Ok(()) | Err(CommitError::Refused(_)) => Ok(()),
            Err(CommitError::Store(error)) => Err(error),
        }
    }

    /// Writes a walk under its next version. Whether the condition held.
    async fn put_walk(&self, key: &Key, walk: &mut Walk, condition: Condition) -> Result<bool, StoreError> {
        walk.version += 1;
        let mut transaction = Transaction::default();
        transaction.put(key.clone(), walk.encode(), condition);
        match self.table.commit(transaction).await {
            Ok(()) => Ok(true),
            Err(CommitError::Refused(_)) => Ok(false),
            Err(CommitError::Store(error)) => Err(error),
        }
    }
}
