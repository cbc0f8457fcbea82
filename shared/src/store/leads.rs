//! A lead's record, and everything that is derived from it: entries of lists, totals, phone look-ups.

use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::derived::{self, Derived};
use super::error::StoreError;
use super::item::{self, Item, n, s};
use super::key::{self, Keys};
use super::table::{Page, Span};
use super::transaction::{Condition, Transaction};
use super::unknown::Raw;
use super::{Reader, lead_list, notices};
use crate::id::LeadId;
use crate::lead::Lead;
use crate::people::Company;
use crate::phone::Phone;
use crate::text::hex;
use crate::time::Timestamp;

const KIND: &str = "lead";
/// Leads without owner are counted in so many items, because calls from new numbers make them in bursts.
const SHARDS: u64 = 16;
/// Fields that are stored whatever their value, because the defaults depend on them.
const KEPT: [&str; 3] = ["id", "createDate", "lastActive"];

/// A lead as it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct LeadRecord {
    /// The lead.
    pub lead: Lead,
    /// Rises with every write of the record.
    pub version: u64,
    /// Made or changed through the interface since it was last imported (C-81).
    pub edited: bool,
    /// A copy of the lead's company, so that what embeds both reads one record.
    pub company: Option<Company>,
    pub(super) raw: Raw,
}

impl LeadRecord {
    /// What opportunities copy of it: everything but the custom fields, and the company.
    #[must_use]
    pub(super) fn copied(&self) -> (Lead, Option<Company>) {
        let lead = Lead {
            custom: Map::new(),
            ..self.lead.clone()
        };
        (lead, self.company.clone())
    }
}

impl Reader {
    /// A lead by id. One get.
    ///
    /// # Errors
    /// [`StoreError`] where it cannot be read.
    pub async fn lead(&self, id: LeadId) -> Result<Option<Lead>, StoreError> {
        let item = self.table.get(&self.keys().lead(id)).await?;
        item.map(read).transpose()
    }

    /// A lead's record by id. One get.
    ///
    /// # Errors
    /// [`StoreError`] where it cannot be read.
    pub async fn lead_record(&self, id: LeadId) -> Result<Option<LeadRecord>, StoreError> {
        self.table
            .get(&self.keys().lead(id))
            .await?
            .map(decode)
            .transpose()
    }

    /// The lead that a number belongs to: the best exact match, else the best twin (C-72). Two queries of one item, in
    /// parallel, however many leads share the number.
    ///
    /// # Errors
    /// [`StoreError`] where the look-ups cannot be read.
    pub async fn lead_by_phone(&self, phone: &Phone) -> Result<Option<LeadId>, StoreError> {
        let first = async |digits: Option<&str>| match digits {
            None => Ok(None),
            Some(digits) => {
                let Page { items, .. } = self.table.query(Span::head(self.keys().phone(digits), 1)).await?;
                items.first().map(looked_up).transpose()
            }
        };
        let (exact, twin) = tokio::try_join!(first(Some(phone.digits())), first(phone.twin()))?;
        Ok(exact.or(twin))
    }
}

/// The lead that a phone look-up leads to.
fn looked_up(item: &Item) -> Result<LeadId, StoreError> {
    let key = super::table::key_of(item)?;
    let id = key
        .sk
        .split_once('#')
        .and_then(|(_, id)| LeadId::new(id.parse().ok()?));
    id.ok_or_else(|| item::corrupt("phone look-up", "it names no lead"))
}

/// A lead's fields that differ from the defaults, without the free-form ones: how it stands in the records that copy it.
pub fn sparse(lead: &Lead) -> Map<String, Value> {
    let fields = |lead: &Lead| match serde_json::to_value(lead) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    };
    let (plain, mut fields) = (fields(&Lead::new(lead.id, lead.create_date)), fields(lead));
    fields.retain(|name, value| KEPT.contains(&name.as_str()) || plain.get(name) != Some(value));
    fields
}

/// The record of a lead as an item. What equals the defaults is left out.
pub fn encode(record: &LeadRecord) -> Result<Item, StoreError> {
    let recode = |raw: &Item| encode_known(&decode_known(raw.clone()).ok()?).ok();
    Ok(record.raw.carry(encode_known(record)?, recode))
}

