//! The custom fields of a large lead, in an item of their own: the lead's details. So the record, which calls, bookings and
//! links of opportunities write or check, stays small.
//!
//! Record and details contain the same digest, and change in one transaction. A reader that finds different digests reads
//! both again. A change of other fields needs no details, and leaves them as they are.

use std::collections::BTreeMap;
use std::ops::Deref;

use sha2::{Digest, Sha256};

use super::record::{KIND, LeadRecord, LeadState};
use crate::ids::LeadId;
use crate::lead::Lead;
use crate::store::format::Settled;
use crate::store::{Reader, Writer};
use crate::text::hex;
use table::item::{self, Item, s};
use table::{Policy, StoreError};

/// Bytes of the JSON text of a lead's custom fields above which they are an item of their own. A record that is smaller by
/// this much costs a call 8 write units less, and each reader of the custom fields a call more.
pub const MAX_INLINE: usize = 4096;
/// Attempts to read a record and its details while others change them.
const ATTEMPTS: u32 = 20;
/// The attribute with the custom fields, of a record or of details.
pub(super) const CUSTOM: &str = "custom";
/// The attribute that a record with details and the details have in common.
pub const DIGEST: &str = "digest";

/// The place of a lead's custom fields.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Details {
    /// In the record.
    #[default]
    Inline,
    /// In the record, or in details if they are large.
    Divisible,
    /// In details with this digest, which were not read: the lead lacks them.
    Unread(String),
}

impl Details {
    /// The place in a record to write, in place of this one.
    #[must_use]
    pub fn next(&self, settled: &Settled) -> Self {
        match self {
            Self::Inline if settled.divides_leads() => Self::Divisible,
            details => details.clone(),
        }
    }

    /// The place of a record's custom fields.
    pub(super) fn of(record: &Item) -> Self {
        digest(record).map_or(Self::Inline, |digest| Self::Unread(digest.to_owned()))
    }

    /// Adds the custom fields, or the digest of their details, to a record.
    pub(super) fn encode(&self, lead: &Lead, record: &mut Item) -> Result<(), StoreError> {
        let unread = match self {
            Self::Unread(digest) if lead.custom.is_empty() => Some(digest.clone()),
            Self::Unread(_) => {
                let (kind, cause) = (KIND, "its custom fields were not read".to_owned());
                return Err(StoreError::Unstorable { kind, cause });
            }
            _ => None,
        };
        if unread.is_none() && lead.custom.is_empty() {
            return Ok(());
        }
        let text = text(lead);
        let is_large = *self == Self::Divisible && text.len() > MAX_INLINE;
        match unread.or_else(|| is_large.then(|| digest_of(&text))) {
            Some(digest) => record.insert(DIGEST.to_owned(), s(digest)),
            None => record.insert(CUSTOM.to_owned(), s(text)),
        };
        Ok(())
    }

    /// The details of an encoded record, if it has any: only their digest if they were not read.
    pub(super) fn item(&self, lead: &Lead, record: &Item) -> Option<Item> {
        let mut details = item::part(record, DIGEST);
        if details.is_empty() {
            return None;
        }
        if !matches!(self, Self::Unread(_)) {
            details.insert(CUSTOM.to_owned(), s(text(lead)));
        }
        Some(details)
    }
}

fn text(lead: &Lead) -> String {
    serde_json::json!(lead.custom).to_string()
}

fn digest_of(text: &str) -> String {
    hex(&Sha256::digest(text)[..16])
}

/// The digest in a record with details, or in details.
pub fn digest(item: &Item) -> Option<&str> {
    attribute(item, DIGEST)
}

fn attribute<'i>(item: &'i Item, name: &str) -> Option<&'i str> {
    item.get(name)?.as_s().ok().map(String::as_str)
}

/// Whether the stored details have this digest, and their content too.
pub fn is_sound(details: &Item, expected: &str) -> bool {
    let custom = attribute(details, CUSTOM);
    digest(details) == Some(expected) && custom.is_some_and(|custom| digest_of(custom) == expected)
}

