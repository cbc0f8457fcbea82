//! The stored result of a report: parts with some days of a month each, and a head with the version of each part.
//!
//! Parts are immutable. A refresh writes changed parts under new keys and then the head, in one write, so a reader
//! sees either the old or the new result even if the refresh fails. Unreferenced parts are deleted last; a reader
//! with an old head misses them and reads again.
//!
//! The head has a digest of each part. A missing or altered part invalidates the result: readers compute it (C-61), a
//! refresh rewrites it, and the doctor reports it.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::Parts;
use crate::ids::ReportId;
use crate::report::Cube;
use crate::store::Reader;
use crate::store::key::{Key, Months, report_generation, report_part_sort};
use crate::store::quarantine::as_read;
use crate::text::hex;
use crate::time::Timestamp;
use table::StoreError;
use table::item::{self, Item, n, s};
use table::{Pages, key_of};
use table::{Policy, Transaction};

const KIND: &str = "report's result";
/// The days of a part as JSON.
const DAYS: &str = "days";

/// The head of a result.
#[derive(Debug, Clone, PartialEq)]
pub struct Head {
    /// Time of the result.
    pub generated_at: Timestamp,
    /// Digest of the report's question and the time zone.
    pub digest: String,
    /// Incremented by every refresh.
    pub generation: u64,
    /// Whether there is no result because it would be too large.
    pub too_large: bool,
    /// Its parts by name.
    pub parts: BTreeMap<String, Part>,
}

/// A part in the head.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// Version of the part: generation of the refresh and a token.
    #[serde(rename = "v")]
    pub version: String,
    /// Digest of the part's text.
    #[serde(rename = "d")]
    pub digest: String,
}

/// A stored result.
#[derive(Debug)]
pub enum StoredResult {
    /// There is no result, because it would be too large.
    TooLarge,
    /// Time of the result, and its sums.
    Cube(Timestamp, Cube),
}

/// Outcome of the comparison of a stored result with its head.
#[derive(Debug)]
pub enum Checked {
    /// The result has no fault, or there is no result.
    Sound,
    /// The result was refreshed concurrently.
    Changing,
    /// Faulty items with reasons, and the writes that cause a new computation.
    Damaged {
        findings: Vec<(String, String)>,
        fix: Transaction,
    },
}

impl Head {
    /// The head's item.
    pub fn encode(&self) -> Item {
        let parts = serde_json::json!(self.parts).to_string();
        Item::from([
            ("generatedAt".to_owned(), s(self.generated_at.to_string())),
            ("digest".to_owned(), s(self.digest.as_str())),
            ("v".to_owned(), n(self.generation)),
            ("tooLarge".to_owned(), n(u8::from(self.too_large))),
            ("parts".to_owned(), s(parts)),
        ])
    }

    /// The head in an item.
    pub fn decode(item: &Item) -> Result<Self, StoreError> {
        let time = Timestamp::parse(text(item, "generatedAt")?);
        let parts = serde_json::from_str(text(item, "parts")?);
        Ok(Self {
            generated_at: time.ok_or_else(|| item::corrupt(KIND, "its time cannot be read"))?,
            digest: text(item, "digest")?.to_owned(),
            generation: item::number(KIND, item, "v")?,
            too_large: item::number(KIND, item, "tooLarge")? > 0,
            parts: parts.map_err(|cause| item::corrupt(KIND, cause))?,
        })
    }

    /// The sums of the months' days, from their parts.
    fn cube(&self, mut read: Parts, months: &Months) -> Result<Cube, Lacking> {
        let (after, through) = months.bounds();
        let mut cube = Cube::default();
        for (name, part) in self.parts.range(after..=through) {
            let item = read.remove(&part.key(name)).ok_or(Lacking::Missing)?;
            if !part.is(&item) {
                return Err(Lacking::Damaged);
            }
            cube.merge(days_of(&item).map_err(|_| Lacking::Damaged)?);
        }
        Ok(cube)
    }
}

impl Part {
    /// The sort key of the part with this name.
    pub fn key(&self, name: &str) -> String {
        report_part_sort(name, &self.version)
    }

    /// Whether an item has the part's digest.
    pub fn is(&self, item: &Item) -> bool {
        digest_of(item).is_ok_and(|digest| digest == self.digest)
    }
}

/// The fault of parts compared with their head.
enum Lacking {
    /// A part is missing. A refresh may have replaced it.
    Missing,
    /// A part was altered.
    Damaged,
}

/// The item of a part.
pub fn encode_part(days: &Cube) -> Item {
    Item::from([(DAYS.to_owned(), s(serde_json::json!(days).to_string()))])
}

/// The days of a part.
pub fn days_of(item: &Item) -> Result<Cube, StoreError> {
    serde_json::from_str(text(item, DAYS)?).map_err(|cause| item::corrupt(KIND, cause))
}

/// Digest of a part's text.
pub fn digest_of(part: &Item) -> Result<String, StoreError> {
    Ok(hex(&Sha256::digest(text(part, DAYS)?)[..16]))
}

