//! Numbers of leads, by the attributes that determine who sees them (C-20, C-82).
//!
//! An owner has one total, which counts leads with access lists apart from the others. Separate items count them by
//! their lists; only viewers from whom lists may hide leads read these. So the cost of a page grows with owners, not
//! with lists, and there may be as many lists as leads (C-89).

use std::collections::{BTreeMap, BTreeSet};

use futures_util::future::try_join_all;
use serde::Deserialize;
use serde_json::json;
use sha2::{Digest, Sha256};

use super::record::LeadClass;
use crate::ids::UserId;
use crate::lead::Lead;
use crate::store::Reader;
use crate::store::budget::ReadBudget;
use crate::store::derived::{RESTRICTED_COUNT, Share, one};
use crate::store::key::{self, Key, Keys};
use crate::text::hex;
use crate::viewer::{OwnerScope, Viewer};
use crate::visibility::AccessLists;
use table::item::{self, Item};
use table::{KeyRange, MAX_AHEAD, MAX_COUNTERS_AHEAD, Page, StoreError, key_of};

const KIND: &str = "lead total";
/// Number of items that count leads without owner, because calls from new numbers create them in bursts.
const SHARDS: u64 = 16;

/// The number of leads of a class.
#[derive(Debug, Deserialize)]
struct LeadTotal {
    #[serde(rename = "n", default)]
    count: i64,
    /// Number of the owner's leads with access lists.
    #[serde(rename = "n.restricted", default)]
    restricted: i64,
    #[serde(flatten)]
    class: LeadClass,
}

/// The totals of a list: by owner, and in the form before format 2 by access lists too.
#[derive(Debug)]
pub struct LeadTotals(Vec<LeadTotal>);

/// The visible part of a list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LeadsSeen {
    pub count: i64,
    /// Owners of leads with access lists, of which the viewer may see some.
    pub unclear: BTreeSet<Option<UserId>>,
}

/// First pages of totals of leads with access lists, of an owner or of all.
pub type FirstTotals = BTreeMap<Option<UserId>, Page>;

/// The items that count a lead, with its contributions.
pub fn counts(keys: Keys<'_>, lead: &Lead) -> Result<BTreeMap<Key, Share>, StoreError> {
    let class = LeadClass::of(lead);
    let owner = lead.owner.map_or_else(
        || format!("none.{}", lead.id.get() % SHARDS),
        |owner| owner.to_string(),
    );
    let restricted = i64::from(!class.lists.is_open());
    // `n` is always present, because the previous build cannot read a total without it.
    let mut numbers = BTreeMap::from([("n".to_owned(), 1 - restricted)]);
    let mut counts = BTreeMap::new();
    if restricted > 0 {
        numbers.insert(RESTRICTED_COUNT.to_owned(), restricted);
        let name = key::class([&owner, &digest(&class.lists)]);
        let total = key::total(keys.restricted_lead_totals(lead.archived), &name);
        counts.insert(total, one(item::encode(KIND, &class)?));
    }
    let attributes = item::encode(KIND, &class.unrestricted())?;
    let total = key::total(keys.lead_totals(lead.archived), &owner);
    let spread = keys.totals_spread();
    counts.insert(
        total,
        Share {
            numbers,
            attributes,
            spread,
        },
    );
    Ok(counts)
}

fn digest(lists: &AccessLists) -> String {
    hex(&Sha256::digest(json!(lists).to_string())[..8])
}

impl LeadClass {
    /// The class without its access lists.
    pub fn unrestricted(&self) -> Self {
        Self {
            owner: self.owner,
            lists: AccessLists::default(),
        }
    }
}

fn decoded(items: Vec<Item>) -> Result<Vec<LeadTotal>, StoreError> {
    let totals = items.into_iter();
    totals.map(|item| item::decode(KIND, item)).collect()
}

