//! Leads with their custom fields: reads of the details of large ones.

use std::collections::BTreeMap;
use std::ops::Deref;

use super::details::{CUSTOM, DIGEST, Details, KIND, digest, size};
use super::record::{LeadRecord, LeadState};
use crate::ids::LeadId;
use crate::store::Reader;
use table::item::{self, Item};
use table::{Policy, StoreError};

/// Maximum bytes of a page's details: those of a response.
const MAX_PAGE: usize = 5 * 1024 * 1024;
/// Attempts to read a record and its details while others change them.
const ATTEMPTS: u32 = 20;

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
    /// The lead, and the digest of the details that it lacks.
    fn lacking(&self) -> Option<(LeadId, String)> {
        match &self.details {
            Details::Unread(digest) => Some((self.lead.id, digest.clone())),
            Details::Known => None,
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
        self.details = Details::Known;
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

    /// Adds the custom fields to a record that was read. If these have changed, returns a newer record; `None` if the
    /// lead is gone. No call unless it has details.
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
    /// [`StoreError::OverBudget`], without a call, if they are larger than a response; other errors if they cannot be read.
    pub async fn with_custom_fields(&self, leads: Vec<LeadState>) -> Result<Vec<LeadState>, StoreError> {
        let wanted: BTreeMap<_, _> = leads.iter().filter_map(LeadState::lacking).collect();
        if wanted.values().map(|digest| size(digest)).sum::<usize>() > MAX_PAGE {
            return Err(StoreError::OverBudget);
        }
        let mut found = Box::pin(self.details_of(wanted)).await?;
        let mut whole = Vec::with_capacity(leads.len());
        for mut lead in leads {
            if lead.is_whole() {
                whole.push(lead);
                continue;
            }
            let id = lead.lead.id;
            let Some(found) = found.remove(&id) else {
                continue;
            };
            let completed = found.and_then(|found| {
                if let Some(record) = found.record {
                    lead = LeadState::take(record)?;
                }
                lead.add_details(found.details.as_ref())?;
                Ok(lead)
            });
            // `readable` logs the key of an item that cannot be read.
            let key_alone = self.keys().lead_details(id).complete(Item::new());
            whole.extend(table::readable(key_alone, |_| completed));
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
        let mut whole = Vec::with_capacity(records.len());
        for mut record in records {
            if let Some((id, _)) = lacking(&record) {
                match found.remove(&id) {
                    None => continue,
                    Some(Err(_)) => {}
                    Some(Ok(found)) => {
                        record = found.record.unwrap_or(record);
                        if let Some(details) = found.details {
                            record.remove(DIGEST);
                            record.extend(item::part(&details, CUSTOM));
                        }
                    }
                }
            }
            whole.push(record);
        }
        Ok(whole)
    }

    /// The details of `wanted`, leads with the digests in their records. One batch of gets, none without leads. If a
    /// lead changed in between, its record and then its details are read again. Callers put the future on the heap,
    /// because it is large and part of every reader's future.
    ///
    /// # Errors
    /// [`StoreError::Contention`] if a lead changed at each of [`ATTEMPTS`] reads; other errors if they cannot be read.
    async fn details_of(&self, mut wanted: BTreeMap<LeadId, String>) -> Result<DetailsOfLeads, StoreError> {
        let keys = self.keys();
        let mut done = DetailsOfLeads::new();
        // The records that were read again.
        let mut records: BTreeMap<LeadId, Item> = BTreeMap::new();
        let policy = Policy::CONTESTED.attempts(ATTEMPTS);
        let mut retry = self.table.retry(policy, "reading a large lead");
        while !wanted.is_empty() {
            let mut found = self
                .table
                .get_many(wanted.keys().map(|id| keys.lead_details(*id)))
                .await?;
            let mut torn = BTreeMap::new();
            for (id, expected) in wanted {
                let details = found.remove(&keys.lead_details(id));
                if details.as_ref().and_then(digest) == Some(expected.as_str()) {
                    let record = records.remove(&id);
                    done.insert(id, Ok(FoundDetails { record, details }));
                } else {
                    torn.insert(id, expected);
                }
            }
            if torn.is_empty() {
                break;
            }
            retry.again().await?;
            wanted = self.read_again(torn, &mut records, &mut done).await?;
        }
        Ok(done)
    }

    /// Reads the records of `torn` again, leads whose details are missing or have another digest than the record.
    /// Returns the leads with details to read again. Adds leads without details to `done`, and leads whose details are
    /// missing. Deleted leads are omitted.
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
                // The record had this digest both before and after the read of the details, so no change explains it.
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
