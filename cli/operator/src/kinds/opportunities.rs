//! Opportunities. The names in `fields` are not compared with the funnel's definitions, because a definition may be
//! removed while values stay, and every exported line must be accepted.

use serde_json::Value;
use shared::ids::{LeadId, OpportunityId};
use shared::opportunity::Opportunity;
use shared::store::unscoped::entity::Entity as _;
use shared::store::unscoped::erasure::PendingErasures;
use shared::store::unscoped::leads::{LeadRecord, link};
use shared::store::unscoped::opportunities::{OpportunityRecord, OpportunitySnapshot, entry};

use super::prelude::*;

/// Maximum characters of a title and of a text in `fields` (C-30).
const MAX_TITLE: usize = 255;
const MAX_TEXT: usize = 10_000;

/// The opportunities.
#[derive(Debug)]
pub struct Opportunities;

impl RecordKind for Opportunities {
    type Record = Opportunity;
    type Line = Dated<Opportunity>;
    const KIND: Kind = Kind::Opportunities;
    const FIELDS: &'static [Field] = &[
        ID,
        field(Shape::Text, "title").needed().filled().up_to(MAX_TITLE),
        field(Shape::Text, "sale_channel campaign"),
        field(Shape::TextOrNumber, "loss_reason gain_reason"),
        field(Shape::Amount, "value").or("0"),
        field(Shape::Id, "crm_id").needed().refers(Kind::Funnels),
        field(Shape::Id, "crm_column").needed().column_of("crm_id"),
        field(Shape::Id, "user").needed().embedded().refers(Kind::Users),
        field(Shape::Id, "lead_id").decided(Kind::Leads),
        field(Shape::Id, "service_permission_user").refers(Kind::Users),
        field(Shape::Id, "service_permission_department").refers(Kind::Departments),
        field(Shape::Ids, "service_permission_users").refers(Kind::Users),
        field(Shape::Ids, "service_permission_departments").refers(Kind::Departments),
        field(Shape::Integer, "sequence").or("0"),
        field(Shape::OneOf("open gain lost"), "status").or(r#""open""#),
        field(Shape::OneOf("all users departments"), "service_permission").or(r#""all""#),
        field(Shape::ZeroOrOne, "archived").or("0"),
        field(
            Shape::Time,
            "expectedCloseDate last_column_change last_status_change gain_date lost_date reopen_date",
        ),
        field(Shape::Time, "createDate updateDate"),
        field(Shape::Objects, "dataCompanyExtra").note("companies"),
        field(
            Shape::List,
            "service_permission_users_select service_permission_departments_select files filesData",
        ),
        field(Shape::List, "conf_installment"),
        field(Shape::Object, "fields").note("text, numbers, `true` or `false` by name"),
        field(
            Shape::Any,
            "await_column_approved await_column_approved_user reject_appro reject_appro_desc",
        ),
        field(Shape::ReadOnly, "dataLead dataCompany funnel_id"),
    ];

    fn parse(mut fields: Fields) -> Result<Self::Line, String> {
        let companies = fields.get_mut("dataCompanyExtra").and_then(Value::as_array_mut);
        for company in companies.into_iter().flatten().filter_map(Value::as_object_mut) {
            company.shift_remove("_id");
        }
        let mut line = Dated::<Opportunity>::read::<Self>(fields)?;
        let opportunity = &mut line.record;
        opportunity.fields.retain(|_, value| !value.is_null());
        for (name, value) in &opportunity.fields {
            if value.is_array() || value.is_object() {
                return Err(format!(
                    "fields.{name}: must be text, a number, true, false or null"
                ));
            }
            if value.as_str().is_some_and(|text| text.chars().count() > MAX_TEXT) {
                return Err(format!("fields.{name}: must have at most {MAX_TEXT} characters"));
            }
        }
        Ok(line)
    }

    fn custom(opportunity: &Opportunity) -> impl Iterator<Item = &str> {
        opportunity.fields.keys().map(String::as_str)
    }

    fn identity(opportunity: &Opportunity) -> u64 {
        opportunity.id.get()
    }

    fn lead(opportunity: &Opportunity) -> Option<LeadId> {
        opportunity.lead_id
    }

    fn export(opportunity: &Opportunity) -> serde_json::Result<Fields> {
        Ok(opportunity.sparse())
    }
}

impl StoredKind for Opportunities {
    const STORAGE: Storage = Storage {
        sequence: Some((Counter::Opportunity, "opportunity")),
        unchanged: version,
        agrees: |derived, stored| derived.is_empty() || entry::known(stored).as_ref() == Some(derived),
        column: |record| {
            let opportunity = OpportunitySnapshot::decode(record)?.opportunity;
            Ok(Some((opportunity.crm_id, opportunity.crm_column)))
        },
        copy: Some(LEAD),
        removal: Some(Removal::Linked),
        ..Storage::of(
            ["opportunity", "opportunities"],
            |keys| vec![keys.opportunities()],
            |keys, id| Some(keys.opportunity(OpportunityId::parse(id)?)),
            |keys, item| OpportunityRecord::decode(item)?.derived_as_read(keys),
        )
    };
    const DECODE: fn(Item) -> Result<Opportunity, StoreError> =
        |item| OpportunitySnapshot::decode(&item).map(|snapshot| snapshot.opportunity);
    const STOPS_AT: Option<&'static str> = Some("opportunity");
    const WITHOUT: Option<fn(Opportunity, &PendingErasures) -> Opportunity> =
        Some(|opportunity, erasures| erasures.opportunity(opportunity));
    const CHECK_READS_TABLE: bool = true;
    const CONCURRENT: bool = true;

