//! Custom fields in the bodies of notifications (C-102). A field of opportunities must be defined by a funnel. A field
//! of leads must occur in a lead or be set by a form.

use std::collections::BTreeSet;

use shared::automation::Automation;
use shared::automation::template::{Placeholder, PlaceholderSource};
use shared::form::Target;
use shared::store::unscoped::{forms, leads};
use table::{KeyRange, Pages};

use super::faults::nearest;
use crate::{Operator, OperatorError};

/// Placeholders of fields that do not exist.
pub struct UnknownPlaceholders(BTreeSet<(PlaceholderSource, String)>);

impl UnknownPlaceholders {
    /// The reason to refuse an automation, if its bodies name one of them.
    pub fn refuse(&self, automation: &Automation) -> Option<String> {
        let unknown = |placeholder: &Placeholder<'_>| self.0.contains(&owned(placeholder));
        let mut named = named(automation).filter(|(_, _, placeholder)| unknown(placeholder));
        let (at, place, placeholder) = named.next()?;
        let Placeholder { source, field } = placeholder;
        let (name, records) = match source {
            PlaceholderSource::Opportunity => ("op", "opportunities"),
            PlaceholderSource::Lead => ("contactfield", "leads"),
            PlaceholderSource::Form => ("form", "a form"),
        };
        let known = placeholder.fixed_names();
        let known: Vec<_> = known.iter().map(String::as_str).collect();
        let advice = nearest(field, &known).map_or_else(String::new, |nearest| {
            format!(", did you mean {{{name}={nearest}}}?")
        });
        Some(format!(
            "actions[{at}].{place}: {{{name}={field}}} is no field of {records}{advice}"
        ))
    }
}

/// The placeholders of an automation for custom fields, with the indices of their actions and the fields that contain
/// them.
fn named(automation: &Automation) -> impl Iterator<Item = (usize, &'static str, Placeholder<'_>)> {
    let actions = automation.actions.iter().enumerate();
    actions.flat_map(|(at, action)| {
        let placeholders = action.placeholders().unwrap_or_default().into_iter();
        let custom = placeholders.filter(|(_, placeholder)| !placeholder.is_fixed());
        custom.map(move |(place, placeholder)| (at, place, placeholder))
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
        let mut unknown: BTreeSet<_> = named.map(|(_, _, placeholder)| owned(&placeholder)).collect();
        let has_any_of = |unknown: &BTreeSet<(PlaceholderSource, String)>, wanted| {
            unknown.iter().any(|(of, _)| *of == wanted)
        };
        if has_any_of(&unknown, PlaceholderSource::Opportunity) {
            let funnels = self.reader().funnels().await?;
            for field in funnels.into_iter().flat_map(|funnel| funnel.fields) {
                unknown.remove(&(PlaceholderSource::Opportunity, field.name));
            }
        }
        // Every form takes these.
        unknown.retain(|(of, field)| *of != PlaceholderSource::Form || !field.starts_with("utm_"));
        if has_any_of(&unknown, PlaceholderSource::Form) {
            for name in self.fields_of_forms().await? {
                unknown.remove(&(PlaceholderSource::Form, name));
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

    /// The names of all forms' fields.
    async fn fields_of_forms(&self) -> Result<Vec<String>, OperatorError> {
        let mut names = Vec::new();
        let mut pages = Pages::of(KeyRange::whole(self.keys().forms()));
        while let Some(items) = pages.next(self.reads()).await? {
            let forms = items.iter().filter_map(|item| forms::form(item).ok());
            names.extend(forms.flat_map(|form| form.accepted()).map(|field| field.name));
        }
        Ok(names)
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
