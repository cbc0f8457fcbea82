//! The cents of daily counts, which a table before format 5 lacks.
//!
//! The amounts of a day and column come from the entries in the column's list. Each write that changes a count raises
//! the count's version in the same transaction. The versions of the count and its shards are read before the entries,
//! and the cents are written on condition of these versions. If a condition fails, the day is added up again.

use std::collections::{BTreeMap, BTreeSet};

use super::{Operator, OperatorError};
use shared::store::OpportunitySnapshot;
use shared::store::unscoped::entity::Entity as _;
use shared::store::unscoped::key::{self, BoardList};
use shared::store::unscoped::opportunities::class::contributions;
use table::item::{self, Item};
use table::{
    CommitError, Condition, Key, KeyRange, MAX_WRITES, Pages, Policy, SHARDS, StoreError, Transaction,
    key_of, shard_of, shards,
};

const KIND: &str = "daily count";
/// Maximum daily counts in one transaction. Each count is written, and its shards are checked.
const MAX_COUNTS: usize = MAX_WRITES / (1 + SHARDS as usize);
/// Maximum numbers of a daily count in one transaction, because DynamoDB allows 300 names in an expression.
const MAX_NUMBERS: usize = 100;

/// The items of a daily count, its own and its shards.
type StoredCount = BTreeMap<Key, Item>;

/// Cents to add to a daily count.
struct MissingCents {
    count: Key,
    cents: Vec<(String, i64)>,
}

impl Operator {
    /// Adds the cents that daily counts lack, and returns the number of changed counts. Scans the table, and reads the
    /// entry of each opportunity in a list once.
    ///
    /// # Errors
    /// [`OperatorError::Store`] if the table fails; what was added by then stays.
    pub(super) async fn add_day_values(&self) -> Result<u64, OperatorError> {
        let (mut after, mut last, mut added) = (None, None, 0);
        let wanted = key::everything(self.instance());
        loop {
            let page = self.table().scan(&wanted, after.as_ref()).await?;
            for item in &page.items {
                let day = self.keys().ranked(&key_of(item)?);
                if day.is_some() && day != last {
                    last = day;
                    if let Some((list, day)) = &last {
                        added += self.add_values_of(*list, day).await?;
                    }
                }
            }
            match page.next {
                Some(next) => after = Some(next),
                None => return Ok(added),
            }
        }
    }

    /// Adds the cents that the counts of a day of a list lack, and returns the number of changed counts. Compares again
    /// until nothing lacks, because one transaction does not add everything.
    async fn add_values_of(&self, list: BoardList, day: &str) -> Result<u64, OperatorError> {
        let mut retry = self
            .table()
            .retry(Policy::CONTESTED, "adding the values of a day");
        let mut added = 0;
        loop {
            let stored = self.stored_counts(list, day).await?;
            let right = self.cents_of(list, day).await?;
            let missing = missing_cents(&stored, &right)?;
            if missing.is_empty() {
                return Ok(added);
            }
            for batch in missing.chunks(MAX_COUNTS) {
                match self.table().commit(addition(&stored, batch)?).await {
                    Ok(()) => added += batch.len() as u64,
                    Err(CommitError::Refused(_) | CommitError::Store(StoreError::Contention(_))) => {
                        retry.again().await?;
                        break;
                    }
                    Err(CommitError::Store(error)) => return Err(error.into()),
                }
            }
        }
    }

    /// The stored counts of a day of a column, including those of restricted classes.
    async fn stored_counts(
        &self,
        list: BoardList,
        day: &str,
    ) -> Result<BTreeMap<Key, StoredCount>, StoreError> {
        let (keys, mut stored) = (self.keys(), BTreeMap::<_, StoredCount>::new());
        let BoardList {
            funnel,
            column,
            archived,
            ..
        } = list;
        for partition in [
            keys.board_ranks(funnel, column, archived),
            keys.restricted_ranks(funnel, column, archived),
        ] {
            let span = KeyRange::beginning(partition, format!("{day}#"));
            for item in self.reads().query_all(span).await? {
                let key = key_of(&item)?;
                let count = shard_of(&key).unwrap_or_else(|| key.clone());
                stored.entry(count).or_default().insert(key, item);
            }
        }
        Ok(stored)
    }

