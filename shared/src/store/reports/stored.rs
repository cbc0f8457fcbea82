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

/// The parts of the stored result, by sort key.
pub type Parts = BTreeMap<String, Item>;

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

    /// The sums of the months' days, from the items in `stored` of the parts that the head names for these months.
    fn cube(&self, mut stored: Parts, months: &Months) -> Result<Cube, PartFault> {
        let (first_name, last_name) = months.bounds();
        let mut cube = Cube::default();
        for (name, part) in self.parts.range(first_name..=last_name) {
            let item = stored.remove(&part.key(name)).ok_or(PartFault::Missing)?;
            if !part.has_digest_of(&item) {
                return Err(PartFault::Altered);
            }
            cube.merge(days_of(&item).map_err(|_| PartFault::Altered)?);
        }
        Ok(cube)
    }
}

impl Part {
    /// The sort key of the part with this name.
    pub fn key(&self, name: &str) -> String {
        report_part_sort(name, &self.version)
    }

    /// Whether an item's text has the digest that the head states.
    pub fn has_digest_of(&self, item: &Item) -> bool {
        digest_of(item).is_ok_and(|digest| digest == self.digest)
    }
}

/// A difference between parts and their head.
enum PartFault {
    /// A part is missing. A refresh may have replaced it.
    Missing,
    /// A part was altered.
    Altered,
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

    /// The stored result of some months, with its time. `None` if the head does not have `digest` or the result is
    /// damaged, so that it must be computed. No call unless a prefetched part is missing, usually because a refresh
    /// replaced it between the reads of head and parts; then both are read again.
    pub(crate) async fn stored_result(
        &self,
        id: ReportId,
        digest: &str,
        months: &Months,
        prefetched: (Option<Head>, Parts),
    ) -> Result<Option<StoredResult>, StoreError> {
        let (mut head, mut parts) = prefetched;
        let key = self.keys().report_head(id);
        let mut retry = self.table.retry(Policy::CONFLICT, "reading a result");
        let mut is_prefetched = true;
        loop {
            let Some(current) = head.filter(|head| head.digest == digest) else {
                return Ok(None);
            };
            if current.too_large {
                return Ok(Some(StoredResult::TooLarge));
            }
            match current.cube(parts, months) {
                Ok(cube) => return Ok(Some(StoredResult::Cube(current.generated_at, cube))),
                Err(PartFault::Altered) => break,
                Err(PartFault::Missing) => {}
            }
            if retry.again().await.is_err() {
                break;
            }
            let (newer_head, newer_parts) =
                tokio::try_join!(self.report_head(&key), self.report_parts(id, months))?;
            // Prefetched parts may have been read before the head that names them. If parts that this loop read lack
            // one and the head is unchanged, no refresh replaced the part, so it is lost.
            if !is_prefetched && newer_head.as_ref() == Some(&current) {
                break;
            }
            is_prefetched = false;
            (head, parts) = (newer_head, newer_parts);
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

    /// Sort keys of the stored parts that `head` names and that are unaltered, and the highest generation of all stored
    /// parts (0 without parts). One query per MB.
    pub(crate) async fn unaltered_parts(
        &self,
        id: ReportId,
        head: Option<&Head>,
    ) -> Result<(BTreeSet<String>, u64), StoreError> {
        let named: BTreeMap<_, _> = head
            .into_iter()
            .flat_map(|head| &head.parts)
            .map(|(name, part)| (part.key(name), part))
            .collect();
        let (mut unaltered, mut latest) = (BTreeSet::new(), 0);
        let mut pages = Pages::of(self.keys().report_parts(id, &Months::all()));
        while let Some(items) = pages.next(&self.table).await? {
            for item in &items {
                let sk = key_of(item)?.sk;
                latest = latest.max(report_generation(&sk).unwrap_or(0));
                if named.get(&sk).is_some_and(|part| part.has_digest_of(item)) {
                    unaltered.insert(sk);
                }
            }
        }
        Ok((unaltered, latest))
    }

    /// Compares a stored result with its head. Two gets, and a query per MB of parts between them. Head and parts are
    /// not read at once, so a difference counts only if the head is unchanged afterwards.
    pub async fn check_result(&self, id: ReportId) -> Result<Checked, StoreError> {
        let key = self.keys().report_head(id);
        let Some(item) = self.table.get(&key).await? else {
            return Ok(Checked::Sound);
        };
        let head = Head::decode(&item).ok();
        let (unaltered, _) = self.unaltered_parts(id, head.as_ref()).await?;
        if self.table.get(&key).await?.as_ref() != Some(&item) {
            return Ok(Checked::Changing);
        }
        let findings: Vec<_> = match &head {
            None => vec![(key.to_string(), "cannot be read".to_owned())],
            Some(head) => {
                let named = head.parts.iter().map(|(name, part)| part.key(name));
                let damaged = named.filter(|sk| !unaltered.contains(sk));
                damaged
                    .map(|sk| {
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
