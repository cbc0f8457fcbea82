//! Items derived from a record, and their changes with the record.

use std::collections::{BTreeMap, BTreeSet};

use super::key::Key;
use table::item::{Item, n};
use table::{Condition, Transaction};

/// The part of restricted records in a total: its numbers are named `n.restricted` and `c.restricted`.
pub const RESTRICTED: &str = "restricted";
/// Number of restricted records in a total.
pub const RESTRICTED_COUNT: &str = "n.restricted";

/// The derived items of a record, and its contributions to totals.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Derived {
    /// Items that belong to the record alone.
    pub items: BTreeMap<Key, Item>,
    /// Totals that count the record, with its contributions.
    pub totals: BTreeMap<Key, Contribution>,
}

/// Contribution of one record to a total.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Contribution {
    /// Numbers by attribute name; see [`is_number`].
    pub numbers: BTreeMap<String, i64>,
    /// Attributes that describe the class of the total.
    pub attributes: Item,
    /// Whether the total continues in shards after a conflict, because many requests may add to it concurrently.
    pub is_sharded: bool,
}

/// Whether an attribute of a total is one of its sums: `n` a count, `c` cents, `n.…` and `c.…` those of a part.
pub fn is_number(name: &str) -> bool {
    name == "n" || name == "c" || name.starts_with("n.") || name.starts_with("c.")
}

impl Derived {
    /// Adds the writes that change the derived items from `old` to `new` to `transaction`: deletions, additions to
    /// totals, and items. A changed item keeps attributes that neither `old` nor `new` has.
    ///
    /// Every change of a contribution increments the total's version, so the doctor knows whether a total changed
    /// during its count, even if the numbers are equal again (C-84).
    pub fn change(transaction: &mut Transaction, old: &Self, new: Self) {
        for key in old.items.keys().filter(|key| !new.items.contains_key(*key)) {
            transaction.delete(key.clone(), Condition::Always);
        }
        add_differences(transaction, &old.totals, &new.totals);
        for (key, item) in new.items {
            match old.items.get(&key) {
                Some(old) if *old == item => {}
                Some(old) => {
                    let may_lack: Vec<_> = old.keys().map(String::as_str).collect();
                    transaction.set(key, item, &may_lack, Condition::Always);
                }
                None => transaction.put(key, item, Condition::Always),
            }
        }
    }
}

/// Adds the difference between the old and the new contribution of a record to every total that has one of them, and 1
/// to its version. A total with equal numbers is not written.
fn add_differences(
    transaction: &mut Transaction,
    old: &BTreeMap<Key, Contribution>,
    new: &BTreeMap<Key, Contribution>,
) {
    let totals: BTreeSet<_> = old.keys().chain(new.keys()).collect();
    for key in totals {
        let (before, after) = (old.get(key), new.get(key));
        if before.map(|contribution| &contribution.numbers) == after.map(|contribution| &contribution.numbers)
        {
            continue;
        }
        // The transaction merges the subtraction and the addition of a number.
        for (contribution, sign) in [(before, -1), (after, 1)] {
            let Some(contribution) = contribution else {
                continue;
            };
            for (name, by) in &contribution.numbers {
                // A subtraction sets the attributes too: a total may start below 0 while another process counts the
                // other records.
                let set = contribution.attributes.clone();
                transaction.update(key.clone(), name, sign * by, set, Condition::Always);
            }
        }
        transaction.update(key.clone(), "v", 1, Item::new(), Condition::Always);
        if before
            .or(after)
            .is_some_and(|contribution| contribution.is_sharded)
        {
            transaction.spread(key);
        }
    }
}

/// A contribution that counts the record once, in a total without shards.
pub fn count_of_one(attributes: Item) -> Contribution {
    Contribution {
        numbers: BTreeMap::from([("n".to_owned(), 1)]),
        attributes,
        is_sharded: false,
    }
}

/// The numbers of a total as attributes.
pub fn numbers<'a>(numbers: impl IntoIterator<Item = (&'a String, &'a i128)>) -> Item {
    numbers
        .into_iter()
        .map(|(name, number)| (name.clone(), n(number)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::key;
    use table::item::s;

    fn of(items: &[(&str, &str)], totals: &[(&str, i64)]) -> Derived {
        let key = |name: &str| key::total("p".to_owned(), name);
        let share = |cents| Contribution {
            numbers: BTreeMap::from([("n".to_owned(), 1), ("c".to_owned(), cents)]),
            ..Contribution::default()
        };
        Derived {
            items: items
                .iter()
                .map(|(name, text)| (key(name), Item::from([("t".to_owned(), s(*text))])))
                .collect(),
            totals: totals
                .iter()
                .map(|(name, cents)| (key(name), share(*cents)))
                .collect(),
        }
    }

    fn writes(old: &Derived, new: Derived) -> usize {
        let mut transaction = Transaction::default();
        Derived::change(&mut transaction, old, new);
        transaction.len()
    }

    #[test]
    fn only_differences_are_written() {
        let old = || of(&[("a", "1"), ("b", "1")], &[("t", 5)]);
        assert_eq!(writes(&old(), old()), 0);
        assert_eq!(writes(&Derived::default(), old()), 3);
        assert_eq!(writes(&old(), Derived::default()), 3);
        assert_eq!(writes(&old(), of(&[("a", "2"), ("b", "1")], &[("t", 5)])), 1);
        assert_eq!(writes(&old(), of(&[("a", "1"), ("c", "1")], &[("t", 6)])), 3);
        assert_eq!(writes(&old(), of(&[("a", "1"), ("b", "1")], &[("u", 5)])), 2);
    }

    #[test]
    fn numbers_are_told_from_what_describes() {
        for (name, number) in [
            ("n", true),
            ("c", true),
            ("n.8#open", true),
            ("v", false),
            ("o", false),
            ("name", false),
        ] {
            assert_eq!(is_number(name), number, "{name}");
        }
    }
}