    /// The cents of each daily count of a day, by attribute. Entries that cannot be read are skipped; the doctor
    /// reports them.
    async fn cents_of(
        &self,
        list: BoardList,
        day: &str,
    ) -> Result<BTreeMap<Key, BTreeMap<String, i128>>, StoreError> {
        let keys = self.keys();
        let mut pages = Pages::of(KeyRange {
            after: key::rank_begins(day),
            through: key::rank_ends(day),
            ..KeyRange::whole(keys.board(list))
        });
        let mut cents = BTreeMap::<_, BTreeMap<_, _>>::new();
        while let Some(page) = pages.next_with(|span| self.reads().query(span)).await? {
            for entry in &page.items {
                let Ok(snapshot) = OpportunitySnapshot::decode(entry) else {
                    continue;
                };
                let totals = contributions(keys, &snapshot.opportunity)?.into_iter();
                for (count, share) in totals.filter(|(key, _)| keys.is_day_count(key)) {
                    let sums = cents.entry(count).or_default();
                    for (name, amount) in share.numbers.into_iter().filter(|(name, _)| is_cents(name)) {
                        *sums.entry(name).or_default() += i128::from(amount);
                    }
                }
            }
        }
        Ok(cents)
    }
}

fn is_cents(name: &str) -> bool {
    name == "c" || name.starts_with("c.")
}

/// The cents that each stored count lacks, negative for a surplus, at most [`MAX_NUMBERS`] for each count. Counts that
/// are not stored are left to the doctor.
fn missing_cents(
    stored: &BTreeMap<Key, StoredCount>,
    right: &BTreeMap<Key, BTreeMap<String, i128>>,
) -> Result<Vec<MissingCents>, StoreError> {
    let (none, mut missing) = (BTreeMap::new(), Vec::new());
    for (count, items) in stored {
        let right = right.get(count).unwrap_or(&none);
        let stored_names = items.values().flat_map(Item::keys).filter(|name| is_cents(name));
        let names: BTreeSet<_> = stored_names.chain(right.keys()).collect();
        let mut cents = Vec::new();
        for name in names {
            let mut lacks = right.get(name).copied().unwrap_or_default();
            for item in items.values() {
                lacks -= cents_in(item, name)?;
            }
            // A larger difference is added in several rounds.
            let max = i128::from(i64::MAX);
            let lacks = i64::try_from(lacks.clamp(-max, max)).unwrap_or_default();
            if lacks != 0 && cents.len() < MAX_NUMBERS {
                cents.push((name.clone(), lacks));
            }
        }
        if !cents.is_empty() {
            let count = count.clone();
            missing.push(MissingCents { count, cents });
        }
    }
    Ok(missing)
}

/// The cents of an attribute of a count or a shard; 0 if it is absent.
fn cents_in(item: &Item, name: &str) -> Result<i128, StoreError> {
    let Some(number) = item.get(name) else {
        return Ok(0);
    };
    let number = number.as_n().ok().and_then(|digits| digits.parse().ok());
    number.ok_or_else(|| item::corrupt(KIND, format_args!("{name} is no number")))
}

/// The writes that add cents to counts, on condition that the counts and their shards are unchanged.
fn addition(
    stored: &BTreeMap<Key, StoredCount>,
    missing: &[MissingCents],
) -> Result<Transaction, StoreError> {
    let mut transaction = Transaction::default();
    for MissingCents { count, cents } in missing {
        let unchanged = |at: &Key| {
            let item = stored.get(count).and_then(|items| items.get(at));
            let value = item.map_or(Ok(0), |item| item::number(KIND, item, "v"))?;
            Ok::<_, StoreError>(Condition::Number { name: "v", value })
        };
        for (name, by) in cents {
            transaction.update(count.clone(), name, *by, Item::new(), unchanged(count)?);
        }
        transaction.update(count.clone(), "v", 1, Item::new(), Condition::Always);
        for shard in shards(count) {
            let condition = unchanged(&shard)?;
            transaction.check(shard, condition);
        }
    }
    Ok(transaction)
}
