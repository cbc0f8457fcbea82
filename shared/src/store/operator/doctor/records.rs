//! From the records to what is derived from them: is all of it there, and is it right?

use super::Doctor;
use super::kind::Kind;
use super::settle::{Look, Wrong};
use super::tally::Tally;
use crate::store::derived::Derived;
use crate::store::error::StoreError;
use crate::store::item::Item;
use crate::store::key::Key;
use crate::store::operator::export::Pages;
use crate::store::operator::{Operator, OperatorError};
use crate::store::table::{PAGE, Span, key_of};
use crate::store::transaction::{Condition, Transaction};

/// Records whose derived items are read together: a few batches of a hundred.
const TOGETHER: usize = 100;

impl Doctor<'_> {
    /// Looks at all records of a kind and at every item derived from them, and counts their classes on the way.
    pub(super) async fn records(&mut self, kind: &'static Kind) -> Result<Tally, OperatorError> {
        let mut tally = Tally::default();
        let span = Span::head((kind.records)(self.operator.keys()), PAGE);
        let mut pages = Pages::new(self.operator, span, Ok);
        while let Some(page) = pages.next().await? {
            for records in page.chunks(TOGETHER) {
                self.looked_at(kind.plural, records.len());
                self.some_records(kind, records, &mut tally).await?;
            }
        }
        Ok(tally)
    }

    async fn some_records(
        &mut self,
        kind: &'static Kind,
        records: &[Item],
        tally: &mut Tally,
    ) -> Result<(), OperatorError> {
        let operator = self.operator;
        let mut readable = Vec::with_capacity(records.len());
        for record in records {
            let key = key_of(record)?;
            match (kind.derived)(operator.keys(), record.clone()) {
                Ok(_) if is_foreign(kind, &key, record)? => {
                    let reason = format!("holds another {}, which nobody finds there", kind.name);
                    self.report(key.to_string(), reason, false);
                }
                Ok(derived) => {
                    self.note_numbers(kind, record)?;
                    tally.count(&derived);
                    readable.push((key, record, derived));
                }
                Err(cause) => {
                    tally.unreadable = true;
                    self.report(key.to_string(), cause.to_string(), false);
                }
            }
        }
        let keys = readable
            .iter()
            .flat_map(|(_, _, derived)| derived.items.keys().cloned());
        let keys: Vec<_> = keys.collect();
        self.looked_at("derived", keys.len());
        let stored = operator.table().get_many(keys).await?;
        for (key, record, derived) in &readable {
            let differs = differences(kind, derived, |key| stored.get(key)).next().is_some();
            if differs {
                let look = async || look(operator, kind, key).await;
                self.settle(&key.to_string(), look).await?;
            }
            if (kind.flaw)(record)?.is_some() {
                self.flawed(kind, key).await?;
            }
            if (kind.place)(record)?.is_some_and(|place| !self.columns.has(place)) {
                self.misplaced(kind, key).await?;
            }
        }
        let records: Vec<_> = readable.iter().map(|(key, record, _)| (key, *record)).collect();
        self.copies(kind, &records).await
    }
}

/// Whether a record lies under the id of another, so that what is derived of it is the other's.
pub fn is_foreign(kind: &Kind, key: &Key, record: &Item) -> Result<bool, StoreError> {
    let numbers = (kind.numbers)(record)?;
    let own = numbers
        .iter()
        .find(|(number, id)| *number == kind.number && *id > 0);
    let at = key.sk.parse::<u64>().ok();
    Ok(own.zip(at).is_some_and(|((_, id), at)| *id != at))
}

/// What a record of `kind` is called.
pub fn label(kind: &Kind, key: &Key) -> String {
    format!("{} {}", kind.name, key.sk.trim_start_matches('0'))
}

/// Derived items that are not stored as they should be, each with the stored one.
fn differences<'a>(
    kind: &'a Kind,
    derived: &'a Derived,
    stored: impl Fn(&Key) -> Option<&'a Item> + 'a,
) -> impl Iterator<Item = (&'a Key, &'a Item, Option<&'a Item>)> {
    let all = derived
        .items
        .iter()
        .map(move |(key, item)| (key, item, stored(key)));
    all.filter(|(_, derived, stored)| {
        let agrees = |stored: &Item| {
            let mut bare = stored.clone();
            bare.retain(|name, _| name != "pk" && name != "sk");
            (kind.agree)(derived, &bare)
        };
        !stored.is_some_and(agrees)
    })
}

/// Compares a record's derived items under the record, which is read before and after them. Every write that changes
/// what is derived changes the record in the same transaction, so with the record unchanged they are of one moment. For
/// the same reason a repair is right whenever the record is still the one that was read.
async fn look(operator: &Operator, kind: &Kind, key: &Key) -> Result<Look, OperatorError> {
    let table = operator.table();
    let Some(record) = table.get(key).await? else {
        return Ok(Look::Fine);
    };
    let derived = (kind.derived)(operator.keys(), record.clone())?;
    let stored = table.get_many(derived.items.keys().cloned()).await?;
    if table.get(key).await?.as_ref() != Some(&record) {
        return Ok(Look::Changing);
    }
    let mut wounds = Vec::new();
    let mut remedy = Transaction::default();
    for (at, item, found) in differences(kind, &derived, |key| stored.get(key)) {
        let fault = found.map_or("is missing: ", |_| "is not what is derived: ");
        wounds.push((at.to_string(), format!("{fault}{} has it", label(kind, key))));
        remedy.put(at.clone(), item.clone(), Condition::Always);
    }
    if wounds.is_empty() {
        return Ok(Look::Fine);
    }
    remedy.check(key.clone(), (kind.unchanged)(&record)?);
    if let Some(needed) = (kind.needs)(operator.keys(), &record)? {
        remedy.check(needed, Condition::Present);
    }
    let remedy = Some(remedy);
    Ok(Look::Wrong(Wrong { wounds, remedy }))
}

/// What is derived from the record that is read now; nothing where there is none.
pub async fn derived_now(
    operator: &Operator,
    kind: &Kind,
    key: &Key,
) -> Result<(Option<Item>, Derived), StoreError> {
    let record = operator.table().get(key).await?;
    let derived = record
        .clone()
        .map(|record| (kind.derived)(operator.keys(), record))
        .transpose()?;
    Ok((record, derived.unwrap_or_default()))
}
