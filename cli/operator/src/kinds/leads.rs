//! Leads, each with a copy of its company's record.

use serde_json::{Value, json};
use shared::ids::LeadId;
use shared::input::is_blank;
use shared::lead::{ChannelRestrictions, Lead, WHATSAPP, unite_whatsapp};
use shared::lead_edit::{IDENTIFYING, MAX_IDS, split_name};
use shared::people::Company;
use shared::store::unscoped::companies::same_company;
use shared::store::unscoped::lead_list;
use shared::store::unscoped::leads::{self, Details, LeadRecord, LeadState};
use shared::store::unscoped::notices;
use shared::text::clean;
use shared::time::Timestamp;

use crate::content;

use super::prelude::*;

/// The leads.
#[derive(Debug)]
pub struct Leads;

impl RecordKind for Leads {
    type Record = Lead;
    type Line = Dated<Lead>;
    const KIND: Kind = Kind::Leads;
    const GROWS: bool = false;
    const FIELDS: &'static [Field] = &[
        ID,
        field(Shape::Person, "firstname lastname email phone chatapp mobile photoUrl address city state country"),
        field(Shape::Person, "zipcode timezone acquisition_channel link_instancia"),
        field(Shape::Person, "preferred_locale").or(r#""pt-BR""#),
        field(Shape::Text, "createdByName createdByType updatedByName initial_password"),
        field(Shape::Text, "instance_active").or(r#""true""#),
        field(Shape::Text, "lead_online").or(r#""false""#),
        field(Shape::Id, "owner").embedded().refers(Kind::Users),
        field(Shape::Id, "company").refers(Kind::Companies),
        field(Shape::Id, "department").refers(Kind::Departments),
        field(Shape::Id, "stage createdBy updatedBy role partner_instance"),
        field(Shape::Number, "points").or("0"),
        field(Shape::Flag, "ignoreSubDepartments archived").or("false"),
        field(Shape::Ids, "userAccess").refers(Kind::Users).note("at most 200"),
        field(Shape::Ids, "departmentAccess")
            .refers(Kind::Departments)
            .note("at most 200"),
        field(Shape::Ids, "tags")
            .embedded()
            .refers(Kind::Tags)
            .note("at most 200"),
        field(Shape::Texts, "ips"),
        field(Shape::List, "utmTags"),
        field(Shape::Object, "channelRestrictions").note(
            "`social_photo`, `chatapp`, `email`, `social_chat`, each `{mainChannel, disabled, frequencyValue, frequencyUnits}`",
        ),
        field(Shape::Time, "createDate"),
        field(Shape::Time, "lastActive").note("default: `createDate`"),
        field(Shape::Time, "updatedDate"),
        field(Shape::ReadOnly, "_id instancedomain companyData"),
    ];

    fn parse(mut fields: Fields) -> Result<Self::Line, String> {
        // A custom field may be called `name`, and none `fullname`.
        split_name(&mut fields, &["fullname"]);
        fields.shift_remove("fullname");
        unite_whatsapp(&mut fields).map_err(|rule| format!("{WHATSAPP}: {rule}"))?;
        let times = Dated::<Lead>::take_times(&mut fields)?;
        let utm_tags = match fields.shift_remove("utmTags") {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(tags)) => tags,
            Some(_) => return Err("utmTags: must be a list".to_owned()),
        };
        // A lead that nobody can be called or written by has none of these.
        fields.retain(|name, value| !(IDENTIFYING.contains(&name.as_str()) && is_blank(value)));
        let is_fixed = |name: &str| {
            Self::FIELDS
                .iter()
                .any(|field| field.names().any(|own| own == name))
        };
        let (fixed, mut custom): (Fields, Fields) = fields.into_iter().partition(|(name, _)| is_fixed(name));
        // Other custom values stay, because an export may hold them.
        custom.retain(|_, value| value == "" || !value.is_string() || !is_blank(value));
        for text in custom.values_mut().filter_map(|value| match value {
            Value::String(text) => Some(text),
            _ => None,
        }) {
            *text = clean(text).unwrap_or_default().to_owned();
        }
        let mut lead: Lead = read(Self::FIELDS, fixed)?;
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
        lead.utm_tags = utm_tags;
        lead.custom = custom;
        Ok(Dated::new(lead, times))
    }

    fn custom(lead: &Lead) -> impl Iterator<Item = &str> {
        lead.custom.keys().map(String::as_str)
    }

    fn identity(lead: &Lead) -> u64 {
        lead.id.get()
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

impl StoredKind for Leads {
    const STORAGE: Storage = Storage {
        sequence: Some((Counter::Lead, "lead")),
        unchanged: version,
        agrees: |derived, stored| match leads::digest(derived) {
            Some(digest) => leads::is_sound(stored, digest),
            None => derived.is_empty() || lead_list::known(stored).as_ref() == Some(derived),
        },
        can_restore: |derived| leads::digest(derived).is_none(),
        content_digest,
        copy: Some(COMPANY),
        ..Storage::of(
            ["lead", "leads"],
            |keys| vec![keys.leads()],
            |keys, id| Some(keys.lead(LeadId::parse(id)?)),
            |keys, item| LeadRecord::decode(item)?.derived_as_read(keys),
        )
    };
    const DECODE: fn(Item) -> Result<Lead, StoreError> = leads::read;
    const HAS_DETAILS: bool = true;
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

/// Of details their digest, if it is right.
fn content_digest(item: &Item) -> Option<u32> {
    let Some(digest) = leads::digest(item) else {
        return Some(content::content_digest(content::body(item)));
    };
    let is_stored = item.contains_key("pk");
    let is_right = !is_stored || leads::is_sound(item, digest);
    is_right.then(|| content::content_digest(&item::part(item, leads::DIGEST)))
}

/// A lead copies its company. Only operators change companies, which have no version.
const COMPANY: CopyRule = CopyRule {
    unchanged: |company| Ok(same_company(company)),
    stale_lead: |record| Ok(Some(LeadRecord::decode(record)?.lead.id)),
    needs_source: false,
    ..CopyRule::of(
        "company",
        |keys, record| {
            let company = LeadRecord::decode(record)?.lead.company;
            Ok(company.map(|company| keys.company(company)))
        },
        with_company,
    )
};

/// The lead with a copy of this company; `None` if it has that copy.
fn with_company(record: &Item, company: Option<&Item>) -> Result<Option<Item>, StoreError> {
    let stored = LeadRecord::decode(record)?;
    let company = company.map(|item| item::decode::<Company>("company", item.clone()));
    let company = company.transpose()?;
    // A lead stores the sparse form of its company, so only that is compared.
    let sparse = |company: &Option<Company>| json!(company.as_ref().map(Company::sparse));
    if sparse(&stored.company) == sparse(&company) {
        return Ok(None);
    }
    let state = LeadState {
        company,
        ..stored.value.clone()
    };
    stored.next(state).encode().map(Some)
}