fn text<'i>(item: &'i Item, name: &str) -> Result<&'i str, StoreError> {
    let text = item.get(name).and_then(|text| text.as_s().ok());
    let missing = || item::corrupt(KIND, format_args!("{name} is not text"));
    text.map(String::as_str).ok_or_else(missing)
}

impl Reader {
    /// The parts of some months in all versions. One query per MB.
    pub(crate) async fn report_parts(&self, id: ReportId, months: &Months) -> Result<Parts, StoreError> {
        let items = self.table.query_all(self.keys().report_parts(id, months)).await?;
        let by_key = items.into_iter().map(|item| Ok((key_of(&item)?.sk, item)));
        by_key.collect()
    }

    /// The stored result of some months, with its time. `None` if there is no result with this digest or it is damaged,
    /// so that it must be computed. No call unless a part is missing, usually because a refresh replaced it while
    /// `read` was read.
    pub(crate) async fn stored_cube(
        &self,
        (id, digest): (ReportId, String),
        months: &Months,
        read: (Option<Head>, Parts),
    ) -> Result<Option<StoredResult>, StoreError> {
        let (mut head, mut parts) = read;
        let key = self.keys().report_head(id);
        let mut retry = self.table.retry(Policy::CONFLICT, "reading a result");
        let mut is_first = true;
        loop {
            let Some(found) = head.filter(|head| head.digest == digest) else {
                return Ok(None);
            };
            if found.too_large {
                return Ok(Some(StoredResult::TooLarge));
            }
            match found.cube(parts, months) {
                Ok(cube) => return Ok(Some(StoredResult::Cube(found.generated_at, cube))),
                Err(Lacking::Damaged) => break,
                Err(Lacking::Missing) => {}
            }
            if retry.again().await.is_err() {
                break;
            }
            let newer = tokio::try_join!(self.report_head(&key), self.report_parts(id, months))?;
            if !is_first && newer.0.as_ref() == Some(&found) {
                // No refresh replaced it, so it was lost.
                break;
            }
            is_first = false;
            (head, parts) = newer;
        }
        self.log_unreadable(&key, KIND, "a damaged result is computed anew");
        Ok(None)
    }

    async fn report_head(&self, key: &Key) -> Result<Option<Head>, StoreError> {
        let item = self.table.get(key).await?;
        Ok(item.and_then(|item| self.readable_head(key, &item)))
    }

    /// The head in an item; `None`, which is logged, if it is unreadable.
    pub(crate) fn readable_head(&self, key: &Key, item: &Item) -> Option<Head> {
        let head = Head::decode(item);
        if head.is_err() {
            self.log_unreadable(key, KIND, "an item cannot be read");
        }
        head.ok()
    }

    /// Sort keys of the unaltered parts of a head, and the latest generation among all stored parts. One query per MB.
    pub(crate) async fn sound_parts(
        &self,
        id: ReportId,
        head: Option<&Head>,
    ) -> Result<(BTreeSet<String>, u64), StoreError> {
        let named: BTreeMap<_, _> = head
            .into_iter()
            .flat_map(|head| &head.parts)
            .map(|(name, part)| (part.key(name), part))
            .collect();
        let (mut sound, mut latest) = (BTreeSet::new(), 0);
        let mut pages = Pages::of(self.keys().report_parts(id, &Months::all()));
        while let Some(items) = pages.next(&self.table).await? {
            for item in &items {
                let sk = key_of(item)?.sk;
                latest = latest.max(report_generation(&sk).unwrap_or(0));
                if named.get(&sk).is_some_and(|part| part.is(item)) {
                    sound.insert(sk);
                }
            }
        }
        Ok((sound, latest))
    }

    /// Compares a stored result with its head. Two gets, and a query per MB of parts between them.
    pub async fn check_result(&self, id: ReportId) -> Result<Checked, StoreError> {
        let key = self.keys().report_head(id);
        let Some(item) = self.table.get(&key).await? else {
            return Ok(Checked::Sound);
        };
        let head = Head::decode(&item).ok();
        let (sound, _) = self.sound_parts(id, head.as_ref()).await?;
        if self.table.get(&key).await?.as_ref() != Some(&item) {
            return Ok(Checked::Changing);
        }
        let findings: Vec<_> = match &head {
            None => vec![(key.to_string(), "cannot be read".to_owned())],
            Some(head) => {
                let named = head.parts.iter().map(|(name, part)| part.key(name));
                let lost = named.filter(|sk| !sound.contains(sk));
                lost.map(|sk| {
                    let reason = "is missing or differs from the head of its result";
                    (format!("{} {sk}", key.pk), reason.to_owned())
                })
                .collect()
            }
        };
        if findings.is_empty() {
            return Ok(Checked::Sound);
        }
        // Without a head there is no result: readers compute it, and the next refresh writes it.
        let mut fix = Transaction::default();
        fix.delete(key, as_read(&item));
        Ok(Checked::Damaged { findings, fix })
    }
}
