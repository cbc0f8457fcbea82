//! An opportunity's record and its derived items: entries in the lists of its column, totals and daily counts of the
//! column, the link from its lead, and items for the words of its title.
//!
//! The record contains a copy of the lead and its company, because every response embeds both. List entries are
//! [copies](entry) of the record, so that a page of a list is one query. A lead with copies that may be stale has a
//! [marker](super::leads::stale_markers), which every reader checks.

pub mod class;
mod create;
pub mod entry;
pub mod fresh;
mod of_lead;
pub mod snapshot;
mod update;

use serde::Deserialize;
use serde_json::{Value, json};

use super::Reader;
use super::derived::Derived;
use super::entity::{Entity, Stored};
use super::key::{self, BoardList, Key, Keys};
use super::leads;
use crate::ids::OpportunityId;
use crate::lead::Lead;
use crate::opportunity::Opportunity;
use crate::people::Company;
use crate::words::word_keys;
use table::StoreError;
use table::Transaction;
use table::item::{self, Item, n, s};

pub use class::BoardClass;
pub use create::{Created, PrefetchedCreation};
pub use of_lead::{LeadOpportunities, PrefetchedLeadOpportunities};
pub use snapshot::{OpportunitySnapshot, SnapshotList};
pub use update::{PrefetchedUpdate, Updated};

use snapshot::KIND;

/// Maximum words of a title with items of their own. An opportunity with more words is also in a list that every search
/// reads.
const MAX_WORDS: usize = 16;
/// Attribute of the record with the snapshot as JSON.
const CARD: &str = "card";

/// An opportunity as it is stored.
pub type OpportunityRecord = Stored<OpportunitySnapshot>;

/// The JSON text of a snapshot.
#[derive(Deserialize)]
struct SnapshotText {
    #[serde(rename = "o")]
    opportunity: Opportunity,
    #[serde(rename = "l")]
    lead: Option<Lead>,
    #[serde(rename = "t", default)]
    utm_tags: Vec<Value>,
    #[serde(rename = "c")]
    company: Option<Company>,
}

/// The part of a snapshot's JSON text without the copies.
#[derive(Deserialize)]
struct OpportunityText {
    #[serde(rename = "o")]
    opportunity: Opportunity,
}

impl OpportunitySnapshot {
    /// The JSON text of the snapshot, in the form of [`SnapshotText`].
    fn text(&self) -> String {
        let mut text = json!({ "o": self.opportunity.sparse() });
        if let Some(lead) = &self.lead {
            text["l"] = Value::Object(leads::sparse(lead));
            if !lead.utm_tags.is_empty() {
                text["t"] = Value::Array(lead.utm_tags.clone());
            }
        }
        if let Some(company) = &self.company {
            text["c"] = Value::Object(company.sparse());
        }
        text.to_string()
    }

    /// Decodes the snapshot of a record or an entry.
    pub(in crate::store) fn read(item: &Item) -> Result<Self, StoreError> {
        if entry::is_entry(item) {
            return entry::snapshot(item);
        }
        let stored: SnapshotText = item::need_json(KIND, item, CARD)?;
        let utm_tags = stored.utm_tags;
        Ok(Self {
            opportunity: stored.opportunity,
            lead: stored.lead.map(|lead| Lead { utm_tags, ..lead }),
            company: stored.company,
        })
    }

    /// Decodes the opportunity of a record or an entry without its copies.
    pub(in crate::store) fn read_opportunity(item: &Item) -> Result<Opportunity, StoreError> {
        if entry::is_entry(item) {
            return entry::opportunity(item);
        }
        let OpportunityText { opportunity } = item::need_json(KIND, item, CARD)?;
        Ok(opportunity)
    }
}

impl Reader {
    /// An opportunity's record by id. One get.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be read.
    pub async fn opportunity(&self, id: OpportunityId) -> Result<Option<OpportunityRecord>, StoreError> {
        let item = self.table.get(&self.keys().opportunity(id)).await?;
        item.map(Stored::decode).transpose()
    }
}

impl OpportunityRecord {
    /// The writes that replace this record by another snapshot, on condition that the stored version is unchanged.
    ///
    /// # Errors
    /// [`StoreError::Unstorable`] if it cannot be encoded.
    pub fn replace(
        &self,
        keys: Keys<'_>,
        snapshot: OpportunitySnapshot,
        edited: bool,
    ) -> Result<Transaction, StoreError> {
        let record = Self {
            edited,
            ..self.next(snapshot)
        };
        record.put(keys, Some(self))
    }
}

impl Entity for OpportunitySnapshot {
    const KIND: &'static str = KIND;

    fn key(&self, keys: Keys<'_>) -> Key {
        keys.opportunity(self.opportunity.id)
    }

    fn encode(&self) -> Result<Item, StoreError> {
        Ok(Item::from([
            ("id".to_owned(), n(self.opportunity.id)),
            (CARD.to_owned(), s(self.text())),
        ]))
    }

    fn decode(item: &Item) -> Result<Self, StoreError> {
        Self::read(item)
    }

    fn derived(record: &Stored<Self>, _: &Item, keys: Keys<'_>) -> Result<Derived, StoreError> {
        let opportunity = &record.opportunity;
        let mut derived = Derived::default();
        let entry = entry::of(record)?;
        let sort_key = key::place(opportunity.create_date, opportunity.id);
        for list in lists(opportunity) {
            let key = key::total(keys.board(list), &sort_key);
            derived.items.insert(key, entry.clone());
        }
        if let Some(lead) = opportunity.lead_id {
            let link = keys.lead_opportunity(lead, opportunity.id);
            derived.items.insert(link, Item::new());
        }
        let word_keys = title_keys(keys, opportunity).into_iter();
        derived.items.extend(word_keys.map(|key| (key, Item::new())));
        derived.totals = class::contributions(keys, opportunity)?;
        Ok(derived)
    }
}

/// The keys of the items by which a search finds an opportunity's title (C-43). They contain no filtered fields, so a
/// move between columns does not change them.
fn title_keys(keys: Keys<'_>, opportunity: &Opportunity) -> Vec<Key> {
    let (funnel, id) = (opportunity.crm_id, opportunity.id);
    let words = word_keys([opportunity.title.as_str()]);
    let overflow = (words.len() > MAX_WORDS).then(|| keys.wordy_title(funnel, id));
    let words = words.iter().take(MAX_WORDS);
    words
        .map(|word| keys.titled(funnel, word, id))
        .chain(overflow)
        .collect()
}

/// The lists with an entry of an opportunity: one for each filter by at most one user and at most one status.
fn lists(opportunity: &Opportunity) -> impl Iterator<Item = BoardList> {
    let (user, status) = (Some(opportunity.user), Some(opportunity.status));
    let (funnel, column, archived) = (opportunity.crm_id, opportunity.crm_column, opportunity.archived);
    let filters = [(None, None), (None, status), (user, None), (user, status)];
    filters.into_iter().map(move |(user, status)| BoardList {
        funnel,
        column,
        archived,
        user,
        status,
    })
}

#[cfg(test)]
mod tests;
