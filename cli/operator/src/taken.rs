//! The highest ids and the users of an instance. A conversion assigns higher ids and matches owners with the users
//! (C-105).

use std::collections::BTreeMap;

use shared::people::User;
use shared::store::unscoped::key::Counter;
use table::StoreError;

use crate::Operator;
use crate::kinds::{Companies, ExportKind, Funnels, LossReasons, RecordKind, Tags, Users};

/// The highest ids and the users of an instance.
#[derive(Debug, Default)]
pub struct TakenIds {
    /// The highest id by kind; 0 without records. `column` is the highest id of the columns of all funnels.
    pub last: BTreeMap<&'static str, u64>,
    /// All users.
    pub users: Vec<User>,
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
        self.each::<Tags>(&mut taken).await?;
        self.each::<LossReasons>(&mut taken).await?;
        let funnels = self.each::<Funnels>(&mut taken).await?;
        let columns = funnels.iter().flat_map(|funnel| &funnel.columns);
        let column = columns.map(|column| column.id.get()).max();
        taken.last.insert("column", column.unwrap_or_default());
        Ok(taken)
    }

    async fn each<K: ExportKind + RecordKind>(
        &self,
        taken: &mut TakenIds,
    ) -> Result<Vec<K::Record>, StoreError> {
        let (mut pages, mut all) = (self.records::<K>(), Vec::new());
        while let Some(page) = pages.next().await? {
            all.extend(page);
        }
        let last = all.iter().map(K::identity).max();
        taken.last.insert(K::KIND.name(), last.unwrap_or_default());
        Ok(all)
    }
}
