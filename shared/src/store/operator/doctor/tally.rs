//! Counting records by class in bounded memory.

use std::collections::{BTreeMap, BTreeSet};

use crate::store::derived::{Derived, Share, is_number, numbers};
use crate::store::item::{Item, n};
use crate::store::key::Key;
use crate::time::Timestamp;

/// The most sums that are kept in one pass, of all classes together: some 50 MB. A million opportunities have about four times
/// as many, a few for each day and column.
const MOST_SUMS: usize = 250_000;

/// What there is of each class whose total's key lies in a range. Where there are more sums than may be kept at once, the
/// last classes are left to another pass.
#[derive(Debug, Default)]
pub struct Tally {
    from: Option<Key>,
    until: Option<Key>,
    pub classes: BTreeMap<Key, Class>,
    /// How many sums the classes have.
    sums: usize,
    /// Only these classes are counted.
    wanted: Option<BTreeSet<Key>>,
    /// A record cannot be read, so that no class can be counted.
    pub unreadable: bool,
}

/// A class: the records that share in one total.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Class {
    /// How many they are.
    pub members: u64,
    /// What they contribute to each of the total's numbers. Money may add up to more than a record can have.
    pub sums: BTreeMap<String, i128>,
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
        self.count_within(derived, MOST_SUMS);
    }

    fn count_within(&mut self, derived: &Derived, most: usize) {
        for (key, share) in &derived.totals {
            if self.covers(key) {
                let class = self.classes.entry(key.clone()).or_default();
                let before = class.sums.len();
                class.add(share);
                self.sums += class.sums.len() - before;
            }
        }
        // One class is always kept, so that every pass gets on: it is no larger than the item of its total.
        while self.wanted.is_none() && self.sums > most && self.classes.len() > 1 {
            if let Some((key, class)) = self.classes.pop_last() {
                self.sums -= class.sums.len();
                self.until = Some(key);
            }
        }
    }
}

/// What describes the class of a total, of leads or of opportunities. What a later build put beside it is left alone (C-88).
const DESCRIBING: [&str; 8] = [
    "o",
    "userAccess",
    "departmentAccess",
    "ignoreSubDepartments",
    "column",
    "user",
    "status",
    "narrowing",
];

impl Class {
    /// Takes a record in.
    fn add(&mut self, share: &Share) {
        self.members += 1;
        for (name, number) in &share.numbers {
            *self.sums.entry(name.clone()).or_default() += i128::from(*number);
        }
        self.attributes.clone_from(&share.attributes);
    }

    /// Takes in the records of another part of the class.
    pub fn join(&mut self, part: &Self) {
        if self.members == 0 {
            self.attributes.clone_from(&part.attributes);
        }
        self.members += part.members;
        for (name, number) in &part.sums {
            *self.sums.entry(name.clone()).or_default() += number;
        }
    }

    /// Why a total is not that of the class; `None` where it is. Nobody sees what an empty class's total describes.
    pub fn fault(&self, total: Option<&Item>) -> Option<String> {
        let Some(total) = total else {
            return (self.members > 0).then(|| format!("is missing: there are {}", self.members));
        };
        let stored = total.keys().filter(|name| is_number(name));
        let names: BTreeSet<_> = self.sums.keys().chain(stored).collect();
        let mut faults: Vec<_> = names
            .into_iter()
            .filter_map(|name| self.miscount(name, total))
            .collect();
        let mut described = total.clone();
        described.retain(|name, _| DESCRIBING.contains(&name.as_str()));
        if self.members > 0 && described != self.attributes {
            faults.push("describes another class".to_owned());
        }
        (!faults.is_empty()).then(|| faults.join("; "))
    }

    /// Why a number of a total is not that of the class. One that is absent counts as 0.
    fn miscount(&self, name: &str, total: &Item) -> Option<String> {
        let right = self.sums.get(name).copied().unwrap_or_default();
        let stored = total.get(name);
        let text = stored.and_then(|number| number.as_n().ok());
        let number = text.map_or(stored.is_none().then_some(0), |text| text.parse().ok());
        if number == Some(right) {
            return None;
        }
        let stored = text.map_or("nothing", String::as_str);
        Some(match name {
            "n" => format!("counts {stored}, but there are {right}"),
            "c" => format!("adds up to {stored} cents, but there are {right}"),
            part if part.starts_with("c.") => {
                format!(
                    "adds up to {stored} cents of {}, but there are {right}",
                    &part[2..]
                )
            }
            part => {
                let part = part_name(part.strip_prefix("n.").unwrap_or(part));
                format!("counts {stored} of {part}, but there are {right}")
            }
        })
    }

