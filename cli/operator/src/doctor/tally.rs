//! Counting records by class in bounded memory.

use std::collections::{BTreeMap, BTreeSet};

use shared::store::unscoped::derived::{Contribution, Derived, is_number, numbers};
use shared::time::Timestamp;
use table::item::{Item, n, s};
use table::{AttributeValue, Key};

/// Maximum sums in one pass, of all classes together, about 50 MB. A million opportunities have about four times as
/// many, a few for each day and column.
const MAX_SUMS: usize = 250_000;

/// Counts of the classes with totals in a range of keys. If the sums exceed the maximum, the last classes are left to
/// another pass.
#[derive(Debug, Default)]
pub struct Recount {
    /// The first key of the range; `None` for no limit.
    from: Option<Key>,
    /// The first key after the range; `None` for no limit.
    until: Option<Key>,
    /// The counted classes by the keys of their totals.
    pub classes: BTreeMap<Key, Class>,
    /// The number of sums in all classes.
    sums: usize,
    /// The only classes that are counted.
    wanted: Option<BTreeSet<Key>>,
    /// A record cannot be read, so no class can be counted.
    pub unreadable: bool,
}

/// The records that share in one total.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Class {
    /// The number of records.
    pub members: u64,
    /// Their contributions to each of the total's numbers. Money may add up to more than a record can have.
    pub sums: BTreeMap<String, i128>,
    /// The attributes that describe the class in its total.
    pub attributes: Item,
}

impl Recount {
    /// An empty count of the classes that this one left to another pass; `None` if it left none.
    pub fn next_pass(&self) -> Option<Self> {
        self.until.clone().map(|from| Self {
            from: Some(from),
            ..Self::default()
        })
    }

    /// A count of certain classes, without a maximum.
    pub fn of(wanted: &BTreeSet<Key>) -> Self {
        Self {
            wanted: Some(wanted.clone()),
            ..Self::default()
        }
    }

    /// Whether the class with this total is counted.
    pub fn covers(&self, key: &Key) -> bool {
        self.from.as_ref().is_none_or(|from| from <= key)
            && self.until.as_ref().is_none_or(|until| key < until)
            && self.wanted.as_ref().is_none_or(|wanted| wanted.contains(key))
    }

    /// Counts a record by what is derived from it.
    pub fn count(&mut self, derived: &Derived) {
        self.count_within(derived, MAX_SUMS);
    }

    fn count_within(&mut self, derived: &Derived, max_sums: usize) {
        for (key, share) in &derived.totals {
            if self.covers(key) {
                let class = self.classes.entry(key.clone()).or_default();
                let before = class.sums.len();
                class.add(share);
                self.sums += class.sums.len() - before;
            }
        }
        // One class is always kept, so that every pass makes progress. It is no larger than the item of its total.
        while self.wanted.is_none() && self.sums > max_sums && self.classes.len() > 1 {
            if let Some((key, class)) = self.classes.pop_last() {
                self.sums -= class.sums.len();
                self.until = Some(key);
            }
        }
    }
}

/// Attributes that describe the class of a total of leads or opportunities. Those that a later build adds are kept
/// (C-88).
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

fn describes(name: &str) -> bool {
    DESCRIBING.contains(&name)
}

/// Adds a shard's numbers and version to those of its total. Other attributes come from the total, else from the shard.
pub fn add_shard(total: &mut Item, shard: Item) {
    let number = |value: &AttributeValue| value.as_n().ok()?.parse::<i128>().ok();
    for (name, value) in shard {
        let combined = match total.get(&name) {
            Some(present) if is_number(&name) || name == "v" => {
                // The text in place of a sum makes the comparison of the total report it.
                let addends = number(present).zip(number(&value));
                addends.map_or_else(|| s("no number"), |(present, added)| n(present + added))
            }
            Some(present) => present.clone(),
            None => value,
        };
        total.insert(name, combined);
    }
}

impl Class {
    /// Adds a record.
    fn add(&mut self, share: &Contribution) {
        let numbers = share.numbers.iter();
        self.add_all(
            1,
            &share.attributes,
            numbers.map(|(name, number)| (name, i128::from(*number))),
        );
    }

    /// Adds the records of another part of the class.
    pub fn join(&mut self, part: &Self) {
        let sums = part.sums.iter().map(|(name, sum)| (name, *sum));
        self.add_all(part.members, &part.attributes, sums);
    }

    fn add_all<'a>(
        &mut self,
        members: u64,
        attributes: &Item,
        sums: impl Iterator<Item = (&'a String, i128)>,
    ) {
        if self.members == 0 {
            self.attributes.clone_from(attributes);
        }
        self.members += members;
        for (name, sum) in sums {
            *self.sums.entry(name.clone()).or_default() += sum;
        }
    }

