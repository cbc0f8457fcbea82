//! Totals in former forms. Before format 2, one item contained all counts of opportunities of a day, and totals of
//! restricted classes of opportunities or leads were among the others. Before format 4, a board had a total for each
//! column, user and status.
//!
//! Readers add up the former and the present forms, and writers write the present one. Each transaction of a move
//! subtracts from one item the numbers that it adds to others. So sums are right at every moment, also with writes of
//! both releases.

use super::{Operator, OperatorError};
use shared::ids::{FunnelId, UserId};
use shared::opportunity::Status;
use shared::store::unscoped::derived::{Share, is_number};
use shared::store::unscoped::key;
use shared::store::unscoped::leads::LeadClass;
use shared::store::unscoped::opportunities::BoardClass;
use shared::store::unscoped::opportunities::class::{RESTRICTED, RESTRICTED_COUNT};
use shared::visibility::Restriction;
use table::item::{self, Item};
use table::{CommitError, Condition, Key, Policy, StoreError, Transaction, key_of};

const KIND: &str = "board total";
const LEADS: &str = "lead total";
/// Maximum numbers in one transaction. Each takes three writes, and DynamoDB allows 300 names in an expression.
const MAX_NUMBERS: usize = 30;

/// The number to which a count moves, and the attributes that describe its item.
struct TotalTarget {
    key: Key,
    name: String,
    /// The factor of the moved number; 0 for a number that must only be present.
    times: i64,
    set: Item,
}

impl Operator {
    /// Moves the counts of all totals in a former form, and returns their number. Scans the table.
    ///
    /// # Errors
    /// [`OperatorError::Store`] if the table fails; what was moved by then stays.
    pub(super) async fn move_former_totals(&self) -> Result<u64, OperatorError> {
        let (mut after, mut moved) = (None, 0);
        let wanted = key::everything(self.instance());
        loop {
            let page = self.table().scan(&wanted, after.as_ref()).await?;
            for item in &page.items {
                let key = key_of(item)?;
                if self.keys().is_former_total(&key) {
                    self.move_former_total(&key).await?;
                    moved += 1;
                }
            }
            match page.next {
                Some(next) => after = Some(next),
                None => return Ok(moved),
            }
        }
    }

