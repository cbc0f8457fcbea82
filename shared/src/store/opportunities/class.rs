//! Classes of a column's opportunities, as distinguished by filters and permissions, and the items that count them.
//!
//! A column, user and status have one total, and one number in the daily counts. Restricted opportunities are counted
//! there together, and by restriction in separate items, which only viewers subject to restrictions read. So the cost
//! of a page grows with users, not with restrictions, of which there may be as many as opportunities (C-89).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::ids::{ColumnId, UserId};
use crate::opportunity::{Opportunity, Status};
pub use crate::store::derived::{RESTRICTED, RESTRICTED_COUNT};
use crate::store::derived::{Share, one};
use crate::store::key::{self, Key, Keys};
use crate::text::hex;
use crate::visibility::Restriction;
use table::StoreError;
use table::item::{self, Item};

/// Attributes shared by the opportunities of a total, which filters and permissions read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct BoardClass {
    pub column: ColumnId,
    pub user: UserId,
    pub status: Status,
    #[serde(default, skip_serializing_if = "Restriction::is_open")]
    pub narrowing: Restriction,
}

impl BoardClass {
    pub fn of(opportunity: &Opportunity) -> Self {
        Self {
            column: opportunity.crm_column,
            user: opportunity.user,
            status: opportunity.status,
            narrowing: opportunity.narrowing(),
        }
    }

    /// The class without its restriction.
    pub fn unrestricted(&self) -> Self {
        Self {
            narrowing: Restriction::Open,
            ..self.clone()
        }
    }

    /// The name of the class within its column.
    pub fn name(&self) -> String {
        let (user, status) = (self.user.to_string(), self.status.as_str());
        if self.narrowing.is_open() {
            return key::class([&user, status]);
        }
        let text = json!(self.narrowing).to_string();
        key::class([&user, status, &hex(&Sha256::digest(text)[..8])])
    }

    /// The sort key of its total.
    pub fn total(&self) -> String {
        format!("{}{}", key::total_column(self.column), self.name())
    }
}

/// The items that count an opportunity, with its contributions.
pub fn counts(keys: Keys<'_>, opportunity: &Opportunity) -> Result<BTreeMap<Key, Share>, StoreError> {
    let class = BoardClass::of(opportunity);
    let (funnel, archived) = (opportunity.crm_id, opportunity.archived);
    let cents = i64::try_from(opportunity.value.get()).unwrap_or(i64::MAX);
    let sums = |part: &str, class: &BoardClass| -> Result<Share, StoreError> {
        Ok(Share {
            numbers: [(format!("n{part}"), 1), (format!("c{part}"), cents)].into(),
            attributes: item::encode("board total", class)?,
        })
    };
    let day = key::rank_day(opportunity.create_date);
    let total = class.unrestricted();
    let (mut part, mut ranked) = (String::new(), total.name());
    let mut counts = BTreeMap::new();
    if !class.narrowing.is_open() {
        part = format!(".{RESTRICTED}");
        ranked = key::class([&ranked, RESTRICTED]);
        let totals = keys.restricted_totals(funnel, archived);
        counts.insert(key::total(totals, &class.total()), sums("", &class)?);
        let ranks = keys.restricted_ranks(funnel, class.column, archived);
        let rank = key::restricted_rank(&day, &class.name());
        counts.insert(key::total(ranks, &rank), one(Item::new()));
    }
    let totals = keys.board_totals(funnel, archived);
    counts.insert(key::total(totals, &total.total()), sums(&part, &total)?);
    let ranks = keys.board_ranks(funnel, class.column, archived);
    let share = Share {
        numbers: BTreeMap::from([(format!("n.{ranked}"), 1)]),
        attributes: Item::new(),
    };
    counts.insert(key::total(ranks, &key::rank(&day, class.user)), share);
    Ok(counts)
}
