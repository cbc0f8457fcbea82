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
use shared::store::unscoped::derived::{Contribution, is_number};
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

/// A number to which a count moves.
struct TotalTarget {
    /// The key of the total.
    key: Key,
    /// The attribute of the number.
    name: String,
    /// The factor of the moved number; 0 for a number that must only be present.
    factor: i64,
    /// The attributes that describe the class of the total.
    description: Item,
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
        let new_retry = || self.table().retry(Policy::CONFLICT, "moving a total");
        let mut retry = new_retry();
        while let Some(item) = self.reads().get(key).await? {
            let version = Condition::Version(item::number(KIND, &item, "v")?);
            let mut transaction = self.moves(key, &item, &version)?;
            let is_moved = transaction.is_empty();
            if is_moved {
                transaction.delete(key.clone(), version);
            } else {
                transaction.update(key.clone(), "v", 1, Item::new(), Condition::Always);
            }
            match self.table().commit(transaction).await {
                Ok(()) if is_moved => return Ok(()),
                Ok(()) => retry = new_retry(),
                Err(CommitError::Refused(_) | CommitError::Store(StoreError::Contention(_))) => {
                    retry.again().await?;
                }
                Err(CommitError::Store(error)) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// The writes that move numbers of a total in a former form, as many as one transaction permits; none if all are 0.
    fn moves(&self, key: &Key, item: &Item, version: &Condition) -> Result<Transaction, StoreError> {
        let mut transaction = Transaction::default();
        for name in item.keys().filter(|name| is_number(name)) {
            let amount = item::signed(KIND, item, name)?;
            if amount == 0 {
                continue;
            }
            transaction.update(key.clone(), name, -amount, Item::new(), version.clone());
            for target in self.targets(key, item, name)? {
                transaction.update(
                    target.key.clone(),
                    &target.name,
                    target.factor * amount,
                    target.description,
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

    /// The present numbers to which a number in a total of a former form moves.
    fn targets(&self, key: &Key, item: &Item, name: &str) -> Result<Vec<TotalTarget>, StoreError> {
        let rest = key.pk.strip_prefix(&self.keys().prefix()).unwrap_or_default();
        let (kind, list) = rest.split_once('#').unwrap_or_default();
        // The partition of totals of restricted classes.
        let restricted = format!("{}{kind}-{RESTRICTED}#{list}", self.keys().prefix());
        if kind == "lead-total" {
            return lead_targets(key, restricted, item);
        }
        if kind == "board-total" {
            return self.board_targets(key, restricted, item, name);
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
                key: key::total(restricted, &format!("{}#{class}", key.sk)),
                name: "n".to_owned(),
                factor: 1,
                description: Item::new(),
            });
        }
        targets.push(TotalTarget {
            key: key::total(key.pk.clone(), &key::rank(&key.sk, user)),
            name: counted,
            factor: 1,
            description: Item::new(),
        });
        Ok(targets)
    }

    /// The present numbers to which a number of a class of opportunities moves: in the totals of its column and of its
    /// user. A restricted class also has a total of its own, in the partition `restricted_totals`.
    fn board_targets(
        &self,
        key: &Key,
        restricted_totals: String,
        item: &Item,
        name: &str,
    ) -> Result<Vec<TotalTarget>, StoreError> {
        let mut class = item.clone();
        class.retain(|name, _| !is_number(name) && name != "v");
        let mut class: BoardClass = item::decode(KIND, class)?;
        let mut targets = Vec::new();
        let (unit, is_restricted) = name
            .split_once('.')
            .map_or((name, false), |(unit, _)| (unit, true));
        if !class.restriction.is_open() {
            targets.push(TotalTarget {
                key: key::total(restricted_totals, &key.sk),
                name: unit.to_owned(),
                factor: 1,
                description: item::encode(KIND, &class)?,
            });
        }
        // A total of a class without restriction counts restricted opportunities of any sort.
        if is_restricted {
            class.restriction = Restriction::Users(Vec::new());
        }
        for (
            key,
            Contribution {
                numbers, attributes, ..
            },
        ) in class.totals(self.keys(), funnel_of(key)?, 0)?
        {
            let same_unit = |name: &String| name.split('.').next() == Some(unit);
            targets.extend(numbers.into_keys().filter(same_unit).map(|name| TotalTarget {
                key: key.clone(),
                name,
                factor: 1,
                description: attributes.clone(),
            }));
        }
        Ok(targets)
    }
}

/// The funnel of a partition of totals, and whether the totals are of its archive.
fn funnel_of(key: &Key) -> Result<(FunnelId, bool), StoreError> {
    let mut parts = key.pk.rsplit('#');
    let is_archived = parts.next() == Some("1");
    let funnel = parts.next().and_then(|id| FunnelId::new(id.parse().ok()?));
    funnel
        .map(|funnel| (funnel, is_archived))
        .ok_or_else(|| item::corrupt(KIND, format_args!("{} is of no funnel", key.pk)))
}

/// The present numbers to which the count of a class of leads moves: in its own total in the partition
/// `restricted_totals`, and in its owner's total.
fn lead_targets(key: &Key, restricted_totals: String, item: &Item) -> Result<Vec<TotalTarget>, StoreError> {
    let mut class = item.clone();
    class.retain(|name, _| !is_number(name) && name != "v");
    let class: LeadClass = item::decode(LEADS, class)?;
    let owner = key::class_parts(&key.sk).next().unwrap_or_default();
    let of_owner = |name: &str, factor| -> Result<TotalTarget, StoreError> {
        Ok(TotalTarget {
            key: key::total(key.pk.clone(), owner),
            name: name.to_owned(),
            factor,
            description: item::encode(LEADS, &class.unrestricted())?,
        })
    };
    let own = TotalTarget {
        key: key::total(restricted_totals, &key.sk),
        name: "n".to_owned(),
        factor: 1,
        description: item::encode(LEADS, &class)?,
    };
    Ok(vec![own, of_owner(RESTRICTED_COUNT, 1)?, of_owner("n", 0)?])
}
