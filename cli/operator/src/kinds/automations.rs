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
        automation.judge()?;
        limits::size(&automation)?;
        Ok(automation)
    }

    fn field_names() -> &'static [&'static str] {
        faults::names_of::<Automation>()
    }

    fn identity(automation: &Automation) -> u64 {
        automation.id.get()
    }

    fn references(automation: &Automation, to: &mut References) {
        let mut filters = References::default();
        refer_filters(&automation.filters, &mut filters);
        to.within("filters", filters);
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

fn refer_filters(filters: &Filters, to: &mut References) {
    to.add("owner", Referent::User, filters.owner);
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

fn refer(action: &Action, to: &mut References) {
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
    const JUDGED_BY_TABLE: bool = true;

    async fn write(operator: &Operator, lines: &[&Automation], mode: Mode) -> Written {
        let unknown = operator.unknown_placeholders(lines).await?;
        let mut outcomes = Vec::with_capacity(lines.len());
        for some in lines.chunks(BATCH) {
            let refusals: Vec<_> = some.iter().map(|line| unknown.refuse(line)).collect();
            let known = some
                .iter()
                .zip(&refusals)
                .filter(|(_, refusal)| refusal.is_none());
            let known: Vec<_> = known.map(|(line, _)| *line).collect();
            let written = if mode.judging {
                vec![Outcome::Unchanged; known.len()]
            } else {
                operator.import_some_automations(&known).await?
            };
            let mut written = written.into_iter();
            let outcome = |refusal: Option<String>| refusal.map(Outcome::Refused).or_else(|| written.next());
            outcomes.extend(refusals.into_iter().filter_map(outcome));
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
    async fn import_some_automations(&self, lines: &[&Automation]) -> Result<Vec<Outcome>, OperatorError> {
        let mut retry = self
            .table()
            .retry(Policy::CONFLICT, "a change of the automations");
        loop {
            let stored = self.stored_directory().await?;
            let found = self.0.reader().automation_items().await?;
            let decoded = found.iter().map(automations::decode);
            let mut all = decoded.collect::<Result<Vec<_>, _>>()?;
            let mut transaction = Transaction::default();
            let mut outcomes = Vec::with_capacity(lines.len());
            for line in lines {
                if all
                    .iter()
                    .any(|found| matches!(found, FoundAutomation::Known(known) if known == *line))
                {
                    outcomes.push(Outcome::Unchanged);
                    continue;
                }
                all.retain(|found| found.id() != line.id);
                all.push(FoundAutomation::Known((*line).clone()));
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
            automations::summarize(&mut next.directory, &all);
            self.put_next(&mut transaction, next);
            if self.table().try_commit(transaction).await? {
                return Ok(outcomes);
            }
            retry.again().await?;
        }
    }
}
