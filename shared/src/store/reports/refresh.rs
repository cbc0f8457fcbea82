//! Refreshing the stored results of reports: by the clock, each every six hours, and soon after its definition or the
//! instance's zone was changed (C-61).
//!
//! All reports about one entity are added up in one walk through its records. Of two refreshes at the same time one puts
//! its head, and what the other wrote is nobody's; a refresh that is cut off leaves the result of before. What either
//! leaves behind goes with the next refresh.

use std::collections::BTreeMap;

use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use sha2::{Digest as _, Sha256};

use super::stored::{Head, Part, encode_part};
use super::walk::Tally;
use crate::id::ReportId;
use crate::report::{Cube, Definition, Entity};
use crate::store::error::StoreError;
use crate::store::key::{Months, report_generation, report_part_name, report_version};
use crate::store::table::{PAGE, Span, key_of};
use crate::store::transaction::{CommitError, Condition, MOST_WRITES, Transaction};
use crate::store::{Reader, Store};
use crate::text::hex;
use crate::time::{Timestamp, Zone};

/// How old a result may become, in seconds.
const LIFETIME: u32 = 6 * 60 * 60;
/// Reports that are added up in one walk, so that memory is bounded.
const TOGETHER: usize = 4;
/// The most sums (one for each day and group) of a result. What has more is of no use to anybody: of that only this much is
/// stored, that it is too large.
const MOST_SUMS: usize = 200_000;
/// The most sums of a part. Each has at most some 700 bytes, and an item 400 KB.
const PART_SUMS: usize = 500;
/// Parts that are written at the same time.
const WRITES: usize = 8;

/// A report that is due, and its result as it is.
struct Due {
    definition: Definition,
    digest: String,
    before: Option<Head>,
}

impl Store {
    /// Refreshes the reports of all instances that are due. Returns how many were.
    ///
    /// # Errors
    /// The last [`StoreError`] where the table failed; every other instance was seen to all the same, and what is not done
    /// is done the next time.
    pub async fn refresh_reports(&self) -> Result<u64, StoreError> {
        let (mut done, mut failed) = (0, None);
        for instance in self.instances().await? {
            // Boxed, because others wait for this beside much else.
            match Box::pin(self.reader(instance.name).refresh_reports()).await {
                Ok(refreshed) => done += refreshed,
                Err(error) => failed = Some(error),
            }
        }
        failed.map_or(Ok(done), Err)
    }
}

impl Reader {
    /// Refreshes the reports that are due. Costs a query where there are none; else a get of the directory and a batch of
    /// gets of the heads; for each entity that a due report is about, a query for each 1,000 of its records or 1 MB, and
    /// as many again for each further 4 reports; for each report the parts that changed, the head, and a query of all
    /// parts.
    async fn refresh_reports(&self) -> Result<u64, StoreError> {
        let definitions = self.reports().await?;
        if definitions.is_empty() {
            return Ok(0);
        }
        let now = self.table.ambient.now();
        let Some(directory) = self.directory().await? else {
            return Ok(0);
        };
        let zone = directory.settings.zone();
        let mut by_entity: BTreeMap<Entity, Vec<Due>> = BTreeMap::new();
        for due in self.due(definitions, zone, now).await? {
            by_entity
                .entry(due.definition.question.entity())
                .or_default()
                .push(due);
        }
        let mut done = 0;
        for (entity, due) in by_entity {
            for due in due.chunks(TOGETHER) {
                done += self.refresh_together(entity, due, zone).await?;
            }
        }
        Ok(done)
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
            let item = heads.remove(&self.keys().report_head(definition.id));
            let before = item.as_ref().map(Head::decode).transpose()?;
            let digest = definition.question.digest(zone);
            let fresh = before
                .as_ref()
                .is_some_and(|head| head.digest == digest && now < head.generated_at.plus_seconds(LIFETIME));
            if !fresh {
                found.push(Due {
                    definition,
                    digest,
                    before,
                });
            }
        }
        Ok(found)
    }

    /// Walks through an entity's records once and stores what reports about it come to. Returns how many were stored.
    async fn refresh_together(&self, entity: Entity, due: &[Due], zone: Zone) -> Result<u64, StoreError> {
        let now = self.table.ambient.now();
        let mut tally = Tally::new(due.iter().map(|due| &due.definition.question), zone);
        let mut span = Span::head(self.records_of(entity), PAGE);
        loop {
            let page = self.table.query(span.clone()).await?;
            let more = tally.add_page(entity, page, &mut span)?;
            tally.give_up_above(MOST_SUMS);
            if !more {
                break;
            }
        }
        let mut done = 0;
        for (due, (_, cube)) in due.iter().zip(tally.cubes) {
            done += u64::from(self.store_result(due, cube, now).await?);
        }
        Ok(done)
    }

    /// Stores a result, or that it is too large. Whether it is the report's now; not where another refresh was faster.
    async fn store_result(&self, due: &Due, cube: Option<Cube>, now: Timestamp) -> Result<bool, StoreError> {
        let generation = due.before.as_ref().map_or(0, |before| before.generation) + 1;
        let version = report_version(generation, &self.table.ambient.token());
        let (mut parts, mut changed) = (BTreeMap::new(), Vec::new());
        let too_large = cube.is_none();
        for (month, cubes) in cube.unwrap_or_default().parts(PART_SUMS) {
            for (at, cube) in cubes.into_iter().enumerate() {
                let name = report_part_name(&month, at);
                let text = serde_json::json!(cube).to_string();
                let digest = hex(&Sha256::digest(&text)[..16]);
                let same = due.before.as_ref().and_then(|before| before.parts.get(&name));
                let part = same.filter(|same| same.digest == digest).cloned();
                let part = part.unwrap_or_else(|| {
                    changed.push((name.clone(), text));
                    let version = version.clone();
                    Part { version, digest }
                });
                parts.insert(name, part);
            }
        }
        self.write_parts(due.definition.id, &version, changed).await?;
        let head = Head {
            generated_at: now,
            digest: due.digest.clone(),
            generation,
            too_large,
            parts,
        };
        self.put_head(due, &head).await
    }

    async fn write_parts(
        &self,
        id: ReportId,
        version: &str,
        parts: Vec<(String, String)>,
    ) -> Result<(), StoreError> {
        let writes = stream::iter(parts).map(async |(name, days)| {
            let key = self.keys().report_part(id, &name, version);
            self.table.put(&key, encode_part(days)).await
        });
        writes.buffer_unordered(WRITES).try_collect().await
    }

    /// Puts the head in the place of the one that was read, and takes away what it does not name.
    async fn put_head(&self, due: &Due, head: &Head) -> Result<bool, StoreError> {
        let id = due.definition.id;
        let mut transaction = Transaction::default();
        let condition = Head::condition(due.before.as_ref());
        transaction.put(self.keys().report_head(id), head.encode(), condition);
        match self.table.commit(transaction).await {
            Ok(()) => self.clear(id, head).await.map(|()| true),
            Err(CommitError::Refused(_)) => Ok(false),
            Err(CommitError::Store(error)) => Err(error),
        }
    }

    /// Deletes the parts that a head does not name. Those of later refreshes, which may be under way, stay.
    async fn clear(&self, id: ReportId, head: &Head) -> Result<(), StoreError> {
        let named = head
            .parts
            .iter()
            .map(|(name, part)| format!("{name}#{}", part.version));
        let named: std::collections::BTreeSet<_> = named.collect();
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