    async fn write(operator: &Operator, lines: &[&Self::Line], mode: Mode) -> Written {
        operator.write_each::<Self>(lines, mode).await
    }
}

impl Decide for Opportunities {
    fn reads(keys: Keys<'_>, opportunity: &Opportunity, _mode: Mode) -> Vec<Key> {
        let mut reads = vec![keys.opportunity(opportunity.id)];
        reads.extend(opportunity.lead_id.map(|lead| keys.lead(lead)));
        reads
    }

    fn decide(operator: &Operator, line: &Self::Line, found: &FoundItems, mode: Mode) -> Decision {
        let (keys, id) = (operator.keys(), line.record.id);
        let stored = found.get(&keys.opportunity(id));
        let stored = stored.map(OpportunityRecord::decode).transpose()?;
        let before = stored.as_ref().map(|stored| &stored.opportunity);
        let opportunity = line.onto(before, operator.now());
        let lead = match opportunity.lead_id {
            None => None,
            Some(id) => {
                let lead = found.need(&keys.lead(id), "lead_id", Kind::Leads, id)?;
                Some(LeadRecord::decode(lead)?)
            }
        };
        if let Some(stored) = &stored {
            // The stored opportunity has no empty lists and objects, but a line may have them.
            if stored.opportunity.sparse() == opportunity.sparse() {
                return Err(Skip::Unchanged);
            }
            same_record(stored.made, line.create_date, stored.opportunity.create_date)?;
            replaceable(Kind::Opportunities, id, stored.edited, mode)?;
        }
        let snapshot = OpportunitySnapshot::of(opportunity, lead.as_ref());
        let record = OpportunityRecord::imported(stored.as_ref(), snapshot);
        let mut transaction = record.put(keys, stored.as_ref())?;
        if let Some(lead) = lead {
            // A transaction that links a lead checks that it exists (C-24). The check of the lead's version keeps the
            // copy up to date.
            link(&mut transaction, keys, &lead);
        }
        Ok(transaction)
    }
}

/// An opportunity copies its lead, with the company that the lead copies.
const LEAD: CopyRule = CopyRule {
    is_unlinked: |lead| Ok(LeadRecord::decode(lead)?.unlinked),
    markers: |keys, record, _| {
        let lead = OpportunityRecord::decode(record)?.opportunity.lead_id;
        Ok(lead.map(|lead| keys.stale_marker(lead)).into_iter().collect())
    },
    stranger,
    ..CopyRule::of(
        "lead",
        |keys, record| {
            let lead = OpportunitySnapshot::decode(record)?.opportunity.lead_id;
            Ok(lead.map(|lead| keys.lead(lead)))
        },
        with_lead,
    )
};

/// The opportunity with a copy of this lead; `None` if it has that copy.
fn with_lead(record: &Item, lead: Option<&Item>) -> Result<Option<Item>, StoreError> {
    let stored = OpportunityRecord::decode(record)?;
    let lead = lead.map(LeadRecord::decode).transpose()?;
    let snapshot = OpportunitySnapshot::of(stored.opportunity.clone(), lead.as_ref());
    if snapshot == stored.value {
        return Ok(None);
    }
    let mut renewed = stored.clone();
    renewed.value = snapshot;
    if renewed.encode()? == stored.encode()? {
        return Ok(None);
    }
    renewed.version += 1;
    renewed.encode().map(Some)
}

/// An imported opportunity is older than its lead, which a request made: the lead that the import meant is another one.
fn stranger(record: &Item, lead: &Item) -> Result<Option<String>, StoreError> {
    let (deal, lead) = (OpportunityRecord::decode(record)?, LeadRecord::decode(lead)?);
    let is_older = deal.opportunity.create_date < lead.lead.create_date;
    let is_stranger = is_older && lead.made && !deal.edited && deal.nonce.is_none();
    Ok(is_stranger.then(|| {
        let id = lead.lead.id;
        format!("was imported and is older than its lead {id}, which was made here; is that the person?")
    }))
}
