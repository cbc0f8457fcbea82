//! Checks that each opportunity is in a column of its funnel. In any other column no board shows it. Only a person
//! knows the right one, so there is no repair.

use std::collections::{BTreeMap, BTreeSet};

use super::check::Check;
use super::{Doctor, Result};
use crate::kinds::Storage;
use crate::kinds::storage::FunnelColumn;
use shared::funnel::Funnel;
use shared::ids::{ColumnId, FunnelId};
use table::item;
use table::{Key, StoreError};

/// The columns of all funnels, as they were when the doctor began.
#[derive(Debug, Clone, Default)]
pub struct Columns(BTreeMap<FunnelId, BTreeSet<ColumnId>>);

impl Columns {
    /// Whether a funnel has a column.
    pub fn has(&self, (funnel, column): FunnelColumn) -> bool {
        let columns = self.0.get(&funnel);
        columns.is_some_and(|columns| columns.contains(&column))
    }
}

impl Doctor<'_> {
    /// Reads the funnels, once for all opportunities. Unreadable ones are reported as records.
    pub(super) async fn read_columns(&mut self) -> Result<()> {
        let mut pages = self.pages(self.operator.keys().funnels());
        while let Some(page) = pages.next().await? {
            let funnels = page
                .into_iter()
                .map(|item| item::decode::<Funnel>("funnel", item));
            for funnel in funnels.filter_map(Result::ok) {
                let columns = funnel.columns.iter().map(|column| column.id);
                self.columns.0.insert(funnel.id, columns.collect());
            }
        }
        Ok(())
    }

    /// Checks a record outside the known columns. Its funnel may have changed since the doctor began.
    pub(super) async fn check_column(&mut self, kind: &Storage, key: &Key) -> Result<()> {
        let operator = self.operator;
        self.recheck(key, key, async |record| {
            let Some((id, column)) = (kind.column)(record)? else {
                return Ok(Check::Fine);
            };
            let reason = match operator.reader().funnel(id).await {
                // An unreadable funnel was reported itself, and may have any column.
                Err(StoreError::Corrupt { .. }) => return Ok(Check::Fine),
                Err(error) => return Err(error.into()),
                Ok(None) => format!("is in funnel {id}, which does not exist"),
                Ok(Some(funnel)) if funnel.has_column(column) => return Ok(Check::Fine),
                Ok(Some(_)) => format!("is in column {column}, which funnel {id} does not have"),
            };
            Ok(Check::wrong(key, reason, None))
        })
        .await
    }
}
