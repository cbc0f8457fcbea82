//! Columns: an opportunity stands in one that its funnel has. In another no board shows it, and only a person knows where
//! it belongs.

use std::collections::{BTreeMap, BTreeSet};

use super::Doctor;
use super::kind::{Kind, Place};
use super::settle::{Look, Wrong};
use crate::funnel::Funnel;
use crate::id::{ColumnId, FunnelId};
use crate::store::error::StoreError;
use crate::store::item;
use crate::store::key::Key;
use crate::store::operator::{Operator, OperatorError};
use crate::store::table::{PAGE, Span, key_of};

/// The columns of all funnels, as they were when the doctor began.
#[derive(Debug, Default)]
pub struct Columns(BTreeMap<FunnelId, BTreeSet<ColumnId>>);

impl Columns {
    /// Whether a funnel has a column.
    pub fn has(&self, (funnel, column): Place) -> bool {
        self.0
            .get(&funnel)
            .is_some_and(|columns| columns.contains(&column))
    }
}

impl Doctor<'_> {
    /// Reads the funnels, once for all opportunities.
    pub(super) async fn funnels(&mut self) -> Result<(), OperatorError> {
        let span = Span::head(self.operator.keys().funnels(), PAGE);
        let items = self.operator.table().query_all(span).await?;
        self.looked_at("funnels", items.len());
        for item in items {
            let key = key_of(&item)?;
            match item::decode::<Funnel>("funnel", item) {
                Ok(funnel) => {
                    let columns = funnel.columns.iter().map(|column| column.id);
                    self.columns.0.insert(funnel.id, columns.collect());
                }
                Err(cause) => self.report(key.to_string(), cause.to_string(), false),
            }
        }
        Ok(())
    }

    /// Looks again at a record that seems to stand in no column, and reports it.
    pub(super) async fn misplaced(&mut self, kind: &Kind, key: &Key) -> Result<(), OperatorError> {
        let operator = self.operator;
        self.settle(&key.to_string(), async || look(operator, kind, key).await)
            .await
    }
}

/// The funnel is read between two reads of the record: it may be younger than the doctor.
async fn look(operator: &Operator, kind: &Kind, key: &Key) -> Result<Look, OperatorError> {
    let table = operator.table();
    let Some(record) = table.get(key).await? else {
        return Ok(Look::Fine);
    };
    let Some((id, column)) = (kind.place)(&record)? else {
        return Ok(Look::Fine);
    };
    let funnel = match operator.0.funnel(id).await {
        // It was reported itself, and may have any column.
        Err(StoreError::Corrupt { .. }) => return Ok(Look::Fine),
        funnel => funnel?,
    };
    if table.get(key).await?.as_ref() != Some(&record) {
        return Ok(Look::Changing);
    }
    let reason = match funnel {
        None => format!("stands in funnel {id}, which does not exist"),
        Some(funnel) if funnel.has_column(column) => return Ok(Look::Fine),
        Some(_) => format!("stands in column {column}, which funnel {id} does not have"),
    };
    Ok(Look::Wrong(Wrong::beyond_repair(key.to_string(), reason)))
}
