//! How a lead is shown in full: by endpoints 1, 3 and 4, and embedded in opportunities.

use serde::Serialize;
use serde_json::{Map, Value};

use super::Lead;
use crate::instance::InstanceName;

/// A lead in an answer: every field of spec.md (C-21), with whatever `initial_password` it holds. Whose it is not to
/// show [hides](Lead::hide_secrets) it before.
#[derive(Debug, Serialize)]
pub struct LeadView<'a> {
    #[serde(rename = "_id")]
    text_id: String,
    fullname: String,
    #[serde(flatten)]
    lead: &'a Lead,
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

    /// As an opportunity embeds it: the fixed fields. Custom ones are only available through endpoint 3.
    #[must_use]
    pub fn embedded(lead: &'a Lead, instance: &'a InstanceName) -> Self {
        Self {
            text_id: lead.text_id(),
            fullname: lead.fullname(),
            lead,
            instancedomain: instance.as_str(),
            utm_tags: &lead.utm_tags,
            custom: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::LeadId;
    use crate::time::Timestamp;

    /// spec.md: the full-view table, then the embedded-lead table; C-21 adds the last two.
    const SPECIFIED: [&str; 44] = [
        "points",
        "owner",
        "stage",
        "photoUrl",
        "company",
        "userAccess",
        "departmentAccess",
        "ignoreSubDepartments",
        "firstname",
        "lastname",
        "email",
        "phone",
        "chatapp",
        "mobile",
        "address",
        "city",
        "state",
        "country",
        "zipcode",
        "timezone",
        "_id",
        "id",
        "acquisition_channel",
        "channelRestrictions",
        "createDate",
        "lastActive",
        "createdBy",
        "createdByName",
        "createdByType",
        "updatedBy",
        "updatedByName",
        "updatedDate",
        "instancedomain",
        "ips",
        "link_instancia",
        "preferred_locale",
        "initial_password",
        "utmTags",
        "role",
        "department",
        "instance_active",
        "lead_online",
        "partner_instance",
        "fullname",
    ];

    fn lead() -> Lead {
        Lead::new(
            LeadId::new(7).unwrap(),
            Timestamp::parse("2026-01-02T03:04:05.678Z").unwrap(),
        )
    }

    fn view(lead: &Lead) -> Value {
        serde_json::json!(LeadView::full(lead, &InstanceName::parse("acme").unwrap()))
    }

    #[test]
    fn the_full_view_has_every_specified_field_and_no_other() {
        let mut expected: Vec<_> = SPECIFIED.into_iter().chain(["archived"]).collect();
        let view = view(&lead());
        let shown = view.as_object().unwrap();
        let mut shown: Vec<_> = shown.keys().map(String::as_str).collect();
        expected.sort_unstable();
        shown.sort_unstable();
        assert_eq!(shown, expected);
    }

    #[test]
    fn absent_values_have_their_defaults() {
        let view = view(&lead());
        let channel = serde_json::json!(
            { "mainChannel": false, "disabled": false, "frequencyValue": null, "frequencyUnits": "DAY" }
        );
        for (field, value) in [
            ("fullname", Value::from("")),
            ("email", Value::Null),
            ("userAccess", Value::Array(Vec::new())),
            ("points", Value::from(0)),
            ("instance_active", Value::from("true")),
            ("lead_online", Value::from("false")),
            ("preferred_locale", Value::from("pt-BR")),
            ("_id", Value::from("lead-7")),
            ("instancedomain", Value::from("acme")),
            ("lastActive", Value::from("2026-01-02T03:04:05.678Z")),
        ] {
            assert_eq!(view[field], value, "{field}");
        }
        let channels = view["channelRestrictions"].as_object().unwrap();
        assert_eq!(
            channels.keys().collect::<Vec<_>>(),
            ["social_photo", "chatapp", "email", "social_chat"]
        );
        assert!(channels.values().all(|value| *value == channel));
    }

    #[test]
    fn the_initial_password_is_shown_until_it_is_hidden() {
        let mut lead = Lead {
            initial_password: Some("p4ss".to_owned()),
            ..lead()
        };
        assert_eq!(view(&lead)["initial_password"], "p4ss");
        lead.hide_secrets();
        assert_eq!(view(&lead)["initial_password"], Value::Null);
    }

    /// Custom fields come last, and only in the full view.
    #[test]
    fn custom_fields_are_not_embedded() {
        let instance = InstanceName::parse("acme").unwrap();
        let mut lead = lead();
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
