//! A lead's record and its derived items: list entries, totals, and look-ups by number, e-mail address, word and
//! company.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use table::AttributeValue;

use super::class::LeadClass;
use super::details::{CUSTOM, Details, KIND};
use super::digest::email_digest;
use super::{blocks, stale_markers, totals};
use crate::environment::Environment;
use crate::ids::{LeadId, TagId};
use crate::lead::Lead;
use crate::people::Company;
use crate::store::Reader;
use crate::store::derived::Derived;
use crate::store::entity::{Entity, Stored};
use crate::store::key::{self, Key, Keys};
use crate::time::Timestamp;
use crate::words::{address_word, number_key, word_keys};
use table::StoreError;
use table::item::{self, Item, n, s};
use table::{Condition, Transaction};

/// Maximum words of a lead with items of their own (C-20), not counting its address. A lead with more words is also in
/// a list that every search reads.
const MAX_WORDS: usize = 16;
/// Fields that are always stored, because the defaults depend on them.
const KEPT: [&str; 3] = ["id", "createDate", "lastActive"];
/// 1 if no opportunity was ever linked to the lead, otherwise 0 or absent. The name is short, because lists read whole
/// records.
const UNLINKED: &str = "u";

/// A lead without any field, encoded once. Only the kept fields depend on its id and date.
static PLAIN: OnceLock<Item> = OnceLock::new();
static PLAIN_FIELDS: OnceLock<Map<String, Value>> = OnceLock::new();

/// A lead with a copy of its company, so that responses with both read one record.
#[derive(Debug, Clone, PartialEq)]
pub struct LeadState {
    /// The lead.
    pub lead: Lead,
    /// Its company.
    pub company: Option<Company>,
    /// Whether no opportunity was ever linked to it, so none contains a copy.
    pub unlinked: bool,
    /// The place of its custom fields.
    pub details: Details,
}

/// A lead as it is stored.
pub type LeadRecord = Stored<LeadState>;

impl LeadState {
    /// Whether it has its custom fields.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        !matches!(self.details, Details::Unread(_))
    }

    /// The fields that opportunities copy: all but the custom fields, and the company.
    #[must_use]
    pub fn copied(&self) -> (Lead, Option<Company>) {
        let lead = Lead {
            custom: Map::new(),
            ..self.lead.clone()
        };
        (lead, self.company.clone())
    }
}

/// A lead in a list: the fields of the summary, those that determine who sees it, and those that a search reads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LeadEntry {
    /// The lead.
    pub id: LeadId,
    /// The full name.
    #[serde(rename = "n", default)]
    pub fullname: String,
    /// The e-mail address.
    #[serde(rename = "e", default)]
    pub email: Option<String>,
    #[serde(flatten)]
    pub(super) class: LeadClass,
    /// The digits of its numbers in normal form.
    #[serde(rename = "p", default)]
    pub(super) digits: Vec<String>,
    /// The lead's tags.
    #[serde(rename = "t", default)]
    pub(super) tags: Vec<TagId>,
}

/// An entry without attributes that this build does not know; `None` if it cannot be read.
pub fn known(entry: &Item) -> Option<Item> {
    let entry: LeadEntry = item::decode("lead entry", entry.clone()).ok()?;
    item::encode("lead entry", &entry).ok()
}

impl LeadEntry {
    pub(crate) fn of(lead: &Lead) -> Self {
        let phones = lead.phones();
        Self {
            id: lead.id,
            fullname: lead.fullname(),
            email: lead.email.clone(),
            class: LeadClass::of(lead),
            digits: phones.iter().map(|phone| phone.digits().to_owned()).collect(),
            tags: lead.tags.clone(),
        }
    }
}

impl Reader {
    /// A lead by id, for readers that need no custom fields: a large lead lacks them. One get.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be read.
    pub async fn partial_lead(&self, id: LeadId) -> Result<Option<Lead>, StoreError> {
        let item = self.table.get(&self.keys().lead(id)).await?;
        item.map(partial).transpose()
    }

    /// A lead's record by id; that of a large lead lacks the custom fields. One get.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be read.
    pub async fn lead_record(&self, id: LeadId) -> Result<Option<LeadRecord>, StoreError> {
        let item = self.table.get(&self.keys().lead(id)).await?;
        item.map(Stored::decode).transpose()
    }

