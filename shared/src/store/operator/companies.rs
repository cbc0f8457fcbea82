//! Companies and the profiles of messaging accounts as an import writes them (C-81).

use std::collections::BTreeSet;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::batch::Step;
use super::{Operator, OperatorError, Outcome};
use crate::id::CompanyId;
use crate::people::{Company, Profile};
use crate::phone::Phone;
use crate::store::error::StoreError;
use crate::store::item;
use crate::store::key::Key;
use crate::store::transaction::{Condition, Transaction};

impl Operator {
    /// Writes companies, each replacing the one of its id. The owners are the caller's to check.
    ///
    /// # Errors
    /// [`OperatorError::Store`] where the table fails; what was written by then stays.
    pub async fn import_companies(&self, companies: &[Company]) -> Result<Vec<Outcome>, OperatorError> {
        let keyed = companies
            .iter()
            .map(|company| (self.keys().company(company.id), company));
        self.replace("company", keyed.collect()).await
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
        let mut stored = self
            .table()
            .get_many(records.iter().map(|(key, _)| key.clone()))
            .await?;
        let step = |key: &Key, record: &T| {
            let mut change = Transaction::default();
            change.put(key.clone(), item::encode(kind, record)?, Condition::Always);
            Ok::<_, StoreError>(Step::Write(change))
        };
        let steps = records.iter().map(|(key, record)| {
            let old = stored.remove(key).map(|item| item::decode::<T>(kind, item));
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
