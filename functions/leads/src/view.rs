//! How a lead is shown: in summary, in full, or the fields that `query` selects (C-21, C-22).

use std::borrow::Cow;

use axum::response::Response;
use serde::Serialize;
use serde_json::{Value, json};
use shared::http::{Params, json};
use shared::id::{LeadId, UserId};
use shared::lead::{Lead, LeadView};
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

/// A lead in an answer.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Shown<'a> {
    /// `{ id, fullname, email }`.
    Summary(Summary<'a>),
    /// Every field.
    Full(LeadView<'a>),
    /// Every field that can be selected, the owner in the form that was asked for.
    Whole(Value),
}

/// A lead in summary.
#[derive(Debug, Serialize)]
pub struct Summary<'a> {
    id: LeadId,
    fullname: Cow<'a, str>,
    email: Option<&'a str>,
}

#[derive(Debug, Serialize)]
struct Answer<T> {
    data: T,
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

    /// Whether owners are shown by name where `root` holds leads.
    fn names_owners(&self, root: &str) -> bool {
        let Self::Selected(selection) = self else {
            return false;
        };
        let owner = selection.get(root).and_then(|fields| fields.get("owner"));
        owner.is_some_and(|owner| owner.contains("name"))
    }

    /// The users' names that are likely to be shown, if owners are shown by name where `root` holds leads.
    pub async fn expected_names(&self, reader: &Reader, root: &str) -> Result<Names, StoreError> {
        if self.names_owners(root) {
            return reader.expected_names().await;
        }
        Ok(Names::default())
    }

    /// `names` with those that are shown of these leads' owners.
    pub async fn names(
        &self,
        reader: &Reader,
        (names, root): (Names, &str),
        leads: &[Lead],
    ) -> Result<Names, StoreError> {
        if self.names_owners(root) {
            let owners = leads.iter().filter_map(|lead| lead.owner);
            return reader.names_of(names, owners).await;
        }
        Ok(names)
    }

    /// A lead as this view shows it; a selection is cut out of the whole answer afterwards by [`View::answer`].
    /// `initial_password` is for admins, and not selected (C-21).
    pub fn lead<'a>(&self, lead: &'a mut Lead, scope: &'a Scope, names: &Names) -> Shown<'a> {
        if !scope.viewer.is_admin() {
            lead.hide_secrets();
        }
        let lead = &*lead;
        match self {
            Self::Summary => Shown::Summary(Summary {
                id: lead.id,
                fullname: Cow::Owned(lead.fullname()),
                email: lead.email.as_deref(),
            }),
            Self::Full => Shown::Full(LeadView::full(lead, scope.instance())),
            Self::Selected(selection) => {
                let mut view = json!(LeadView::full(lead, scope.instance()));
                let nested = |root: &str| selection.get(root).and_then(|fields| fields.get("owner"));
                if nested("lead")
                    .or_else(|| nested("leads"))
                    .is_some_and(|owner| !owner.is_empty())
                {
                    view["owner"] = lead.owner.map_or(Value::Null, |owner| user(owner, names));
                }
                Shown::Whole(view)
            }
        }
    }

    /// The answer with its `data`: only what was selected of it.
    pub fn answer(&self, data: impl Serialize) -> Response {
        match self {
            Self::Summary | Self::Full => json(&Answer { data }),
            Self::Selected(selection) => json(&Answer {
                data: selection.project(&json!(data)),
            }),
        }
    }
}

impl<'a> Shown<'a> {
    /// An entry of the list in summary.
    pub fn entry(entry: &'a LeadEntry) -> Self {
        Self::Summary(Summary {
            id: entry.id,
            fullname: Cow::Borrowed(&entry.fullname),
            email: entry.email.as_deref(),
        })
    }
}

fn user(id: UserId, names: &Names) -> Value {
    json!({ "id": id, "name": names.of(id) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::instance::InstanceName;
    use shared::time::Timestamp;

    #[test]
    fn every_fixed_field_but_the_password_can_be_selected() {
        let lead = Lead::new(
            LeadId::new(1).unwrap(),
            Timestamp::parse("2026-01-01T00:00:00Z").unwrap(),
        );
        let view = json!(LeadView::full(&lead, &InstanceName::parse("acme").unwrap()));
        let fixed = view.as_object().unwrap();
        let mut fixed: Vec<_> = fixed
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
