//! Classes of a column's opportunities, as distinguished by filters and permissions, and the items that count them.
//!
//! A column has one total with the numbers of each status. Each user of a column has such a total too. Both also count
//! restricted opportunities. Separate items count them by restriction; only viewers subject to restrictions read these.
//! So the cost of a page grows with columns, not with users or restrictions. There may be as many restrictions as
//! opportunities (C-89).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::ids::{ColumnId, FunnelId, UserId};
use crate::opportunity::{Opportunity, Status};
use crate::store::derived::Contribution;
pub use crate::store::derived::{RESTRICTED, RESTRICTED_COUNT};
use crate::store::key::{self, Key, Keys};
use crate::text::hex;
use crate::visibility::Restriction;
use table::StoreError;
use table::item::{self, Item};

const TOTAL: &str = "board total";

/// Attributes shared by the opportunities of a total, which filters and permissions read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct BoardClass {
    pub column: ColumnId,
    pub user: UserId,
    pub status: Status,
    #[serde(rename = "narrowing", default, skip_serializing_if = "Restriction::is_open")]
    pub restriction: Restriction,
}

impl BoardClass {
    pub fn of(opportunity: &Opportunity) -> Self {
        Self {
            column: opportunity.crm_column,
            user: opportunity.user,
            status: opportunity.status,
            restriction: opportunity.restriction(),
        }
    }

    /// The class without its restriction.
    pub fn unrestricted(&self) -> Self {
        Self {
            restriction: Restriction::Open,
            ..self.clone()
        }
    }

    /// The name of the class within its column.
    pub fn name(&self) -> String {
        let (user, status) = (self.user.to_string(), self.status.as_str());
        if self.restriction.is_open() {
            return key::class([&user, status]);
        }
        let text = json!(self.restriction).to_string();
        key::class([&user, status, &hex(&Sha256::digest(text)[..8])])
    }

    /// The totals of a funnel, archived or not, that count an opportunity of the class, each with the opportunity's
    /// contribution: the total of its column and that of its user.
    fn totals(
        &self,
        keys: Keys<'_>,
        (funnel, archived): (FunnelId, bool),
        cents: i64,
    ) -> [(Key, Contribution); 2] {
        let mut status = self.status.as_str().to_owned();
        if !self.restriction.is_open() {
            status = key::class([&status, RESTRICTED]);
        }
        let of_column = keys.column_total(funnel, archived, self.column);
        let of_user = keys.user_total(funnel, archived, self.user, self.column);
        let column = self.column.to_string();
        [
            (of_column, share_of(&format!(".{status}"), cents)),
            (
                of_user,
                share_of(&format!(".{}", key::class([&column, &status])), cents),
            ),
        ]
    }

    /// The sort key of its restricted total.
    fn total_sort_key(&self) -> String {
        format!("{}{}", key::total_column(self.column), self.name())
    }
}

/// The contribution of an opportunity to a total or a daily count: 1 to the count and the cents to the value. The
/// attributes are `n` and `c`, followed by `suffix`.
fn share_of(suffix: &str, cents: i64) -> Contribution {
    Contribution {
        numbers: [(format!("n{suffix}"), 1), (format!("c{suffix}"), cents)].into(),
        attributes: Item::new(),
        is_sharded: true,
    }
}

/// The items that count an opportunity, each with its contribution: totals and daily count of its column, and for a
/// restricted opportunity those of its restriction.
pub fn contributions(
    keys: Keys<'_>,
    opportunity: &Opportunity,
) -> Result<BTreeMap<Key, Contribution>, StoreError> {
    let class = BoardClass::of(opportunity);
    let (funnel, archived) = (opportunity.crm_id, opportunity.archived);
    let cents = i64::try_from(opportunity.value.get()).unwrap_or(i64::MAX);
    let day = key::rank_day(opportunity.create_date);
    let mut class_name = class.unrestricted().name();
    let mut contributions = BTreeMap::new();
    if !class.restriction.is_open() {
        class_name = key::class([&class_name, RESTRICTED]);
        let totals = keys.restricted_totals(funnel, archived);
        let attributes = item::encode(TOTAL, &class)?;
        contributions.insert(
            key::total(totals, &class.total_sort_key()),
            Contribution {
                attributes,
                ..share_of("", cents)
            },
        );
        let ranks = keys.restricted_ranks(funnel, class.column, archived);
        let rank = key::restricted_rank(&day, &class.name());
        contributions.insert(key::total(ranks, &rank), share_of("", cents));
    }
    contributions.extend(class.totals(keys, (funnel, archived), cents));
    let ranks = keys.board_ranks(funnel, class.column, archived);
    let share = share_of(&format!(".{class_name}"), cents);
    contributions.insert(key::total(ranks, &key::rank(&day, class.user)), share);
    Ok(contributions)
}
