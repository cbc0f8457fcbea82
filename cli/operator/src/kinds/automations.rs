//! Automations. Only imports change them.
//!
//! The directory contains the events for which active automations wait, so that only those are written to the outbox.
//! Directory and automations change in one transaction, and the directory's version serialises such transactions.

use shared::automation::{Action, Automation};
use shared::ids::AutomationId;
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
    const FIELDS: &'static [Field] = &[
        ID,
        field(Shape::Text, "name").needed().note("1 to 255 characters"),
        field(
            Shape::OneOf("leadPhoneCall lead opportunity meeting form"),
            "trigger",
        )
        .needed()
        .note("see [automations](#automations)"),
        field(Shape::OneOf(""), "event").needed(),
        field(Shape::Flag, "active").or("true"),
        field(Shape::Object, "filters"),
        field(Shape::Objects, "actions")
            .needed()
            .such_as(r#"[{"type": "addPoints", "points": 10}]"#)
            .note("1 to 20"),
        field(Shape::Id, "filters.owner").refers(Kind::Users),
        field(Shape::Id, "filters.form").refers(Kind::Hooks),
        field(Shape::Id, "filters.funnel actions[].funnel").refers(Kind::Funnels),
        field(Shape::Id, "filters.column actions[].column").column_of("funnel"),
        field(Shape::Id, "actions[].user actions[].users").refers(Kind::Users),
        field(Shape::Ids, "actions[].departments").refers(Kind::Departments),
    ];

    fn parse(fields: Fields) -> Result<Automation, String> {
        let automation: Automation = read(Self::FIELDS, fields)?;
        automation.validate()?;
        Ok(automation)
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
}

impl StoredKind for Automations {
    const STORAGE: Storage = Storage {
        removal: Some(Removal::OfAutomation),
        ..Storage::of(
            ["automation", "automations"],
            |keys| vec![keys.automations()],
            |keys, id| Some(keys.automation(AutomationId::parse(id)?)),
            |_, automation| nothing(automations::decode(automation)),
        )
    };
    const DECODE: fn(Item) -> Result<Automation, StoreError> = |item| match automations::decode(&item)? {
        FoundAutomation::Known(automation) => Ok(automation),
        FoundAutomation::Later { .. } => Err(item::corrupt("automation", "a later version wrote it")),
    };
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
