//! Counting records by class in bounded memory.

use std::collections::{BTreeMap, BTreeSet};

use crate::store::item::{Item, n};
use crate::store::key::Key;
use crate::store::leads::Derived;

/// The most classes that are counted in one pass.
const MOST_CLASSES: usize = 50_000;

/// How many records there are of each class whose total's key lies in a range. Where there are more classes than may be
/// counted at once, the last ones are left to another pass.
#[derive(Debug, Default)]
pub struct Tally {
    from: Option<Key>,
    until: Option<Key>,
    pub classes: BTreeMap<Key, Class>,
    /// Only these classes are counted.
    wanted: Option<BTreeSet<Key>>,
    /// A record cannot be read, so that no class can be counted.
    pub unreadable: bool,
}

/// A class of records.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Class {
    pub count: u64,
    /// What describes it in its total.
    pub attributes: Item,
}

impl Tally {
    /// Of the classes that `earlier` left; `None` where it left none.
    pub fn behind(earlier: &Self) -> Option<Self> {
        earlier.until.clone().map(|from| Self {
            from: Some(from),
            ..Self::default()
        })
    }

    /// Of certain classes, however many.
    pub fn of(wanted: &BTreeSet<Key>) -> Self {
        Self {
            wanted: Some(wanted.clone()),
            ..Self::default()
        }
    }

    /// Whether the class with this total is one that is counted.
    pub fn covers(&self, key: &Key) -> bool {
        self.from.as_ref().is_none_or(|from| from <= key)
            && self.until.as_ref().is_none_or(|until| key < until)
            && self.wanted.as_ref().is_none_or(|wanted| wanted.contains(key))
    }

    /// Counts a record by what is derived from it.
    pub fn count(&mut self, derived: &Derived) {
        self.count_within(derived, MOST_CLASSES);
    }

    fn count_within(&mut self, derived: &Derived, most: usize) {
        for (key, attributes) in &derived.totals {
            if self.covers(key) {
                let class = self.classes.entry(key.clone()).or_default();
                class.count += 1;
                class.attributes.clone_from(attributes);
            }
        }
        while self.wanted.is_none() && self.classes.len() > most {
            self.until = self.classes.pop_last().map(|(key, _)| key);
        }
    }
}

impl Class {
    /// Why a total is not that of the class; `None` where it is. Nobody sees what an empty class's total describes.
    pub fn fault(&self, total: Option<&Item>) -> Option<String> {
        let Some(total) = total else {
            return (self.count > 0).then(|| format!("is missing: there are {}", self.count));
        };
        let counted = total.get("n").and_then(|counted| counted.as_n().ok());
        if counted != Some(&self.count.to_string()) {
            let counted = counted.map_or("nothing", String::as_str);
            return Some(format!("counts {counted}, but there are {}", self.count));
        }
        let mut described = total.clone();
        described.retain(|name, _| !["pk", "sk", "n", "v"].contains(&name.as_str()));
        (self.count > 0 && described != self.attributes).then(|| "describes another class".to_owned())
    }

    /// The total as it should be. An empty class's keeps what it describes, which no record tells.
    pub fn total(&self, stored: Option<&Item>, version: u64) -> Item {
        let mut total = match stored {
            Some(stored) if self.count == 0 => stored.clone(),
            _ => self.attributes.clone(),
        };
        total.insert("n".to_owned(), n(self.count));
        total.insert("v".to_owned(), n(version));
        total
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::item::s;
    use crate::store::key;

    fn total(class: &str) -> Key {
        key::total("totals".to_owned(), class)
    }

    fn of(class: &str) -> Derived {
        Derived {
            items: BTreeMap::new(),
            totals: BTreeMap::from([(total(class), Item::from([("o".to_owned(), s(class))]))]),
        }
    }

    /// Every class is counted by exactly one pass, whatever the order of the records.
    #[test]
    fn more_classes_than_fit_take_more_passes() {
        let records = ["d", "a", "c", "b", "e", "a", "c", "d", "a"];
        let (mut tally, mut counts, mut passes) = (Tally::default(), BTreeMap::new(), 0);
        loop {
            passes += 1;
            for class in records {
                tally.count_within(&of(class), 2);
            }
            for (key, class) in &tally.classes {
                assert!(tally.covers(key));
                assert_eq!(counts.insert(key.clone(), class.count), None);
            }
            match Tally::behind(&tally) {
                Some(next) => tally = next,
                None => break,
            }
        }
        let expected = [("a", 3), ("b", 1), ("c", 2), ("d", 2), ("e", 1)];
        assert_eq!(
            counts,
            BTreeMap::from(expected.map(|(class, count)| (total(class), count)))
        );
        assert_eq!(passes, 3);
    }

    #[test]
    fn what_is_wrong_with_a_total() {
        let attributes = Item::from([("o".to_owned(), n(7))]);
        let class = Class { count: 2, attributes };
        let right = class.total(None, 5);
        assert_eq!(class.fault(Some(&right)), None);
        assert!(class.fault(None).is_some());
        for (name, value) in [("n", n(3)), ("n", n(-1)), ("n", s("2")), ("o", n(8)), ("x", n(1))] {
            let mut wrong = right.clone();
            wrong.insert(name.to_owned(), value);
            assert!(class.fault(Some(&wrong)).is_some(), "{name}");
        }
    }

    #[test]
    fn an_empty_class_needs_no_total() {
        let empty = Class::default();
        let stored = Item::from([("o".to_owned(), n(7)), ("n".to_owned(), n(4))]);
        assert_eq!(empty.fault(None), None);
        assert!(empty.fault(Some(&stored)).is_some());
        let repaired = empty.total(Some(&stored), 1);
        assert_eq!(
            (repaired.get("o"), empty.fault(Some(&repaired))),
            (Some(&n(7)), None)
        );
    }
}