fn encode_known(record: &LeadRecord) -> Result<Item, StoreError> {
    let lead = &record.lead;
    let plain = item::encode(KIND, &Lead::new(lead.id, lead.create_date))?;
    let mut item = item::encode(KIND, lead)?;
    item.retain(|name, value| KEPT.contains(&name.as_str()) || plain.get(name) != Some(value));
    if !lead.utm_tags.is_empty() {
        item.insert(
            "utmTags".to_owned(),
            s(serde_json::json!(lead.utm_tags).to_string()),
        );
    }
    if !lead.custom.is_empty() {
        item.insert("custom".to_owned(), s(serde_json::json!(lead.custom).to_string()));
    }
    item.insert("v".to_owned(), n(record.version));
    if record.edited {
        item.insert("edited".to_owned(), n(1));
    }
    if let Some(company) = &record.company {
        item.insert(
            "companyCopy".to_owned(),
            s(serde_json::json!(company.sparse()).to_string()),
        );
    }
    Ok(item)
}

/// The record that an item holds.
pub fn decode(item: Item) -> Result<LeadRecord, StoreError> {
    let raw = Raw::of(&item);
    Ok(LeadRecord {
        raw,
        ..decode_known(item)?
    })
}

/// The lead that an item holds, for those who do not write it again.
pub fn read(item: Item) -> Result<Lead, StoreError> {
    decode_known(item).map(|record| record.lead)
}

fn decode_known(mut item: Item) -> Result<LeadRecord, StoreError> {
    let version = item::number(KIND, &item, "v")?;
    let edited = item::number(KIND, &item, "edited")? > 0;
    let utm_tags = item::take_json(KIND, &mut item, "utmTags")?;
    let custom = item::take_json(KIND, &mut item, "custom")?;
    let company = item::take_json(KIND, &mut item, "companyCopy")?;
    item.remove("v");
    item.remove("edited");
    let lead = item::decode(KIND, item)?;
    Ok(LeadRecord {
        lead: Lead {
            utm_tags,
            custom,
            ..lead
        },
        version,
        edited,
        company,
        raw: Raw::default(),
    })
}

/// Puts a lead that a call or a booking makes, and what is derived from it.
pub fn put_new(transaction: &mut Transaction, keys: Keys<'_>, lead: Lead) -> Result<(), StoreError> {
    let record = LeadRecord {
        lead,
        version: 1,
        edited: true,
        company: None,
        raw: Raw::default(),
    };
    let key = keys.lead(record.lead.id);
    transaction.put(key, encode(&record)?, Condition::Absent);
    Derived::change(transaction, &Derived::default(), derived(keys, &record.lead)?);
    Ok(())
}

/// Sets `lastActive`, as each call and each booking does (C-73). The condition is what keeps either from being linked to a
/// lead that is gone (C-24).
pub fn mark_active(transaction: &mut Transaction, keys: Keys<'_>, lead: LeadId, at: Timestamp) {
    let active = Item::from([("lastActive".to_owned(), s(at.to_string()))]);
    transaction.update(keys.lead(lead), "v", 1, active, Condition::Present);
    notices::raise(transaction, keys, lead, at);
}

/// That a lead is there, and archived or not.
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

/// Everything that is derived from a lead: a pure function of its record.
pub fn derived(keys: Keys<'_>, lead: &Lead) -> Result<Derived, StoreError> {
    let mut derived = Derived::default();
    let entry = item::encode("lead entry", &lead_list::LeadEntry::of(lead))?;
    derived
        .items
        .insert(key::entry(keys.lead_list(lead.archived), lead.id), entry.clone());
    if let Some(owner) = lead.owner {
        derived
            .items
            .insert(key::entry(keys.owner_list(lead.archived, owner), lead.id), entry);
    }
    for phone in lead.numbers().filter_map(Phone::of) {
        derived.items.insert(
            keys.phone_lead(phone.digits(), lead.archived, lead.id),
            Item::new(),
        );
    }
    if let Some(company) = lead.company {
        let link = key::entry(keys.company_leads(company), lead.id);
        derived.items.insert(link, Item::new());
    }
    let class = item::encode("lead total", &lead_list::LeadClass::counted(lead))?;
    derived.totals.insert(
        key::total(keys.lead_totals(lead.archived), &class_name(lead)),
        derived::one(class),
    );
    Ok(derived)
}

/// The name of the class of leads that the same users see: their owner and their access lists.
fn class_name(lead: &Lead) -> String {
    let owner = lead.owner.map_or_else(
        || format!("none.{}", lead.id.get() % SHARDS),
        |owner| owner.to_string(),
    );
    let lists = lead.lists();
    if lists.is_open() {
        return owner;
    }
    let text = serde_json::json!(lists).to_string();
    format!("{owner}#{}", hex(&Sha256::digest(text)[..8]))
}
