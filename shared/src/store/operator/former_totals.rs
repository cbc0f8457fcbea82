//! Totals and ranks of opportunities in the form before format 2, which kept all counts of a day in one item, and the
//! totals of restricted classes among the others.
//!
//! Everything reads the sum of both forms and writes the new one. Moving the counts is a transaction that takes from one
//! item what it adds to others, so sums are right at every moment, beside live writes of both releases.

use super::{Operator, OperatorError};
use crate::id::UserId;
use crate::opportunity::Status;
use crate::store::derived::is_number;
use crate::store::error::StoreError;
use crate::store::item::{self, Item};
use crate::store::key::{self, Key};
use crate::store::opportunities::BoardClass;
use crate::store::opportunities::class::RESTRICTED;
use crate::store::table::key_of;
use crate::store::transaction::{CommitError, Condition, Transaction};

const KIND: &str = "board total";
/// Numbers that one transaction moves: three writes for each, and DynamoDB takes 300 names in an expression.
const TOGETHER: usize = 30;
/// How often others may write the item while it is moved.
const ATTEMPTS: u32 = 20;

/// A number to add, and what describes the item it is added to.
struct Target {
    key: Key,
    name: String,
    set: Item,
}

impl Operator {
    /// Moves the counts of all totals in the former form; how many there were. A walk through the table.
    ///
    /// # Errors
    /// [`OperatorError::Store`] where the table fails; what was moved by then stays.
    pub(super) async fn move_former_totals(&self) -> Result<u64, OperatorError> {
        let (mut after, mut moved) = (None, 0);
        loop {
            let page = self.table().scan(self.instance(), after.as_ref()).await?;
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

    /// Moves what a total in the former form counts to where it is counted now, and deletes it. Nothing where it is gone.
    /// One get and one transaction for each 30 numbers, and two more.
    ///
    /// # Errors
    /// [`OperatorError::Store`] where it cannot be read or written; what was moved by then stays.
    pub(super) async fn move_former_total(&self, key: &Key) -> Result<(), OperatorError> {
        let mut refused = 0;
        while refused < ATTEMPTS {
            let Some(item) = self.table().get(key).await? else {
                return Ok(());
            };
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
                Ok(()) => refused = 0,
                Err(CommitError::Refused(_) | CommitError::Store(StoreError::Contention(_))) => {
                    refused += 1;
                    self.table().pause(refused.min(4)).await;
                }
                Err(CommitError::Store(error)) => return Err(error.into()),
            }
        }
        Err(StoreError::Contention("moving a total").into())
    }

    /// Moves numbers of a total in the former form, as many as one transaction holds; nothing where all are 0.
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
                    by,
                    target.set,
                    Condition::Always,
                );
                transaction.update(target.key, "v", 1, Item::new(), Condition::Always);
            }
            if transaction.len() > 2 * TOGETHER {
                break;
            }
        }
        Ok(transaction)
    }

    /// Where a number of a total in the former form belongs now.
    fn targets(&self, key: &Key, item: &Item, name: &str) -> Result<Vec<Target>, StoreError> {
        let rest = key.pk.strip_prefix(&self.keys().prefix()).unwrap_or_default();
        let (kind, place) = rest.split_once('#').unwrap_or_default();
        let apart = format!("{}{kind}-{RESTRICTED}#{place}", self.keys().prefix());
        if kind == "board-total" {
            let mut class = item.clone();
            class.retain(|name, _| !is_number(name) && name != "v");
            let class: BoardClass = item::decode(KIND, class)?;
            let total = class.unrestricted();
            let own = Target {
                key: key::total(apart, &key.sk),
                name: name.to_owned(),
                set: item::encode(KIND, &class)?,
            };
            let all = Target {
                key: key::total(key.pk.clone(), &total.total()),
                name: format!("{name}.{RESTRICTED}"),
                set: item::encode(KIND, &total)?,
            };
            return Ok(vec![own, all]);
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
            targets.push(Target {
                key: key::total(apart, &format!("{}#{class}", key.sk)),
                name: "n".to_owned(),
                set: Item::new(),
            });
        }
        targets.push(Target {
            key: key::total(key.pk.clone(), &key::rank(&key.sk, user)),
            name: counted,
            set: Item::new(),
        });
        Ok(targets)
    }
}
