//! The stored result of a report: parts, each some days of a month, and a head that says which parts in which versions are
//! the result.
//!
//! A part is never changed. A refresh writes those that are other than before under new keys and then the head, in one
//! write, so that whoever reads finds the one result whole or the other, whatever happens to the refresh. Parts that are
//! no longer named go last; who has read an older head misses them and reads again.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::Parts;
use crate::id::ReportId;
use crate::report::Cube;
use crate::store::Reader;
use crate::store::error::StoreError;
use crate::store::item::{self, Item, n, s};
use crate::store::key::{Key, Months};
use crate::store::table::{PAGE, Span, key_of};
use crate::store::transaction::Condition;
use crate::text::hex;
use crate::time::Timestamp;

const KIND: &str = "report's result";
/// The days of a part as text.
const DAYS: &str = "days";
/// How often a result is read anew that was refreshed meanwhile.
const ATTEMPTS: u32 = 8;

/// What says of which parts a result consists.
#[derive(Debug, Clone, PartialEq)]
pub struct Head {
    /// Of when the result tells.
    pub generated_at: Timestamp,
    /// Stands for the question and the zone that it is an answer for.
    pub digest: String,
    /// Rises by one with every refresh.
    pub generation: u64,
    /// There is no result, because it would be too large.
    pub too_large: bool,
    /// Its parts by name.
    pub parts: BTreeMap<String, Part>,
}

/// A part as the head names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// Which version of it.
    #[serde(rename = "v")]
    pub version: String,
    /// Stands for its text.
    #[serde(rename = "d")]
    pub digest: String,
}

/// A stored result.
#[derive(Debug)]
pub enum Found {
    /// There is none, because it would be too large.
    TooLarge,
    /// Of when it tells, and what was added up.
    Cube(Timestamp, Cube),
}

impl Head {
    /// The head as an item.
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

    /// The head that an item holds.
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

    /// What must hold of the stored head for this one to take the place of `before`.
    pub fn condition(before: Option<&Self>) -> Condition {
        before.map_or(Condition::Absent, |before| Condition::Version(before.generation))
    }

    /// The months' days; `None` where a part was not among what was read, because a refresh has replaced it.
    fn cube(&self, mut read: Parts, months: &Months) -> Result<Option<Cube>, StoreError> {
        let (after, through) = months.bounds();
        let mut cube = Cube::default();
        for (name, part) in self.parts.range(after..=through) {
            let Some(item) = read.remove(&format!("{name}#{}", part.version)) else {
                return Ok(None);
            };
            cube.merge(days_of(&item)?);
        }
        Ok(Some(cube))
    }
}

/// A part as an item.
pub fn encode_part(days: &Cube) -> Item {
    Item::from([(DAYS.to_owned(), s(serde_json::json!(days).to_string()))])
}

/// The days that a part has.
pub fn days_of(item: &Item) -> Result<Cube, StoreError> {
    serde_json::from_str(text(item, DAYS)?).map_err(|cause| item::corrupt(KIND, cause))
}

/// Stands for the text of a part.
pub fn digest_of(part: &Item) -> Result<String, StoreError> {
    Ok(hex(&Sha256::digest(text(part, DAYS)?)[..16]))
}

fn text<'i>(item: &'i Item, name: &str) -> Result<&'i str, StoreError> {
    let text = item.get(name).and_then(|text| text.as_s().ok());
    let missing = || item::corrupt(KIND, format_args!("{name} is not text"));
    text.map(String::as_str).ok_or_else(missing)
}

impl Reader {
    /// The parts of some months, in every version there is. One query for each 1 MB.
    pub(super) async fn report_parts(&self, id: ReportId, months: &Months) -> Result<Parts, StoreError> {
        let (after, through) = months.bounds();
        let span = Span {
            after: Some(after),
            through: Some(through),
            ..Span::head(self.keys().report_data(id), PAGE)
        };
        let items = self.table.query_all(span).await?;
        let by_key = items.into_iter().map(|item| Ok((key_of(&item)?.sk, item)));
        by_key.collect()
    }

    /// The stored result of some months, and of when it tells; `None` where there is none with this digest. No call, unless
    /// it was refreshed while `read` was read.
    pub(super) async fn stored_cube(
        &self,
        (id, digest): (ReportId, String),
        months: &Months,
        read: (Option<Head>, Parts),
    ) -> Result<Option<Found>, StoreError> {
        let (mut head, mut parts) = read;
        for attempt in 0..ATTEMPTS {
            let Some(found) = head.filter(|head| head.digest == digest) else {
                return Ok(None);
            };
            if found.too_large {
                return Ok(Some(Found::TooLarge));
            }
            if let Some(cube) = found.cube(parts, months)? {
                return Ok(Some(Found::Cube(found.generated_at, cube)));
            }
            self.table.pause(attempt).await;
            let key = self.keys().report_head(id);
            let newer = tokio::try_join!(self.report_head(&key), self.report_parts(id, months))?;
            (head, parts) = newer;
        }
        Err(StoreError::Contention("reading a report"))
    }

    async fn report_head(&self, key: &Key) -> Result<Option<Head>, StoreError> {
        let item = self.table.get(key).await?;
        item.as_ref().map(Head::decode).transpose()
    }
}
