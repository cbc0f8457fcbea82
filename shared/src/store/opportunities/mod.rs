//! An opportunity's record, and everything that is derived from it: its entries in the lists of its column, the column's
//! totals and ranks, the link from its lead.
//!
//! The record holds a copy of the lead and of the lead's company, because every answer embeds both; the entries of the
//! lists are copies of the record, so that a page of a list is one query. A copy that may be behind has a
//! [notice](super::notices), which every reader heeds.

pub mod class;
mod create;
mod update;

use serde::ser::Error as _;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use super::Reader;
use super::derived::Derived;
use super::error::StoreError;
use super::item::{self, Item, n, s};
use super::key::{self, BoardList, Keys};
use super::leads::{self, LeadRecord};
use super::transaction::{Condition, Transaction};
use super::unknown::Raw;
use crate::id::OpportunityId;
use crate::instance::InstanceName;
use crate::lead::Lead;
use crate::opportunity::{Opportunity, OpportunityView};
use crate::people::Company;

pub use class::BoardClass;
pub use create::{Created, CreationStart};
pub use update::{UpdateStart, Updated};

const KIND: &str = "opportunity";
/// Record and entries hold the card as text: whole entries are read by the hundred, and text is read fastest.
const CARD: &str = "card";

/// An opportunity with what an answer embeds of others.
#[derive(Debug, Clone, PartialEq)]
pub struct Card {
    /// The opportunity.
    pub opportunity: Opportunity,
    /// Its lead, without custom fields; `None` once that is deleted.
    pub lead: Option<Lead>,
    /// The lead's company.
    pub company: Option<Company>,
}

/// An opportunity as it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct OpportunityRecord {
    /// The opportunity and its copies.
    pub card: Card,
    /// Rises with every write of the record.
    pub version: u64,
    /// Made or changed through the interface since it was last imported (C-81).
    pub edited: bool,
    /// By which the request that made it recognises it; imported ones have none.
    pub nonce: Option<String>,
    pub(super) raw: Raw,
}

/// The text of a card.
#[derive(Deserialize)]
struct Stored {
    #[serde(rename = "o")]
    opportunity: Opportunity,
    #[serde(rename = "l")]
    lead: Option<Lead>,
    #[serde(rename = "t", default)]
    utm_tags: Vec<Value>,
    #[serde(rename = "c")]
    company: Option<Company>,
}

/// Cards as a list of an answer shows them.
#[derive(Debug)]
pub struct CardList<'a> {
    cards: &'a [Card],
    instance: &'a InstanceName,
}

impl<'a> CardList<'a> {
    /// Cards of an instance.
    #[must_use]
    pub fn of(cards: &'a [Card], instance: &'a InstanceName) -> Self {
        Self { cards, instance }
    }

    /// Their text. It is written here and not where the answer is, because this crate is optimised for speed.
    fn written(&self) -> serde_json::Result<Box<RawValue>> {
        let shown: Vec<_> = self.cards.iter().map(|card| card.view(self.instance)).collect();
        to_raw_value(&shown)
    }
}

impl Serialize for CardList<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.written().map_err(S::Error::custom)?.serialize(serializer)
    }
}

impl Card {
    /// An opportunity with the copies of a lead's record; of none where the lead is gone, and then without the link to it
    /// (C-24).
    #[must_use]
    pub(crate) fn of(opportunity: Opportunity, lead: Option<&LeadRecord>) -> Self {
        let lead_id = lead.map(|record| record.lead.id);
        let (lead, company) = lead.map(LeadRecord::copied).unzip();
        Self {
            opportunity: Opportunity {
                lead_id,
                ..opportunity
            },
            lead,
            company: company.flatten(),
        }
    }

    /// Takes the lead's secret out, for all who are no admins (C-21).
    pub fn hide_secrets(&mut self) {
        if let Some(lead) = &mut self.lead {
            lead.hide_secrets();
        }
    }

    /// How answers show it.
    #[must_use]
    pub fn view<'a>(&'a self, instance: &'a InstanceName) -> OpportunityView<'a> {
        OpportunityView::of(
            &self.opportunity,
            self.lead.as_ref(),
            self.company.as_ref(),
            instance,
        )
    }

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

    /// The card that a record or an entry holds.
    pub(in crate::store) fn read(item: &Item) -> Result<Self, StoreError> {
        let stored: Stored = item::need_json(KIND, item, CARD)?;
        let utm_tags = stored.utm_tags;
        Ok(Self {
            opportunity: stored.opportunity,
            lead: stored.lead.map(|lead| Lead { utm_tags, ..lead }),
            company: stored.company,
        })
    }
}

