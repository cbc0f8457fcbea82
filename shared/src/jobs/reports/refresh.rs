//! Refreshes the stored results of reports: every six hours, and soon after a change of the definition or of
//! the instance's zone (C-61).
//!
//! One scan, in slices, computes all reports of an entity (see [`checkpoint`](crate::jobs::reports::checkpoint)). So
//! memory is bounded, a run continues the scan of the last run, and instances take turns. Of two concurrent refreshes
//! of a report one writes the head. An interrupted refresh keeps the former result, and the next one that writes the
//! head deletes the unused parts.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};

use crate::jobs::counters;
use crate::jobs::instances::log_failure;
use crate::jobs::reports::checkpoint::{ScanCheckpoint, ScannedReport};
use crate::report::{Cube, Definition, ReportEntity};
use crate::store::key::{report_part_name, report_version};
use crate::store::reports::definition;
use crate::store::reports::scan::ReportAccumulator;
use crate::store::reports::stored::{Head, Part, digest_of, encode_part};
use crate::store::{Store, Writer};
use crate::time::{Timestamp, Zone};
use table::StoreError;
use table::item::{self, Item};
use table::{KeyRange, MergeScan, key_of};

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
pub(super) struct Due {
    pub(super) definition: Definition,
    digest: String,
    /// The item of the stored head.
    pub(super) head_item: Option<Item>,
    /// The stored head, if it is readable.
    pub(super) head: Option<Head>,
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
    /// The report as an entry of a new scan.
    fn to_scan(&self) -> ScannedReport {
        ScannedReport {
            id: self.definition.id,
            digest: self.digest.clone(),
            given_up: false,
        }
    }
}

impl Store {
    /// Refreshes the due reports of all instances, for at most 3 minutes. Returns the number of stored results.
    ///
    /// # Errors
    /// The last [`StoreError`] if the table failed. The other instances are processed, and the next run does the rest.
    pub async fn refresh_reports(&self) -> Result<u64, StoreError> {
        let until = self.environment.now().plus_seconds(RUN_SECONDS);
        // Starts at a random instance, because the last instances may have no turn in this run.
        let mut waiting: VecDeque<_> = self.open_instances_in_turn().await?.into();
        let (mut stored, mut last_error) = (0, None);
        while let Some(instance) = waiting.pop_front() {
            // Boxed to keep the enclosing future small.
            match Box::pin(Writer::of_job(self, instance.clone()).refresh_reports(until)).await {
                Ok(turn) => {
                    stored += turn.stored;
                    waiting.extend(turn.more.then_some(instance));
                }
                Err(error) => {
                    log_failure(&instance, "reports", &error);
                    last_error = Some(error);
                }
            }
            if self.environment.now() >= until {
                break;
            }
        }
        last_error.map_or(Ok(stored), Err)
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
        let (mut all, mut last_error) = (ReportTurn::default(), None);
        for (entity, due) in by_entity {
            // An error in one entity's records does not stop the others.
            match self.refresh_entity(entity, &due, zone, until).await {
                Ok(turn) => {
                    all.stored += turn.stored;
                    all.more |= turn.more;
                }
                Err(error) => last_error = Some(error),
            }
        }
        last_error.map_or(Ok(all), Err)
    }

    /// Refreshes the due reports of an instance that is not suspended, for at most 3 minutes.
    #[cfg(feature = "operator")]
    pub(in crate::jobs) async fn refresh_due_reports(&self) -> Result<(), StoreError> {
        let until = self.reader().environment.now().plus_seconds(RUN_SECONDS);
        let directory = self.reader().directory().await?;
        if !directory.is_some_and(|directory| directory.is_open()) {
            return Ok(());
        }
        while self.reader().environment.now() < until && self.refresh_reports(until).await?.more {}
        Ok(())
    }

