//! Refreshing the stored results of reports: by the clock, each every six hours, and soon after its definition or the
//! instance's zone was changed (C-61).
//!
//! All reports about one entity are added up in one walk through its records, in slices, see [`progress`](super::progress):
//! memory is bounded, a walk goes on where the last maintainer came to its end, and every instance has its turn before any
//! has another. Of two refreshes of a report at the same time one puts its head, and what the other wrote is nobody's; a
//! refresh that is cut off leaves the result of before. What either leaves behind goes with the next refresh.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};

use super::definition;
use super::progress::{Walk, Walked};
use super::stored::{Head, Part, digest_of, encode_part};
use super::walk::Tally;
use crate::id::ReportId;
use crate::report::{Cube, Definition, Entity};
use crate::store::background::log_failure;
use crate::store::error::StoreError;
use crate::store::item::{self, Item};
use crate::store::key::{Months, report_generation, report_part_name, report_version};
use crate::store::quarantine::as_read;
use crate::store::table::{PAGE, Span, key_of};
use crate::store::transaction::{CommitError, Condition, MOST_WRITES, Transaction};
use crate::store::{Reader, Store, meter};
use crate::time::{Timestamp, Zone};

/// How old a result may become, in seconds.
const LIFETIME: u32 = 6 * 60 * 60;
/// How long a maintainer begins new pages, in seconds: it lives for 300, and what it has is to be stored then.
const TIME: u32 = 180;
/// Reports that are added up in one walk.
const TOGETHER: usize = 16;
/// The pages of a slice, each up to 1,000 records or 1 MB.
const SLICE_PAGES: usize = 100;
/// About how many bytes of memory the sums of a slice may take, and those of a result. What has more is of no use to
/// anybody: of that only this much is stored, that it is too large.
const MOST_WEIGHT: usize = 32 << 20;
/// The most sums of a part. Each has at most some 700 bytes, and an item 400 KB.
const PART_SUMS: usize = 500;
/// The most parts of a result. The head has some 120 bytes for each, and an item 400 KB.
const MOST_PARTS: usize = 2_500;
/// Parts that are written at the same time.
const WRITES: usize = 8;

/// A report that is due, and its result as it is.
struct Due {
    definition: Definition,
    digest: String,
    /// The head as it is stored, and as far as it can be read.
    stored: Option<Item>,
    before: Option<Head>,
}

/// What came of an instance's turn.
#[derive(Debug, Clone, Copy, Default)]
struct Turn {
    /// How many results were stored.
    stored: u64,
    /// There is more to do, for whoever has the time.
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
    /// Refreshes the reports of all instances that are due, for 3 minutes at most. Returns how many were.
    ///
    /// # Errors
    /// The last [`StoreError`] where the table failed; every other instance was seen to all the same, and what is not done
    /// is done the next time.
    pub async fn refresh_reports(&self) -> Result<u64, StoreError> {
        let until = self.table.ambient.now().plus_seconds(TIME);
        // Whoever is last may not have a turn this time, so that is not always the same one.
        let mut waiting: VecDeque<_> = self.instances_in_turn().await?.into();
        let (mut done, mut failed) = (0, None);
        while let Some(instance) = waiting.pop_front() {
            // Boxed, because others wait for this beside much else.
            match Box::pin(self.reader(instance.clone()).refresh_reports(until)).await {
                Ok(turn) => {
                    done += turn.stored;
                    waiting.extend(turn.more.then_some(instance));
                }
                Err(error) => {
                    log_failure(&instance, "reports", &error);
                    failed = Some(error);
                }
            }
            if self.table.ambient.now() >= until {
                break;
            }
        }
        failed.map_or(Ok(done), Err)
    }
}

