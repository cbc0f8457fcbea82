//! Leads, each with a copy of its company's record.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde_json::Value;
use shared::ids::LeadId;
use shared::input::is_blank;
use shared::lead::{ChannelRestrictions, Lead, WHATSAPP, unite_whatsapp};
use shared::lead_edit::{IDENTIFYING, MAX_IDS, TEXTS};
use shared::store::unscoped::leads::{self, Details, LeadRecord, LeadState};
use shared::store::unscoped::notices;
use shared::text::clean;
use shared::time::Timestamp;

use shared::store::unscoped::companies::same_company;

use super::prelude::*;

/// The leads.
#[derive(Debug)]
pub struct Leads;

/// The names of the fixed fields. Every other field of a line is custom.
static FIXED: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
    let lead = LeadId::new(1).zip(Timestamp::parse("1970-01-01T00:00:00Z"));
    let lead = lead.map(|(id, date)| serde_json::json!(Lead::new(id, date)));
    let names = lead
        .as_ref()
        .and_then(Value::as_object)
        .map(|fields| fields.keys().cloned());
    names.into_iter().flatten().collect()
});

impl RecordKind for Leads {
    type Record = Lead;
    type Line = Dated<Lead>;
    const KIND: Kind = Kind::Leads;

    fn parse(mut fields: Fields) -> Result<Self::Line, String> {
        unite_whatsapp(&mut fields).map_err(|rule| format!("{WHATSAPP}: {rule}"))?;
        let times = Dated::<Lead>::take_times(&mut fields)?;
        let utm_tags = match fields.shift_remove("utmTags") {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(tags)) => tags,
            Some(_) => return Err("utmTags: must be a list".to_owned()),
        };
        line::read_people(&mut fields, &TEXTS);
        line::read_numbers(&mut fields, &["points"]);
        // A lead that nobody can be called or written by has none of these.
        fields.retain(|name, value| !(IDENTIFYING.contains(&name.as_str()) && is_blank(value)));
        let (fixed, mut custom): (Fields, Fields) =
            fields.into_iter().partition(|(name, _)| FIXED.contains(name));
        // Other custom values stay, because an export may hold them.
        custom.retain(|_, value| value == "" || !value.is_string() || !is_blank(value));
        for text in custom.values_mut().filter_map(|value| match value {
            Value::String(text) => Some(text),
            _ => None,
        }) {
            *text = clean(text).unwrap_or_default().to_owned();
        }
        let mut lead: Lead = line::read(fixed)?;
        // Longer lists could not be sent back to the API, and a page of leads reads all their tags.
        for (name, ids) in [
            ("tags", lead.tags.len()),
            ("userAccess", lead.user_access.len()),
            ("departmentAccess", lead.department_access.len()),
        ] {
            if ids > MAX_IDS {
                return Err(format!("{name}: must be a list of at most {MAX_IDS} ids"));
            }
        }
        lead.points = number::storable("points", &lead.points)?;
        lead.utm_tags = utm_tags;
        lead.custom = custom;
        Ok(Dated::new(lead, times))
    }

    fn field_names() -> &'static [&'static str] {
        faults::names_of::<Lead>()
    }

    fn custom(lead: &Lead) -> impl Iterator<Item = &str> {
        lead.custom.keys().map(String::as_str)
    }

    fn identity(lead: &Lead) -> u64 {
        lead.id.get()
    }

    fn references(lead: &Lead, to: &mut References) {
        to.add("owner", Referent::User, lead.owner);
        to.add("company", Referent::Company, lead.company);
        to.add("department", Referent::Department, lead.department);
        to.add("userAccess", Referent::User, lead.user_access.iter().copied());
        let departments = lead.department_access.iter().copied();
        to.add("departmentAccess", Referent::Department, departments);
        to.add("tags", Referent::Tag, lead.tags.iter().copied());
    }

    fn export(lead: &Lead) -> serde_json::Result<Fields> {
        let mut fields = sparse(lead)?;
        if lead.channel_restrictions == ChannelRestrictions::default() {
            fields.shift_remove("channelRestrictions");
        }
        if !lead.utm_tags.is_empty() {
            fields.insert("utmTags".to_owned(), lead.utm_tags.clone().into());
        }
        // A null or an empty list is a value of a custom field.
        fields.extend(lead.custom.clone());
        Ok(fields)
    }
}

impl ImportKind for Leads {
    fn replaced(keys: Keys<'_>, lead: &Lead) -> Option<Replaced<Lead>> {
        Some((keys.lead(lead.id), <Self as ExportKind>::decode))
    }

    const CONCURRENT: bool = true;

    fn with_links(line: &mut Self::Line, is_linked: impl Fn(LeadId) -> bool) {
        line.is_linked = is_linked(line.record.id);
    }

