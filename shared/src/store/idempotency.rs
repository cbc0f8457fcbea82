//! Requests with an `Idempotency-Key` (C-10).
//!
//! A request's writes and its claim are one transaction, so exactly one of several equal requests does the work and the
//! others find its record. No stored state marks a request as in progress.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use super::key::{Key, Keys};
use super::{Reader, Writer};
use crate::text::hex;
use crate::time::Timestamp;
use table::StoreError;
use table::item::{self, Item, n, s};
use table::{CommitError, Condition, Transaction};

/// Lifetime of a key in seconds.
const LIFETIME_SECONDS: u32 = 24 * 3600;

/// The attribute of a claim that marks an existing record.
const FOUND: &str = "found";

/// A repeatable request: a digest of endpoint, caller and key, and a digest of the body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyKey {
    name: String,
    body: String,
}

/// Outcome of earlier requests with the same key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claimed {
    /// There was no earlier request.
    New,
    /// An equal request created the record with this id.
    Replay(u64),
    /// An equal request found the record with this id, and created none.
    Found(u64),
    /// An earlier request had another body.
    Mismatch,
}

impl Reader {
    /// Outcome of earlier requests with the same key. One get; no call without a key.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be read.
    pub async fn claimed(&self, claim: Option<&IdempotencyKey>) -> Result<Claimed, StoreError> {
        let Some(claim) = claim else {
            return Ok(Claimed::New);
        };
        let item = self.table.get(&claim.key(self.keys())).await?;
        let now = self.environment.now();
        item.map_or(Ok(Claimed::New), |item| claim.outcome(&item, now))
    }
}

impl Writer {
    /// Outcome of a concurrent request with the same key, from the items of failed conditions; `None` if the claim is
    /// not among them, [`Claimed::New`] if it has expired since.
    pub(crate) fn claimed_concurrently(
        &self,
        claim: Option<&IdempotencyKey>,
        refused: &BTreeMap<Key, Item>,
    ) -> Result<Option<Claimed>, StoreError> {
        let Some(claim) = claim else { return Ok(None) };
        let Some(item) = refused.get(&claim.key(self.keys())) else {
            return Ok(None);
        };
        claim.outcome(item, self.reader.environment.now()).map(Some)
    }

    /// Stores that a request found a record and created none. Returns [`Claimed::New`], or the outcome of a concurrent
    /// request with the same key that came first. One transaction; a get after an unknown outcome.
    ///
    /// # Errors
    /// [`StoreError`] if it failed, or its outcome is unknown.
    pub async fn keep_found(&self, claim: &IdempotencyKey, found: u64) -> Result<Claimed, StoreError> {
        let mut transaction = Transaction::default();
        claim.put_found(
            &mut transaction,
            self.keys(),
            found,
            self.reader.environment.now(),
        );
        match self.table.commit(transaction).await {
            Ok(()) => Ok(Claimed::New),
            Err(CommitError::Refused(items)) => {
                let earlier = self.claimed_concurrently(Some(claim), &items)?;
                Ok(earlier.unwrap_or(Claimed::New))
            }
            // The outcome may be unknown. All equal requests have the same response, so it does not matter which of
            // them stored the claim.
            Err(CommitError::Store(error)) => match self.reader.claimed(Some(claim)).await? {
                Claimed::New => Err(error),
                Claimed::Found(stored) if stored == found => Ok(Claimed::New),
                earlier => Ok(earlier),
            },
        }
    }
}

impl IdempotencyKey {
    /// The claim of a request to `endpoint`, scoped to `caller`.
    #[must_use]
    pub fn new(endpoint: &str, caller: &str, key: &str, body: &[u8]) -> Self {
        // The length of `caller` separates it from `key`.
        let name = format!("{endpoint} {}:{caller} {key}", caller.len());
        Self {
            name: hex(&Sha256::digest(name)[..16]),
            body: hex(&Sha256::digest(body)[..16]),
        }
    }

    pub(crate) fn key(&self, keys: Keys<'_>) -> Key {
        keys.idempotency(&self.name)
    }

    /// Adds the claim of a request that created record `made` to `transaction`, on condition that there is no
    /// unexpired claim with this key.
    pub(crate) fn put(&self, transaction: &mut Transaction, keys: Keys<'_>, made: u64, now: Timestamp) {
        self.put_outcome(transaction, keys, (made, Item::new()), now);
    }

    /// Like [`put`](Self::put), for a request that found the record.
    pub(crate) fn put_found(
        &self,
        transaction: &mut Transaction,
        keys: Keys<'_>,
        found: u64,
        now: Timestamp,
    ) {
        let outcome = (found, Item::from([(FOUND.to_owned(), n(1))]));
        self.put_outcome(transaction, keys, outcome, now);
    }

    /// Adds the deletion of the claim of a record to `transaction`.
    pub(crate) fn release(&self, transaction: &mut Transaction, keys: Keys<'_>, record: u64) {
        let has = Item::from([("made".to_owned(), n(record))]);
        let lacks = Vec::new();
        transaction.delete(self.key(keys), Condition::Exactly { has, lacks });
    }

    /// Adds the claim of a request for `record`, with more attributes, like [`put`](Self::put).
    fn put_outcome(
        &self,
        transaction: &mut Transaction,
        keys: Keys<'_>,
        (record, more): (u64, Item),
        now: Timestamp,
    ) {
        let mut item = Item::from([
            ("body".to_owned(), s(&self.body)),
            ("made".to_owned(), n(record)),
            (
                "ttl".to_owned(),
                n(now.plus_seconds(LIFETIME_SECONDS).unix_seconds()),
            ),
        ]);
        item.extend(more);
        let value = now.unix_seconds();
        transaction.put(
            self.key(keys),
            item,
            Condition::AbsentOrUpTo { name: "ttl", value },
        );
    }

    /// Outcome of the earlier request that stored this claim; [`Claimed::New`] if the claim has expired. [`FOUND`] is
    /// absent if the request created the record.
    pub(crate) fn outcome(&self, item: &Item, now: Timestamp) -> Result<Claimed, StoreError> {
        // No request could replace a claim that never expires.
        if !item.contains_key("ttl") {
            return Err(item::corrupt("idempotency", "it has no expiry"));
        }
        let expiry = i64::try_from(item::number("idempotency", item, "ttl")?).unwrap_or(i64::MAX);
        if expiry <= now.unix_seconds() {
            return Ok(Claimed::New);
        }
        let body = item.get("body").and_then(|body| body.as_s().ok());
        let body = body.ok_or_else(|| item::corrupt("idempotency", "it has no digest of a body"))?;
        if *body != self.body {
            return Ok(Claimed::Mismatch);
        }
        let record = item::number("idempotency", item, "made")?;
        if item::number("idempotency", item, FOUND)? > 0 {
            return Ok(Claimed::Found(record));
        }
        Ok(Claimed::Replay(record))
    }
}
