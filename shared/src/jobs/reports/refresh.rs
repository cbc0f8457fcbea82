//! Refreshes the stored results of reports: every six hours, and soon after a change of the definition or of
//! the instance's zone (C-61).
//!
//! One scan, in slices, computes all reports of an entity (see [`checkpoint`](crate::jobs::reports::checkpoint)). So
//! memory is bounded, a run continues the scan of the last run, and instances take turns. Of two concurrent refreshes
//! of a report one writes the head. An interrupted refresh keeps the former result. The next deletes unused parts.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};

use crate::ids::ReportId;
use crate::jobs::counters;
use crate::jobs::instances::log_failure;
use crate::jobs::reports::checkpoint::{ScanCheckpoint, Walked};
use crate::report::{Cube, Definition, ReportEntity};
use crate::store::key::{Months, report_generation, report_part_name, report_version};
use crate::store::quarantine::as_read;
use crate::store::reports::definition;
use crate::store::reports::stored::{Head, Part, digest_of, encode_part};
use crate::store::reports::walk::ReportAccumulator;
use crate::store::{Store, Writer};
use crate::time::{Timestamp, Zone};
use table::StoreError;
use table::item::{self, Item};
use table::{Condition, MAX_WRITES, Transaction};
use table::{KeyRange, MergeScan, Pages, key_of};

/// Maximum age of a result in seconds.
const LIFETIME: u32 = 6 * 60 * 60;
/// Seconds in which a run begins new pages; the function's timeout is 300, which leaves time to store
/// results.
const RUN_SECONDS: u32 = 180;
/// Maximum reports computed by one scan.
const MAX_REPORTS: usize = 16;
/// Concurrent queries of a scan.
const CONCURRENCY: usize = 16;
/// Pages of a slice, each up to 1,000 records or 1 MB.
const SLICE_PAGES: usize = 100;
/// Maximum memory in bytes of the sums of a slice, and of a result. Of a larger result only the fact that it
/// is too large is stored.
const MAX_WEIGHT: usize = 32 << 20;
/// Maximum sums of a part. Each sum has up to about 700 bytes, and an item at most 400 KB.
const PART_SUMS: usize = 500;
/// Maximum parts of a result. The head has about 120 bytes for each part, and an item has at most 400 KB.
const MAX_PARTS: usize = 2_500;
/// Concurrent writes of parts.
const WRITES: usize = 8;

/// A due report with its stored result.
struct Due {
    definition: Definition,
    digest: String,
    /// The stored head, and its decoded form if it is readable.
    stored: Option<Item>,
    before: Option<Head>,
}

/// Result of an instance's turn.
#[derive(Debug, Clone, Copy, Default)]
struct ReportTurn {
    /// Number of stored results.
    stored: u64,
    /// Whether work is left.
    more: bool,
}

impl Due {
    fn walked(&self) -> Walked {
        Walked {
            id: self.definition.id,
            digest: self.digest.clone(),
            given_up: false,
        }
    }
}

impl Store {
    /// Refreshes the due reports of all instances, for at most 3 minutes. Returns their number.
    ///
    /// # Errors
    /// The last [`StoreError`] if the table failed. The other instances are processed, and the next run does the rest.
    pub async fn refresh_reports(&self) -> Result<u64, StoreError> {
        let until = self.environment.now().plus_seconds(RUN_SECONDS);
        // Starts at a random instance, because the last instances may have no turn in this run.
        let mut waiting: VecDeque<_> = self.open_instances_in_turn().await?.into();
        let (mut done, mut failed) = (0, None);
        while let Some(instance) = waiting.pop_front() {
            // Boxed to keep the enclosing future small.
            match Box::pin(Writer::of_job(self, instance.clone()).refresh_reports(until)).await {
                Ok(turn) => {
                    done += turn.stored;
                    waiting.extend(turn.more.then_some(instance));
                }
                Err(error) => {
                    log_failure(&instance, "reports", &error);
                    failed = Some(error);
                }
            }
            if self.environment.now() >= until {
                break;
            }
        }
        failed.map_or(Ok(done), Err)
    }
}

