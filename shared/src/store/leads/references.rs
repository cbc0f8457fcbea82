//! The records that a lead refers to.

use crate::lead_edit::LeadReferences;
use crate::store::Reader;
use crate::store::companies::NamedCompany;
use table::StoreError;

impl Reader {
    /// The existing records among these, and the current company. One batch of gets; no call without references.
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be read.
    pub async fn lead_references(
        &self,
        named: &LeadReferences,
    ) -> Result<(LeadReferences, Option<NamedCompany>), StoreError> {
        let keys = self.keys();
        let user_keys = named.users.iter().map(|id| keys.user(*id));
        let tag_keys = named.tags.iter().map(|id| keys.tag(*id));
        let company_key = named.company.map(|id| keys.company(id));
        let wanted = user_keys.chain(tag_keys).chain(company_key.clone());
        let found = self.table.get_many(wanted).await?;
        let users = named.users.iter().copied();
        let tags = named.tags.iter().copied();
        let company = company_key.and_then(|key| found.get(&key));
        let company = company.map(NamedCompany::of).transpose()?;
        let existing = LeadReferences {
            users: users.filter(|id| found.contains_key(&keys.user(*id))).collect(),
            tags: tags.filter(|id| found.contains_key(&keys.tag(*id))).collect(),
            company: company.as_ref().map(|named| named.company.id),
        };
        Ok((existing, company))
    }
}
