//! The full view of a lead: in endpoints 1, 3 and 4, and embedded in opportunities.

use serde::Serialize;
use serde_json::{Map, Value};

use super::Lead;
use crate::instance::InstanceName;

/// A lead in a response: every field of spec.md (C-21), including `initial_password`. Call
/// [`Lead::hide_secrets`] first for viewers who are not admins.
#[derive(Debug, Serialize)]
pub struct LeadView<'a> {
    #[serde(rename = "_id")]
    text_id: String,
    fullname: String,
    #[serde(flatten)]
    lead: &'a Lead,
    /// The other name of `chatapp` (C-90).
    whatsapp: Option<&'a str>,
    instancedomain: &'a str,
    #[serde(rename = "utmTags")]
    utm_tags: &'a [Value],
    #[serde(flatten)]
    custom: Option<&'a Map<String, Value>>,
}

impl<'a> LeadView<'a> {
    /// The full view: the fixed fields, then the custom ones.
    #[must_use]
    pub fn full(lead: &'a Lead, instance: &'a InstanceName) -> Self {
        Self {
            custom: Some(&lead.custom),
            ..Self::embedded(lead, instance)
        }
    }

    /// The view embedded in an opportunity: fixed fields only.
    #[must_use]
    pub fn embedded(lead: &'a Lead, instance: &'a InstanceName) -> Self {
        Self {
            text_id: lead.text_id(),
            fullname: lead.fullname(),
            lead,
            whatsapp: lead.chatapp.as_deref(),
            instancedomain: instance.as_str(),
            utm_tags: &lead.utm_tags,
            custom: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::LeadId;
    use crate::time::Timestamp;

    #[test]
    fn custom_fields_are_last_and_only_in_the_full_view() {
        let instance = InstanceName::parse("acme").unwrap();
        let created = Timestamp::parse("2026-01-02T03:04:05.678Z").unwrap();
        let mut lead = Lead::new(LeadId::new(7).unwrap(), created);
        lead.custom
            .insert("cpf".to_owned(), Value::from("390.533.447-05"));
        let last = |view: LeadView<'_>| {
            let view = serde_json::json!(view);
            view.as_object().unwrap().keys().next_back().unwrap().clone()
        };
        assert_eq!(last(LeadView::full(&lead, &instance)), "cpf");
        assert_eq!(last(LeadView::embedded(&lead, &instance)), "utmTags");
    }
}