impl LeadTotals {
    /// The number of leads of each owner.
    pub fn by_owner(&self) -> impl Iterator<Item = (Option<UserId>, i64)> + '_ {
        self.0
            .iter()
            .map(|total| (total.class.owner, total.count + total.restricted))
    }

    /// The part that a viewer sees.
    pub fn seen(&self, viewer: &Viewer) -> LeadsSeen {
        let mut seen = LeadsSeen::default();
        for total in self.0.iter().filter(|total| total.class.is_seen_by(viewer)) {
            seen.count += total.count;
            if viewer.passes_access_lists(total.class.owner) {
                seen.count += total.restricted;
            } else if total.restricted > 0 {
                seen.unclear.insert(total.class.owner);
            }
        }
        seen
    }
}

impl Reader {
    /// The totals of a list: some 50 bytes for each owner. One query for each 1 MB.
    pub(super) async fn lead_totals(&self, archived: bool) -> Result<LeadTotals, StoreError> {
        let span = KeyRange::whole(self.keys().lead_totals(archived));
        let items = self.table.query_all_ahead(span, MAX_COUNTERS_AHEAD).await?;
        decoded(items).map(LeadTotals)
    }

    /// The totals of leads with access lists that the caller's last list needed: at most 50 of each of four ranges.
    pub(super) async fn first_restricted_totals(
        &self,
        archived: bool,
        reach: &OwnerScope,
    ) -> Result<FirstTotals, StoreError> {
        let unclear = self.hints.restricted_leads.get(&self.caller.credentials);
        let ranges = self.restricted_ranges(archived, reach, &unclear.unwrap_or_default());
        let first = ranges.into_iter().take(4).map(async |(owner, range)| {
            let page = self
                .table
                .query(KeyRange {
                    limit: MAX_AHEAD,
                    ..range
                })
                .await?;
            Ok::<_, StoreError>((owner, page))
        });
        Ok(try_join_all(first).await?.into_iter().collect())
    }

    /// Ranges of the totals of leads with access lists: one for each visible owner, or one for all owners.
    fn restricted_ranges(
        &self,
        archived: bool,
        reach: &OwnerScope,
        unclear: &BTreeSet<Option<UserId>>,
    ) -> Vec<(Option<UserId>, KeyRange)> {
        let partition = self.keys().restricted_lead_totals(archived);
        match reach {
            OwnerScope::Users(_) => {
                let owners = unclear.iter().flatten();
                let of = |owner| KeyRange::beginning(partition.clone(), key::class_of(owner));
                owners.map(|owner| (Some(*owner), of(*owner))).collect()
            }
            _ if unclear.is_empty() => Vec::new(),
            _ => vec![(None, KeyRange::whole(partition))],
        }
    }

    /// Number of the viewer's leads that are not in [`LeadsSeen::count`]. Reads some 150 bytes for each class of access
    /// lists, within the budget. No call if the first totals are all; else one query per thousand totals, owners in
    /// parallel.
    pub(super) async fn seen_by_lists(
        &self,
        (viewer, archived): (&Viewer, bool),
        unclear: &BTreeSet<Option<UserId>>,
        mut first: FirstTotals,
        budget: &ReadBudget,
    ) -> Result<i64, StoreError> {
        let ranges = self.restricted_ranges(archived, &viewer.lead_reach(), unclear);
        let totals = ranges.into_iter().map(|(owner, mut range)| {
            let (mut items, more) = first
                .remove(&owner)
                .map_or((Vec::new(), true), |page| (page.items, page.more));
            async move {
                if more {
                    if let Some(last) = items.last() {
                        range.after = Some(key_of(last)?.sk);
                    }
                    items.extend(budget.query_all(&self.table, range).await?);
                }
                Ok::<_, StoreError>(items)
            }
        });
        let items = try_join_all(totals).await?.concat();
        let others = decoded(items)?
            .into_iter()
            .filter(|total| total.class.is_seen_by(viewer) && !viewer.passes_access_lists(total.class.owner));
        Ok(others.map(|total| total.count).sum())
    }
}
