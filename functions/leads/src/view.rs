//! How a lead is shown: in summary, in full, or the fields that `query` selects (C-21, C-22).

use serde_json::{Value, json};
use shared::http::Params;
use shared::id::UserId;
use shared::lead::Lead;
use shared::scope::Scope;
use shared::selection::{Field, Selection, Shape};
use shared::store::{LeadEntry, Names, Reader, StoreError};

use crate::error::LeadError;

/// How leads are shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum View {
    /// `{ id, fullname, email }`.
    Summary,
    /// Every field, the custom ones too.
    Full,
    /// These fields.
    Selected(Selection),
}

/// The fields that can be selected: the fixed ones, but never `initial_password`.
const FIELDS: &[Field] = &[
    Field::leaf("_id"),
    Field::leaf("id"),
    Field::leaf("fullname"),
    Field::leaf("firstname"),
    Field::leaf("lastname"),
    Field::leaf("email"),
    Field::leaf("phone"),
    Field::leaf("chatapp"),
    Field::leaf("mobile"),
    Field::leaf("points"),
    Field {
        name: "owner",
        shape: Shape::LeafOrObject(&[Field::leaf("id"), Field::leaf("name")]),
    },
    Field::leaf("stage"),
    Field::leaf("photoUrl"),
    Field::leaf("company"),
    Field::leaf("userAccess"),
    Field::leaf("departmentAccess"),
    Field::leaf("ignoreSubDepartments"),
    Field::leaf("address"),
    Field::leaf("city"),
    Field::leaf("state"),
    Field::leaf("country"),
    Field::leaf("zipcode"),
    Field::leaf("timezone"),
    Field::leaf("archived"),
    Field::leaf("acquisition_channel"),
    Field::leaf("channelRestrictions"),
    Field::leaf("createDate"),
    Field::leaf("lastActive"),
    Field::leaf("createdBy"),
    Field::leaf("createdByName"),
    Field::leaf("createdByType"),
    Field::leaf("updatedBy"),
    Field::leaf("updatedByName"),
    Field::leaf("updatedDate"),
    Field::leaf("instancedomain"),
    Field::leaf("ips"),
    Field::leaf("link_instancia"),
    Field::leaf("preferred_locale"),
    Field::leaf("utmTags"),
    Field::leaf("role"),
    Field::leaf("department"),
    Field::leaf("instance_active"),
    Field::leaf("lead_online"),
    Field::leaf("partner_instance"),
];
/// What an entry of the list knows of a lead.
const SUMMARY: [&str; 3] = ["id", "fullname", "email"];

/// The roots of `query` on one lead.
pub const ONE: &[Field] = &[Field {
    name: "lead",
    shape: Shape::Object(FIELDS),
}];
/// The roots of `query` on the list.
pub const MANY: &[Field] = &[
    Field::leaf("total"),
    Field {
        name: "leads",
        shape: Shape::Object(FIELDS),
    },
];

impl View {
    /// Reads `query`, which wins, and `allFields`. A blank `query` is absent.
    pub fn read(params: &Params, roots: &'static [Field]) -> Result<Self, LeadError> {
        let query = params.one("query")?.filter(|query| !query.trim().is_empty());
        let all_fields = crate::wire::flag(params, "allFields")?;
        match query {
            Some(query) => Ok(Self::Selected(Selection::parse(query, roots)?)),
            None if all_fields => Ok(Self::Full),
            None => Ok(Self::Summary),
        }
    }

    /// Whether a lead's whole record is needed, where `root` holds leads.
    pub fn needs_record(&self, root: &str) -> bool {
        match self {
            Self::Summary => false,
            Self::Full => true,
            Self::Selected(selection) => selection
                .get(root)
                .is_some_and(|fields| fields.names().any(|name| !SUMMARY.contains(&name))),
        }
    }

    /// The users' names, if owners are shown by name where `root` holds leads.
    pub async fn names(&self, reader: &Reader, root: &str) -> Result<Names, StoreError> {
        let Self::Selected(selection) = self else {
            return Ok(Names::default());
        };
        let owner = selection.get(root).and_then(|fields| fields.get("owner"));
        if !owner.is_some_and(|owner| owner.contains("name")) {
            return Ok(Names::default());
        }
        reader.names().await
    }

    /// A lead as this view shows it; a selection is cut out of the whole answer afterwards by [`View::cut`].
    pub fn lead(&self, lead: &Lead, scope: &Scope, names: &Names) -> Value {
        let secrets = scope.viewer.is_admin();
        match self {
            Self::Summary => lead.summary(),
            Self::Full => Value::Object(lead.full_view(scope.instance(), secrets)),
            Self::Selected(selection) => {
                let mut view = lead.full_view(scope.instance(), false);
                let nested = |root: &str| selection.get(root).and_then(|fields| fields.get("owner"));
                if nested("lead")
                    .or_else(|| nested("leads"))
                    .is_some_and(|owner| !owner.is_empty())
                {
                    view.insert(
                        "owner".to_owned(),
                        lead.owner.map_or(Value::Null, |owner| user(owner, names)),
                    );
                }
                Value::Object(view)
            }
        }
    }

    /// The answer's `data`: only what was selected of it.
    pub fn cut(&self, data: Value) -> Value {
        match self {
            Self::Summary | Self::Full => data,
            Self::Selected(selection) => selection.project(&data),
        }
    }
}

/// An entry of the list in summary.
pub fn entry(entry: &LeadEntry) -> Value {
    json!({ "id": entry.id, "fullname": entry.fullname, "email": entry.email })
}

fn user(id: UserId, names: &Names) -> Value {
    json!({ "id": id, "name": names.of(id) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::id::LeadId;
    use shared::instance::InstanceName;
    use shared::time::Timestamp;

    #[test]
    fn every_fixed_field_but_the_password_can_be_selected() {
        let lead = Lead::new(
            LeadId::new(1).unwrap(),
            Timestamp::parse("2026-01-01T00:00:00Z").unwrap(),
        );
        let view = lead.full_view(&InstanceName::parse("acme").unwrap(), true);
        let mut fixed: Vec<_> = view
            .keys()
            .map(String::as_str)
            .filter(|name| *name != "initial_password")
            .collect();
        let mut selectable: Vec<_> = FIELDS.iter().map(|field| field.name).collect();
        fixed.sort_unstable();
        selectable.sort_unstable();
        assert_eq!(selectable, fixed);
    }
}
