//! Funnels as an import writes them (C-81): nobody else changes one.

use std::collections::BTreeMap;

use super::batch::Step;
use super::{Operator, OperatorError, Outcome};
use crate::funnel::Funnel;
use crate::id::{ColumnId, FunnelId};
use crate::store::error::StoreError;
use crate::store::item::{self, Item};
use crate::store::key;
use crate::store::opportunities::class::RESTRICTED_COUNT;
use crate::store::table::Span;
use crate::store::transaction::{Condition, Transaction};
use crate::store::unknown::Raw;

const KIND: &str = "funnel";

impl Operator {
    /// Writes funnels, each replacing the one of its id. One that lacks a column in which opportunities stand is refused:
    /// no answer would show them any more. The access lists are the caller's to check.
    ///
    /// # Errors
    /// [`OperatorError::Store`] where the table fails; what was written by then stays.
    pub async fn import_funnels(&self, funnels: &[Funnel]) -> Result<Vec<Outcome>, OperatorError> {
        let keys = funnels.iter().map(|funnel| self.keys().funnel(funnel.id));
        let mut stored = self.table().get_many(keys).await?;
        let mut steps = Vec::with_capacity(funnels.len());
        for funnel in funnels {
            let item = stored.remove(&self.keys().funnel(funnel.id));
            steps.push(self.funnel_step(funnel, item).await?);
        }
        let again = async |at: usize| {
            let Some(funnel) = funnels.get(at) else {
                return Ok(Step::Done(Outcome::Unchanged));
            };
            let item = self.table().get(&self.keys().funnel(funnel.id)).await?;
            Ok(self.funnel_step(funnel, item).await?)
        };
        self.carry_out(steps, again).await
    }

    async fn funnel_step(&self, funnel: &Funnel, stored: Option<Item>) -> Result<Step, StoreError> {
        let raw = stored.as_ref().map(Raw::of).unwrap_or_default();
        let stored: Option<Funnel> = stored.map(|item| item::decode(KIND, item)).transpose()?;
        if stored.as_ref() == Some(funnel) {
            return Ok(Step::Done(Outcome::Unchanged));
        }
        let before = stored.iter().flat_map(|stored| &stored.columns);
        for column in before.filter(|column| !funnel.has_column(column.id)) {
            if self.holds_opportunities(funnel.id, column.id).await? {
                return Ok(Step::refused(format!(
                    "columns: column {} still has opportunities; move them first",
                    column.id
                )));
            }
        }
        let mut transaction = Transaction::default();
        let key = self.keys().funnel(funnel.id);
        transaction.put(key, raw.carry_typed(KIND, funnel)?, Condition::Always);
        Ok(Step::Write(transaction))
    }

    /// Whether a column has opportunities, archived ones counted. Queries of its totals.
    async fn holds_opportunities(&self, funnel: FunnelId, column: ColumnId) -> Result<bool, StoreError> {
        // Before a table is migrated single totals may be negative; their sum is not.
        let mut count = 0;
        for archived in [false, true] {
            let totals = self.keys().board_totals(funnel, archived);
            let span = Span::beginning(totals, key::total_column(column));
            let items = self.table().query_all(span).await?;
            let numbers = items
                .iter()
                .flat_map(|item| [item.get("n"), item.get(RESTRICTED_COUNT)]);
            let numbers = numbers.flatten().filter_map(|number| number.as_n().ok());
            count += numbers
                .filter_map(|digits| digits.parse::<i64>().ok())
                .sum::<i64>();
        }
        Ok(count > 0)
    }

    /// All funnels, against which an import checks what its opportunities refer to.
    ///
    /// # Errors
    /// [`StoreError`] where they cannot be read.
    pub async fn known_funnels(&self) -> Result<BTreeMap<FunnelId, Funnel>, StoreError> {
        let funnels = self.0.funnels().await?;
        Ok(funnels.into_iter().map(|funnel| (funnel.id, funnel)).collect())
    }
}
