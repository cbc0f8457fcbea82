//! Views of a lead: summary, full, or the fields selected by `query` (C-21, C-22, C-93).

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::LazyLock;

use axum::response::Response;
use serde::Serialize;
use serde_json::{Value, json};
use shared::auth::Scope;
use shared::http::query::selection::{Field, FieldShape, Selection};
use shared::http::{RequestError, json};
use shared::ids::{LeadId, TagId, UserId};
use shared::labels::Tag;
use shared::lead::{Lead, LeadView};
use shared::people::Company;
use shared::store::{LeadEntry, LeadState, Names, Reader, StoreError};

/// Advice for leads with too many tags (C-86).
const TAGS_OVER_BUDGET: &str =
    "query: the tags of these leads are more than read_budget allows; select tags for fewer leads at a time";

/// The view of the leads in a response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    form: ViewFields,
    /// The response's property with the leads.
    root: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum ViewFields {
    /// `{ id, fullname, email }`.
    Summary,
    /// All fields, including custom ones.
    Full,
    /// The selected fields.
    Selected(Selection),
}

/// A lead in a response.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Shown<'a> {
    /// `{ id, fullname, email }`.
    Summary(Summary<'a>),
    /// All fields.
    Full(LeadView<'a>),
    /// All selectable fields, with the owner in the selected form.
    Whole(Value),
}

/// Summary of a lead.
#[derive(Debug, Serialize)]
pub struct Summary<'a> {
    id: LeadId,
    fullname: Cow<'a, str>,
    email: Option<&'a str>,
}

#[derive(Debug, Serialize)]
struct DataEnvelope<T> {
    data: T,
}

/// The records that leads refer to and a response shows.
#[derive(Debug, Default)]
pub struct Related {
    names: Names,
    tags: BTreeMap<TagId, Tag>,
}

/// The fields of an owner (C-22, C-93).
const OWNER: &[Field] = &[Field::leaf("id"), Field::leaf("name"), Field::leaf("completName")];
/// The fields of a lead's company (C-93).
const COMPANY: &[Field] = &[Field::leaf("id"), Field::leaf("companyname")];
/// The fields of a tag (C-93).
const TAG: &[Field] = &[Field::leaf("id"), Field::leaf("tag"), Field::leaf("color")];
/// The selectable fields: the fixed ones without `initial_password` (C-21).
static FIELDS: LazyLock<Vec<Field>> = LazyLock::new(|| {
    let leaves = "_id id fullname firstname lastname email phone chatapp mobile points stage photoUrl company \
        userAccess departmentAccess ignoreSubDepartments address city state country zipcode timezone archived \
        acquisition_channel channelRestrictions createDate lastActive createdBy createdByName createdByType \
        updatedBy updatedByName updatedDate instancedomain ips link_instancia preferred_locale utmTags role \
        department instance_active lead_online partner_instance whatsapp";
    let nested = [
        ("owner", FieldShape::LeafOrObject(OWNER)),
        ("companyData", FieldShape::Object(COMPANY)),
        ("tags", FieldShape::LeafOrObject(TAG)),
    ];
    let nested = nested.map(|(name, shape)| Field { name, shape });
    leaves.split_whitespace().map(Field::leaf).chain(nested).collect()
});
/// The fields of an entry of the list.
const SUMMARY: [&str; 3] = ["id", "fullname", "email"];

/// The roots of `query` on one lead.
pub static ONE: LazyLock<Vec<Field>> = LazyLock::new(|| {
    let tags = Field {
        name: "tags",
        shape: FieldShape::Object(TAG),
    };
    vec![leads("lead"), tags]
});
/// The roots of `query` on the list.
pub static MANY: LazyLock<Vec<Field>> = LazyLock::new(|| vec![leads("leads"), Field::leaf("total")]);

fn leads(name: &'static str) -> Field {
    Field {
        name,
        shape: FieldShape::Object(&FIELDS),
    }
}

/// The full view of one lead (C-21). Only admins see `initial_password`.
pub fn full(mut lead: Lead, scope: &Scope) -> Value {
    if !scope.viewer.is_admin() {
        lead.hide_secrets();
    }
    json!(LeadView::full(&lead, scope.instance()))
}

impl View {
    /// Parses `query`, which takes precedence over `allFields`. The first of `roots` contains the leads.
    pub fn of(query: Option<&str>, all_fields: bool, roots: &'static [Field]) -> Result<Self, RequestError> {
        let form = match query.filter(|query| !query.trim().is_empty()) {
            Some(query) => ViewFields::Selected(Selection::parse(query, roots)?),
            None if all_fields => ViewFields::Full,
            None => ViewFields::Summary,
        };
        Ok(Self {
            form,
            root: roots.first().map_or("", |root| root.name),
        })
    }

    /// The selected fields of the leads; `None` without a selection.
    fn selected(&self) -> Option<&Selection> {
        match &self.form {
            ViewFields::Selected(selection) => selection.get(self.root),
            ViewFields::Summary | ViewFields::Full => None,
        }
    }

    /// Whether whole records are needed, because an entry of the list lacks a shown field.
    pub fn needs_record(&self) -> bool {
        let exceeds_summary = |fields: &Selection| fields.names().any(|name| !SUMMARY.contains(&name));
        self.form == ViewFields::Full || self.selected().is_some_and(exceeds_summary)
    }

