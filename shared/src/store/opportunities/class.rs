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
use crate::store::derived::Share;
pub use crate::store::derived::{RESTRICTED, RESTRICTED_COUNT};
use crate::store::key::{self, BoardForm, Key, Keys};
use crate::text::hex;
use crate::visibility::Restriction;
use table::StoreError;
use table::item;

const TOTAL: &str = "board total";

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

    /// The totals of a funnel, archived or not, that count an opportunity of the class, with its contributions: of its
    /// column, and of its user. Before format 4 one total.
    pub fn totals(
        &self,
        keys: Keys<'_>,
        (funnel, archived): (FunnelId, bool),
        cents: i64,
    ) -> Result<Vec<(Key, Share)>, StoreError> {
        if keys.board_form() == BoardForm::ByClass {
            let total = self.unrestricted();
            let restricted = format!(".{RESTRICTED}");
            let part = if self.narrowing.is_open() { "" } else { &restricted };
            let share = Share {
                attributes: item::encode(TOTAL, &total)?,
                ..sums(part, cents)
            };
            let totals = keys.board_totals(funnel, archived);
            return Ok(vec![(key::total(totals, &total.total()), share)]);
        }
        let mut status = self.status.as_str().to_owned();
        if !self.narrowing.is_open() {
            status = key::class([&status, RESTRICTED]);
        }
        let of_column = keys.column_total(funnel, archived, self.column);
        let of_user = keys.user_total(funnel, archived, self.user, self.column);
        let column = self.column.to_string();
        Ok(vec![
            (of_column, sums(&format!(".{status}"), cents)),
            (
                of_user,
                sums(&format!(".{}", key::class([&column, &status])), cents),
            ),
        ])
    }

    /// The sort key of its restricted total, and of its total before format 4.
    pub fn total(&self) -> String {
        format!("{}{}", key::total_column(self.column), self.name())
    }
}

/// The contributions of an opportunity to a part of a total.
fn sums(part: &str, cents: i64) -> Share {
    Share {
        numbers: [(format!("n{part}"), 1), (format!("c{part}"), cents)].into(),
        ..Share::default()
    }
}

/// The contributions of an opportunity to a part of a daily count, which has no cents before format 5.
fn ranked_sums(keys: Keys<'_>, part: &str, cents: i64) -> Share {
    let mut share = sums(part, cents);
    if keys.board_form() < BoardForm::DayValues {
        share.numbers.retain(|name, _| name.starts_with('n'));
    }
    share
}

/// The items that count an opportunity, with its contributions.
pub fn counts(keys: Keys<'_>, opportunity: &Opportunity) -> Result<BTreeMap<Key, Share>, StoreError> {
    let class = BoardClass::of(opportunity);
    let (funnel, archived) = (opportunity.crm_id, opportunity.archived);
    let cents = i64::try_from(opportunity.value.get()).unwrap_or(i64::MAX);
    let day = key::rank_day(opportunity.create_date);
    let mut ranked = class.unrestricted().name();
    let mut counts = BTreeMap::new();
    if !class.narrowing.is_open() {
        ranked = key::class([&ranked, RESTRICTED]);
        let totals = keys.restricted_totals(funnel, archived);
        let attributes = item::encode(TOTAL, &class)?;
        counts.insert(
            key::total(totals, &class.total()),
            Share {
                attributes,
                ..sums("", cents)
            },
        );
        let ranks = keys.restricted_ranks(funnel, class.column, archived);
        let rank = key::restricted_rank(&day, &class.name());
        counts.insert(key::total(ranks, &rank), ranked_sums(keys, "", cents));
    }
    counts.extend(class.totals(keys, (funnel, archived), cents)?);
    let ranks = keys.board_ranks(funnel, class.column, archived);
    let share = ranked_sums(keys, &format!(".{ranked}"), cents);
    counts.insert(key::total(ranks, &key::rank(&day, class.user)), share);
    if keys.totals_spread() {
        for share in counts.values_mut() {
            share.spread = true;
        }
    }
    Ok(counts)
}
