//! Opportunities. The names in `fields` are not compared with the funnel's definitions, because a definition may be
//! removed while values stay, and every exported line must be accepted.

use shared::ids::LeadId;
use shared::opportunity::Opportunity;
use shared::store::unscoped::entity::Entity as _;
use shared::store::unscoped::erasure::PendingErasures;
use shared::store::unscoped::leads::{LeadRecord, link};
use shared::store::unscoped::opportunities::{OpportunityRecord, OpportunitySnapshot};

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

    fn parse(fields: Fields) -> Result<Self::Line, String> {
        let mut line = Dated::read(fields)?;
        let opportunity: &mut Opportunity = &mut line.record;
        if opportunity.title.is_empty() {
            return Err("title: must not be empty".to_owned());
        }
        within("title", Some(&opportunity.title), MAX_TITLE)?;
        opportunity.fields.retain(|_, value| !value.is_null());
        for (name, value) in &opportunity.fields {
            let name = format!("fields.{name}");
            if value.is_array() || value.is_object() {
                return Err(format!("{name}: must be text, a number, true, false or null"));
            }
            within(&name, value.as_str(), MAX_TEXT)?;
        }
        limits::size(&opportunity.sparse())?;
        Ok(line)
    }

    fn field_names() -> &'static [&'static str] {
        faults::names_of::<Opportunity>()
    }

    fn custom(opportunity: &Opportunity) -> impl Iterator<Item = &str> {
        opportunity.fields.keys().map(String::as_str)
    }

    fn identity(opportunity: &Opportunity) -> u64 {
        opportunity.id.get()
    }

    fn references(opportunity: &Opportunity, to: &mut References) {
        to.add("crm_id", Referent::Funnel, [opportunity.crm_id]);
        let lacking = |funnel, column| format!("funnel {funnel} has no column {column}");
        let (funnel, column) = (opportunity.crm_id.get(), opportunity.crm_column.get());
        to.push(
            "crm_column",
            Referent::ColumnOf {
                funnel,
                column,
                lacking,
            },
        );
        to.add("user", Referent::User, [opportunity.user]);
        let user = opportunity.service_permission_user;
        to.add("service_permission_user", Referent::User, user);
        let department = opportunity.service_permission_department;
        to.add("service_permission_department", Referent::Department, department);
        let users = opportunity.service_permission_users.iter().copied();
        to.add("service_permission_users", Referent::User, users);
        let departments = opportunity.service_permission_departments.iter().copied();
        to.add(
            "service_permission_departments",
            Referent::Department,
            departments,
        );
    }

    fn lead(opportunity: &Opportunity) -> Option<LeadId> {
        opportunity.lead_id
    }

    fn export(opportunity: &Opportunity) -> serde_json::Result<Fields> {
        Ok(opportunity.sparse())
    }
}

impl ImportKind for Opportunities {
    fn replaced(keys: Keys<'_>, opportunity: &Opportunity) -> Option<Replaced<Opportunity>> {
        Some((keys.opportunity(opportunity.id), <Self as ExportKind>::decode))
    }

    const CHECK_READS_TABLE: bool = true;
    const CONCURRENT: bool = true;

    async fn write(operator: &Operator, lines: &[&Self::Line], mode: Mode) -> Written {
        operator.write_each::<Self>(lines, mode).await
    }
}

impl Decide for Opportunities {
    const SEQUENCE: Option<(Counter, &'static str)> = Some((Counter::Opportunity, "opportunity"));

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

impl ExportKind for Opportunities {
    const STOPS_AT: Option<&'static str> = Some("opportunity");
    const OF_LEADS: bool = true;

    fn partitions(keys: Keys<'_>) -> Vec<String> {
        vec![keys.opportunities()]
    }

    fn decode(item: Item) -> Result<Opportunity, StoreError> {
        OpportunitySnapshot::decode(&item).map(|snapshot| snapshot.opportunity)
    }

    fn without(opportunity: Opportunity, erasures: &PendingErasures) -> Opportunity {
        erasures.opportunity(opportunity)
    }
}