    /// Leads' records by id. One batch of gets.
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be read.
    pub async fn lead_records(
        &self,
        ids: impl Iterator<Item = LeadId>,
    ) -> Result<BTreeMap<LeadId, LeadRecord>, StoreError> {
        let found = self.table.get_many(ids.map(|id| self.keys().lead(id))).await?;
        let mut records = BTreeMap::new();
        for item in found.into_values() {
            let record = LeadRecord::decode(item)?;
            records.insert(record.lead.id, record);
        }
        Ok(records)
    }
}

/// A lead's fields that differ from the defaults, without free-form fields. Records that copy the lead contain it in
/// this form.
pub fn sparse(lead: &Lead) -> Map<String, Value> {
    let fields_of = |lead: &Lead| match serde_json::to_value(lead) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    };
    let plain = PLAIN_FIELDS.get_or_init(|| fields_of(&Lead::new(lead.id, lead.create_date)));
    let mut sparse = fields_of(lead);
    sparse.retain(|name, value| KEPT.contains(&name.as_str()) || plain.get(name) != Some(value));
    sparse
}

impl Entity for LeadState {
    const KIND: &'static str = KIND;

    fn key(&self, keys: Keys<'_>) -> Key {
        keys.lead(self.lead.id)
    }

    /// Fields that equal the defaults are omitted.
    fn encode(&self) -> Result<Item, StoreError> {
        let lead = &self.lead;
        let plain = if let Some(plain) = PLAIN.get() {
            plain
        } else {
            let plain = item::encode(KIND, &Lead::new(lead.id, lead.create_date))?;
            PLAIN.get_or_init(|| plain)
        };
        let mut item = item::encode(KIND, lead)?;
        item.retain(|name, value| KEPT.contains(&name.as_str()) || plain.get(name) != Some(value));
        if !lead.utm_tags.is_empty() {
            let text = serde_json::json!(lead.utm_tags).to_string();
            item.insert("utmTags".to_owned(), s(text));
        }
        if let Some(company) = &self.company {
            let text = serde_json::json!(company.sparse()).to_string();
            item.insert("companyCopy".to_owned(), s(text));
        }
        if self.unlinked {
            item.insert(UNLINKED.to_owned(), n(1));
        }
        self.details.encode(lead, &mut item)?;
        Ok(item)
    }

    fn decode(item: &Item) -> Result<Self, StoreError> {
        Self::take(item.clone())
    }

    fn derived(record: &Stored<Self>, item: &Item, keys: Keys<'_>) -> Result<Derived, StoreError> {
        let mut derived = derived(keys, &record.lead)?;
        let details = record.details.item(&record.lead, item);
        let details = details.map(|details| (keys.lead_details(record.lead.id), details));
        derived.items.extend(details);
        Ok(derived)
    }
}

impl LeadState {
    /// Decodes a lead. A lead with details lacks the custom fields.
    pub(super) fn take(mut item: Item) -> Result<Self, StoreError> {
        let utm_tags = item::take_json(KIND, &mut item, "utmTags")?;
        let custom = item::take_json(KIND, &mut item, CUSTOM)?;
        let details = Details::of(&item);
        let company = item::take_json(KIND, &mut item, "companyCopy")?;
        let unlinked = item::number(KIND, &item, UNLINKED)? > 0;
        // These are no fields of a lead.
        item.remove(UNLINKED);
        item.remove("v");
        item.remove("edited");
        let lead = item::decode(KIND, item)?;
        Ok(Self {
            lead: Lead {
                utm_tags,
                custom,
                ..lead
            },
            company,
            unlinked,
            details,
        })
    }
}

/// Decodes a lead for readers that need no custom fields: a large lead lacks them.
pub fn partial(item: Item) -> Result<Lead, StoreError> {
    LeadState::take(item).map(|state| state.lead)
}

/// Decodes a whole lead that is not written again.
pub fn read(item: Item) -> Result<Lead, StoreError> {
    let state = LeadState::take(item)?;
    if state.is_whole() {
        return Ok(state.lead);
    }
    Err(item::corrupt(KIND, "its custom fields are missing"))
}

/// Adds the update of a lead's `lastActive` by a call or booking at `at` (C-73), and a stale marker. The condition
/// prevents a link to a deleted lead (C-24).
pub fn mark_active(
    transaction: &mut Transaction,
    keys: Keys<'_>,
    (lead, at): (LeadId, Timestamp),
    environment: &Environment,
) {
    let active = Item::from([("lastActive".to_owned(), s(at.to_string()))]);
    transaction.update(keys.lead(lead), "v", 1, active, Condition::Present);
    stale_markers::mark(transaction, keys, lead, environment);
}

