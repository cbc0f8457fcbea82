//! Automations. Only imports change them.
//!
//! The directory contains the events for which active automations wait, so that only those are written to the outbox.
//! Directory and automations change in one transaction, and the directory's version serialises such transactions.

use shared::automation::{Action, Automation, Filters};
use shared::ids::{ColumnId, FunnelId};
use shared::store::unscoped::automations::{self, FoundAutomation};
use table::{Policy, key_of};

use super::prelude::*;

/// Automations in one transaction, each of at most 100 KB. A transaction has at most 4 MB.
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
        automation.validate()?;
        limits::size(&automation)?;
        Ok(automation)
    }

    fn field_names() -> &'static [&'static str] {
        faults::names_of::<Automation>()
    }

    /// The import cannot know the options of the process that delivers.
    fn warnings(automation: &Automation) -> Vec<String> {
        let actions = automation.actions.iter().enumerate();
        let warnings = actions.filter_map(|(at, action)| match action {
            Action::Notify(notify) if notify.url.needs_admission() => {
                let host = notify.url.authority();
                Some(format!(
                    "actions[{at}].url: delivered by `funil serve --notify-host {host}` alone"
                ))
            }
            _ => None,
        });
        warnings.collect()
    }

    fn identity(automation: &Automation) -> u64 {
        automation.id.get()
    }

    fn references(automation: &Automation, to: &mut References) {
        let mut filters = References::default();
        add_filter_references(&automation.filters, &mut filters);
        to.add_within("filters", filters);
        for (at, action) in automation.actions.iter().enumerate() {
            let mut named = References::default();
            add_references(action, &mut named);
            to.add_within(&format!("actions[{at}]"), named);
        }
    }

    fn export(automation: &Automation) -> serde_json::Result<Fields> {
        sparse(automation)
    }
}

fn add_filter_references(filters: &Filters, to: &mut References) {
    to.add("owner", Referent::User, filters.owner);
    to.add("form", Referent::Hook, filters.form);
    to.add("funnel", Referent::Funnel, filters.funnel);
    if let (Some(funnel), Some(column)) = (filters.funnel, filters.column) {
        to.push("column", column_of(funnel, column));
    }
}

fn column_of(funnel: FunnelId, column: ColumnId) -> Referent {
    Referent::ColumnOf {
        funnel: funnel.get(),
        column: column.get(),
        lacking: |funnel, column| format!("column {column} is not one of funnel {funnel}"),
    }
}

/// Adds the records that an action refers to.
fn add_references(action: &Action, to: &mut References) {
    match action {
        Action::SetOwner { user } => to.add("user", Referent::User, [*user]),
        Action::AddAccess { users, departments } => {
            to.add("users", Referent::User, users.iter().copied());
            to.add("departments", Referent::Department, departments.iter().copied());
        }
        Action::CreateOpportunity { funnel, column, .. } => {
            to.add("funnel", Referent::Funnel, [*funnel]);
            to.push("column", column_of(*funnel, *column));
        }
        Action::AddPoints { .. } | Action::Notify(_) => {}
    }
}

impl ImportKind for Automations {
    /// Custom fields in bodies are looked up in the leads, forms and funnels.
    const CHECK_READS_TABLE: bool = true;

    async fn write(operator: &Operator, lines: &[&Automation], mode: Mode) -> Written {
        let unknown = operator.unknown_placeholders(lines).await?;
        let mut outcomes = Vec::with_capacity(lines.len());
        for batch in lines.chunks(BATCH) {
            let refusals: Vec<_> = batch.iter().map(|line| unknown.refuse(line)).collect();
            let accepted = batch
                .iter()
                .zip(&refusals)
                .filter(|(_, refusal)| refusal.is_none());
            let accepted: Vec<_> = accepted.map(|(line, _)| *line).collect();
            let written = if mode.is_check_only {
                vec![Outcome::Unchanged; accepted.len()]
            } else {
                operator.import_automations(&accepted).await?
            };
            // The outcomes in the order of the lines: each accepted line takes the next one of `written`.
            let mut written = written.into_iter();
            for refusal in refusals {
                outcomes.extend(refusal.map(Outcome::Refused).or_else(|| written.next()));
            }
        }
        Ok(outcomes)
    }
}

impl ExportKind for Automations {
    fn partitions(keys: Keys<'_>) -> Vec<String> {
        vec![keys.automations()]
    }

    fn decode(item: Item) -> Result<Automation, StoreError> {
        match automations::decode(&item)? {
            FoundAutomation::Known(automation) => Ok(automation),
            FoundAutomation::Later { .. } => Err(item::corrupt("automation", "a later version wrote it")),
        }
    }
}

impl Operator {
    /// Writes automations and the directory's summary of active automations in one transaction. Returns the outcome of
    /// each line.
    async fn import_automations(&self, lines: &[&Automation]) -> Result<Vec<Outcome>, OperatorError> {
        let mut retry = self
            .table()
            .retry(Policy::CONFLICT, "a change of the automations");
        loop {
            let stored = self.stored_directory().await?;
            let found = self.reader().automation_items().await?;
            let decoded = found.iter().map(automations::decode);
            let mut all = decoded.collect::<Result<Vec<_>, _>>()?;
            let mut transaction = Transaction::default();
            let mut outcomes = Vec::with_capacity(lines.len());
            for line in lines {
                let is_same = |found: &FoundAutomation| match found {
                    FoundAutomation::Known(known) => known == *line,
                    FoundAutomation::Later { .. } => false,
                };
                if all.iter().any(is_same) {
                    outcomes.push(Outcome::Unchanged);
                    continue;
                }
                all.retain(|found| found.id() != line.id);
                all.push(FoundAutomation::Known((*line).clone()));
                let key = self.keys().automation(line.id);
                let stored_item = found
                    .iter()
                    .find(|item| key_of(item).is_ok_and(|found| found == key));
                let item = automations::rewritten(stored_item, line);
                transaction.put(key, item, Condition::Always);
                outcomes.push(Outcome::Written);
            }
            if transaction.is_empty() {
                return Ok(outcomes);
            }
            let mut next = stored;
            automations::summarize(&mut next.directory, &all);
            self.put_next(&mut transaction, next);
            if self.table().try_commit(transaction).await? {
                return Ok(outcomes);
            }
            retry.again().await?;
        }
    }
}
