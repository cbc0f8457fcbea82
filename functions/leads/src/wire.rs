//! Ids of leads in bodies (C-24, C-25).

use serde_json::{Map, Value};
use shared::http::{InvalidField, required};
use shared::ids::LeadId;
use shared::integer::whole;

/// Maximum leads of one bulk request (C-24, C-25).
const MAX_IDS: usize = 120;

/// An id of a lead.
pub fn lead_id(value: &Value) -> Option<LeadId> {
    whole(value).and_then(LeadId::new)
}

/// The distinct ids in the list `name`.
pub fn lead_ids(body: &Map<String, Value>, name: &'static str) -> Result<Vec<LeadId>, InvalidField> {
    let listed = required(body, name, "must be at most 120 ids of leads", |value| {
        value.as_array().filter(|listed| listed.len() <= MAX_IDS).cloned()
    })?;
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