/// Adds the condition that a lead has the version that was read and copied (C-24), and notes the first link of an
/// opportunity.
///
/// The first link increments the lead's version. So a concurrent change of the lead, which requires the version, is
/// decided again and marks the copy as stale. Writing the note costs the units of the check that it replaces.
pub fn link(transaction: &mut Transaction, keys: Keys<'_>, lead: &LeadRecord) {
    let (key, unchanged) = (keys.lead(lead.lead.id), Condition::Version(lead.version));
    if lead.unlinked {
        transaction.update(key, "v", 1, linked(), unchanged);
    } else {
        transaction.check(key, unchanged);
    }
}

/// The attribute that notes the link of an opportunity to a lead.
pub fn linked() -> Item {
    Item::from([(UNLINKED.to_owned(), n(0))])
}

/// The condition that a lead exists and is, or is not, archived.
pub fn is_archived(lead: LeadId, archived: bool) -> Condition {
    let mut has = Item::from([("id".to_owned(), n(lead))]);
    let mut lacks = Vec::new();
    if archived {
        has.insert("archived".to_owned(), AttributeValue::Bool(true));
    } else {
        lacks.push("archived");
    }
    Condition::Exactly { has, lacks }
}

/// The items that a search reads (C-20): for each word a copy of the list entry without numbers, and for each number a
/// copy with only this number. So a change of a number changes only its own item.
///
/// The word of the whole e-mail address has a key of its own form and does not count towards [`MAX_WORDS`]. A lead with
/// more words has an item for the first ones, and one in the list of wordy leads.
fn search_items(keys: Keys<'_>, lead: &Lead, entry: LeadEntry) -> Result<Vec<(Key, Item)>, StoreError> {
    let (id, archived) = (lead.id, lead.archived);
    let words = word_keys([
        lead.fullname().as_str(),
        lead.email.as_deref().unwrap_or_default(),
    ]);
    let wordy_key = (words.len() > MAX_WORDS).then(|| key::entry(keys.wordy_leads(archived), id));
    let address = lead.email.as_deref().and_then(address_word);
    let other_words = words.iter().filter(|word| Some(*word) != address.as_ref());
    let word_keys = other_words
        .take(MAX_WORDS)
        .map(|word| keys.word_lead(archived, word, id));
    let address_key = address
        .as_ref()
        .map(|word| keys.addressed_lead(archived, word, id));
    let mut entry = LeadEntry {
        digits: Vec::new(),
        ..entry
    };
    let by_word = item::encode("lead entry", &entry)?;
    let keys_of_words = word_keys.chain(address_key).chain(wordy_key);
    let mut items: Vec<_> = keys_of_words.map(|key| (key, by_word.clone())).collect();
    for phone in lead.phones() {
        let key = keys.number_lead(archived, &number_key(&phone), id);
        entry.digits = vec![phone.digits().to_owned()];
        items.push((key, item::encode("lead entry", &entry)?));
    }
    Ok(items)
}

/// All items derived from a lead.
fn derived(keys: Keys<'_>, lead: &Lead) -> Result<Derived, StoreError> {
    let (id, archived) = (lead.id, lead.archived);
    let entry = LeadEntry::of(lead);
    let item = item::encode("lead entry", &entry)?;
    let mut items = BTreeMap::from([(key::entry(keys.lead_list(archived), id), item.clone())]);
    if let Some(owner) = lead.owner {
        items.insert(key::entry(keys.owner_list(archived, owner), id), item);
    }
    items.extend(search_items(keys, lead, entry)?);
    for phone in lead.phones().iter().filter(|phone| phone.identifies()) {
        items.insert(keys.phone_lead(phone.digits(), archived, id), Item::new());
    }
    // Other addresses are words.
    if let Some(digest) = lead.email.as_deref().and_then(email_digest) {
        items.insert(keys.email_lead(&digest, archived, id), Item::new());
    }
    if let Some(company) = lead.company {
        items.insert(key::entry(keys.company_leads(company), id), Item::new());
    }
    let mut totals = totals::contributions(keys, lead)?;
    totals.extend([blocks::contribution(keys, lead)]);
    Ok(Derived { items, totals })
}
