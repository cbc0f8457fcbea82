//! Where an offset lies in a column, from how many opportunities were created on each day.

use super::{Asked, BoardRequest, BoardTotal};
use crate::id::ColumnId;
use crate::store::Reader;
use crate::store::error::StoreError;
use crate::store::item::Item;
use crate::store::key;
use crate::store::table::{PAGE, Span, key_of};

/// A place at or before an offset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Near {
    /// Behind which text of a place it lies.
    pub after: String,
    /// How many opportunities lie between it and the offset.
    pub skip: u64,
}

/// How many opportunities of each class a column has of each day, the latest first.
#[derive(Debug, Default)]
pub struct Ranks(Vec<Item>);

impl Reader {
    /// The ranks of a column. They cost what its days cost, however many opportunities those have: a query for each 1 MB.
    pub(super) async fn ranks(&self, request: &BoardRequest, column: ColumnId) -> Result<Ranks, StoreError> {
        let ranks = self.keys().board_ranks(request.funnel, column, request.archived);
        self.table.query_all(Span::head(ranks, PAGE)).await.map(Ranks)
    }
}

impl Ranks {
    /// The beginning of the day on which the opportunity at an offset was created; `None` where there is none.
    pub fn near(
        &self,
        asked: &Asked<'_>,
        column: ColumnId,
        totals: &[BoardTotal],
        offset: u64,
    ) -> Result<Option<Near>, StoreError> {
        let taken = totals
            .iter()
            .filter(|total| total.class.column == column && asked.takes(&total.class));
        let taken: Vec<_> = taken.map(|total| format!("n.{}", total.class.name())).collect();
        let mut skip = offset;
        for day in &self.0 {
            let count = count(day, &taken);
            if count > skip {
                let after = key::rank_begins(&key_of(day)?.sk);
                return Ok(after.map(|after| Near { after, skip }));
            }
            skip -= count;
        }
        Ok(None)
    }
}

/// How many opportunities of some classes a day has.
fn count(day: &Item, classes: &[String]) -> u64 {
    let numbers = classes.iter().filter_map(|class| day.get(class)?.as_n().ok());
    numbers.filter_map(|number| number.parse::<u64>().ok()).sum()
}
