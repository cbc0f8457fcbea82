//! Custom fields in the bodies of notifications (C-102). A field of opportunities must be defined by a funnel. A field
//! of leads must occur in a lead or be set by a form.

use std::collections::BTreeSet;

use shared::automation::template::{Placeholder, PlaceholderSource};
use shared::automation::{Action, Automation};
use shared::form::Target;
use shared::store::unscoped::{forms, leads};
use table::{KeyRange, Pages};

use crate::{Operator, OperatorError};

/// Placeholders of fields that do not exist.
pub struct UnknownPlaceholders(BTreeSet<(PlaceholderSource, String)>);

impl UnknownPlaceholders {
    /// The reason to refuse an automation, if its bodies name one of them.
    pub fn refuse(&self, automation: &Automation) -> Option<String> {
        let unknown = |placeholder: &Placeholder<'_>| self.0.contains(&owned(placeholder));
        let mut named = named(automation).filter(|(_, placeholder)| unknown(placeholder));
        let (at, Placeholder { source, field }) = named.next()?;
        Some(match source {
            PlaceholderSource::Opportunity => {
                format!("actions[{at}].body: {{op={field}}} is no field of opportunities")
            }
            PlaceholderSource::Lead => {
                format!("actions[{at}].body: {{contactfield={field}}} is no field of leads")
            }
        })
    }
}

/// The placeholders of an automation for custom fields, with the indices of their actions.
fn named(automation: &Automation) -> impl Iterator<Item = (usize, Placeholder<'_>)> {
    let actions = automation.actions.iter().enumerate();
    let bodies = actions.filter_map(|(at, action)| match action {
        Action::Notify(notify) => Some((at, notify.body.as_ref()?)),
        _ => None,
    });
    bodies.flat_map(|(at, body)| {
        let placeholders = body.placeholders().unwrap_or_default().into_iter();
        let custom = placeholders.filter(|placeholder| !placeholder.is_fixed());
        custom.map(move |placeholder| (at, placeholder))
    })
}

fn owned(placeholder: &Placeholder<'_>) -> (PlaceholderSource, String) {
    (placeholder.source, placeholder.field.to_owned())
}

impl Operator {
    /// The placeholders of automations without an existing field. Reads the funnels if there are custom fields of
    /// opportunities. For custom fields of leads, reads the forms, then leads until all fields are found.
    pub(super) async fn unknown_placeholders(
        &self,
        automations: &[&Automation],
    ) -> Result<UnknownPlaceholders, OperatorError> {
        let named = automations.iter().flat_map(|automation| named(automation));
        let mut unknown: BTreeSet<_> = named.map(|(_, placeholder)| owned(&placeholder)).collect();
        let has_any_of = |unknown: &BTreeSet<(PlaceholderSource, String)>, wanted| {
            unknown.iter().any(|(of, _)| *of == wanted)
        };
        if has_any_of(&unknown, PlaceholderSource::Opportunity) {
            let funnels = self.reader().funnels().await?;
            for field in funnels.into_iter().flat_map(|funnel| funnel.fields) {
                unknown.remove(&(PlaceholderSource::Opportunity, field.name));
            }
        }
        if has_any_of(&unknown, PlaceholderSource::Lead) {
            for alias in self.aliases_of_forms().await? {
                unknown.remove(&(PlaceholderSource::Lead, alias));
            }
        }
        let mut pages = Pages::of(KeyRange::whole(self.keys().leads()));
        while has_any_of(&unknown, PlaceholderSource::Lead) {
            let Some(items) = pages.next(self.reads()).await? else {
                break;
            };
            let items = self.reader().whole_items(items).await?;
            // No response shows a field of an unreadable lead.
            for lead in items.into_iter().filter_map(|item| leads::read(item).ok()) {
                for (field, _) in lead.custom {
                    unknown.remove(&(PlaceholderSource::Lead, field));
                }
            }
        }
        Ok(UnknownPlaceholders(unknown))
    }

    /// The custom fields that forms set.
    async fn aliases_of_forms(&self) -> Result<Vec<String>, OperatorError> {
        let mut aliases = Vec::new();
        let mut pages = Pages::of(KeyRange::whole(self.keys().forms()));
        while let Some(items) = pages.next(self.reads()).await? {
            let forms = items.iter().filter_map(|item| forms::form(item).ok());
            let targets = forms
                .flat_map(|form| form.accepted())
                .filter_map(|field| field.target());
            aliases.extend(targets.filter_map(|target| match target {
                Target::Custom(alias) => Some(alias),
                Target::Field(_) => None,
            }));
        }
        Ok(aliases)
    }
}
