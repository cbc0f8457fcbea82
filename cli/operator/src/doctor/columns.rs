//! Columns: an opportunity is in one that its funnel has. In another no board shows it, and only a person knows where it
//! belongs.

use std::collections::{BTreeMap, BTreeSet};

use super::check::Check;
use super::kind::{KindRef, Place};
use super::{Doctor, Result};
use shared::funnel::Funnel;
use shared::ids::{ColumnId, FunnelId};
use table::item;
use table::{Key, StoreError, key_of};

/// The columns of all funnels, as they were when the doctor began.
#[derive(Debug, Default)]
pub struct Columns(BTreeMap<FunnelId, BTreeSet<ColumnId>>);

impl Columns {
    /// Whether a funnel has a column.
    pub fn has(&self, (funnel, column): Place) -> bool {
        let columns = self.0.get(&funnel);
        columns.is_some_and(|columns| columns.contains(&column))
    }
}

impl Doctor<'_> {
    /// Reads the funnels, once for all opportunities.
    pub(super) async fn funnels(&mut self) -> Result<()> {
        let mut pages = self.pages(self.operator.keys().funnels());
        while let Some(page) = pages.next().await? {
            self.checked("funnels", page.len());
            for item in page {
                let key = key_of(&item)?;
                match item::decode::<Funnel>("funnel", item) {
                    Ok(funnel) => {
                        let columns = funnel.columns.iter().map(|column| column.id);
                        self.columns.0.insert(funnel.id, columns.collect());
                    }
                    Err(cause) => self.report(key, cause, false),
                }
            }
        }
        Ok(())
    }

    /// Checks a record that seems to be in no column. Its funnel may be younger than the doctor.
    pub(super) async fn misplaced(&mut self, kind: KindRef, key: &Key) -> Result<()> {
        let operator = self.operator;
        self.recheck(key, key, async |record| {
            let Some((id, column)) = kind.place(record)? else {
                return Ok(Check::Fine);
            };
            let reason = match operator.0.reader().funnel(id).await {
                // It was reported itself, and may have any column.
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
