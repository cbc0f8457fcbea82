//! Copies: what a record holds of another one is what that one says, unless a notice says that it may be behind.
//!
//! A copy is compared like this: read the record, the one it copies, the notice, and both records again. Where both are
//! the same before and after, they were as they are when the notice was read, and without a notice the copy must be right
//! at that moment: whatever changes the copied record raises the notice in the same transaction, and nothing takes it down
//! before the copies are written. A repair depends on both records being those that were read.

use serde_json::json;

use super::Doctor;
use super::kind::Kind;
use super::settle::{Look, Wrong};
use crate::id::LeadId;
use crate::people::Company;
use crate::store::derived::Derived;
use crate::store::error::StoreError;
use crate::store::item::{self, Item};
use crate::store::key::{Key, Keys};
use crate::store::leads::{self, LeadRecord};
use crate::store::notices;
use crate::store::operator::companies::same_company;
use crate::store::operator::{Operator, OperatorError};
use crate::store::opportunities::{self, Card, OpportunityRecord};
use crate::store::tickets::{self, FileRecord};
use crate::store::transaction::{Condition, Transaction};

/// What the records of a kind copy of others.
pub struct Copies {
    /// What a copied record is called.
    name: &'static str,
    /// Which record one copies.
    source: fn(Keys<'_>, &Item) -> Result<Source, StoreError>,
    /// What says that a record's copy of the other may be behind.
    notices: NoticesOf,
    /// A record with the copy that it should have of the other; `None` where it has it.
    renewed: fn(&Item, Option<&Item>) -> Result<Option<Item>, StoreError>,
    /// That a copied record is still as it was read.
    unchanged: fn(&Item) -> Result<Condition, StoreError>,
    /// Nothing may name a record that is not there.
    needed: bool,
}

/// The notices of changes, or marks of deletions, that a record and the one it copies may have.
type NoticesOf = fn(Keys<'_>, &Item, Option<&Item>) -> Result<Vec<Key>, StoreError>;

/// The record that one copies.
#[derive(Debug, Default)]
pub struct Source {
    /// `None` where it copies none.
    key: Option<Key>,
    /// The lead that copies itself, and whose copies are behind once it has another copy.
    copied: Option<LeadId>,
}

/// A lead copies its company. Only the operator changes companies, and they have no version.
pub const COMPANIES: Copies = Copies {
    name: "company",
    source: |keys, item| {
        let lead = leads::decode(item.clone())?.lead;
        Ok(Source {
            key: lead.company.map(|company| keys.company(company)),
            copied: Some(lead.id),
        })
    },
    notices: |_, _, _| Ok(Vec::new()),
    renewed: |item, company| {
        let stored = leads::decode(item.clone())?;
        let company: Option<Company> = company
            .map(|company| item::decode("company", company.clone()))
            .transpose()?;
        let text = |company: &Option<Company>| json!(company.as_ref().map(Company::sparse));
        if text(&stored.company) == text(&company) {
            return Ok(None);
        }
        let version = stored.version + 1;
        let record = LeadRecord {
            version,
            company,
            ..stored
        };
        leads::encode(&record).map(Some)
    },
    unchanged: |company| Ok(same_company(company)),
    needed: false,
};

/// An opportunity copies its lead, and the company with it.
pub const LEADS: Copies = Copies {
    name: "lead",
    source: |keys, item| {
        let lead = opportunities::decode(item)?.card.opportunity.lead_id;
        Ok(Source {
            key: lead.map(|lead| keys.lead(lead)),
            copied: None,
        })
    },
    notices: |keys, item, _| {
        let lead = opportunities::decode(item)?.card.opportunity.lead_id;
        Ok(lead.map(|lead| keys.lead_notice(lead)).into_iter().collect())
    },
    renewed: |item, lead| {
        let stored = opportunities::decode(item)?;
        let lead = lead.map(|lead| leads::decode(lead.clone())).transpose()?;
        let card = Card::of(stored.card.opportunity.clone(), lead.as_ref());
        let mut renewed = OpportunityRecord {
            card,
            ..stored.clone()
        };
        if opportunities::encode(&renewed) == opportunities::encode(&stored) {
            return Ok(None);
        }
        renewed.version += 1;
        Ok(Some(opportunities::encode(&renewed)))
    },
    unchanged: |lead| Ok(Condition::Version(item::number("lead", lead, "v")?)),
    needed: true,
};

/// A file holds the lead of its ticket. While that lead is being erased, or the one that the file has, its mark says so: the
/// ticket loses the lead first, and a file that comes meanwhile never gets it. That a lead merely changed excuses no file.
pub const TICKETS: Copies = Copies {
    name: "ticket",
    source: |keys, item| {
        let stored = tickets::decode_file(item)?;
        Ok(Source {
            key: Some(keys.ticket(stored.file.ticket)),
            copied: None,
        })
    },
    notices: |keys, item, ticket| {
        let ticket = ticket.map(tickets::decode).transpose()?;
        let leads = [
            tickets::decode_file(item)?.lead,
            ticket.and_then(|ticket| ticket.ticket.lead_relation),
        ];
        Ok(leads
            .into_iter()
            .flatten()
            .map(|lead| keys.erasure(lead))
            .collect())
    },
    renewed: |item, ticket| {
        let stored = tickets::decode_file(item)?;
        let ticket = ticket.map(tickets::decode).transpose()?;
        let lead = ticket.and_then(|ticket| ticket.ticket.lead_relation);
        if stored.lead == lead {
            return Ok(None);
        }
        let version = stored.version + 1;
        let record = FileRecord {
            lead,
            version,
            ..stored
        };
        Ok(Some(tickets::encode_file(&record)))
    },
    unchanged: |ticket| Ok(Condition::Version(item::number("ticket", ticket, "v")?)),
    needed: true,
};

impl Doctor<'_> {
    /// Compares the copies that some records hold: a batch of gets, and another one of notices where any differs.
    pub(super) async fn copies(
        &mut self,
        kind: &Kind,
        records: &[(&Key, &Item)],
    ) -> Result<(), OperatorError> {
        let Some(copies) = kind.copies else {
            return Ok(());
        };
        let operator = self.operator;
        let sources = records
            .iter()
            .map(|(_, record)| (copies.source)(operator.keys(), record));
        let sources = sources.collect::<Result<Vec<_>, _>>()?;
        let keys: Vec<_> = sources.iter().filter_map(|source| source.key.clone()).collect();
        self.looked_at("copies", keys.len());
        let found = operator.table().get_many(keys).await?;
        let mut differ = Vec::new();
        for ((key, record), source) in records.iter().zip(&sources) {
            let found = source.key.as_ref().and_then(|key| found.get(key));
            if !copies.is_right(record, source, found) {
                differ.push((*key, copies.noticed(operator.keys(), record, found)));
            }
        }
        let notices = differ.iter().flat_map(|(_, notices)| notices.iter().cloned());
        let standing = operator.table().get_many(notices).await?;
        for (key, notices) in differ {
            if !notices.iter().any(|notice| standing.contains_key(notice)) {
                let look = async || look(operator, kind, copies, key).await;
                self.settle(&key.to_string(), look).await?;
            }
        }
        Ok(())
    }
}

impl Copies {
    /// Whether a record seems to have the copy that it should have.
    fn is_right(&self, record: &Item, source: &Source, found: Option<&Item>) -> bool {
        !self.dangles(source, found) && matches!((self.renewed)(record, found), Ok(None))
    }

