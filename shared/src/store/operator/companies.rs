//! Companies and the profiles of messaging accounts as an import writes them (C-81).
//!
//! A lead's record holds a copy of its company, and a lead's opportunities hold another. A company that changes is given
//! to its leads before its own record is written, so that an import that ends between finds it changed again and goes on.
//! A lead that another import writes meanwhile is caught on either side: its transaction checks that the company is the
//! one it copied, and the leads are gone through once more behind the company's record. Only of two imports at one time
//! that disagree about a company it is open whose copies stay.

use std::collections::BTreeSet;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::batch::Step;
use super::{Operator, OperatorError, Outcome};
use crate::id::{CompanyId, LeadId};
use crate::people::{Company, Profile};
use crate::phone::Phone;
use crate::store::error::StoreError;
use crate::store::item::{self, Item};
use crate::store::key::Key;
use crate::store::leads::{self, LeadRecord};
use crate::store::notices;
use crate::store::table::{Page, Span, key_of};
use crate::store::transaction::{Condition, Transaction};
use crate::store::unknown;

const COMPANY: &str = "company";
/// Leads of a company that are read and written at a time.
const LEADS: usize = 100;

/// What a stored company may lack.
const OPTIONAL: [&str; 22] = [
    "cnpj",
    "companyaddress",
    "companyannualrevenue",
    "companycity",
    "companycountry",
    "companyemail",
    "companyindustry",
    "companynemployees",
    "companyphone",
    "companystate",
    "companyzipcode",
    "createDate",
    "createdBy",
    "createdByName",
    "pain_points",
    "owner",
    "photoUrl",
    "points",
    "customer_count",
    "updatedBy",
    "updatedByName",
    "updatedDate",
];

/// That a company is still as it was read. It has no version, so it is held by its content.
pub(super) fn same_company(stored: &Item) -> Condition {
    let mut has = stored.clone();
    has.retain(|name, _| name != "pk" && name != "sk");
    let lacks = OPTIONAL.into_iter().filter(|name| !has.contains_key(*name));
    Condition::Exactly {
        lacks: lacks.collect(),
        has,
    }
}

impl Operator {
    /// Writes companies, each replacing the one of its id, and the copies of those that change. The owners are the
    /// caller's to check.
    ///
    /// # Errors
    /// [`OperatorError::Store`] where the table fails; what was written by then stays.
    pub async fn import_companies(&self, companies: &[Company]) -> Result<Vec<Outcome>, OperatorError> {
        let keyed = companies
            .iter()
            .map(|company| (self.keys().company(company.id), company));
        let keyed: Vec<_> = keyed.collect();
        let stored = self.table().get_many(keyed.iter().map(|(key, _)| key.clone()));
        let stored = stored.await?;
        let mut changed = Vec::new();
        for (key, company) in &keyed {
            let before = stored.get(key).cloned();
            let before: Option<Company> = before.map(|item| item::decode(COMPANY, item)).transpose()?;
            if before.is_some_and(|before| before != **company) {
                changed.push(*company);
            }
        }
        for company in &changed {
            self.copy_to_leads(company).await?;
        }
        let outcomes = self.replace(COMPANY, keyed).await?;
        for company in changed {
            self.copy_to_leads(company).await?;
        }
        Ok(outcomes)
    }

    /// Gives every lead of a company a copy of it, and every opportunity of those leads. Queries of the links and batch
    /// gets of the leads, a page at a time; writes only where a copy differs.
    async fn copy_to_leads(&self, company: &Company) -> Result<(), OperatorError> {
        let mut span = Span::head(self.keys().company_leads(company.id), LEADS);
        loop {
            let Page { items, more } = self.table().query(span.clone()).await?;
            let links = items.iter().map(key_of).collect::<Result<Vec<_>, _>>()?;
            let leads = links.iter().filter_map(|link| LeadId::new(link.sk.parse().ok()?));
            let leads: Vec<_> = leads.map(|lead| self.keys().lead(lead)).collect();
            let mut found = self.table().get_many(leads.iter().cloned()).await?;
            let steps = leads
                .iter()
                .map(|lead| self.copy_step(company, found.remove(lead)));
            let steps = steps.collect::<Result<_, _>>()?;
            let again = async |at: usize| {
                let Some(lead) = leads.get(at) else {
                    return Ok(Step::Done(Outcome::Unchanged));
                };
                Ok(self.copy_step(company, self.table().get(lead).await?)?)
            };
            self.carry_out(steps, again).await?;
            // Every reader reads all notices, so there are never more than a page's.
            self.refresh_copies().await?;
            if !more {
                return Ok(());
            }
            span.after = links.last().map(|link| link.sk.clone());
        }
    }

