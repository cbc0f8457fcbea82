//! A lead's record, and everything that is derived from it: entries of lists, totals, phone look-ups.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use super::error::StoreError;
use super::item::{self, Item, n, s};
use super::key::{self, Key, Keys};
use super::table::{Page, Span};
use super::transaction::{Condition, Transaction};
use super::{Reader, lead_list};
use crate::id::LeadId;
use crate::lead::Lead;
use crate::phone::Phone;
use crate::text::hex;

const KIND: &str = "lead";
/// Leads without owner are counted in so many items, because calls from new numbers make them in bursts.
const SHARDS: u64 = 16;

/// A lead as it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct LeadRecord {
    pub lead: Lead,
    /// Rises with every write of the record.
    pub version: u64,
    /// Made or changed through the interface since it was last imported (C-81).
    pub edited: bool,
}

impl Reader {
    /// A lead by id. One get.
    ///
    /// # Errors
    /// [`StoreError`] where it cannot be read.
    pub async fn lead(&self, id: LeadId) -> Result<Option<Lead>, StoreError> {
        let item = self.table.get(&self.keys().lead(id)).await?;
        Ok(item.map(decode).transpose()?.map(|record| record.lead))
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

/// The record of a lead as an item. What equals the defaults is left out.
pub fn encode(record: &LeadRecord) -> Result<Item, StoreError> {
    let lead = &record.lead;
    let plain = item::encode(KIND, &Lead::new(lead.id, lead.create_date))?;
    let mut item = item::encode(KIND, lead)?;
    let kept = ["id", "createDate", "lastActive"];
    item.retain(|name, value| kept.contains(&name.as_str()) || plain.get(name) != Some(value));
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
    Ok(item)
}

/// The record that an item holds.
pub fn decode(mut item: Item) -> Result<LeadRecord, StoreError> {
    let version = item::number(KIND, &item, "v")?;
    let edited = item::number(KIND, &item, "edited")? > 0;
    let utm_tags = item::take_json(KIND, &mut item, "utmTags")?;
    let custom = item::take_json(KIND, &mut item, "custom")?;
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
    })
}

/// What is derived from a lead.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Derived {
    /// Items of its own.
    pub(super) items: BTreeMap<Key, Item>,
    /// Totals that count it, each with the attributes that describe the class.
    pub(super) totals: BTreeMap<Key, Item>,
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
    let class = item::encode("lead total", &lead_list::LeadClass::of(lead))?;
    derived.totals.insert(
        key::total(keys.lead_totals(lead.archived), &class_name(lead)),
        class,
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

/// Puts what a change of a lead does to its derived items into `transaction`.
///
/// Every lead that enters or leaves a class raises the version of its total by one. From that alone the doctor knows
/// whether a class changed while it counted: the count may be the same again (C-84).
pub fn derive(transaction: &mut Transaction, old: &Derived, new: Derived) {
    for key in old.items.keys().filter(|key| !new.items.contains_key(*key)) {
        transaction.delete(key.clone(), Condition::Always);
    }
    for (key, item) in new.items {
        if old.items.get(&key) != Some(&item) {
            transaction.put(key, item, Condition::Always);
        }
    }
    for (totals, others, by) in [(&old.totals, &new.totals, -1), (&new.totals, &old.totals, 1)] {
        for (key, class) in totals.iter().filter(|(key, _)| !others.contains_key(*key)) {
            transaction.update(key.clone(), "n", by, class.clone(), Condition::Always);
            transaction.update(key.clone(), "v", 1, Item::new(), Condition::Always);
        }
    }
}