    /// The due reports, each with the time of its stored result.
    ///
    /// # Errors
    /// [`StoreError`] if the table fails.
    #[cfg(feature = "operator")]
    pub async fn due_reports(&self) -> Result<Vec<(crate::ids::ReportId, Option<Timestamp>)>, StoreError> {
        let Some(directory) = self.reader().directory().await? else {
            return Ok(Vec::new());
        };
        let (zone, now) = (directory.settings.zone(), self.reader().environment.now());
        let due = self.due(self.readable_reports().await?, zone, now).await?;
        let due = due.into_iter();
        Ok(due
            .map(|due| (due.definition.id, due.head.map(|head| head.generated_at)))
            .collect())
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
        let mut due = Vec::new();
        for definition in definitions {
            let key = self.keys().report_head(definition.id);
            let head_item = heads.remove(&key);
            let readable = |item| self.reader().readable_head(&key, item);
            let head = head_item.as_ref().and_then(readable);
            let digest = definition.question.digest(zone);
            let is_current = head
                .as_ref()
                .is_some_and(|head| head.digest == digest && now < head.generated_at.plus_seconds(LIFETIME));
            if !is_current {
                due.push(Due {
                    definition,
                    digest,
                    head_item,
                    head,
                });
            }
        }
        Ok(due)
    }

    /// Claims the scan of an entity and continues it by one slice. Does nothing if another process has claimed it.
    async fn refresh_entity(
        &self,
        entity: ReportEntity,
        due: &[Due],
        zone: Zone,
        until: Timestamp,
    ) -> Result<ReportTurn, StoreError> {
        let reports: Vec<_> = due.iter().map(Due::to_scan).collect();
        let Some(checkpoint) = self.claim_scan(entity, &reports, MAX_REPORTS).await? else {
            return Ok(ReportTurn::default());
        };
        let turn = self
            .scan_slice(entity, checkpoint.clone(), due, zone, until)
            .await;
        match turn {
            Err(StoreError::Corrupt { key: kind, .. }) => {
                // A saved slice is unreadable, so the next run begins a new scan.
                let key = self.keys().report_walk(entity);
                self.reader()
                    .log_unreadable(&key, kind, "a scan for reports is aborted");
                self.delete_checkpoint(entity, &checkpoint).await?;
                Ok(ReportTurn::default())
            }
            Err(error) => {
                // If this fails too, the claim expires.
                let _ = self.release_scan(entity, &checkpoint).await;
                Err(error)
            }
            Ok(turn) => Ok(turn),
        }
    }

    /// Scans records until the end or until the slice is large enough, `until` has passed or memory is short. Then
    /// saves the slice, or after the last record stores the results. The turn has `more` if records or due reports are
    /// left.
    async fn scan_slice(
        &self,
        entity: ReportEntity,
        checkpoint: ScanCheckpoint,
        due: &[Due],
        zone: Zone,
        until: Timestamp,
    ) -> Result<ReportTurn, StoreError> {
        // The claim keeps only reports that are due, so both lists have the same length and order.
        let due_of = |report: &ScannedReport| due.iter().find(|due| due.definition.id == report.id);
        let scanned: Vec<_> = checkpoint.reports.iter().filter_map(due_of).collect();
        let mut accumulator =
            ReportAccumulator::new(scanned.iter().map(|due| &due.definition.question), zone);
        accumulator.skips_unreadable = true;
        for ((_, cube), report) in accumulator.cubes.iter_mut().zip(&checkpoint.reports) {
            if report.given_up {
                *cube = None;
            }
        }
        let (mut after, partitions) = (checkpoint.after.clone(), self.reader().records_of(entity));
        let mut scan = MergeScan::new(KeyRange::of_each(partitions, after.as_ref(), None), CONCURRENCY);
        for pages in 1.. {
            let page = scan.next_page(&self.reader().table).await?;
            after = accumulator.add_items(entity, page.unwrap_or_default())?.or(after);
            for (key, kind) in accumulator.unreadable.drain(..) {
                self.reader()
                    .log_unreadable(&key, kind, "a record is left out of reports");
            }
            if !scan.has_more() {
                break;
            }
            accumulator.abandon_above(MAX_WEIGHT);
            let is_over = self.reader().environment.now() >= until;
            if is_over || pages >= SLICE_PAGES || accumulator.memory_bytes() > MAX_WEIGHT {
                self.save_slice(entity, checkpoint, accumulator, after).await?;
                return Ok(ReportTurn {
                    stored: 0,
                    more: true,
                });
            }
        }
        let cubes = accumulator.cubes.into_iter().map(|(_, cube)| cube);
        let stored = self
            .store_results(&checkpoint, scanned.iter().copied().zip(cubes))
            .await?;
        self.delete_checkpoint(entity, &checkpoint).await?;
        let more = scanned.len() < due.len();
        Ok(ReportTurn { stored, more })
    }

