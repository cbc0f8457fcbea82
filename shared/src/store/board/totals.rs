//! Totals of a funnel's columns, and the part visible to a viewer.
//!
//! Every page needs the totals by column, user and status. Only viewers from whom service permissions may hide some
//! opportunities need the restricted ones separately: not admins, nor users who see only their own.

use std::collections::BTreeMap;

use super::{Asked, BoardRequest};
use crate::ids::ColumnId;
use crate::store::Reader;
use crate::store::derived::is_number;
use crate::store::key;
use crate::store::opportunities::BoardClass;
use crate::store::opportunities::class::RESTRICTED;
use table::MAX_COUNTERS_AHEAD;
use table::StoreError;
use table::item::{self, Item};
use table::{KeyRange, PAGE};

const TOTAL: &str = "board total";

/// Number and value of opportunities.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sum {
    pub count: i64,
    pub cents: i128,
}

impl Sum {
    pub fn add(&mut self, other: Self) {
        self.count += other.count;
        self.cents += other.cents;
    }
}

/// The total of a column's opportunities with one user and status.
#[derive(Debug, Clone, PartialEq)]
pub struct BoardTotal {
    pub class: BoardClass,
    /// Those without a restriction by service permission.
    pub open: Sum,
    pub restricted: Sum,
}

/// The total of a column's opportunities with one user, status and restriction.
#[derive(Debug, Clone, PartialEq)]
pub struct RestrictedTotal {
    pub class: BoardClass,
    pub sum: Sum,
}

/// The totals of a column, or of all columns.
#[derive(Debug, Default)]
pub struct Totals {
    pub classes: Vec<BoardTotal>,
    /// Parts of `classes` that are stored in the form before format 2.
    former: Vec<RestrictedTotal>,
}

/// The visible part of a column for a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TotalsSeen {
    pub sum: Sum,
    /// Maximum additional visible number, known from the restricted totals.
    pub unclear: i64,
}

impl Totals {
    fn read(items: Vec<Item>) -> Result<Self, StoreError> {
        let mut classes = BTreeMap::new();
        let mut former = Vec::new();
        for item in items {
            let (open, restricted) = (sum(&item, "")?, sum(&item, &format!(".{RESTRICTED}"))?);
            let class = class(item)?;
            let total = classes.entry(class.unrestricted());
            let total = total.or_insert_with_key(|class| BoardTotal {
                class: class.clone(),
                open: Sum::default(),
                restricted: Sum::default(),
            });
            total.restricted.add(restricted);
            if class.narrowing.is_open() {
                total.open.add(open);
            } else {
                total.restricted.add(open);
                former.push(RestrictedTotal { class, sum: open });
            }
        }
        let classes = classes.into_values().collect();
        Ok(Self { classes, former })
    }

    /// The requested and visible part of a column.
    pub(crate) fn seen(&self, asked: &Asked<'_>, column: ColumnId) -> TotalsSeen {
        let mut seen = TotalsSeen::default();
        let classes = self.classes.iter().filter(|total| total.class.column == column);
        for total in classes.filter(|total| asked.takes(&total.class)) {
            seen.sum.add(total.open);
            if asked.viewer.passes_restrictions(total.class.user) {
                seen.sum.add(total.restricted);
            } else {
                seen.unclear += total.restricted.count;
            }
        }
        seen
    }
}

impl Reader {
    /// The totals of a column, or of all columns. One query for each 1 MB.
    pub(crate) async fn board_totals(
        &self,
        request: &BoardRequest,
        column: Option<ColumnId>,
    ) -> Result<Totals, StoreError> {
        let totals = self.keys().board_totals(request.funnel, request.archived);
        let span = match column {
            Some(column) => KeyRange::beginning(totals, key::total_column(column)),
            None => KeyRange::head(totals, PAGE),
        };
        Totals::read(self.table.query_all_ahead(span, MAX_COUNTERS_AHEAD).await?)
    }

    /// The requested and visible restricted totals of a column, except those in [`Totals::seen`]. They cost some 150
    /// bytes per restriction: one query per MB, within the budget.
    pub(crate) async fn seen_restricted(
        &self,
        asked: &Asked<'_>,
        column: ColumnId,
        totals: &Totals,
    ) -> Result<Vec<RestrictedTotal>, StoreError> {
        let request = asked.request;
        let partition = self.keys().restricted_totals(request.funnel, request.archived);
        let span = KeyRange::beginning(partition, key::total_column(column));
        let items = asked.budget.query_all(&self.table, span).await?;
        let former = totals.former.iter().filter(|total| total.class.column == column);
        let mut restricted: Vec<_> = former.cloned().collect();
        for item in items {
            let sum = sum(&item, "")?;
            let class = class(item)?;
            restricted.push(RestrictedTotal { class, sum });
        }
        restricted
            .retain(|total| asked.takes(&total.class) && !asked.viewer.passes_restrictions(total.class.user));
        Ok(restricted)
    }
}

fn class(mut item: Item) -> Result<BoardClass, StoreError> {
    item.retain(|name, _| !is_number(name) && name != "v");
    item::decode(TOTAL, item)
}

/// Count and cents of a part of a total.
fn sum(item: &Item, part: &str) -> Result<Sum, StoreError> {
    let count = number(item, &format!("n{part}"))?;
    let cents = number(item, &format!("c{part}"))?;
    let count = i64::try_from(count).unwrap_or_default();
    Ok(Sum { count, cents })
}

/// A number of a total: sums of money may exceed 64 bits.
fn number(item: &Item, name: &str) -> Result<i128, StoreError> {
    let digits = item.get(name).and_then(|number| number.as_n().ok());
    digits.map_or(Ok(0), |digits| {
        digits.parse().map_err(|cause| item::corrupt(TOTAL, cause))
    })
}