    /// Moves the counts of a total in a former form to the present totals, and deletes it. One get and one transaction
    /// for each 30 numbers, and two more calls.
    ///
    /// # Errors
    /// [`OperatorError::Store`] if it cannot be read or written; what was moved by then stays.
    pub(super) async fn move_former_total(&self, key: &Key) -> Result<(), OperatorError> {
        let anew = || self.table().retry(Policy::CONFLICT, "moving a total");
        let mut retry = anew();
        while let Some(item) = self.reads().get(key).await? {
            let version = Condition::Version(item::number(KIND, &item, "v")?);
            let mut transaction = self.some_moved(key, &item, &version)?;
            let done = transaction.is_empty();
            if done {
                transaction.delete(key.clone(), version);
            } else {
                transaction.update(key.clone(), "v", 1, Item::new(), Condition::Always);
            }
            match self.table().commit(transaction).await {
                Ok(()) if done => return Ok(()),
                Ok(()) => retry = anew(),
                Err(CommitError::Refused(_) | CommitError::Store(StoreError::Contention(_))) => {
                    retry.again().await?;
                }
                Err(CommitError::Store(error)) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Moves numbers of a total in a former form, as many as one transaction permits; none if all are 0.
    fn some_moved(&self, key: &Key, item: &Item, version: &Condition) -> Result<Transaction, StoreError> {
        let mut transaction = Transaction::default();
        for name in item.keys().filter(|name| is_number(name)) {
            let by = item::signed(KIND, item, name)?;
            if by == 0 {
                continue;
            }
            transaction.update(key.clone(), name, -by, Item::new(), version.clone());
            for target in self.targets(key, item, name)? {
                transaction.update(
                    target.key.clone(),
                    &target.name,
                    target.times * by,
                    target.set,
                    Condition::Always,
                );
                transaction.update(target.key, "v", 1, Item::new(), Condition::Always);
            }
            if transaction.len() > 2 * MAX_NUMBERS {
                break;
            }
        }
        Ok(transaction)
    }

    /// The present places of a number in a total of a former form.
    fn targets(&self, key: &Key, item: &Item, name: &str) -> Result<Vec<TotalTarget>, StoreError> {
        let rest = key.pk.strip_prefix(&self.keys().prefix()).unwrap_or_default();
        let (kind, place) = rest.split_once('#').unwrap_or_default();
        let apart = format!("{}{kind}-{RESTRICTED}#{place}", self.keys().prefix());
        if kind == "lead-total" {
            return lead_targets(key, apart, item);
        }
        if kind == "board-total" {
            return self.board_targets(key, apart, item, name);
        }
        let class = name.strip_prefix("n.").unwrap_or_default();
        let mut parts = class.splitn(3, '#');
        let user = parts.next().and_then(|user| UserId::new(user.parse().ok()?));
        let status = parts.next().and_then(Status::parse);
        let Some((user, status)) = user.zip(status) else {
            return Err(item::corrupt(KIND, format_args!("{name} is no class")));
        };
        let mut counted = format!("n.{user}#{}", status.as_str());
        let mut targets = Vec::new();
        if parts.next().is_some() {
            counted = format!("{counted}#{RESTRICTED}");
            targets.push(TotalTarget {
                key: key::total(apart, &format!("{}#{class}", key.sk)),
                name: "n".to_owned(),
                times: 1,
                set: Item::new(),
            });
        }
        targets.push(TotalTarget {
            key: key::total(key.pk.clone(), &key::rank(&key.sk, user)),
            name: counted,
            times: 1,
            set: Item::new(),
        });
        Ok(targets)
    }

    /// The present places of a number of a class of opportunities: the totals of its column and of its user. A
    /// restricted class also has a total of its own.
    fn board_targets(
        &self,
        key: &Key,
        apart: String,
        item: &Item,
        name: &str,
    ) -> Result<Vec<TotalTarget>, StoreError> {
        let mut class = item.clone();
        class.retain(|name, _| !is_number(name) && name != "v");
        let mut class: BoardClass = item::decode(KIND, class)?;
        let mut targets = Vec::new();
        let (unit, restricted) = name
            .split_once('.')
            .map_or((name, false), |(unit, _)| (unit, true));
        if !class.narrowing.is_open() {
            targets.push(TotalTarget {
                key: key::total(apart, &key.sk),
                name: unit.to_owned(),
                times: 1,
                set: item::encode(KIND, &class)?,
            });
        }
        // A total of a class without restriction counts restricted opportunities of any sort.
        if restricted {
            class.narrowing = Restriction::Users(Vec::new());
        }
        for (
            key,
            Share {
                numbers, attributes, ..
            },
        ) in class.totals(self.keys(), place(key)?, 0)?
        {
            let same_unit = |name: &String| name.split('.').next() == Some(unit);
            targets.extend(numbers.into_keys().filter(same_unit).map(|name| TotalTarget {
                key: key.clone(),
                name,
                times: 1,
                set: attributes.clone(),
            }));
        }
        Ok(targets)
    }
}

/// The funnel of a partition of totals, and whether the totals are of its archive.
fn place(key: &Key) -> Result<(FunnelId, bool), StoreError> {
    let mut parts = key.pk.rsplit('#');
    let archived = parts.next() == Some("1");
    let funnel = parts.next().and_then(|id| FunnelId::new(id.parse().ok()?));
    funnel
        .map(|funnel| (funnel, archived))
        .ok_or_else(|| item::corrupt(KIND, format_args!("{} is of no funnel", key.pk)))
}

/// The present places of the count of a class of leads: its own total, and its owner's.
fn lead_targets(key: &Key, apart: String, item: &Item) -> Result<Vec<TotalTarget>, StoreError> {
    let mut class = item.clone();
    class.retain(|name, _| !is_number(name) && name != "v");
    let class: LeadClass = item::decode(LEADS, class)?;
    let owner = key::class_parts(&key.sk).next().unwrap_or_default();
    let all = |name: &str, times| -> Result<TotalTarget, StoreError> {
        Ok(TotalTarget {
            key: key::total(key.pk.clone(), owner),
            name: name.to_owned(),
            times,
            set: item::encode(LEADS, &class.unrestricted())?,
        })
    };
    let own = TotalTarget {
        key: key::total(apart, &key.sk),
        name: "n".to_owned(),
        times: 1,
        set: item::encode(LEADS, &class)?,
    };
    Ok(vec![own, all(RESTRICTED_COUNT, 1)?, all("n", 0)?])
}