    fn copy_step(&self, company: &Company, lead: Option<Item>) -> Result<Step, StoreError> {
        let Some(stored) = lead.map(leads::decode).transpose()? else {
            return Ok(Step::Done(Outcome::Unchanged));
        };
        if stored.lead.company != Some(company.id) || stored.company.as_ref() == Some(company) {
            return Ok(Step::Done(Outcome::Unchanged));
        }
        let (id, read) = (stored.lead.id, Condition::Version(stored.version));
        let record = LeadRecord {
            version: stored.version + 1,
            company: Some(company.clone()),
            ..stored
        };
        let mut transaction = Transaction::default();
        // Nothing that is derived from a lead tells of its company's record.
        transaction.put(self.keys().lead(id), leads::encode(&record)?, read);
        notices::raise(&mut transaction, self.keys(), id, self.now());
        Ok(Step::Write(transaction))
    }

    /// Brings the copies that opportunities have of changed leads up to date.
    ///
    /// # Errors
    /// [`StoreError`] where the table fails; what is not done is done the next time.
    pub async fn refresh_copies(&self) -> Result<(), StoreError> {
        // The notices go at once: every reader reads all of them, and an import raises many.
        self.0.refresh_copies(0).await.map(drop)
    }

    /// Writes profiles, each replacing the one of its number.
    ///
    /// # Errors
    /// [`OperatorError::Store`] where the table fails; what was written by then stays.
    pub async fn import_profiles(&self, profiles: &[Profile]) -> Result<Vec<Outcome>, OperatorError> {
        let mut outcomes =
            vec![Outcome::Refused("number: must be a telephone number".to_owned()); profiles.len()];
        let numbered = profiles.iter().enumerate();
        let numbered = numbered.filter_map(|(at, profile)| Some((at, Phone::of(&profile.number)?, profile)));
        let (places, keyed): (Vec<_>, Vec<_>) = numbered
            .map(|(at, phone, profile)| (at, (self.keys().profile(phone.digits()), profile)))
            .unzip();
        let written = self.replace("profile", keyed).await?;
        for (at, outcome) in places.into_iter().zip(written) {
            if let Some(place) = outcomes.get_mut(at) {
                *place = outcome;
            }
        }
        Ok(outcomes)
    }

    /// Writes records that only the operator changes and from which nothing is derived.
    async fn replace<T>(
        &self,
        kind: &'static str,
        records: Vec<(Key, &T)>,
    ) -> Result<Vec<Outcome>, OperatorError>
    where
        T: Serialize + DeserializeOwned + PartialEq,
    {
        let stored = self
            .table()
            .get_many(records.iter().map(|(key, _)| key.clone()))
            .await?;
        let step = |key: &Key, record: &T| {
            let mut change = Transaction::default();
            let item = unknown::rewritten(kind, stored.get(key), record)?;
            change.put(key.clone(), item, Condition::Always);
            Ok::<_, StoreError>(Step::Write(change))
        };
        let steps = records.iter().map(|(key, record)| {
            let old = stored.get(key).cloned();
            let old = old.map(|item| item::decode::<T>(kind, item));
            if old.transpose()?.as_ref() == Some(*record) {
                return Ok(Step::Done(Outcome::Unchanged));
            }
            step(key, record)
        });
        let steps = steps.collect::<Result<_, StoreError>>()?;
        let again = async |at: usize| match records.get(at) {
            Some((key, record)) => Ok(step(key, record)?),
            None => Ok(Step::Done(Outcome::Unchanged)),
        };
        self.carry_out(steps, again).await
    }

    /// Which of these companies exist.
    ///
    /// # Errors
    /// [`StoreError`] where they cannot be read.
    pub async fn existing_companies(
        &self,
        ids: impl IntoIterator<Item = CompanyId>,
    ) -> Result<BTreeSet<CompanyId>, StoreError> {
        self.existing(ids, |id| self.keys().company(id)).await
    }

    /// Which of these ids have a record. Units: one for each started 4 KB of the records.
    pub(super) async fn existing<I: Copy + Ord>(
        &self,
        ids: impl IntoIterator<Item = I>,
        key: impl Fn(I) -> Key,
    ) -> Result<BTreeSet<I>, StoreError> {
        let keyed: Vec<_> = ids.into_iter().map(|id| (key(id), id)).collect();
        let found = self
            .table()
            .get_many(keyed.iter().map(|(key, _)| key.clone()))
            .await?;
        let existing = keyed.into_iter().filter(|(key, _)| found.contains_key(key));
        Ok(existing.map(|(_, id)| id).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn what_a_company_may_lack_is_known() {
        let company: Company = serde_json::from_value(json!({ "id": 1, "companyname": "A" })).unwrap();
        let Value::Object(fields) = json!(company) else {
            unreachable!("a company is an object");
        };
        let mut lacked: Vec<_> = fields.iter().filter(|(_, value)| value.is_null()).collect();
        lacked.sort_unstable_by_key(|(name, _)| *name);
        let mut optional = OPTIONAL;
        optional.sort_unstable();
        assert_eq!(
            lacked.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(),
            optional
        );
    }
}
