//! Numbers of leads, by the attributes that determine who sees them (C-20, C-82).
//!
//! An owner has one total, and leads without owner have `OWNERLESS_TOTALS`. A total counts leads with access lists
//! apart from the others. Separate items count them by their lists; only viewers from whom lists may hide leads read
//! these. So the cost of a page grows with owners, not with lists, and there may be as many lists as leads (C-89).

use std::collections::{BTreeMap, BTreeSet};

use futures_util::future::try_join_all;
use serde::Deserialize;
use serde_json::json;
use sha2::{Digest, Sha256};

use super::class::LeadClass;
use crate::ids::UserId;
use crate::lead::Lead;
use crate::store::Reader;
use crate::store::budget::ReadBudget;
use crate::store::derived::{Contribution, RESTRICTED_COUNT, count_of_one};
use crate::store::key::{self, Key, Keys};
use crate::text::hex;
use crate::viewer::{OwnerScope, Viewer};
use crate::visibility::AccessLists;
use table::item::{self, Item};
use table::{KeyRange, MAX_AHEAD, MAX_COUNTERS_AHEAD, Page, StoreError, key_of};

const KIND: &str = "lead total";
/// Number of items that count leads without owner, because calls from new numbers create them in bursts.
const OWNERLESS_TOTALS: u64 = 16;
/// Maximum ranges of totals of leads with access lists that are prefetched.
const MAX_EXPECTED: usize = 4;

/// A total: of an owner's leads, or in [`Keys::restricted_lead_totals`] of those of them with the same access lists.
#[derive(Debug, Deserialize)]
struct LeadTotal {
    /// In an owner's total, its leads without access lists; in a restricted total, all its leads.
    #[serde(rename = "n", default)]
    count: i64,
    /// Number of the owner's leads with access lists.
    #[serde(rename = "n.restricted", default)]
    restricted: i64,
    #[serde(flatten)]
    class: LeadClass,
}

/// The totals of a list by owner.
#[derive(Debug)]
pub struct LeadTotals(Vec<LeadTotal>);

/// The part of a list that a viewer sees, as far as the owners' totals determine it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct VisibleLeads {
    /// Number of leads that the viewer certainly sees.
    pub count: i64,
    /// Owners of further leads, with access lists, of which the viewer may see some.
    pub restricted_owners: BTreeSet<Option<UserId>>,
}

/// First pages of totals of leads with access lists, by owner; `None` for those of all owners.
pub type FirstTotals = BTreeMap<Option<UserId>, Page>;

/// The contribution of a lead to each total that counts it: its owner's total and, if it has access lists, also that of
/// the owner and these lists.
pub fn contributions(keys: Keys<'_>, lead: &Lead) -> Result<BTreeMap<Key, Contribution>, StoreError> {
    let class = LeadClass::of(lead);
    let owner = lead.owner.map_or_else(
        || format!("none.{}", lead.id.get() % OWNERLESS_TOTALS),
        |owner| owner.to_string(),
    );
    let is_restricted = !class.lists.is_open();
    let number = if is_restricted { RESTRICTED_COUNT } else { "n" };
    let mut contributions = BTreeMap::new();
    if is_restricted {
        let name = key::class([&owner, &digest(&class.lists)]);
        let total = key::total(keys.restricted_lead_totals(lead.archived), &name);
        contributions.insert(total, count_of_one(item::encode(KIND, &class)?));
    }
    let of_owner = Contribution {
        numbers: BTreeMap::from([(number.to_owned(), 1)]),
        attributes: item::encode(KIND, &class.unrestricted())?,
        is_sharded: true,
    };
    contributions.insert(key::total(keys.lead_totals(lead.archived), &owner), of_owner);
    Ok(contributions)
}

/// Identifies a set of access lists in the name of a total.
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

fn decode_totals(items: Vec<Item>) -> Result<Vec<LeadTotal>, StoreError> {
    let totals = items.into_iter();
    totals.map(|item| item::decode(KIND, item)).collect()
}