impl Reader {
    /// An opportunity's record by id. One get.
    ///
    /// # Errors
    /// [`StoreError`] where it cannot be read.
    pub async fn opportunity(&self, id: OpportunityId) -> Result<Option<OpportunityRecord>, StoreError> {
        let item = self.table.get(&self.keys().opportunity(id)).await?;
        item.as_ref().map(decode).transpose()
    }
}

impl Reader {
    /// Puts a record in the place of what is stored, or where nothing is, and changes what is derived, on condition that
    /// it still is so.
    pub(super) fn put_record(
        &self,
        stored: Option<&OpportunityRecord>,
        record: &OpportunityRecord,
    ) -> Result<Transaction, StoreError> {
        let old = stored.map(|stored| derived(self.keys(), stored)).transpose()?;
        let condition = stored.map_or(Condition::Absent, |stored| Condition::Version(stored.version));
        let mut transaction = Transaction::default();
        let key = self.keys().opportunity(record.card.opportunity.id);
        transaction.put(key, encode(record), condition);
        let new = derived(self.keys(), record)?;
        Derived::change(&mut transaction, &old.unwrap_or_default(), new);
        Ok(transaction)
    }

    /// The same with a card in the place of the one that is stored.
    pub(super) fn replace_card(
        &self,
        stored: &OpportunityRecord,
        card: Card,
        edited: bool,
    ) -> Result<Transaction, StoreError> {
        let record = OpportunityRecord {
            version: stored.version + 1,
            edited,
            nonce: stored.nonce.clone(),
            raw: stored.raw.clone(),
            card,
        };
        self.put_record(Some(stored), &record)
    }
}

/// The record of an opportunity as an item.
pub fn encode(record: &OpportunityRecord) -> Item {
    let recode = |raw: &Item| Some(encode_known(&decode_known(raw).ok()?));
    record.raw.carry(encode_known(record), recode)
}

fn encode_known(record: &OpportunityRecord) -> Item {
    let mut item = Item::from([
        ("id".to_owned(), n(record.card.opportunity.id)),
        (CARD.to_owned(), s(record.card.text())),
        ("v".to_owned(), n(record.version)),
    ]);
    if record.edited {
        item.insert("edited".to_owned(), n(1));
    }
    if let Some(nonce) = &record.nonce {
        item.insert("nonce".to_owned(), s(nonce));
    }
    item
}

/// The record that an item holds.
pub fn decode(item: &Item) -> Result<OpportunityRecord, StoreError> {
    let raw = Raw::of(item);
    Ok(OpportunityRecord {
        raw,
        ..decode_known(item)?
    })
}

fn decode_known(item: &Item) -> Result<OpportunityRecord, StoreError> {
    Ok(OpportunityRecord {
        card: Card::read(item)?,
        version: item::number(KIND, item, "v")?,
        edited: item::number(KIND, item, "edited")? > 0,
        nonce: item.get("nonce").and_then(|nonce| nonce.as_s().ok()).cloned(),
        raw: Raw::default(),
    })
}

/// Everything that is derived from an opportunity: a pure function of its record.
pub fn derived(keys: Keys<'_>, record: &OpportunityRecord) -> Result<Derived, StoreError> {
    let opportunity = &record.card.opportunity;
    let mut derived = Derived::default();
    let entry = item::part(&encode(record), CARD);
    let place = key::place(opportunity.create_date, opportunity.id);
    for list in lists(opportunity) {
        derived
            .items
            .insert(key::total(keys.board(list), &place), entry.clone());
    }
    if let Some(lead) = opportunity.lead_id {
        let link = keys.lead_opportunity(lead, opportunity.id);
        derived.items.insert(link, Item::new());
    }
    derived.totals = class::counts(keys, opportunity)?;
    Ok(derived)
}

/// The lists that hold an opportunity: one for each filter by at most one user and at most one status.
fn lists(opportunity: &Opportunity) -> impl Iterator<Item = BoardList> {
    let (user, status) = (Some(opportunity.user), Some(opportunity.status));
    let (funnel, column, archived) = (opportunity.crm_id, opportunity.crm_column, opportunity.archived);
    let ways = [(None, None), (None, status), (user, None), (user, status)];
    ways.into_iter().map(move |(user, status)| BoardList {
        funnel,
        column,
        archived,
        user,
        status,
    })
}

#[cfg(test)]
mod tests;