/// Whether a record is to be divided by a migration.
pub fn is_divisible(record: &Item) -> bool {
    attribute(record, CUSTOM).is_some_and(|custom| custom.len() > MAX_INLINE)
}

/// A lead's record with its custom fields.
#[derive(Debug, Clone, PartialEq)]
pub struct WholeLead(LeadRecord);

impl Deref for WholeLead {
    type Target = LeadRecord;

    fn deref(&self) -> &LeadRecord {
        &self.0
    }
}

impl From<WholeLead> for LeadRecord {
    fn from(lead: WholeLead) -> Self {
        lead.0
    }
}

impl LeadState {
    /// Whether it has its custom fields.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        !matches!(self.details, Details::Unread(_))
    }

    /// The lead, and the digest of the details that it lacks.
    fn lacking(&self) -> Option<(LeadId, String)> {
        match &self.details {
            Details::Unread(digest) => Some((self.lead.id, digest.clone())),
            _ => None,
        }
    }

    /// Adds the custom fields from details. Returns `false` if these are of another version of the lead, or missing.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] if they cannot be read.
    pub fn add_details(&mut self, details: Option<&Item>) -> Result<bool, StoreError> {
        let Details::Unread(expected) = &self.details else {
            return Ok(true);
        };
        let Some(details) = details.filter(|details| digest(details) == Some(expected)) else {
            return Ok(false);
        };
        self.lead.custom = item::need_json(KIND, details, CUSTOM)?;
        self.details = Details::Divisible;
        Ok(true)
    }
}

/// The details of a lead.
#[derive(Debug)]
struct FoundDetails {
    /// The record, if it was read again.
    record: Option<Item>,
    /// `None` if that record has none.
    details: Option<Item>,
}

/// The details of each lead that still exists; an error for a lead without the details that its record names.
type DetailsOfLeads = BTreeMap<LeadId, Result<FoundDetails, StoreError>>;

impl Reader {
    /// A lead's record with its custom fields. One get, two for a lead with details.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be read.
    pub async fn whole_lead(&self, id: LeadId) -> Result<Option<WholeLead>, StoreError> {
        match self.lead_record(id).await? {
            Some(record) => self.whole(record).await,
            None => Ok(None),
        }
    }

    /// The same for a record that was read; `None` if it is gone. No call unless it has details.
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be read.
    pub async fn whole(&self, mut record: LeadRecord) -> Result<Option<WholeLead>, StoreError> {
        let Some((id, digest)) = record.lacking() else {
            return Ok(Some(WholeLead(record)));
        };
        let mut found = Box::pin(self.details_of(BTreeMap::from([(id, digest)]))).await?;
        let Some(found) = found.remove(&id).transpose()? else {
            return Ok(None);
        };
        if let Some(newer) = found.record {
            record = LeadRecord::decode(newer)?;
        }
        record.value.add_details(found.details.as_ref())?;
        Ok(Some(WholeLead(record)))
    }

    /// Adds the custom fields to leads of a page. Omits leads that are gone or have unreadable details. One batch of gets,
    /// none without a large lead.
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be read.
    pub async fn with_custom_fields(&self, leads: Vec<LeadState>) -> Result<Vec<LeadState>, StoreError> {
        let wanted = leads.iter().filter_map(LeadState::lacking).collect();
        let mut found = Box::pin(self.details_of(wanted)).await?;
        let mut whole = Vec::with_capacity(leads.len());
        for mut lead in leads {
            if lead.is_whole() {
                whole.push(lead);
                continue;
            }
            let id = lead.lead.id;
            let completed = found.remove(&id).map(|found| {
                let found = found?;
                if let Some(record) = found.record {
                    lead = LeadState::take(record)?;
                }
                lead.add_details(found.details.as_ref())?;
                Ok::<_, StoreError>(lead)
            });
            let named = self.keys().lead_details(id).complete(Item::new());
            whole.extend(completed.and_then(|lead| table::readable(named, |_| lead)));
        }
        Ok(whole)
    }