impl Reader {
    /// Refreshes the reports that are due, as far as a slice of the walk through each entity's records goes. Costs a query
    /// where there are none; else a get of the directory and a batch of gets of the heads; for each entity that a due
    /// report is about, a get and two writes of its walk, and a query for each 1,000 of its records or 1 MB, and as many
    /// again for each further 16 reports; for each report the parts that changed, the head, and a query of all parts.
    async fn refresh_reports(&self, until: Timestamp) -> Result<Turn, StoreError> {
        let definitions = self.readable_reports().await?;
        if definitions.is_empty() {
            return Ok(Turn::default());
        }
        let now = self.table.ambient.now();
        let Some(directory) = self.directory().await? else {
            return Ok(Turn::default());
        };
        let zone = directory.settings.zone();
        let mut by_entity: BTreeMap<Entity, Vec<Due>> = BTreeMap::new();
        for due in self.due(definitions, zone, now).await? {
            by_entity
                .entry(due.definition.question.entity())
                .or_default()
                .push(due);
        }
        let (mut all, mut failed) = (Turn::default(), None);
        for (entity, due) in by_entity {
            // Records of one entity that cannot be read are no reason to leave those of another.
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

    /// The reports' definitions, without those that cannot be read, which are logged.
    async fn readable_reports(&self) -> Result<Vec<Definition>, StoreError> {
        let items = self
            .table
            .query_all(Span::head(self.keys().reports(), PAGE))
            .await?;
        let mut definitions = Vec::with_capacity(items.len());
        for item in &items {
            match definition(item) {
                Ok(definition) => definitions.push(definition),
                Err(_) => self.log_unreadable(&key_of(item)?, "report", "a report is left out"),
            }
        }
        Ok(definitions)
    }

    /// The reports without a result, with one of another question or zone, or with one that is too old.
    async fn due(
        &self,
        definitions: Vec<Definition>,
        zone: Zone,
        now: Timestamp,
    ) -> Result<Vec<Due>, StoreError> {
        let heads = definitions
            .iter()
            .map(|definition| self.keys().report_head(definition.id));
        let mut heads = self.table.get_many(heads).await?;
        let mut found = Vec::new();
        for definition in definitions {
            let key = self.keys().report_head(definition.id);
            let stored = heads.remove(&key);
            let before = stored.as_ref().and_then(|item| self.readable_head(&key, item));
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

    /// Goes on with the walk through an entity's records, unless another maintainer is at it.
    async fn refresh_entity(
        &self,
        entity: Entity,
        due: &[Due],
        zone: Zone,
        until: Timestamp,
    ) -> Result<Turn, StoreError> {
        let reports: Vec<_> = due.iter().map(Due::walked).collect();
        let Some(walk) = self.claim_walk(entity, &reports, TOGETHER).await? else {
            return Ok(Turn::default());
        };
        let turn = self.walk_slice(entity, walk.clone(), due, zone, until).await;
        match turn {
            Err(StoreError::Corrupt { key: kind, .. }) => {
                // What its slices added up is of no use any more: the next walk begins anew.
                let key = self.keys().report_walk(entity);
                self.log_unreadable(&key, kind, "a walk is given up");
                self.end_walk(entity, &walk).await?;
                Ok(Turn::default())
            }
            Err(error) => {
                // Where that fails too, the claim ends by itself.
                let _ = self.release_walk(entity, &walk).await;
                Err(error)
            }
            Ok(turn) => Ok(turn),
        }
    }

    /// A slice of a walk; behind the last record, the results.
    async fn walk_slice(
        &self,
        entity: Entity,
        walk: Walk,
        due: &[Due],
        zone: Zone,
        until: Timestamp,
    ) -> Result<Turn, StoreError> {
        let of = |walked: &Walked| due.iter().find(|due| due.definition.id == walked.id);
        let walked: Vec<_> = walk.reports.iter().filter_map(of).collect();
        let mut tally = Tally::new(walked.iter().map(|due| &due.definition.question), zone);
        tally.leaves_out = true;
        for ((_, cube), walked) in tally.cubes.iter_mut().zip(&walk.reports) {
            *cube = cube.take().filter(|_| !walked.given_up);
        }
        let mut span = Span {
            after: walk.after.clone(),
            ..Span::head(self.records_of(entity), PAGE)
        };
        for pages in 1.. {
            let page = self.table.query(span.clone()).await?;
            let more = tally.add_page(entity, page, &mut span)?;
            for (key, kind) in tally.unreadable.drain(..) {
                self.log_unreadable(&key, kind, "a record is left out of reports");
            }
            if !more {
                break;
            }
            tally.give_up_above(MOST_WEIGHT);
            let over = self.table.ambient.now() >= until;
            if over || pages >= SLICE_PAGES || tally.weight() > MOST_WEIGHT {
                self.save_slice(entity, walk, tally, span.after).await?;
                let (stored, more) = (0, true);
                return Ok(Turn { stored, more });
            }
        }
        let cubes = tally.cubes.into_iter().map(|(_, cube)| cube);
        let stored = self
            .store_results(&walk, walked.iter().copied().zip(cubes))
            .await?;
        self.end_walk(entity, &walk).await?;
        let more = walked.len() < due.len();
        Ok(Turn { stored, more })
    }

    /// Stores what the last slice of a walk and those before it come to. Returns how many results were stored.
    async fn store_results<'d>(
        &self,
        walk: &Walk,
        last: impl Iterator<Item = (&'d Due, Option<Cube>)>,
    ) -> Result<u64, StoreError> {
        let mut stored = 0;
        for (due, mut cube) in last {
            if let Some(last) = cube {
                let id = due.definition.id;
                cube = self.with_slices(walk, id, last, MOST_WEIGHT).await?;
            }
            let one = u64::from(self.store_result(due, cube, walk.since).await?);
            meter::note(|deeds| deeds.reports += one);
            stored += one;
        }
        Ok(stored)
    }

    /// Stores a result, or that it is too large. Whether it is the report's now; not where another refresh was faster.
    async fn store_result(
        &self,
        due: &Due,
        cube: Option<Cube>,
        since: Timestamp,
    ) -> Result<bool, StoreError> {
        let (kept, generation) = self.kept(due).await?;
        let version = report_version(generation, &self.table.ambient.token());
        let months = cube.map(|cube| cube.parts(PART_SUMS));
        let months = months.filter(|months| months.values().map(Vec::len).sum::<usize>() <= MOST_PARTS);
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

    /// The parts that are still what the head says, of which a refresh keeps those that do not change, and the number of
    /// the refresh. A query of all parts, where there are any.
    async fn kept(&self, due: &Due) -> Result<(BTreeSet<String>, u64), StoreError> {
        let Some(stored) = &due.stored else {
            return Ok((BTreeSet::new(), 1));
        };
        let (kept, latest) = self.sound_parts(due.definition.id, due.before.as_ref()).await?;
        let before = due.before.as_ref().map(|before| before.generation);
        // Where the head cannot be read, what was written before must be older all the same, or it is never cleared away.
        let before = before.unwrap_or_else(|| latest.max(item::number("report", stored, "v").unwrap_or(0)));
        Ok((kept, before + 1))
    }

    /// Writes a part in a version of it, unless it is as it was.
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

    /// Puts the head in the place of the one that was read, and takes away what it does not name.
    async fn put_head(&self, due: &Due, head: &Head) -> Result<bool, StoreError> {
        let id = due.definition.id;
        let mut transaction = Transaction::default();
        let condition = match (&due.before, &due.stored) {
            (Some(before), _) => Condition::Version(before.generation),
            (None, Some(unreadable)) => as_read(unreadable),
            (None, None) => Condition::Absent,
        };
        transaction.put(self.keys().report_head(id), head.encode(), condition);
        match self.table.commit(transaction).await {
            Ok(()) => self.clear(id, head).await.map(|()| true),
            Err(CommitError::Refused(_)) => Ok(false),
            Err(CommitError::Store(error)) => Err(error),
        }
    }

    /// Deletes the parts that a head does not name. Those of later refreshes, which may be under way, stay.
    async fn clear(&self, id: ReportId, head: &Head) -> Result<(), StoreError> {
        let named = head.parts.iter().map(|(name, part)| part.key(name));
        let named: BTreeSet<_> = named.collect();
        let (after, through) = Months::all().bounds();
        let mut span = Span {
            after: Some(after),
            through: Some(through),
            ..Span::head(self.keys().report_data(id), PAGE)
        };
        loop {
            let page = self.table.query(span.clone()).await?;
            let keys = page.items.iter().map(key_of).collect::<Result<Vec<_>, _>>()?;
            span.after = keys.last().map(|key| key.sk.clone());
            let mut gone = keys;
            gone.retain(|key| {
                let old = report_generation(&key.sk).is_some_and(|number| number <= head.generation);
                old && !named.contains(&key.sk)
            });
            for keys in gone.chunks(MOST_WRITES) {
                let mut transaction = Transaction::default();
                for key in keys {
                    transaction.delete(key.clone(), Condition::Always);
                }
                match self.table.commit(transaction).await {
                    Ok(()) | Err(CommitError::Refused(_)) => {}
                    Err(CommitError::Store(error)) => return Err(error),
                }
            }
            if !page.more {
                return Ok(());
            }
        }
    }
}
