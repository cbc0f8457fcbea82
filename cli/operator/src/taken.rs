//! The highest ids and the users of an instance. A conversion assigns higher ids and matches owners with the users
//! (C-105).

use std::collections::BTreeMap;

use shared::people::User;
use shared::store::unscoped::key::Counter;
use table::StoreError;

use crate::Operator;
use crate::kinds::{Companies, Funnels, Kind, LossReasons, StoredKind, Tags, Users};

/// The highest ids and the users of an instance.
#[derive(Debug, Default)]
pub struct TakenIds {
    /// The highest id by kind; 0 without records. `column` is the highest id of the columns of all funnels.
    pub last: BTreeMap<&'static str, u64>,
    /// All users.
    pub users: Vec<User>,
    /// Kind, name and id of each tag, loss reason, funnel and column. A column's name begins with that of its funnel and
    /// `/`.
    pub names: Vec<(&'static str, String, u64)>,
}

impl Operator {
    /// Reads the highest ids and all users. Reads all companies, tags, loss reasons and funnels.
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be read.
    pub async fn taken(&self) -> Result<TakenIds, StoreError> {
        let mut taken = TakenIds::default();
        for (counter, kind) in [(Counter::Lead, "lead"), (Counter::Opportunity, "opportunity")] {
            taken.last.insert(kind, self.last(counter, kind).await?);
        }
        let users = self.each::<Users>(&mut taken).await?;
        taken.users = users;
        self.each::<Companies>(&mut taken).await?;
        let tags = self.each::<Tags>(&mut taken).await?;
        let names = tags.into_iter().map(|tag| ("tag", tag.tag, tag.id.get()));
        taken.names.extend(names);
        let losses = self.each::<LossReasons>(&mut taken).await?;
        let names = losses
            .into_iter()
            .map(|loss| ("lossReason", loss.name, loss.id.get()));
        taken.names.extend(names);
        let funnels = self.each::<Funnels>(&mut taken).await?;
        for funnel in &funnels {
            taken.names.push(("funnel", funnel.name.clone(), funnel.id.get()));
            let columns = funnel.columns.iter();
            let name = |column: &str| format!("{}/{column}", funnel.name);
            let columns = columns.map(|column| ("column", name(&column.name), column.id.get()));
            taken.names.extend(columns);
        }
        let columns = funnels.iter().flat_map(|funnel| &funnel.columns);
        let column = columns.map(|column| column.id.get()).max();
        taken.last.insert("column", column.unwrap_or_default());
        Ok(taken)
    }

    /// Reserves the next `count` ids of leads or opportunities, and returns the first one. Later records get
    /// higher ids.
    ///
    /// # Errors
    /// [`StoreError`] if the table fails.
    pub async fn reserve_ids(&self, kind: &str, count: u64) -> Result<u64, StoreError> {
        let (counter, name) = match kind {
            "lead" => (Counter::Lead, "lead"),
            _ => (Counter::Opportunity, "opportunity"),
        };
        let key = self.keys().counter(counter);
        let last = self.table().add(&key, &[name], count).await?;
        let last = last.first().copied().unwrap_or_default();
        Ok(last.saturating_sub(count) + 1)
    }

    /// Reserves an id above `highest` for a record of a kind that only operators create. Nobody else gets it, and no later
    /// record a lower one.
    ///
    /// # Errors
    /// [`StoreError`] if the table fails.
    pub async fn reserve_above(&self, kind: Kind, highest: u64) -> Result<u64, StoreError> {
        let counter = match kind {
            Kind::Users => Counter::User,
            Kind::Funnels => Counter::Funnel,
            _ => Counter::Calendar,
        };
        let key = self.keys().counter(counter);
        let mut id = 0;
        while id <= highest {
            let last = self
                .table()
                .add(&key, &[kind.name()], (highest - id).max(1))
                .await?;
            id = last.first().copied().unwrap_or(u64::MAX);
        }
        Ok(id)
    }

    async fn each<K: StoredKind>(&self, taken: &mut TakenIds) -> Result<Vec<K::Record>, StoreError> {
        let (mut pages, mut all) = (self.records::<K>(), Vec::new());
        while let Some(page) = pages.next().await? {
            all.extend(page);
        }
        let last = all.iter().map(K::identity).max();
        taken.last.insert(K::KIND.name(), last.unwrap_or_default());
        Ok(all)
    }
}
