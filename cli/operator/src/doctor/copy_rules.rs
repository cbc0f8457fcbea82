//! Copies in records: a lead's company, an opportunity's lead, a file's ticket; and the lead of calls and of events of forms.

use serde_json::json;

use super::kind::CopyRule;
use shared::ids::LeadId;
use shared::people::Company;
use shared::store::unscoped::companies::same_company;
use shared::store::unscoped::entity::Entity as _;
use shared::store::unscoped::key::Keys;
use shared::store::unscoped::leads::{LeadRecord, LeadState};
use shared::store::unscoped::opportunities::{OpportunityRecord, OpportunitySnapshot};
use shared::store::unscoped::tickets::{FileRecord, FileState, TicketRecord};
use table::item::{self, Item};
use table::{Condition, Key, StoreError};

/// A lead copies its company. Only operators change companies, which have no version.
pub struct CompanyOfLead;

impl CopyRule for CompanyOfLead {
    fn source_name(&self) -> &'static str {
        "company"
    }

    fn source(&self, keys: Keys<'_>, record: &Item) -> Result<Option<Key>, StoreError> {
        let lead = LeadRecord::decode(record)?.value.lead;
        Ok(lead.company.map(|company| keys.company(company)))
    }

    fn renewed(&self, record: &Item, source: Option<&Item>) -> Result<Option<Item>, StoreError> {
        let stored = LeadRecord::decode(record)?;
        let company: Option<Company> = source
            .map(|item| item::decode("company", item.clone()))
            .transpose()?;
        // A lead stores the sparse form of its company, so only that is compared.
        let sparse = |company: &Option<Company>| json!(company.as_ref().map(Company::sparse));
        if sparse(&stored.company) == sparse(&company) {
            // The copy is current.
            return Ok(None);
        }
        let state = LeadState {
            company,
            ..stored.value.clone()
        };
        stored.next(state).encode().map(Some)
    }

    fn unchanged(&self, company: &Item) -> Result<Condition, StoreError> {
        Ok(same_company(company))
    }

    fn stale_lead(&self, record: &Item) -> Result<Option<LeadId>, StoreError> {
        Ok(Some(LeadRecord::decode(record)?.lead.id))
    }

    fn needs_source(&self) -> bool {
        false
    }
}

/// An opportunity copies its lead, with the company that the lead copies.
pub struct LeadOfOpportunity;

impl CopyRule for LeadOfOpportunity {
    fn source_name(&self) -> &'static str {
        "lead"
    }

    fn source(&self, keys: Keys<'_>, record: &Item) -> Result<Option<Key>, StoreError> {
        let lead = OpportunitySnapshot::decode(record)?.opportunity.lead_id;
        Ok(lead.map(|lead| keys.lead(lead)))
    }

    fn renewed(&self, record: &Item, lead: Option<&Item>) -> Result<Option<Item>, StoreError> {
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

    fn is_unlinked(&self, lead: &Item) -> Result<bool, StoreError> {
        Ok(LeadRecord::decode(lead)?.unlinked)
    }

    /// An imported opportunity is older than its lead, which a request made: the lead that the import meant is another one.
    fn stranger(&self, record: &Item, lead: &Item) -> Result<Option<String>, StoreError> {
        let (deal, lead) = (OpportunityRecord::decode(record)?, LeadRecord::decode(lead)?);
        let is_older = deal.opportunity.create_date < lead.lead.create_date;
        let is_stranger = is_older && lead.made && !deal.edited && deal.nonce.is_none();
        Ok(is_stranger.then(|| {
            let id = lead.lead.id;
            format!("was imported and is older than its lead {id}, which was made here; is that the person?")
        }))
    }

    fn markers(&self, keys: Keys<'_>, record: &Item, _: Option<&Item>) -> Result<Vec<Key>, StoreError> {
        let lead = OpportunityRecord::decode(record)?.opportunity.lead_id;
        Ok(lead.map(|lead| keys.stale_marker(lead)).into_iter().collect())
    }
}

/// A file has the lead of its ticket. While the lead of either is being erased, its mark excuses a difference, because
/// the ticket loses the lead first and files added later never get it. A change of the ticket's lead excuses nothing.
pub struct LeadOfFile;

impl CopyRule for LeadOfFile {
    fn source_name(&self) -> &'static str {
        "ticket"
    }

    fn source(&self, keys: Keys<'_>, record: &Item) -> Result<Option<Key>, StoreError> {
        let ticket = FileRecord::decode(record)?.file.ticket;
        Ok(Some(keys.ticket(ticket)))
    }

    fn renewed(&self, record: &Item, ticket: Option<&Item>) -> Result<Option<Item>, StoreError> {
        let stored = FileRecord::decode(record)?;
        let lead = lead_of(ticket)?;
        if stored.lead == lead {
            return Ok(None);
        }
        let file = stored.file.clone();
        stored.next(FileState { file, lead }).encode().map(Some)
    }

    fn markers(&self, keys: Keys<'_>, record: &Item, ticket: Option<&Item>) -> Result<Vec<Key>, StoreError> {
        let leads = [FileRecord::decode(record)?.lead, lead_of(ticket)?];
        Ok(leads
            .into_iter()
            .flatten()
            .map(|lead| keys.tombstone(lead))
            .collect())
    }
}

/// A call and the event of a form contain data of their lead, so the lead must exist, or its erasure be under way.
pub struct LeadOfEvent;

impl CopyRule for LeadOfEvent {
    fn source_name(&self) -> &'static str {
        "lead"
    }

    fn source(&self, keys: Keys<'_>, record: &Item) -> Result<Option<Key>, StoreError> {
        Ok(lead_of_event(record)?.map(|lead| keys.lead(lead)))
    }

    fn renewed(&self, _: &Item, _: Option<&Item>) -> Result<Option<Item>, StoreError> {
        Ok(None)
    }

    fn markers(&self, keys: Keys<'_>, record: &Item, _: Option<&Item>) -> Result<Vec<Key>, StoreError> {
        let lead = lead_of_event(record)?;
        Ok(lead.map(|lead| keys.tombstone(lead)).into_iter().collect())
    }
}

fn lead_of_event(record: &Item) -> Result<Option<LeadId>, StoreError> {
    item::number("event", record, "lead").map(LeadId::new)
}

fn lead_of(ticket: Option<&Item>) -> Result<Option<LeadId>, StoreError> {
    let ticket = ticket.map(TicketRecord::decode).transpose()?;
    Ok(ticket.and_then(|ticket| ticket.ticket.lead_relation))
}
