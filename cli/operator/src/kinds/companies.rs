//! Companies.
//!
//! A lead's record and its opportunities contain copies of its company. The copies of a changed company are written
//! before the company's record, so that a rerun of an interrupted import finds the company changed again. A concurrent
//! import of leads is covered twice: its transactions require the company that they copied, and the leads are read once
//! more after the company is written. If two concurrent imports disagree about a company, the copies of either may
//! remain.

use shared::ids::{CompanyId, LeadId};
use shared::people::Company;
use shared::store::unscoped::leads::{LeadRecord, LeadState};
use shared::store::unscoped::notices;
use table::{KeyRange, Pages};

use super::prelude::*;

/// Leads of a company that are read and written at a time.
const LEADS: usize = 100;

/// The companies.
#[derive(Debug)]
pub struct Companies;

impl RecordKind for Companies {
    type Record = Company;
    type Line = Company;
    const KIND: Kind = Kind::Companies;
    const FIELDS: &'static [Field] = &[
        ID,
        field(Shape::Person, "companyname").needed(),
        field(Shape::Person, "cnpj companyemail companyphone"),
        field(
            Shape::Text,
            "companyaddress companycity companycountry companyindustry companystate companyzipcode",
        ),
        field(Shape::Text, "createdByName pain_points photoUrl updatedByName"),
        field(Shape::NumberOrText, "companyannualrevenue companynemployees"),
        field(Shape::Number, "points customer_count"),
        field(Shape::Id, "owner").refers(Kind::Users),
        field(Shape::Id, "createdBy updatedBy"),
        field(Shape::Time, "createDate updatedDate"),
        field(Shape::ReadOnly, "_id"),
    ];

    fn parse(fields: Fields) -> Result<Company, String> {
        read(Self::FIELDS, fields)
    }

    fn identity(company: &Company) -> u64 {
        company.id.get()
    }
}

impl StoredKind for Companies {
    const STORAGE: Storage = Storage {
        removal: Some(Removal::Linked),
        ..Storage::of(
            ["company", "companies"],
            |keys| vec![keys.companies()],
            |keys, id| Some(keys.company(CompanyId::parse(id)?)),
            |_, company| nothing(Self::DECODE(company.clone())),
        )
    };
    const DECODE: fn(Item) -> Result<Company, StoreError> = |item| item::decode("company", item);

    async fn write(operator: &Operator, lines: &[&Company], mode: Mode) -> Written {
        let keys = lines.iter().map(|company| operator.keys().company(company.id));
        let stored = operator.reads().get_many(keys).await?;
        let mut changed = Vec::new();
        for company in lines {
            let before = stored.get(&operator.keys().company(company.id)).cloned();
            let before = before.map(Self::DECODE).transpose()?;
            if before.is_some_and(|before| before != **company) {
                changed.push(*company);
            }
        }
        for company in &changed {
            operator.copy_to_leads(company).await?;
        }
        let outcomes = operator.write_each::<Self>(lines, mode).await?;
        for company in changed {
            operator.copy_to_leads(company).await?;
        }
        Ok(outcomes)
    }
}

impl Decide for Companies {
    fn reads(keys: Keys<'_>, company: &Company, _mode: Mode) -> Vec<Key> {
        vec![keys.company(company.id)]
    }

    fn decide(operator: &Operator, company: &Company, found: &FoundItems, _mode: Mode) -> Decision {
        found.replace(Self::KIND, operator.keys().company(company.id), company)
    }
}

impl Operator {
    /// Copies a company to all its leads, and marks their opportunities for a refresh. Queries the links and gets the
    /// leads, page by page. Writes only leads with another copy.
    async fn copy_to_leads(&self, company: &Company) -> Result<(), OperatorError> {
        let mut pages = Pages::of(KeyRange::head(self.keys().company_leads(company.id), LEADS));
        while let Some(links) = pages.next_keys(self.reads()).await? {
            let leads = links.iter().filter_map(|link| LeadId::new(link.sk.parse().ok()?));
            let leads: Vec<_> = leads.map(|lead| self.keys().lead(lead)).collect();
            let copy = async |leads: &[Key], _| {
                let mut found = self.reads().get_many(leads.iter().cloned()).await?;
                let mut copies = Vec::with_capacity(leads.len());
                for lead in leads {
                    let stored = found.remove(lead).map(LeadRecord::decode).transpose()?;
                    copies.push(self.copy_company(company, stored));
                }
                Ok(copies)
            };
            self.write_batches(&leads, Mode::default(), copy).await?;
            // The notices are processed after each page, because every reader reads all of them.
            self.refresh_copies().await?;
        }
        Ok(())
    }

    fn copy_company(&self, company: &Company, lead: Option<LeadRecord>) -> Decision {
        let stored = lead.ok_or(Skip::Unchanged)?;
        if stored.lead.company != Some(company.id) || stored.company.as_ref() == Some(company) {
            return Err(Skip::Unchanged);
        }
        let (id, read) = (stored.lead.id, Condition::Version(stored.version));
        let company = Some(company.clone());
        let unlinked = stored.unlinked;
        let record = stored.next(LeadState {
            company,
            ..stored.value.clone()
        });
        let mut transaction = Transaction::default();
        // No derived item of a lead depends on its company's record.
        transaction.put(self.keys().lead(id), record.encode()?, read);
        if !unlinked {
            notices::mark(&mut transaction, self.keys(), id, self.environment());
        }
        Ok(transaction)
    }

    /// Updates the copies that opportunities have of changed leads.
    ///
    /// # Errors
    /// [`StoreError`] if the table fails; the next call continues.
    pub async fn refresh_copies(&self) -> Result<(), StoreError> {
        // The notices are deleted at once, because every reader reads all of them and an import creates many.
        self.writer.refresh_copies(0).await.map(drop)
    }
}