    /// Puts the custom fields from details into records, so that [`read`](super::record::read) can read these. A record without its
    /// details stays as it is, and one that is gone is left out.
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be read.
    pub async fn whole_items(&self, records: Vec<Item>) -> Result<Vec<Item>, StoreError> {
        let lacking = |record: &Item| Some((item_id(record)?, digest(record)?.to_owned()));
        let wanted = records.iter().filter_map(lacking).collect();
        let mut found = Box::pin(self.details_of(wanted)).await?;
        let records = records.into_iter().filter_map(|record| {
            let Some((id, _)) = lacking(&record) else {
                return Some(record);
            };
            let Ok(found) = found.remove(&id)? else {
                return Some(record);
            };
            let mut record = found.record.unwrap_or(record);
            if let Some(details) = found.details {
                record.remove(DIGEST);
                record.extend(item::part(&details, CUSTOM));
            }
            Some(record)
        });
        Ok(records.collect())
    }

    /// The details of leads with these digests in their records. One batch of gets, none without leads. If a lead changed
    /// in between, its record and then its details are read again. Callers put the future on the heap, because it is large
    /// and part of every reader's future.
    async fn details_of(&self, mut wanted: BTreeMap<LeadId, String>) -> Result<DetailsOfLeads, StoreError> {
        let keys = self.keys();
        let mut done = DetailsOfLeads::new();
        let mut records: BTreeMap<LeadId, Item> = BTreeMap::new();
        let policy = Policy::CONTESTED.attempts(ATTEMPTS);
        let mut retry = self.table.retry(policy, "reading a large lead");
        while !wanted.is_empty() {
            let mut found = self
                .table
                .get_many(wanted.keys().map(|id| keys.lead_details(*id)))
                .await?;
            wanted.retain(|id, expected| {
                let details = found.remove(&keys.lead_details(*id));
                let details = details.filter(|details| digest(details) == Some(expected));
                let is_torn = details.is_none();
                if !is_torn {
                    let record = records.remove(id);
                    done.insert(*id, Ok(FoundDetails { record, details }));
                }
                is_torn
            });
            if wanted.is_empty() {
                break;
            }
            retry.again().await?;
            wanted = self.read_again(wanted, &mut records, &mut done).await?;
        }
        Ok(done)
    }

    /// Reads the records again of leads with details of another digest. Returns the leads with details to read again.
    async fn read_again(
        &self,
        torn: BTreeMap<LeadId, String>,
        records: &mut BTreeMap<LeadId, Item>,
        done: &mut DetailsOfLeads,
    ) -> Result<BTreeMap<LeadId, String>, StoreError> {
        let keys = self.keys();
        let again = torn.keys().map(|id| keys.lead(*id));
        let mut found = self.table.get_many(again).await?;
        let mut wanted = BTreeMap::new();
        for (id, before) in torn {
            let Some(record) = found.remove(&keys.lead(id)) else {
                continue;
            };
            match digest(&record) {
                None => {
                    let (record, details) = (Some(record), None);
                    done.insert(id, Ok(FoundDetails { record, details }));
                }
                // Read twice around the details, with the same digest.
                Some(digest) if digest == before && records.contains_key(&id) => {
                    done.insert(
                        id,
                        Err(item::corrupt(KIND, format_args!("lead {id} lacks its details"))),
                    );
                }
                Some(digest) => {
                    wanted.insert(id, digest.to_owned());
                    records.insert(id, record);
                }
            }
        }
        Ok(wanted)
    }
}

fn item_id(record: &Item) -> Option<LeadId> {
    LeadId::new(item::number(KIND, record, "id").ok()?)
}

impl Writer {
    /// Learns whether a large lead is to be divided. One get if this process has not seen the table migrated, else none.
    pub(super) async fn learn_division(&self, lead: &Lead) -> Result<(), StoreError> {
        if self.reader.settled.divides_leads() || text(lead).len() <= MAX_INLINE {
            return Ok(());
        }
        self.reader.learn_format().await
    }
}
