//! Where the pages of a walk through a list begin.
//!
//! Clients read pages in order, so each page remembers where it ended and the next one goes on there, whatever was added
//! meanwhile (C-42). A walk is told apart by who asks, for what, and with which program; walks that differ in none of these
//! cannot be told apart by anyone, and the latest counts.

use sha2::{Digest, Sha256};

use super::error::StoreError;
use super::item::{self, Item, n, s};
use super::{InstanceStore, Reader};
use crate::text::hex;

/// How long a client may rest between two pages without the walk starting anew.
const SECONDS: u32 = 3600;

/// Sorts behind every sort key that a list has.
const END: &str = "~";

/// A walk through the pages of one query, by a digest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Walk(String);

impl Walk {
    /// The walk of a caller's program through what `query` asks for.
    pub fn new(caller: &str, client: &str, query: &str) -> Self {
        // Lengths keep the parts apart, whatever they hold.
        let text = format!("{}:{caller} {}:{client} {query}", caller.len(), client.len());
        Self(hex(&Sha256::digest(text)[..16]))
    }

    /// What a page of the walk is called within a process.
    pub fn page(&self, page: u64) -> String {
        format!("{} {page}", self.0)
    }
}

impl Reader {
    /// Behind which sort key a page begins, if the page before was read within the hour. One get.
    pub(super) async fn bookmark(&self, walk: &Walk, page: u64) -> Result<Option<String>, StoreError> {
        let item = self
            .table
            .get(&self.keys().bookmark(&walk.0, page))
            .await?
            .unwrap_or_default();
        // DynamoDB deletes expired items within days, not at once.
        let now = u64::try_from(self.table.ambient.now().unix_seconds()).unwrap_or(0);
        let fresh = item::number("bookmark", &item, "ttl")? > now;
        let after = item.get("after").and_then(|after| after.as_s().ok());
        Ok(after.filter(|_| fresh).cloned())
    }
}

impl InstanceStore {
    /// Remembers that a page of the walk begins behind the sort key `after`; without one, that there is nothing on it,
    /// because the page before was the last: who reads on until a page is empty meets nothing again, whatever came
    /// meanwhile. One put.
    pub(super) async fn put_bookmark(
        &self,
        walk: &Walk,
        page: u64,
        after: Option<&str>,
    ) -> Result<(), StoreError> {
        let (expiry, after) = (
            self.table.ambient.now().plus_seconds(SECONDS),
            after.unwrap_or(END),
        );
        let item = Item::from([
            ("after".to_owned(), s(after)),
            ("ttl".to_owned(), n(expiry.unix_seconds())),
        ]);
        self.table.put(&self.keys().bookmark(&walk.0, page), item).await?;
        self.guesses.learn_begin(&walk.page(page), after.to_owned());
        Ok(())
    }
}
