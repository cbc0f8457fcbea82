//! Views of a lead: summary, full, or the fields selected by `query` (C-21, C-22).

use std::borrow::Cow;
use std::sync::LazyLock;

use axum::response::Response;
use serde::Serialize;
use serde_json::{Value, json};
use shared::auth::Scope;
use shared::http::query::selection::{Field, FieldShape, Selection};
use shared::http::{Params, RequestError, json};
use shared::ids::LeadId;
use shared::lead::{Lead, LeadView};
use shared::store::{LeadEntry, Names, Reader, StoreError};

/// The view of the leads in a response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    form: Form,
    /// The response's property with the leads.
    root: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Form {
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
struct Answer<T> {
    data: T,
}

/// The fields of an owner.
const OWNER: &[Field] = &[Field::leaf("id"), Field::leaf("name")];
/// The selectable fields: the fixed ones without `initial_password` (C-21).
static FIELDS: LazyLock<Vec<Field>> = LazyLock::new(|| {
    let leaves = "_id id fullname firstname lastname email phone chatapp mobile points stage photoUrl company \
        userAccess departmentAccess ignoreSubDepartments address city state country zipcode timezone archived \
        acquisition_channel channelRestrictions createDate lastActive createdBy createdByName createdByType \
        updatedBy updatedByName updatedDate instancedomain ips link_instancia preferred_locale utmTags role \
        department instance_active lead_online partner_instance tags whatsapp";
    let owner = Field {
        name: "owner",
        shape: FieldShape::LeafOrObject(OWNER),
    };
    leaves
        .split_whitespace()
        .map(Field::leaf)
        .chain([owner])
        .collect()
});
/// The fields of an entry of the list.
const SUMMARY: [&str; 3] = ["id", "fullname", "email"];

/// The roots of `query` on one lead.
pub static ONE: LazyLock<Vec<Field>> = LazyLock::new(|| vec![leads("lead")]);
/// The roots of `query` on the list.
pub static MANY: LazyLock<Vec<Field>> = LazyLock::new(|| vec![leads("leads"), Field::leaf("total")]);

fn leads(name: &'static str) -> Field {
    Field {
        name,
        shape: FieldShape::Object(&FIELDS),
    }
}

/// The full view of one lead (C-21): `initial_password` is for admins.
pub fn full(mut lead: Lead, scope: &Scope) -> Value {
    if !scope.viewer.is_admin() {
        lead.hide_secrets();
    }
    json!(LeadView::full(&lead, scope.instance()))
}

impl View {
    /// Parses `query`, which takes precedence, and `allFields`. The first of `roots` contains the leads.
    pub fn read(params: &Params, roots: &'static [Field]) -> Result<Self, RequestError> {
        let query = params.one("query")?.filter(|query| !query.trim().is_empty());
        let all_fields = params.flag("allFields")?;
        let form = match query {
            Some(query) => Form::Selected(Selection::parse(query, roots)?),
            None if all_fields => Form::Full,
            None => Form::Summary,
        };
        Ok(Self {
            form,
            root: roots.first().map_or("", |root| root.name),
        })
    }

    /// The selected fields of the leads; `None` without a selection.
    fn selected(&self) -> Option<&Selection> {
        match &self.form {
            Form::Selected(selection) => selection.get(self.root),
            Form::Summary | Form::Full => None,
        }
    }

    /// Whether whole records are needed.
    pub fn needs_record(&self) -> bool {
        let more = |fields: &Selection| fields.names().any(|name| !SUMMARY.contains(&name));
        self.form == Form::Full || self.selected().is_some_and(more)
    }

    /// The selected fields of owners.
    fn owner(&self) -> Option<&Selection> {
        self.selected()?.get("owner")
    }

    fn names_owners(&self) -> bool {
        self.owner().is_some_and(|owner| owner.contains("name"))
    }

    /// The cached names of users, if owners are shown by name.
    pub async fn expected_names(&self, reader: &Reader) -> Result<Names, StoreError> {
        if self.names_owners() {
            return reader.expected_names().await;
        }
        Ok(Names::default())
    }

    /// `names` extended by these leads' owners, if owners are shown by name.
    pub async fn names(&self, reader: &Reader, names: Names, leads: &[Lead]) -> Result<Names, StoreError> {
        if self.names_owners() {
            let owners = leads.iter().filter_map(|lead| lead.owner);
            return reader.names_of(names, owners).await;
        }
        Ok(names)
    }

    /// A lead in this view; [`View::answer`] projects the selection. Only admins see `initial_password`, which cannot
    /// be selected (C-21).
    pub fn lead<'a>(&self, lead: &'a mut Lead, scope: &'a Scope, names: &Names) -> Shown<'a> {
        if !scope.viewer.is_admin() {
            lead.hide_secrets();
        }
        let full = |lead| LeadView::full(lead, scope.instance());
        match &self.form {
            Form::Summary => Shown::Summary(Summary {
                id: lead.id,
                fullname: Cow::Owned(lead.fullname()),
                email: lead.email.as_deref(),
            }),
            Form::Full => Shown::Full(full(lead)),
            Form::Selected(_) => {
                let mut view = json!(full(lead));
                if self.owner().is_some_and(|owner| !owner.is_empty()) {
                    let owner = |id| json!({ "id": id, "name": names.of(id) });
                    view["owner"] = lead.owner.map_or(Value::Null, owner);
                }
                Shown::Whole(view)
            }
        }
    }

    /// The response's `data`, projected to the selection.
    pub fn answer(&self, data: impl Serialize) -> Response {
        match &self.form {
            Form::Summary | Form::Full => json(&Answer { data }),
            Form::Selected(selection) => json(&Answer {
                data: selection.project(&json!(data)),
            }),
        }
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
        fixed.sort_unstable();
        selectable.sort_unstable();
        assert_eq!(selectable, fixed);
    }
}