    /// The difference of a total from the class; `None` if there is none. A class without records needs no total, and
    /// its description is not compared.
    pub fn fault(&self, total: Option<&Item>) -> Option<String> {
        let Some(total) = total else {
            return (self.members > 0).then(|| format!("is missing: there are {}", self.members));
        };
        let stored = total.keys().filter(|name| is_number(name));
        let names: BTreeSet<_> = self.sums.keys().chain(stored).collect();
        let faults = names.into_iter().filter_map(|name| self.miscount(name, total));
        let mut faults: Vec<_> = faults.collect();
        let mut described = total.clone();
        described.retain(|name, _| describes(name));
        if self.members > 0 && described != self.attributes {
            faults.push("describes another class".to_owned());
        }
        (!faults.is_empty()).then(|| faults.join("; "))
    }

    /// The difference of a number of a total from the class's. An absent one counts as 0.
    fn miscount(&self, name: &str, total: &Item) -> Option<String> {
        let right = self.sums.get(name).copied().unwrap_or_default();
        let stored = match total.get(name) {
            None => "0",
            Some(number) => number.as_n().map_or("no number", String::as_str),
        };
        if stored.parse() == Ok(right) {
            return None;
        }
        let says = match name.split_once('.') {
            None if name == "c" => format!("adds up to {stored} cents"),
            None => format!("counts {stored}"),
            Some(("c", part)) => format!("adds up to {stored} cents of {part}"),
            Some((_, part)) => format!("counts {stored} of {}", part_name(part)),
        };
        Some(format!("{says}, but there are {right}"))
    }

    /// The right total, with the attributes of the stored one that it does not replace. An empty class has no
    /// attributes, so it keeps the stored description too.
    pub fn corrected_total(&self, stored: Option<&Item>, version: u64) -> Item {
        let is_empty = self.members == 0;
        let mut total = self.attributes.clone();
        for (name, value) in stored.into_iter().flatten() {
            if is_number(name) {
                // Numbers that the class lacks become 0; the others are replaced below.
                total.insert(name.clone(), n(0));
            } else if is_empty || !describes(name) {
                total.insert(name.clone(), value.clone());
            }
        }
        total.extend(numbers(&self.sums));
        total.insert("v".to_owned(), n(version));
        total
    }
}