impl LeadTotals {
    /// The number of leads of each owner. An owner may occur several times.
    pub fn by_owner(&self) -> impl Iterator<Item = (Option<UserId>, i64)> + '_ {
        self.0
            .iter()
            .map(|total| (total.class.owner, total.count + total.restricted))
    }

    /// The part that a viewer sees.
    pub fn visible_to(&self, viewer: &Viewer) -> VisibleLeads {
        let mut visible = VisibleLeads::default();
        for total in self.0.iter().filter(|total| total.class.is_seen_by(viewer)) {
            visible.count += total.count;
            if viewer.passes_access_lists(total.class.owner) {
                visible.count += total.restricted;
            } else if total.restricted > 0 {
                visible.restricted_owners.insert(total.class.owner);
            }
        }
        visible
    }
}

impl Reader {
    /// The totals of a list: some 50 bytes for each owner. One query for each 1 MB.
    pub(super) async fn lead_totals(&self, archived: bool) -> Result<LeadTotals, StoreError> {
        let span = KeyRange::whole(self.keys().lead_totals(archived));
        let items = self.table.query_all_ahead(span, MAX_COUNTERS_AHEAD).await?;
        decode_totals(items).map(LeadTotals)
    }

    /// Prefetches totals of leads with access lists, of the owners for whom the caller's last list needed them: at most
    /// [`MAX_AHEAD`] of each of the first [`MAX_EXPECTED`] ranges.
    pub(super) async fn first_restricted_totals(
        &self,
        archived: bool,
        reach: &OwnerScope,
    ) -> Result<FirstTotals, StoreError> {
        let owners = self.hints.restricted_leads.get(&self.caller.credentials);
        let ranges = self.restricted_ranges(archived, reach, &owners.unwrap_or_default());
        let pages = ranges.into_iter().take(MAX_EXPECTED).map(async |(owner, range)| {
            let first = KeyRange {
                limit: MAX_AHEAD,
                ..range
            };
            Ok::<_, StoreError>((owner, self.table.query(first).await?))
        });
        Ok(try_join_all(pages).await?.into_iter().collect())
    }

    /// Ranges of the totals of leads with access lists: one for each of these owners, or one for all owners if the
    /// caller sees the leads of all. None without owners.
    fn restricted_ranges(
        &self,
        archived: bool,
        reach: &OwnerScope,
        owners: &BTreeSet<Option<UserId>>,
    ) -> Vec<(Option<UserId>, KeyRange)> {
        let partition = self.keys().restricted_lead_totals(archived);
        match reach {
            OwnerScope::Users(_) => {
                let range_of = |owner| KeyRange::beginning(partition.clone(), key::class_of(owner));
                let users = owners.iter().flatten();
                users.map(|owner| (Some(*owner), range_of(*owner))).collect()
            }
            _ if owners.is_empty() => Vec::new(),
            _ => vec![(None, KeyRange::whole(partition))],
        }
    }

    /// Number of the viewer's leads that are not in [`VisibleLeads::count`]. Reads some 150 bytes for each class of
    /// access lists of these owners, within the budget. No call if `first`, the prefetched totals, are all; else one
    /// query per thousand totals, owners in parallel.
    pub(super) async fn count_restricted(
        &self,
        (viewer, archived): (&Viewer, bool),
        owners: &BTreeSet<Option<UserId>>,
        mut first: FirstTotals,
        budget: &ReadBudget,
    ) -> Result<i64, StoreError> {
        let ranges = self.restricted_ranges(archived, &viewer.lead_owner_scope(), owners);
        let totals = ranges.into_iter().map(|(owner, mut range)| {
            let (mut items, has_more) = first
                .remove(&owner)
                .map_or((Vec::new(), true), |page| (page.items, page.more));
            async move {
                if has_more {
                    if let Some(last) = items.last() {
                        range.after = Some(key_of(last)?.sk);
                    }
                    items.extend(budget.query_all(&self.table, range).await?);
                }
                Ok::<_, StoreError>(items)
            }
        });
        let items = try_join_all(totals).await?.concat();
        // Leads of owners whose lists the viewer passes are in `VisibleLeads::count`.
        let uncounted = decode_totals(items)?
            .into_iter()
            .filter(|total| total.class.is_seen_by(viewer) && !viewer.passes_access_lists(total.class.owner));
        Ok(uncounted.map(|total| total.count).sum())
    }
}
