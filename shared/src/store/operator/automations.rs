//! Automations as an import writes them (C-81): nobody else changes one.
//!
//! Whether any is active stands in the directory, so that a call raises a trigger only then. Both are one transaction,
//! whichever automations it changes, and such transactions follow one another by the directory's version: so the
//! directory always says what the automations are.

use super::export::Pages;
use super::{Operator, OperatorError, Outcome};
use crate::automation::Automation;
use crate::store::automations::{self, Found};
use crate::store::error::StoreError;
use crate::store::item;
use crate::store::table::{PAGE, Span, key_of};
use crate::store::transaction::{CommitError, Condition, Transaction};

/// Automations in one transaction, of 100 KB each at most, beside the directory: DynamoDB takes 4 MB.
const TOGETHER: usize = 25;
/// Attempts to change the directory while others change it too.
const ATTEMPTS: u32 = 12;

impl Operator {
    /// Writes automations, each replacing the one of its id. What they name is the caller's to check.
    ///
    /// # Errors
    /// [`OperatorError::NoInstance`], or [`OperatorError::Store`] where the table fails; what was written by then
    /// stays.
    pub async fn import_automations(&self, lines: &[Automation]) -> Result<Vec<Outcome>, OperatorError> {
        let mut outcomes = Vec::with_capacity(lines.len());
        for some in lines.chunks(TOGETHER) {
            outcomes.extend(self.import_some_automations(some).await?);
        }
        Ok(outcomes)
    }

    async fn import_some_automations(&self, lines: &[Automation]) -> Result<Vec<Outcome>, OperatorError> {
        for attempt in 0..ATTEMPTS {
            let stored = self.stored_directory().await?;
            let found = self.0.automation_items().await?;
            let (mut all, mut later) = (Vec::new(), false);
            for item in &found {
                match automations::decode(item)? {
                    Found::Known(automation) => all.push(automation),
                    Found::Later { id, active } => {
                        later |= active && lines.iter().all(|line| line.id != id);
                    }
                }
            }
            let mut transaction = Transaction::default();
            let mut outcomes = Vec::with_capacity(lines.len());
            for line in lines {
                if all.contains(line) {
                    outcomes.push(Outcome::Unchanged);
                    continue;
                }
                all.retain(|automation| automation.id != line.id);
                all.push(line.clone());
                let key = self.keys().automation(line.id);
                let stored = found
                    .iter()
                    .find(|item| key_of(item).is_ok_and(|found| found == key));
                let item = automations::rewritten(stored, line);
                transaction.put(key, item, Condition::Always);
                outcomes.push(Outcome::Written);
            }
            if transaction.is_empty() {
                return Ok(outcomes);
            }
            let mut next = stored;
            next.directory.triggers = later || all.iter().any(|automation| automation.active);
            self.put_next(&mut transaction, next);
            match self.table().commit(transaction).await {
                Ok(()) => return Ok(outcomes),
                Err(CommitError::Refused(_)) => self.table().pause(attempt).await,
                Err(CommitError::Store(error)) => return Err(error.into()),
            }
        }
        Err(StoreError::Contention("a change of the automations").into())
    }

    /// All automations by id.
    #[must_use]
    pub fn automations(&self) -> Pages<Automation> {
        let span = Span::head(self.keys().automations(), PAGE);
        Pages::new(self, span, |item| match automations::decode(&item)? {
            Found::Known(automation) => Ok(automation),
            Found::Later { .. } => Err(item::corrupt("automation", "a later version wrote it")),
        })
    }
}