    /// Opportunities' copies of a changed lead are stale until [`Operator::refresh_copies`].
    async fn write(operator: &Operator, lines: &[&Self::Line], mode: Mode) -> Written {
        operator.write_each::<Self>(lines, mode).await
    }

    /// Refreshes the copies after each chunk, because every reader reads all notices.
    async fn written(operator: &Operator) -> Result<(), StoreError> {
        operator.refresh_copies().await
    }
}

impl Decide for Leads {
    const SEQUENCE: Option<(Counter, &'static str)> = Some((Counter::Lead, "lead"));

    fn reads(keys: Keys<'_>, lead: &Lead, mode: Mode) -> Vec<Key> {
        let mut reads = vec![keys.lead(lead.id)];
        reads.extend(lead.company.map(|company| keys.company(company)));
        reads.extend(mode.is_retry.then(|| keys.tombstone(lead.id)));
        reads
    }

    fn follow(keys: Keys<'_>, lead: &Lead, found: &FoundItems) -> Result<Vec<Key>, StoreError> {
        let stored = found.get(&keys.lead(lead.id));
        let details = stored.and_then(leads::digest).map(|_| keys.lead_details(lead.id));
        Ok(details.into_iter().collect())
    }

    fn decide(operator: &Operator, line: &Self::Line, found: &FoundItems, mode: Mode) -> Decision {
        let (keys, id) = (operator.keys(), line.record.id);
        if found.has(&keys.tombstone(id)) {
            return Err(Skip::Refused(format!(
                "lead {id} was deleted and is being erased; import it again in some minutes"
            )));
        }
        let stored = found.get(&keys.lead(id));
        let mut stored = stored.map(LeadRecord::decode).transpose()?;
        if let Some(stored) = &mut stored {
            // This fails if the details are lost, or were read after a change of the record, which then refuses the
            // write.
            stored.value.add_details(found.get(&keys.lead_details(id))).ok();
        }
        let before = stored.as_ref().map(|stored| &stored.lead);
        // Calls move `lastActive` forward, and an import of older data does not move it back.
        let last_active = line.update_date.max(before.map(|lead| lead.last_active));
        let lead = line.changed_at(last_active, before, operator.now());
        let mut transaction = Transaction::default();
        let company = lead.company.map(|id| keys.company(id));
        let company = company.and_then(|key| Some((found.get(&key)?, key)));
        if let Some((item, key)) = &company {
            transaction.check(key.clone(), same_company(item));
        }
        let company = company.map(|(item, _)| item::decode("company", item.clone()));
        let company = company.transpose()?;
        let unlinked = stored.as_ref().map(|stored| stored.unlinked);
        let state = LeadState {
            lead,
            company,
            // Only the first import of a lead decides this. Then every opportunity that links the lead updates it.
            unlinked: unlinked.unwrap_or(!line.is_linked),
            details: Details::default(),
        };
        let record = LeadRecord::imported(stored.as_ref(), state);
        if let Some(stored) = &stored {
            require_replaceable(stored, &record.lead, line.create_date, mode)?;
            if !stored.unlinked && stored.copied() != record.copied() {
                notices::mark(&mut transaction, keys, id, operator.environment());
            }
        } else {
            // A lead must not be created again before its former data is removed from other records (C-24).
            transaction.check(keys.tombstone(id), Condition::Absent);
        }
        transaction.merge(record.put(keys, stored.as_ref())?);
        Ok(transaction)
    }
}

/// Requires that a lead differs from the stored one and may replace it.
///
/// # Errors
/// [`Skip::Unchanged`] if it does not differ, and [`Skip::Refused`] if it may not replace the stored one.
fn require_replaceable(
    stored: &LeadRecord,
    lead: &Lead,
    create_date: Option<Timestamp>,
    mode: Mode,
) -> Result<(), Skip> {
    // Calls change `lastActive`, so for a lead changed through the API a difference in `lastActive` alone does not
    // count.
    let differs_in_activity_only = || {
        let stored = Lead {
            last_active: lead.last_active,
            ..stored.lead.clone()
        };
        stored == *lead
    };
    let is_same = || stored.lead == *lead || (stored.edited && !mode.overwrite && differs_in_activity_only());
    // A lead whose details are lost is written again.
    if stored.is_whole() && is_same() {
        return Err(Skip::Unchanged);
    }
    same_record(stored.made, create_date, stored.lead.create_date)?;
    replaceable(Kind::Leads, lead.id, stored.edited, mode)
}

impl ExportKind for Leads {
    const HAS_DETAILS: bool = true;

    fn partitions(keys: Keys<'_>) -> Vec<String> {
        vec![keys.leads()]
    }

    fn decode(item: Item) -> Result<Lead, StoreError> {
        leads::read(item)
    }
}
