//! From the derived items to the records: does each have one that derives it?
//!
//! A look-up of a number that nobody has any more, or the list of an owner who is gone, lies in a partition that no
//! record leads to, and so may the totals of a column that is gone. So this is a walk through the whole table. It also
//! finds where totals lie, which are compared by themselves.

use std::collections::{BTreeMap, BTreeSet};

use super::Doctor;
use super::kind::{KINDS, Kind, Origin};
use super::records::{derived_now, label};
use super::settle::{Look, Wrong};
use crate::store::item::Item;
use crate::store::key::{self, Key};
use crate::store::operator::{Operator, OperatorError};
use crate::store::table::key_of;
use crate::store::transaction::{Condition, Transaction};

/// Items whose records are read together: a batch of gets.
const TOGETHER: usize = 100;

/// The partitions in which each kind has totals, by the kind's name. Their number is that of the columns, not of the
/// records.
pub type TotalPartitions = BTreeMap<&'static str, BTreeSet<String>>;

impl Doctor<'_> {
    /// Looks at every derived item of the instance, and says where there are totals.
    pub(super) async fn orphans(&mut self) -> Result<TotalPartitions, OperatorError> {
        let operator = self.operator;
        let (mut after, mut totals) = (None, TotalPartitions::new());
        loop {
            let page = operator.table().scan(operator.instance(), after.as_ref()).await?;
            self.looked_at("items", page.items.len());
            let mut placed = Vec::new();
            for item in page.items {
                let key = key_of(&item)?;
                if key.pk.starts_with(key::OPENING) {
                    self.opening(&key, &item).await?;
                    continue;
                }
                for kind in KINDS {
                    match (kind.origin)(operator.keys(), &key, &item) {
                        Origin::Elsewhere => {}
                        Origin::Record(record) => placed.push((kind, key.clone(), Some(record))),
                        Origin::Nobody => placed.push((kind, key.clone(), None)),
                        Origin::Many if operator.keys().is_former_total(&key) => {
                            self.former_total(&key).await?;
                        }
                        Origin::Many => {
                            totals.entry(kind.name).or_default().insert(key.pk.clone());
                        }
                    }
                }
            }
            for items in placed.chunks(TOGETHER) {
                self.some_items(items).await?;
            }
            match page.next {
                Some(next) => after = Some(next),
                None => return Ok(totals),
            }
        }
    }

    /// With `--repair`, moves the counts of a total in the form before format 2. Without, it is right as it is; but then the
    /// totals of opportunities are not compared, because each may be a part of another.
    async fn former_total(&mut self, key: &Key) -> Result<(), OperatorError> {
        self.looked_at("former totals", 1);
        if !self.repair {
            self.former_totals = true;
            return Ok(());
        }
        self.operator.move_former_total(key).await?;
        self.report(key.to_string(), "has the form before format 2", true);
        Ok(())
    }

    async fn some_items(&mut self, items: &[(&'static Kind, Key, Option<Key>)]) -> Result<(), OperatorError> {
        let operator = self.operator;
        let records = items.iter().filter_map(|(_, _, record)| record.clone());
        let records = operator.table().get_many(records).await?;
        for (kind, key, record) in items {
            let record = record.as_ref().and_then(|record| records.get(record));
            // What one record should have and another is named in was told already, as it is seen from the first.
            if is_derived(operator, kind, key, record) || self.told(&key.to_string()) {
                continue;
            }
            let look = async || look(operator, kind, key).await;
            self.settle(&key.to_string(), look).await?;
        }
        Ok(())
    }
}

/// Whether a record derives an item. One that cannot be read may derive anything; it was reported itself.
fn is_derived(operator: &Operator, kind: &Kind, key: &Key, record: Option<&Item>) -> bool {
    record.is_some_and(|record| {
        let derived = (kind.derived)(operator.keys(), record.clone());
        derived.map_or(true, |derived| derived.items.contains_key(key))
    })
}

/// Looks at an item and at the record that should derive it, which is read before and after; its deletion depends on the
/// record being the same, or still absent.
async fn look(operator: &Operator, kind: &Kind, key: &Key) -> Result<Look, OperatorError> {
    let table = operator.table();
    let Some(item) = table.get(key).await? else {
        return Ok(Look::Fine);
    };
    let mut remedy = Transaction::default();
    remedy.delete(key.clone(), Condition::Always);
    let reason = match (kind.origin)(operator.keys(), key, &item) {
        Origin::Elsewhere | Origin::Many => return Ok(Look::Fine),
        Origin::Nobody => format!("no {} can have such an item", kind.name),
        Origin::Record(at) => {
            let (record, derived) = derived_now(operator, kind, &at).await?;
            if derived.items.contains_key(key) {
                return Ok(Look::Fine);
            }
            let again = table.get_many([at.clone(), key.clone()]).await?;
            if again.get(&at) != record.as_ref() || again.get(key) != Some(&item) {
                return Ok(Look::Changing);
            }
            let label = label(kind, &at);
            let (condition, reason) = match &record {
                None => (Condition::Absent, format!("{label} does not exist")),
                Some(record) => ((kind.unchanged)(record)?, format!("{label} does not have it")),
            };
            remedy.check(at, condition);
            reason
        }
    };
    let wounds = vec![(key.to_string(), reason)];
    let remedy = Some(remedy);
    Ok(Look::Wrong(Wrong { wounds, remedy }))
}