impl Writer {
    /// Refreshes due reports by one slice of each entity's scan. Without reports it costs a query. Otherwise it costs:
    ///
    /// - a get of the directory and a batch of gets of the heads
    /// - for each entity a get and two writes of the checkpoint, and a query for each 1,000 of its records or 1 MB,
    ///   again for each further 16 reports
    /// - for each report the changed parts, the head, and a query of all parts
    async fn refresh_reports(&self, until: Timestamp) -> Result<ReportTurn, StoreError> {
        let definitions = self.readable_reports().await?;
        if definitions.is_empty() {
            return Ok(ReportTurn::default());
        }
        let now = self.reader().environment.now();
        let Some(directory) = self.reader().directory().await? else {
            return Ok(ReportTurn::default());
        };
        let zone = directory.settings.zone();
        let mut by_entity: BTreeMap<ReportEntity, Vec<Due>> = BTreeMap::new();
        for due in self.due(definitions, zone, now).await? {
            by_entity
                .entry(due.definition.question.entity())
                .or_default()
                .push(due);
        }
        let (mut all, mut failed) = (ReportTurn::default(), None);
        for (entity, due) in by_entity {
            // An error in one entity's records does not stop the others.
            match self.refresh_entity(entity, &due, zone, until).await {
                Ok(turn) => {
                    all.stored += turn.stored;
                    all.more |= turn.more;
                }
                Err(error) => failed = Some(error),
            }
        }
        failed.map_or(Ok(all), Err)
    }

    /// The reports' definitions. Unreadable definitions are logged and skipped.
    async fn readable_reports(&self) -> Result<Vec<Definition>, StoreError> {
        let reports = KeyRange::whole(self.keys().reports());
        let items = self.reader().table.query_all(reports).await?;
        let mut definitions = Vec::with_capacity(items.len());
        for item in &items {
            match definition(item) {
                Ok(definition) => definitions.push(definition),
                Err(_) => self
                    .reader()
                    .log_unreadable(&key_of(item)?, "report", "a report is left out"),
            }
        }
        Ok(definitions)
    }

    /// The reports without a result, with one of another query or zone, or with one that is too old.
    async fn due(
        &self,
        definitions: Vec<Definition>,
        zone: Zone,
        now: Timestamp,
    ) -> Result<Vec<Due>, StoreError> {
        let heads = definitions
            .iter()
            .map(|definition| self.keys().report_head(definition.id));
        let mut heads = self.reader().table.get_many(heads).await?;
        let mut found = Vec::new();
        for definition in definitions {
            let key = self.keys().report_head(definition.id);
            let stored = heads.remove(&key);
            let readable = |item| self.reader().readable_head(&key, item);
            let before = stored.as_ref().and_then(readable);
            let digest = definition.question.digest(zone);
            let fresh = before
                .as_ref()
                .is_some_and(|head| head.digest == digest && now < head.generated_at.plus_seconds(LIFETIME));
            if !fresh {
                found.push(Due {
                    definition,
                    digest,
                    stored,
                    before,
                });
            }
        }
        Ok(found)
    }

    /// Continues the scan of an entity, unless it is claimed.
    async fn refresh_entity(
        &self,
        entity: ReportEntity,
        due: &[Due],
        zone: Zone,
        until: Timestamp,
    ) -> Result<ReportTurn, StoreError> {
        let reports: Vec<_> = due.iter().map(Due::walked).collect();
        let Some(walk) = self.claim_walk(entity, &reports, MAX_REPORTS).await? else {
            return Ok(ReportTurn::default());
        };
        let turn = self.walk_slice(entity, walk.clone(), due, zone, until).await;
        match turn {
            Err(StoreError::Corrupt { key: kind, .. }) => {
                // The slices are unusable, so the next run begins a new scan.
                let key = self.keys().report_walk(entity);
                self.reader()
                    .log_unreadable(&key, kind, "a scan for reports is aborted");
                self.end_walk(entity, &walk).await?;
                Ok(ReportTurn::default())
            }
            Err(error) => {
                // If this fails too, the claim expires.
                let _ = self.release_walk(entity, &walk).await;
                Err(error)
            }
            Ok(turn) => Ok(turn),
        }
    }

    /// Runs one slice of a scan. After the last record, stores the results.
    async fn walk_slice(
        &self,
        entity: ReportEntity,
        walk: ScanCheckpoint,
        due: &[Due],
        zone: Zone,
        until: Timestamp,
    ) -> Result<ReportTurn, StoreError> {
        let of = |walked: &Walked| due.iter().find(|due| due.definition.id == walked.id);
        let walked: Vec<_> = walk.reports.iter().filter_map(of).collect();
        let mut tally = ReportAccumulator::new(walked.iter().map(|due| &due.definition.question), zone);
        tally.leaves_out = true;
        for ((_, cube), walked) in tally.cubes.iter_mut().zip(&walk.reports) {
            *cube = cube.take().filter(|_| !walked.given_up);
        }
        let (mut after, partitions) = (walk.after.clone(), self.reader().records_of(entity));
        let mut scan = MergeScan::new(KeyRange::of_each(partitions, after.as_ref(), None), CONCURRENCY);
        for pages in 1.. {
            let page = scan.next_page(&self.reader().table).await?;
            after = tally.add_items(entity, page.unwrap_or_default())?.or(after);
            for (key, kind) in tally.unreadable.drain(..) {
                self.reader()
                    .log_unreadable(&key, kind, "a record is left out of reports");
            }
            if !scan.has_more() {
                break;
            }
            tally.give_up_above(MAX_WEIGHT);
            let over = self.reader().environment.now() >= until;
            if over || pages >= SLICE_PAGES || tally.weight() > MAX_WEIGHT {
                self.save_slice(entity, walk, tally, after).await?;
                let (stored, more) = (0, true);
                return Ok(ReportTurn { stored, more });
            }
        }
        let cubes = tally.cubes.into_iter().map(|(_, cube)| cube);
        let stored = self
            .store_results(&walk, walked.iter().copied().zip(cubes))
            .await?;
        self.end_walk(entity, &walk).await?;
        let more = walked.len() < due.len();
        Ok(ReportTurn { stored, more })
    }