    /// Stores the results of a scan, from the saved slices and the sums of the last one. A sum of `None` is too large.
    /// Returns the number of stored results.
    async fn store_results<'d>(
        &self,
        checkpoint: &ScanCheckpoint,
        last_slice: impl Iterator<Item = (&'d Due, Option<Cube>)>,
    ) -> Result<u64, StoreError> {
        let mut stored = 0;
        for (due, mut cube) in last_slice {
            if let Some(last) = cube {
                let id = due.definition.id;
                cube = self.with_slices(checkpoint, id, last, MAX_WEIGHT).await?;
            }
            if self.store_result(due, cube, checkpoint.since).await? {
                counters::count(|counters| counters.reports += 1);
                stored += 1;
            }
        }
        Ok(stored)
    }

    /// Writes the changed parts of a result, then its head, which makes them valid, and deletes parts that the head
    /// does not name. A `cube` of `None` is too large, as is one with more than [`MAX_PARTS`] parts: then the head
    /// contains only this. Returns false if a concurrent refresh has written the head.
    async fn store_result(
        &self,
        due: &Due,
        cube: Option<Cube>,
        scan_start: Timestamp,
    ) -> Result<bool, StoreError> {
        let (unaltered, generation) = self.unaltered_and_generation(due).await?;
        let version = report_version(generation, &self.reader().environment.token());
        let by_month = cube.map(|cube| cube.parts(PART_SUMS));
        let by_month = by_month.filter(|parts| parts.values().map(Vec::len).sum::<usize>() <= MAX_PARTS);
        let too_large = by_month.is_none();
        let parts = by_month.into_iter().flatten().flat_map(|(month, cubes)| {
            let cubes = cubes.into_iter().enumerate();
            cubes.map(move |(index, cube)| (report_part_name(&month, index), cube))
        });
        let writes = stream::iter(parts).map(async |(name, cube)| {
            let part = self.write_part(due, &unaltered, (&name, &version), &cube).await?;
            Ok::<_, StoreError>((name, part))
        });
        let parts = writes.buffer_unordered(WRITES).try_collect().await?;
        let head = Head {
            generated_at: scan_start,
            digest: due.digest.clone(),
            generation,
            too_large,
            parts,
        };
        self.put_head(due, &head).await
    }

    /// The sort keys of the stored parts that match the head, and the generation of this refresh: one more than the
    /// head's. A query of all parts, if there is a head.
    async fn unaltered_and_generation(&self, due: &Due) -> Result<(BTreeSet<String>, u64), StoreError> {
        let Some(head_item) = &due.head_item else {
            return Ok((BTreeSet::new(), 1));
        };
        let reader = self.reader();
        let (unaltered, latest) = reader
            .unaltered_parts(due.definition.id, due.head.as_ref())
            .await?;
        let current = match &due.head {
            Some(head) => head.generation,
            // Even with an unreadable head, earlier parts must be older than this refresh, or they are never deleted.
            None => latest.max(item::number("report", head_item, "v").unwrap_or(0)),
        };
        Ok((unaltered, current + 1))
    }

    /// Writes a part under a key with its name and version, unless the stored part of this name is equal and
    /// `unaltered` contains its sort key. Returns the new head's entry of the part.
    async fn write_part(
        &self,
        due: &Due,
        unaltered: &BTreeSet<String>,
        (name, version): (&str, &str),
        cube: &Cube,
    ) -> Result<Part, StoreError> {
        let item = encode_part(cube);
        let digest = digest_of(&item)?;
        let stored = due.head.as_ref().and_then(|head| head.parts.get(name));
        if let Some(part) = stored
            && part.digest == digest
            && unaltered.contains(&part.key(name))
        {
            return Ok(part.clone());
        }
        let key = self.keys().report_part(due.definition.id, name, version);
        self.table.put(&key, item).await?;
        let version = version.to_owned();
        Ok(Part { version, digest })
    }
}
