use std::sync::Arc;

use serde_json::json;

use super::read::{IGNORED, TEXTS};
use super::*;
use crate::directory::{DirectoryHead, Membership};
use crate::instance::InstanceName;
use crate::lead::LeadView;

fn admin() -> Viewer {
    let membership = Membership {
        department: None,
        group: None,
        admin: true,
        inactive: false,
    };
    Viewer::new(
        Arc::new(DirectoryHead::default()),
        UserId::new(7).unwrap(),
        membership,
    )
    .unwrap()
}

fn patch(fields: Value) -> Result<LeadPatch, LeadEditError> {
    match fields {
        Value::Object(fields) => LeadPatch::read(fields),
        _ => unreachable!("a patch is an object"),
    }
}

fn stored() -> Lead {
    let mut lead = Lead::new(
        LeadId::new(5).unwrap(),
        Timestamp::parse("2026-01-01T00:00:00Z").unwrap(),
    );
    lead.custom.insert("nested".to_owned(), json!({ "a": [1] }));
    lead.city = Some("x".repeat(2000));
    lead
}

fn apply(fields: Value) -> Result<Lead, LeadEditError> {
    let (viewer, existing) = (admin(), LeadReferences::default());
    let context = LeadEditContext {
        viewer: &viewer,
        user_name: None,
        existing: &existing,
        now: Timestamp::parse("2026-02-01T00:00:00Z").unwrap(),
    };
    patch(fields)?.apply(&stored(), &context)
}

/// Every name of the full view is read or ignored. None becomes a custom field.
#[test]
fn no_fixed_field_becomes_a_custom_one() {
    let view = json!(LeadView::full(&stored(), &InstanceName::parse("acme").unwrap()));
    let others = [
        "owner",
        "company",
        "stage",
        "points",
        "userAccess",
        "departmentAccess",
        "ignoreSubDepartments",
        "archived",
        "tags",
        "whatsapp",
    ];
    for name in view.as_object().unwrap().keys() {
        let known = [&TEXTS[..], &IGNORED, &others]
            .iter()
            .any(|names| names.contains(&name.as_str()));
        assert!(known || name == "nested", "{name}");
    }
    assert_eq!(apply(view).unwrap(), stored());
}

/// A value that no request could set may be sent back and cleared.
#[test]
fn unchanged_values_are_not_judged() {
    let same = json!({ "nested": { "a": [1] }, "city": "x".repeat(2000) });
    assert_eq!(apply(same).unwrap(), stored());
    let cleared = apply(json!({ "nested": null, "city": null, "absent": null })).unwrap();
    assert!(cleared.custom.is_empty() && cleared.city.is_none());
    assert_eq!(
        apply(json!({ "nested": { "a": [2] } })),
        Err(LeadEditError::Field(
            "nested".to_owned(),
            "must be text, a number, true, false, null or a list of these"
        ))
    );
}

#[test]
fn a_change_is_dated() {
    let changed = apply(json!({ "lastname": "Vidal" })).unwrap();
    let stamp = (
        changed.updated_by,
        changed.updated_date.map(|date| date.to_string()),
    );
    assert_eq!(stamp, (Some(7), Some("2026-02-01T00:00:00.000Z".to_owned())));
    assert_eq!(apply(json!({ "phone": "", "id": 9 })).unwrap().updated_by, None);
}

#[test]
fn references_are_collected() {
    let patch = patch(json!({ "owner": 8, "userAccess": [9, "8"], "tags": [2], "company": 3 })).unwrap();
    let named = patch.references();
    assert_eq!(named.users.iter().map(|id| id.get()).collect::<Vec<_>>(), [8, 9]);
    assert_eq!(named.tags.len(), 1);
    assert_eq!(named.company, CompanyId::new(3));
}
