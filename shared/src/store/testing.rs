//! Support for tests. No function enables the feature `testing`.

use std::sync::Arc;

use table::{Engine, Table};

use super::{Store, StoreError, jitter, key};
use crate::instance::InstanceName;

impl Store {
    /// All items of an instance as text.
    ///
    /// # Errors
    /// [`StoreError`] if the table cannot be read.
    pub async fn dump(&self, instance: &InstanceName) -> Result<Vec<String>, StoreError> {
        let (mut items, mut after) = (Vec::new(), None);
        let wanted = key::everything(instance);
        loop {
            let page = self.table.scan(&wanted, after.as_ref()).await?;
            items.extend(page.items.iter().map(|item| format!("{item:?}")));
            match page.next {
                Some(next) => after = Some(next),
                None => return Ok(items),
            }
        }
    }

    /// The same table in another process, with empty caches.
    #[must_use]
    pub fn elsewhere(&self) -> Self {
        Self::over(self.table.clone(), self.environment.clone())
    }

    /// The same store on another engine, with its caches.
    #[must_use]
    pub fn through(self, engine: Arc<dyn Engine>) -> Self {
        let table = Table::of(engine, jitter(&self.environment));
        Self { table, ..self }
    }
}
