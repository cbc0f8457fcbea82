//! A dry run: a copy of the table that takes all writes (C-104), so that an import can be checked by running it.
//!
//! The copy is empty at first. Before each call the copy gets the items that the call names and that were not copied
//! before, and for a query the whole partition. Then the call is executed on the copy alone. So it returns the same as
//! on the table, except for concurrent writes of others to the table.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::{Value, json};
use shared::store::embedded::EmbeddedEngine;
use shared::store::{Store, StoreError};
use table::{Key, KeyRange, Pages, Table, key_of};
use tokio::sync::Mutex;

/// The copy's table.
const COPY: &str = "copy";

/// A store that executes all calls on `scratch`, an empty engine, after copying the items that they need from `store`.
///
/// # Errors
/// [`StoreError`] if the copy's table cannot be created.
pub async fn rehearse(store: &Store, scratch: Arc<dyn EmbeddedEngine>) -> Result<Store, StoreError> {
    let environment = store.environment().clone();
    let copy = Store::embedded(Arc::clone(&scratch), COPY.to_owned(), environment.clone());
    crate::ensure_table(&copy).await?;
    let overlay = Overlay {
        table: store.table().clone(),
        copy: copy.table().clone(),
        scratch,
        loaded: Mutex::default(),
    };
    Ok(Store::embedded(Arc::new(overlay), COPY.to_owned(), environment))
}

/// The keys and partitions of the table that were copied, including those without items.
#[derive(Debug, Default)]
struct Loaded {
    keys: HashSet<Key>,
    partitions: HashSet<String>,
}

/// An engine that executes calls on the copy.
#[derive(Debug)]
struct Overlay {
    table: Table,
    copy: Table,
    scratch: Arc<dyn EmbeddedEngine>,
    loaded: Mutex<Loaded>,
}

impl EmbeddedEngine for Overlay {
    fn answer(&self, operation: &str, body: &[u8]) -> (u16, String) {
        let request = serde_json::from_slice(body).unwrap_or_default();
        let mut keys = Vec::new();
        collect_keys(&request, &mut keys);
        // Every query of this project names its partition `:pk`.
        let partition = request["ExpressionAttributeValues"][":pk"]["S"].as_str();
        let work = self.load(keys, partition.filter(|_| operation == "Query"));
        let loaded = tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(work));
        match loaded {
            Ok(()) => self.scratch.answer(operation, body),
            // A status that is not retried, because the table's error was already retried.
            Err(error) => (
                400,
                json!({ "__type": "TableFailed", "message": error.to_string() }).to_string(),
            ),
        }
    }
}

impl Overlay {
    /// Copies items that were not copied before. Loads are serialised, because a concurrent load could overwrite a
    /// write.
    async fn load(&self, mut keys: Vec<Key>, partition: Option<&str>) -> Result<(), StoreError> {
        let mut loaded = self.loaded.lock().await;
        keys.retain(|key| !loaded.keys.contains(key) && !loaded.partitions.contains(&key.pk));
        for (key, item) in self.table.reads().get_many(keys.iter().cloned()).await? {
            self.copy.put(&key, item).await?;
        }
        loaded.keys.extend(keys);
        let Some(partition) = partition.filter(|partition| !loaded.partitions.contains(*partition)) else {
            return Ok(());
        };
        let mut pages = Pages::of(KeyRange::whole(partition.to_owned()));
        while let Some(items) = pages.next(self.table.reads()).await? {
            for item in items {
                let key = key_of(&item)?;
                if !loaded.keys.contains(&key) {
                    self.copy.put(&key, item).await?;
                }
            }
        }
        loaded.partitions.insert(partition.to_owned());
        Ok(())
    }
}

/// Adds the keys in a request to `keys`. Every object with `pk` and `sk` is a key or an item.
fn collect_keys(request: &Value, keys: &mut Vec<Key>) {
    match request {
        Value::Object(members) => {
            let text = |name: &str| members.get(name)?.get("S")?.as_str();
            if let (Some(pk), Some(sk)) = (text("pk"), text("sk")) {
                keys.push(Key::new(pk.to_owned(), sk));
                return;
            }
            members.values().for_each(|member| collect_keys(member, keys));
        }
        Value::Array(members) => members.iter().for_each(|member| collect_keys(member, keys)),
        _ => {}
    }
}
