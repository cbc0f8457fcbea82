//! Reports' definitions as an import writes them (C-81): nobody else changes one. Their results are not exported: they
//! follow from the records.

use super::batch::Step;
use super::export::Pages;
use super::{Operator, OperatorError, Outcome};
use crate::report::Definition;
use crate::store::error::StoreError;
use crate::store::item::Item;
use crate::store::reports;
use crate::store::table::{PAGE, Span};
use crate::store::transaction::{Condition, Transaction};
use crate::store::unknown::Raw;
use crate::time::Timestamp;

/// A report as an import brings it: the times of the definition itself count for nothing, because a line may leave them
/// out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportLine {
    /// Everything but the times of creation and change.
    pub definition: Definition,
    /// Where it is absent the stored report's stays, and a new one's is now.
    pub create_date: Option<Timestamp>,
    /// Where it is absent, a definition that changes was changed now, another's stays, and a new one's is its time of
    /// creation.
    pub update_date: Option<Timestamp>,
}

impl From<Definition> for ReportLine {
    fn from(definition: Definition) -> Self {
        Self {
            create_date: Some(definition.create_date),
            update_date: Some(definition.update_date),
            definition,
        }
    }
}

impl ReportLine {
    /// The definition as it is to be stored.
    fn onto(&self, stored: Option<&Definition>, now: Timestamp) -> Definition {
        let create_date = self.create_date.or(stored.map(|stored| stored.create_date));
        let create_date = create_date.unwrap_or(now);
        let updated = stored.map(|stored| {
            let same = Definition {
                create_date: stored.create_date,
                update_date: stored.update_date,
                ..self.definition.clone()
            };
            if same == *stored { stored.update_date } else { now }
        });
        Definition {
            create_date,
            update_date: self.update_date.or(updated).unwrap_or(create_date),
            ..self.definition.clone()
        }
    }
}

impl Operator {
    /// Writes reports, each replacing the one of its id. What their filters name is the caller's to check.
    ///
    /// # Errors
    /// [`OperatorError::Store`] where the table fails; what was written by then stays.
    pub async fn import_reports(&self, lines: &[ReportLine]) -> Result<Vec<Outcome>, OperatorError> {
        let keys = lines.iter().map(|line| self.keys().report(line.definition.id));
        let mut stored = self.table().get_many(keys).await?;
        let steps = lines.iter().map(|line| {
            let item = stored.remove(&self.keys().report(line.definition.id));
            self.report_step(line, item.as_ref())
        });
        let steps = steps.collect::<Result<_, _>>()?;
        let again = async |at: usize| {
            let Some(line) = lines.get(at) else {
                return Ok(Step::Done(Outcome::Unchanged));
            };
            let item = self.table().get(&self.keys().report(line.definition.id)).await?;
            Ok(self.report_step(line, item.as_ref())?)
        };
        self.carry_out(steps, again).await
    }

    fn report_step(&self, line: &ReportLine, stored: Option<&Item>) -> Result<Step, StoreError> {
        let raw = stored.map(Raw::of).unwrap_or_default();
        let stored = stored.map(reports::definition).transpose()?;
        let definition = line.onto(stored.as_ref(), self.now());
        if stored.as_ref() == Some(&definition) {
            return Ok(Step::Done(Outcome::Unchanged));
        }
        let mut transaction = Transaction::default();
        let key = self.keys().report(definition.id);
        let recode = |raw: &Item| Some(reports::encode(&reports::definition(raw).ok()?));
        let item = raw.carry(reports::encode(&definition), recode);
        transaction.put(key, item, Condition::Always);
        Ok(Step::Write(transaction))
    }

    /// All reports by id.
    #[must_use]
    pub fn reports(&self) -> Pages<Definition> {
        let span = Span::head(self.keys().reports(), PAGE);
        Pages::new(self, span, |item| reports::definition(&item))
    }
}