    /// What may say that a record's copy is behind; nothing where the other one cannot be read, which is told by the look
    /// at it.
    fn noticed(&self, keys: Keys<'_>, record: &Item, found: Option<&Item>) -> Vec<Key> {
        (self.notices)(keys, record, found).unwrap_or_default()
    }

    /// Whether a record names another one that must be there and is not.
    fn dangles(&self, source: &Source, found: Option<&Item>) -> bool {
        self.needed && source.key.is_some() && found.is_none()
    }

    /// What is wrong with a copy that is to be written anew.
    fn fault(&self, source: &Source, found: Option<&Item>) -> String {
        let Some(key) = &source.key else {
            return format!("has the copy of a {} and names none", self.name);
        };
        let label = self.label(key);
        match found {
            None => format!("has a copy of {label}, which does not exist"),
            Some(_) => format!("the copy of {label} is not what its record says"),
        }
    }

    fn label(&self, key: &Key) -> String {
        format!("{} {}", self.name, key.sk.trim_start_matches('0'))
    }
}

/// Compares a record's copy with the record that is copied; see the [module](self).
async fn look(operator: &Operator, kind: &Kind, copies: &Copies, key: &Key) -> Result<Look, OperatorError> {
    let table = operator.table();
    let Some(record) = table.get(key).await? else {
        return Ok(Look::Fine);
    };
    let source = (copies.source)(operator.keys(), &record)?;
    let found = read(operator, source.key.as_ref()).await?;
    let notices = copies.noticed(operator.keys(), &record, found.as_ref());
    let standing = operator.table().get_many(notices).await?;
    let both = [Some(key), source.key.as_ref()].into_iter().flatten().cloned();
    let again = table.get_many(both).await?;
    let unmoved = source
        .key
        .as_ref()
        .is_none_or(|source| again.get(source) == found.as_ref());
    if again.get(key) != Some(&record) || !unmoved {
        return Ok(Look::Changing);
    }
    if !standing.is_empty() {
        return Ok(Look::Fine);
    }
    judge(operator, kind, copies, (key, &record), (source, found))
}

/// What a copy is, of two records that stood beside each other as they were read.
fn judge(
    operator: &Operator,
    kind: &Kind,
    copies: &Copies,
    (key, record): (&Key, &Item),
    (source, found): (Source, Option<Item>),
) -> Result<Look, OperatorError> {
    let beyond_repair = |reason| Ok(Look::Wrong(Wrong::beyond_repair(key.to_string(), reason)));
    if let Some(at) = source
        .key
        .as_ref()
        .filter(|_| copies.dangles(&source, found.as_ref()))
    {
        return beyond_repair(format!("belongs to {}, which does not exist", copies.label(at)));
    }
    let renewed = match ((copies.renewed)(record, found.as_ref()), &source.key) {
        (Err(cause @ StoreError::Corrupt { .. }), Some(at)) => {
            return beyond_repair(format!("cannot be compared with {}: {cause}", copies.label(at)));
        }
        (renewed, _) => renewed?,
    };
    let Some(renewed) = renewed else {
        return Ok(Look::Fine);
    };
    let wounds = vec![(key.to_string(), copies.fault(&source, found.as_ref()))];
    let mut remedy = rewrite(operator, kind, (key, record), renewed)?;
    if let Some(at) = source.key {
        let unchanged = found.as_ref().map_or(Ok(Condition::Absent), copies.unchanged)?;
        remedy.check(at, unchanged);
    }
    if let Some(lead) = source.copied {
        notices::raise(&mut remedy, operator.keys(), lead, operator.now());
    }
    let remedy = Some(remedy);
    Ok(Look::Wrong(Wrong { wounds, remedy }))
}

async fn read(operator: &Operator, key: Option<&Key>) -> Result<Option<Item>, StoreError> {
    match key {
        Some(key) => operator.table().get(key).await,
        None => Ok(None),
    }
}

/// Puts a record in the place of the one that was read, with what is derived from it.
fn rewrite(
    operator: &Operator,
    kind: &Kind,
    (key, record): (&Key, &Item),
    renewed: Item,
) -> Result<Transaction, StoreError> {
    let old = (kind.derived)(operator.keys(), record.clone())?;
    let new = (kind.derived)(operator.keys(), renewed.clone())?;
    let mut transaction = Transaction::default();
    transaction.put(key.clone(), renewed, (kind.unchanged)(record)?);
    Derived::change(&mut transaction, &old, new);
    Ok(transaction)
}