    /// The total as it should be. An empty class's keeps what it describes, which no record tells.
    pub fn total(&self, stored: Option<&Item>, version: u64) -> Item {
        let mut total = match stored {
            Some(stored) if self.members == 0 => stored.clone(),
            _ => self.attributes.clone(),
        };
        let more = stored.into_iter().flatten();
        let more = more.filter(|(name, _)| !DESCRIBING.contains(&name.as_str()) && !is_number(name));
        total.extend(more.map(|(name, value)| (name.clone(), value.clone())));
        let idle = stored
            .into_iter()
            .flat_map(Item::keys)
            .filter(|name| is_number(name));
        total.extend(idle.map(|name| (name.clone(), n(0))));
        total.extend(numbers(&self.sums));
        total.insert("v".to_owned(), n(version));
        total
    }
}

/// What a part of a total is called. Only those of meetings need words: a stretch of time is stored as two numbers of
/// milliseconds, a day as its two digits.
fn part_name(part: &str) -> String {
    let time = |millis: &str| Timestamp::from_unix_millis(millis.parse().ok()?);
    let stretch = part.split_once('_');
    if let Some((start, end)) = stretch.and_then(|(start, end)| time(start).zip(time(end))) {
        return format!("{start} to {end}");
    }
    let is_day = part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit());
    if is_day {
        return format!("day {part}");
    }
    part.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::derived::one;
    use crate::store::item::s;
    use crate::store::key;

    fn total(class: &str) -> Key {
        key::total("totals".to_owned(), class)
    }

    fn of(class: &str) -> Derived {
        let share = one(Item::from([("o".to_owned(), s(class))]));
        Derived {
            items: BTreeMap::new(),
            totals: BTreeMap::from([(total(class), share)]),
        }
    }

    fn share<const N: usize>(numbers: [(&str, i64); N]) -> Share {
        Share {
            numbers: numbers.map(|(name, number)| (name.to_owned(), number)).into(),
            attributes: Item::from([("column".to_owned(), n(31))]),
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
                assert_eq!(counts.insert(key.clone(), class.members), None);
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

    /// Memory is bounded by sums, and a class of more sums than fit is counted all the same, alone.
    #[test]
    fn classes_of_many_sums_take_more_passes() {
        let day = |class: &str, part: &str| Derived {
            items: BTreeMap::new(),
            totals: BTreeMap::from([(total(class), share([(part, 1)]))]),
        };
        let records = [
            ("b", "n.1"),
            ("a", "n.1"),
            ("a", "n.2"),
            ("c", "n.1"),
            ("a", "n.3"),
            ("b", "n.1"),
        ];
        let (mut tally, mut passes) = (Tally::default(), Vec::new());
        loop {
            for (class, part) in records {
                tally.count_within(&day(class, part), 2);
            }
            let sums = tally
                .classes
                .iter()
                .map(|(key, class)| (key.sk.clone(), class.sums.clone()));
            passes.push(sums.collect::<Vec<_>>());
            match Tally::behind(&tally) {
                Some(next) => tally = next,
                None => break,
            }
        }
        let sums = |parts: &[(&str, i128)]| {
            parts
                .iter()
                .map(|(name, sum)| ((*name).to_owned(), *sum))
                .collect()
        };
        let a = ("a".to_owned(), sums(&[("n.1", 1), ("n.2", 1), ("n.3", 1)]));
        let others = ["b", "c"].map(|class| {
            (
                class.to_owned(),
                sums(&[("n.1", if class == "b" { 2 } else { 1 })]),
            )
        });
        assert_eq!(passes, [vec![a], others.to_vec()]);
    }

    #[test]
    fn what_is_wrong_with_a_total() {
        let mut class = Class::default();
        (0..2).for_each(|_| class.add(&one(Item::from([("o".to_owned(), n(7))]))));
        let right = class.total(None, 5);
        assert_eq!(class.fault(Some(&right)), None);
        assert!(class.fault(None).is_some());
        for (name, value) in [("n", n(3)), ("n", n(-1)), ("n", s("2")), ("o", n(8))] {
            let mut wrong = right.clone();
            wrong.insert(name.to_owned(), value);
            assert!(class.fault(Some(&wrong)).is_some(), "{name}");
        }
        let mut later = right.clone();
        later.insert("later".to_owned(), n(1));
        assert_eq!(class.fault(Some(&later)), None);
        assert_eq!(class.total(Some(&later), 5), later);
    }

    /// Everything that is wrong is told at once, of every number of the total and of every one that it should have.
    #[test]
    fn what_is_wrong_with_the_numbers_of_a_total() {
        let mut class = Class::default();
        class.add(&share([("n", 1), ("c", 250), ("n.7#open", 1)]));
        class.add(&share([("n", 1), ("c", 0), ("n.8#gain", 1)]));
        let mut wrong = class.total(None, 5);
        assert_eq!(class.fault(Some(&wrong)), None);
        wrong.insert("n.9#lost".to_owned(), n(0));
        assert_eq!(class.fault(Some(&wrong)), None, "what nobody contributes to is 0");
        wrong.remove("n.7#open");
        wrong.extend([
            ("c".to_owned(), n("12.5")),
            ("n.9#lost".to_owned(), n(4)),
            ("n".to_owned(), s("2")),
        ]);
        let fault = "adds up to 12.5 cents, but there are 250; counts nothing, but there are 2; \
                     counts nothing of 7#open, but there are 1; counts 4 of 9#lost, but there are 0";
        assert_eq!(class.fault(Some(&wrong)).as_deref(), Some(fault));
        let repaired = class.total(Some(&wrong), 6);
        assert_eq!(
            (class.fault(Some(&repaired)), repaired.get("v")),
            (None, Some(&n(6)))
        );
        assert_eq!(repaired.get("n.9#lost"), Some(&n(0)));
    }

    #[test]
    fn parts_are_called_what_people_call_them() {
        for (part, name) in [
            ("7#open", "7#open"),
            (
                "1803902400000_1803904200000",
                "2027-03-01T12:00:00.000Z to 2027-03-01T12:30:00.000Z",
            ),
            ("-1_0", "1969-12-31T23:59:59.999Z to 1970-01-01T00:00:00.000Z"),
            ("1_x", "1_x"),
            ("01", "day 01"),
            ("1", "1"),
        ] {
            assert_eq!(part_name(part), name, "{part}");
        }
    }

    /// Money adds up beyond what one record can have, and parts of a class add up like the whole.
    #[test]
    fn parts_of_a_class_are_joined() {
        let most = share([("c", i64::MAX), ("n.7#open", 1)]);
        let (mut whole, mut old, mut new) = (Class::default(), Class::default(), Class::default());
        for share in [&most, &most, &share([("n", 1)])] {
            whole.add(share);
        }
        old.add(&most);
        for share in [&most, &share([("n", 1)])] {
            new.add(share);
        }
        let mut joined = Class::default();
        joined.join(&old);
        joined.join(&new);
        joined.join(&Class::default());
        assert_eq!(joined, whole);
        assert_eq!(whole.sums.get("c"), Some(&(2 * i128::from(i64::MAX))));
        assert_eq!((whole.members, whole.sums.get("n")), (3, Some(&1)));
    }

    #[test]
    fn an_empty_class_needs_no_total() {
        let empty = Class::default();
        let stored = Item::from([("o".to_owned(), n(7)), ("n".to_owned(), n(4))]);
        assert_eq!(empty.fault(None), None);
        assert!(empty.fault(Some(&stored)).is_some());
        let repaired = empty.total(Some(&stored), 1);
        assert_eq!(
            (repaired.get("o"), repaired.get("n"), empty.fault(Some(&repaired))),
            (Some(&n(7)), Some(&n(0)), None)
        );
    }
}
