//! References in bodies: ids of leads (C-24, C-25), and the records that a lead refers to (C-91, C-92).

use serde_json::{Map, Value};
use shared::auth::Scope;
use shared::http::{InvalidField, required};
use shared::ids::LeadId;
use shared::integer::whole_or_text;
use shared::lead_edit::{LeadEditContext, LeadPatch, LeadReferences};
use shared::store::{NamedCompany, Names, Reader, StoreError};

/// Maximum leads of one bulk request (C-24, C-25).
const MAX_IDS: usize = 120;

/// An id of a lead.
pub fn lead_id(value: &Value) -> Option<LeadId> {
    whole_or_text(value).and_then(LeadId::new)
}

/// The distinct ids in the list `name`.
pub fn lead_ids(body: &Map<String, Value>, name: &'static str) -> Result<Vec<LeadId>, InvalidField> {
    let listed = required(
        body,
        name,
        "must be a list of at most 120 ids of leads",
        |value| value.as_array().filter(|listed| listed.len() <= MAX_IDS).cloned(),
    )?;
    let mut ids: Vec<LeadId> = Vec::with_capacity(listed.len());
    for (index, value) in listed.iter().enumerate() {
        let id =
            lead_id(value).ok_or_else(|| InvalidField::new(format!("{name}[{index}]"), "must be an id"))?;
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    Ok(ids)
}

/// The records that a patch of a lead names, and the names of users.
#[derive(Debug)]
pub struct NamedRecords {
    existing: LeadReferences,
    /// The company as it was read.
    pub company: Option<NamedCompany>,
    names: Names,
}

impl NamedRecords {
    /// Reads the records, and the names of users that this process expects to need.
    pub async fn read(reader: &Reader, patch: &LeadPatch) -> Result<Self, StoreError> {
        let references = patch.references();
        let (found, names) = tokio::try_join!(reader.lead_references(&references), reader.expected_names())?;
        let (existing, company) = found;
        Ok(Self {
            existing,
            company,
            names,
        })
    }

    /// Adds the name of the request's user if it is missing.
    pub async fn with_name_of(self, scope: &Scope) -> Result<Self, StoreError> {
        let names = scope
            .store
            .reader()
            .names_of(self.names, [scope.viewer.user()])
            .await?;
        Ok(Self { names, ..self })
    }
}

/// The context that a request's patch is validated against.
pub fn edit_context<'a>(scope: &'a Scope, named: &'a NamedRecords) -> LeadEditContext<'a> {
    LeadEditContext {
        viewer: &scope.viewer,
        user_name: named.names.of(scope.viewer.user()),
        existing: &named.existing,
        now: scope.now(),
    }
}