/// The name of a part of a total for reports. A time of meetings is stored as two numbers of milliseconds and a calendar,
/// and a day as its two digits. Other parts are named as stored.
fn part_name(part: &str) -> String {
    let time = |millis: &str| Timestamp::from_unix_millis(millis.parse().ok()?);
    if let [start, end, calendar] = part.split('_').collect::<Vec<_>>()[..]
        && let Some((start, end)) = time(start).zip(time(end))
    {
        return format!("{start} to {end} on calendar {calendar}");
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
    use shared::store::unscoped::key;

    fn total(class: &str) -> Key {
        key::total("totals".to_owned(), class)
    }

    fn share<const N: usize>(numbers: [(&str, i64); N]) -> Contribution {
        Contribution {
            numbers: numbers.map(|(name, number)| (name.to_owned(), number)).into(),
            attributes: Item::from([("column".to_owned(), n(31))]),
            is_sharded: false,
        }
    }

    /// The classes that each pass counts, with their sums. No pass has more than two sums, unless of one class.
    fn passes(records: &[(&str, &str)]) -> Vec<Vec<String>> {
        let (mut tally, mut passes) = (Recount::default(), Vec::new());
        loop {
            for (class, part) in records {
                let totals = BTreeMap::from([(total(class), share([(part, 1)]))]);
                let derived = Derived {
                    totals,
                    ..Derived::default()
                };
                tally.count_within(&derived, 2);
            }
            assert!(tally.classes.keys().all(|key| tally.covers(key)));
            let classes = tally.classes.iter();
            passes.push(
                classes
                    .map(|(key, class)| format!("{} {:?}", key.sk, class.sums))
                    .collect(),
            );
            match tally.next_pass() {
                Some(next) => tally = next,
                None => return passes,
            }
        }
    }

    /// Every class is counted by exactly one pass, whatever the order of the records. Memory is bounded by sums, and a
    /// class of more sums than fit is counted all the same, alone.
    #[test]
    fn more_sums_than_fit_take_more_passes() {
        let classes = ["d", "a", "c", "b", "e", "a", "c", "d", "a"].map(|class| (class, "n"));
        let expected = [
            vec![r#"a {"n": 3}"#, r#"b {"n": 1}"#],
            vec![r#"c {"n": 2}"#, r#"d {"n": 2}"#],
            vec![r#"e {"n": 1}"#],
        ];
        assert_eq!(passes(&classes), expected);
        let parts = [
            ("b", "n.1"),
            ("a", "n.1"),
            ("a", "n.2"),
            ("c", "n.1"),
            ("a", "n.3"),
            ("b", "n.1"),
        ];
        let expected = [
            vec![r#"a {"n.1": 1, "n.2": 1, "n.3": 1}"#],
            vec![r#"b {"n.1": 2}"#, r#"c {"n.1": 1}"#],
        ];
        assert_eq!(passes(&parts), expected);
    }

    /// All faults of a total are named at once. What a later build added stays.
    #[test]
    fn faults_of_a_total() {
        let mut class = Class::default();
        class.add(&share([("n", 1), ("c", 250), ("n.7#open", 1)]));
        class.add(&share([("n", 1), ("c", 0), ("n.8#gain", 1)]));
        let right = class.corrected_total(None, 5);
        assert!(class.fault(None).is_some());
        let mut wrong = right.clone();
        wrong.extend([("n.9#lost".to_owned(), n(0)), ("later".to_owned(), n(1))]);
        for sound in [&right, &wrong] {
            assert_eq!(class.fault(Some(sound)), None);
        }
        for (name, value) in [("n", n(3)), ("n", n(-1)), ("n", s("2")), ("column", n(8))] {
            let mut wrong = right.clone();
            wrong.insert(name.to_owned(), value);
            assert!(class.fault(Some(&wrong)).is_some(), "{name}");
        }
        wrong.remove("n.7#open");
        wrong.extend([
            ("c".to_owned(), n("12.5")),
            ("n.9#lost".to_owned(), n(4)),
            ("n".to_owned(), s("2")),
        ]);
        let fault = "adds up to 12.5 cents, but there are 250; counts no number, but there are 2; \
                     counts 0 of 7#open, but there are 1; counts 4 of 9#lost, but there are 0";
        assert_eq!(class.fault(Some(&wrong)).as_deref(), Some(fault));
        let repaired = class.corrected_total(Some(&wrong), 6);
        assert_eq!(class.fault(Some(&repaired)), None);
        let numbers = ["v", "n.9#lost", "later"].map(|name| repaired.get(name).cloned());
        assert_eq!(numbers, [n(6), n(0), n(1)].map(Some));
    }

    #[test]
    fn names_of_parts() {
        let noon = "2027-03-01T12:00:00.000Z to 2027-03-01T12:30:00.000Z on calendar 5";
        for (part, name) in [
            ("7#open", "7#open"),
            ("1803902400000_1803904200000_5", noon),
            (
                "-1_0_7",
                "1969-12-31T23:59:59.999Z to 1970-01-01T00:00:00.000Z on calendar 7",
            ),
            ("1_x_5", "1_x_5"),
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
        for (part, share) in [(0, &most), (1, &most), (1, &share([("n", 1)]))] {
            whole.add(share);
            if part == 0 { &mut old } else { &mut new }.add(share);
        }
        let mut joined = Class::default();
        for part in [&old, &new, &Class::default()] {
            joined.join(part);
        }
        assert_eq!(joined, whole);
        assert_eq!(whole.sums.get("c"), Some(&(2 * i128::from(i64::MAX))));
        assert_eq!((whole.members, whole.sums.get("n")), (3, Some(&1)));
    }

    /// A total is what its item and its shards add up to; one of them may be negative.
    #[test]
    fn shards_are_added_up() {
        let mut class = Class::default();
        class.add(&share([("n.open", 1), ("c.open", 250)]));
        let mut total = Item::from([("n.open".to_owned(), n(2)), ("v".to_owned(), n(5))]);
        assert!(class.fault(Some(&total)).is_some());
        let shard = [("n.open", -1), ("c.open", 250), ("v", 3), ("column", 31)];
        let shard = shard.map(|(name, value)| (name.to_owned(), n(value)));
        add_shard(&mut total, shard.into());
        assert_eq!((class.fault(Some(&total)), total.get("v")), (None, Some(&n(8))));
        add_shard(&mut total, Item::from([("n.open".to_owned(), s("one"))]));
        assert!(class.fault(Some(&total)).is_some());
    }

    #[test]
    fn an_empty_class_needs_no_total() {
        let empty = Class::default();
        let stored = Item::from([("o".to_owned(), n(7)), ("n".to_owned(), n(4))]);
        assert_eq!(empty.fault(None), None);
        assert!(empty.fault(Some(&stored)).is_some());
        let repaired = empty.corrected_total(Some(&stored), 1);
        assert_eq!(empty.fault(Some(&repaired)), None);
        assert_eq!((repaired.get("o"), repaired.get("n")), (Some(&n(7)), Some(&n(0))));
    }
}