    /// Stores the results of a scan. Returns their number.
    async fn store_results<'d>(
        &self,
        walk: &ScanCheckpoint,
        last: impl Iterator<Item = (&'d Due, Option<Cube>)>,
    ) -> Result<u64, StoreError> {
        let mut stored = 0;
        for (due, mut cube) in last {
            if let Some(last) = cube {
                let id = due.definition.id;
                cube = self.with_slices(walk, id, last, MAX_WEIGHT).await?;
            }
            let one = u64::from(self.store_result(due, cube, walk.since).await?);
            counters::count(|counters| counters.reports += one);
            stored += one;
        }
        Ok(stored)
    }

    /// Stores a result, or that it is too large. Returns false if another refresh was faster.
    async fn store_result(
        &self,
        due: &Due,
        cube: Option<Cube>,
        since: Timestamp,
    ) -> Result<bool, StoreError> {
        let (kept, generation) = self.kept(due).await?;
        let version = report_version(generation, &self.reader().environment.token());
        let months = cube.map(|cube| cube.parts(PART_SUMS));
        let months = months.filter(|months| months.values().map(Vec::len).sum::<usize>() <= MAX_PARTS);
        let too_large = months.is_none();
        let parts = months.into_iter().flatten().flat_map(|(month, cubes)| {
            let cubes = cubes.into_iter().enumerate();
            cubes.map(move |(at, cube)| (report_part_name(&month, at), cube))
        });
        let writes = stream::iter(parts).map(async |(name, cube)| {
            let part = self.write_part(due, &kept, (&name, &version), &cube).await?;
            Ok::<_, StoreError>((name, part))
        });
        let parts = writes.buffer_unordered(WRITES).try_collect().await?;
        let head = Head {
            generated_at: since,
            digest: due.digest.clone(),
            generation,
            too_large,
            parts,
        };
        self.put_head(due, &head).await
    }

    /// The stored parts that match the head, and the number of this refresh. A query of all parts, if there
    /// are any.
    async fn kept(&self, due: &Due) -> Result<(BTreeSet<String>, u64), StoreError> {
        let Some(stored) = &due.stored else {
            return Ok((BTreeSet::new(), 1));
        };
        let reader = self.reader();
        let (kept, latest) = reader.sound_parts(due.definition.id, due.before.as_ref()).await?;
        let before = due.before.as_ref().map(|before| before.generation);
        // Even with an unreadable head, earlier parts must be older than this refresh, or they are never
        // deleted.
        let before = before.unwrap_or_else(|| latest.max(item::number("report", stored, "v").unwrap_or(0)));
        Ok((kept, before + 1))
    }

    /// Writes a part unless it is unchanged.
    async fn write_part(
        &self,
        due: &Due,
        kept: &BTreeSet<String>,
        (name, version): (&str, &str),
        cube: &Cube,
    ) -> Result<Part, StoreError> {
        let item = encode_part(cube);
        let digest = digest_of(&item)?;
        let before = due.before.as_ref().and_then(|before| before.parts.get(name));
        let same = |before: &&Part| before.digest == digest && kept.contains(&before.key(name));
        if let Some(same) = before.filter(same) {
            return Ok(same.clone());
        }
        let key = self.keys().report_part(due.definition.id, name, version);
        self.table.put(&key, item).await?;
        let version = version.to_owned();
        Ok(Part { version, digest })
    }

    /// Replaces the head that was read, and deletes parts that the new one does not name.
    async fn put_head(&self, due: &Due, head: &Head) -> Result<bool, StoreError> {
        let id = due.definition.id;
        let mut transaction = Transaction::default();
        let condition = match (&due.before, &due.stored) {
            (Some(before), _) => Condition::Version(before.generation),
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

    /// Deletes the parts that the written head does not name. Spares those of later generations: their refresh may still
    /// be in progress. A concurrent refresh of the same or an earlier generation can no longer write its head.
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
