//! Automations. Only imports change them.
//!
//! The directory has a flag whether any automation is active, so that calls enqueue a trigger only then. The flag and the
//! automations change in one transaction, and the directory's version serialises such transactions.

use shared::automation::{Action, Automation};
use shared::store::unscoped::automations::{self, Found};
use table::{Policy, key_of};

use super::prelude::*;

/// Automations in one transaction with the directory, of at most 100 KB each: DynamoDB takes 4 MB.
const BATCH: usize = 25;

/// The automations.
#[derive(Debug)]
pub struct Automations;

impl RecordKind for Automations {
    type Record = Automation;
    type Line = Automation;
    const KIND: Kind = Kind::Automations;

    fn parse(fields: Fields) -> Result<Automation, String> {
        let automation: Automation = line::read(fields)?;
        automation.judge()?;
        limits::size(&automation)?;
        Ok(automation)
    }

    fn identity(automation: &Automation) -> u64 {
        automation.id.get()
    }

    fn references(automation: &Automation, to: &mut References) {
        for (at, action) in automation.actions.iter().enumerate() {
            let mut named = References::default();
            refer(action, &mut named);
            to.within(&format!("actions[{at}]"), named);
        }
    }

    fn export(automation: &Automation) -> serde_json::Result<Fields> {
        sparse(automation)
    }
}

fn refer(action: &Action, to: &mut References) {
    match action {
        Action::SetOwner { user } => to.add("user", Referent::User, [*user]),
        Action::AddAccess { users, departments } => {
            to.add("users", Referent::User, users.iter().copied());
            to.add("departments", Referent::Department, departments.iter().copied());
        }
        Action::CreateOpportunity { funnel, column, .. } => {
            to.add("funnel", Referent::Funnel, [*funnel]);
            let lacking = |funnel, column| format!("column {column} is not one of funnel {funnel}");
            let (funnel, column) = (funnel.get(), column.get());
            to.push(
                "column",
                Referent::ColumnOf {
                    funnel,
                    column,
                    lacking,
                },
            );
        }
        Action::AddPoints { .. } | Action::Notify { .. } => {}
    }
}

impl ImportKind for Automations {
    async fn write(operator: &Operator, lines: &[&Automation], _mode: Mode) -> Written {
        let mut outcomes = Vec::with_capacity(lines.len());
        for some in lines.chunks(BATCH) {
            outcomes.extend(operator.import_some_automations(some).await?);
        }
        Ok(outcomes)
    }
}

impl ExportKind for Automations {
    fn partition(keys: Keys<'_>) -> String {
        keys.automations()
    }

    fn decode(item: Item) -> Result<Automation, StoreError> {
        match automations::decode(&item)? {
            Found::Known(automation) => Ok(automation),
            Found::Later { .. } => Err(item::corrupt("automation", "a later version wrote it")),
        }
    }
}

impl Operator {
    async fn import_some_automations(&self, lines: &[&Automation]) -> Result<Vec<Outcome>, OperatorError> {
        let mut retry = self
            .table()
            .retry(Policy::CONFLICT, "a change of the automations");
        loop {
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
                all.push((*line).clone());
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
            if self.table().try_commit(transaction).await? {
                return Ok(outcomes);
            }
            retry.again().await?;
        }
    }
}