    /// Whether custom fields are shown. They cannot be selected.
    pub fn has_custom_fields(&self) -> bool {
        self.form == ViewFields::Full
    }

    /// The fields selected below a field of leads; `None` if it is not selected, or is selected as a leaf.
    fn nested(&self, name: &str) -> Option<&Selection> {
        self.selected()?.get(name).filter(|nested| !nested.is_empty())
    }

    /// Whether names of owners are selected.
    fn names_owners(&self) -> bool {
        let named = |owner: &Selection| owner.contains("name") || owner.contains("completName");
        self.nested("owner").is_some_and(named)
    }

    /// Whether the tags of one lead are selected as a root of `query`.
    fn has_root_tags(&self) -> bool {
        matches!(&self.form, ViewFields::Selected(selection) if selection.contains("tags"))
    }

    /// Whether tags are shown as objects.
    fn shows_tags(&self) -> bool {
        self.has_root_tags() || self.nested("tags").is_some()
    }

    /// The users' names and the tags that are likely to be shown.
    pub async fn expected(&self, reader: &Reader) -> Result<Related, StoreError> {
        let names = async {
            if self.names_owners() {
                return reader.expected_names().await;
            }
            Ok(Names::default())
        };
        let tags = async {
            if self.shows_tags() {
                return reader.expected::<Tag>().await;
            }
            Ok(BTreeMap::new())
        };
        let (names, tags) = tokio::try_join!(names, tags)?;
        Ok(Related { names, tags })
    }

    /// Adds to `known` the other records that these leads refer to.
    pub async fn related(
        &self,
        scope: &Scope,
        known: Related,
        leads: &[LeadState],
    ) -> Result<Related, RequestError> {
        let reader = scope.store.reader();
        let Related { names, tags } = known;
        let of_owners: &[LeadState] = if self.names_owners() { leads } else { &[] };
        let owners = of_owners.iter().filter_map(|state| state.lead.owner);
        let of_tags: &[LeadState] = if self.shows_tags() { leads } else { &[] };
        let tag_ids = of_tags.iter().flat_map(|state| state.lead.tags.iter().copied());
        let related = tokio::try_join!(
            reader.names_of(names, owners),
            reader.with_tags(tags, tag_ids, &scope.viewer)
        );
        let (names, tags) = related.map_err(RequestError::over_budget(TAGS_OVER_BUDGET))?;
        Ok(Related { names, tags })
    }

    /// The tags of a lead, if they are selected.
    pub fn root_tags(&self, lead: &Lead, related: &Related) -> Option<Value> {
        self.has_root_tags().then(|| related.tags(lead))
    }

    /// A lead in this view; [`View::answer`] projects the selection. Only admins see `initial_password`, which cannot
    /// be selected (C-21).
    pub fn lead<'a>(&self, state: &'a mut LeadState, scope: &'a Scope, related: &Related) -> Shown<'a> {
        let LeadState { lead, company, .. } = state;
        if !scope.viewer.is_admin() {
            lead.hide_secrets();
        }
        let full = |lead| LeadView::full(lead, scope.instance());
        match &self.form {
            ViewFields::Summary => Shown::Summary(Summary {
                id: lead.id,
                fullname: Cow::Owned(lead.fullname()),
                email: lead.email.as_deref(),
            }),
            ViewFields::Full => Shown::Full(full(lead)),
            ViewFields::Selected(_) => {
                let mut view = json!(full(lead));
                if self.nested("owner").is_some() {
                    view["owner"] = json!(lead.owner.map(|owner| related.owner(owner)));
                }
                if self.nested("companyData").is_some() {
                    let company_view =
                        |company: &Company| json!({ "id": company.id, "companyname": company.companyname });
                    view["companyData"] = json!(company.as_ref().map(company_view));
                }
                if self.nested("tags").is_some() {
                    view["tags"] = related.tags(lead);
                }
                Shown::Whole(view)
            }
        }
    }

    /// The response's `data`, projected to the selection.
    pub fn answer(&self, data: impl Serialize) -> Response {
        match &self.form {
            ViewFields::Summary | ViewFields::Full => json(&DataEnvelope { data }),
            ViewFields::Selected(selection) => json(&DataEnvelope {
                data: selection.project(&json!(data)),
            }),
        }
    }
}

impl Related {
    fn owner(&self, owner: UserId) -> Value {
        let name = self.names.of(owner);
        json!({ "id": owner, "name": name, "completName": name })
    }

    /// The tags of a lead that exist.
    fn tags(&self, lead: &Lead) -> Value {
        let tags = lead.tags.iter().filter_map(|tag| self.tags.get(tag));
        tags.map(|tag| json!(tag)).collect()
    }
}

impl<'a> Shown<'a> {
    /// A list entry in summary.
    pub fn entry(entry: &'a LeadEntry) -> Self {
        Self::Summary(Summary {
            id: entry.id,
            fullname: Cow::Borrowed(&entry.fullname),
            email: entry.email.as_deref(),
        })
    }
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
        // The lead has the company's id in `company`.
        selectable.retain(|name| *name != "companyData");
        fixed.sort_unstable();
        selectable.sort_unstable();
        assert_eq!(selectable, fixed);
    }
}
