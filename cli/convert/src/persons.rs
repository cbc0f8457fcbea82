//! The rows of a run that are one person, whatever their order: those of one name that share an address or number, directly
//! or by other rows, and those with the name alone if no other person has it (C-105).

use std::collections::{HashMap, HashSet};

use super::ids::IdMap;
use super::keys::digest;
use super::reference::{PHONE, RowReference};
use super::token::same_name;

/// No record.
const NONE: u32 = u32::MAX;

/// The person of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Person {
    /// Not in the index of persons.
    Unknown,
    /// The first row of the person.
    One(u32),
    /// One of several.
    Several,
}

/// The persons of a run. Rows are numbered in the order in which they are noted.
#[derive(Debug, Default)]
pub struct Persons {
    /// A row of the same person, by row. After `decide`, the first one.
    parents: Vec<u32>,
    /// The lowest id that a row, and later its person, has by an earlier run; 0 without one.
    earlier: Vec<u64>,
    /// Digests of ids and of values with names. Rows that share one are one person.
    links: Vec<(u64, u32)>,
    /// Digests of the values with names that an earlier run has too.
    values: Vec<u64>,
    /// Indexes of records by person.
    records: Vec<u32>,
    /// Digests of names and of numbers, each with its persons.
    hints: Vec<(u64, u32)>,
    /// The rows of which the person is that of a hint.
    asking: Vec<(u64, u32)>,
    /// Rows without a person of their own.
    open: HashMap<u32, Person>,
    /// Hints of several persons.
    shared: HashSet<u64>,
    /// Digests of names of leads of earlier runs with an address, number or id, each with the lead's id.
    named: Vec<(u64, u64)>,
}

impl Persons {
    /// The persons of earlier runs.
    pub fn of_earlier(ids: &IdMap, rows: usize) -> Self {
        let mut persons = Self {
            parents: Vec::with_capacity(rows),
            earlier: Vec::with_capacity(rows),
            records: vec![NONE; rows],
            ..Self::default()
        };
        for (key, id) in ids.records("lead") {
            if let Some((_, name)) = key.split_once('|') {
                let name = name.split_once('#').map_or(name, |(name, _)| name);
                persons.named.push((digest("name", name), id));
            }
        }
        persons.named.sort_unstable();
        persons.named.dedup();
        persons.named.shrink_to_fit();
        persons
    }

    /// Notes a row.
    pub fn note(&mut self, reference: &RowReference, ids: &IdMap) {
        let row = u32::try_from(self.parents.len()).unwrap_or(u32::MAX);
        self.parents.push(row);
        self.earlier.push(0);
        let (name, has_id) = (same_name(&reference.name), !reference.id.is_empty());
        let phones = reference.values.iter().filter(|(space, _)| *space == PHONE);
        let phones = phones.map(|(space, value)| (digest(space, value), row));
        if name.is_empty() && !has_id {
            // An address identifies without a name.
            let is_phone = reference.values.first().is_some_and(|(space, _)| *space == PHONE);
            self.asking.extend(phones.take(1).filter(|_| is_phone));
            return;
        }
        let hint = (digest("name", &name), row);
        if reference.values.is_empty() && !has_id && !reference.is_row {
            self.asking.push(hint);
            return;
        }
        self.hints.push(hint);
        self.hints.extend(phones);
        if has_id {
            self.links.push((digest(reference.product, &reference.id), row));
            return;
        }
        for value in &reference.values {
            let key = key_of(value, &name);
            self.links.push((digest("value", &key), row));
            if let Some(id) = ids.known("lead", &key) {
                self.values.push(digest("value", &key));
                self.links.push((digest("earlier", &id.to_string()), row));
                self.set_earlier(row, id);
            }
        }
    }

    fn set_earlier(&mut self, row: u32, id: u64) {
        if let Some(known) = self.earlier.get_mut(row as usize).filter(|_| id > 0) {
            *known = if *known == 0 { id } else { id.min(*known) };
        }
    }

    fn parent(&self, row: u32) -> u32 {
        self.parents.get(row as usize).copied().unwrap_or(row)
    }

    fn set_parent(&mut self, row: u32, parent: u32) {
        if let Some(known) = self.parents.get_mut(row as usize) {
            *known = parent;
        }
    }

    fn root(&mut self, mut row: u32) -> u32 {
        while self.parent(row) != row {
            self.set_parent(row, self.parent(self.parent(row)));
            row = self.parent(row);
        }
        row
    }

    /// Decides after all rows are noted.
    pub fn decide(&mut self) {
        self.links.sort_unstable();
        for at in 1..self.links.len() {
            if let Some(&[(digest, one), (next, other)]) = self.links.get(at - 1..=at)
                && digest == next
            {
                let (one, other) = (self.root(one), self.root(other));
                self.set_parent(one.max(other), one.min(other));
            }
        }
        for row in 0..u32::try_from(self.parents.len()).unwrap_or(u32::MAX) {
            let root = self.root(row);
            self.set_parent(row, root);
            self.set_earlier(root, self.earlier.get(row as usize).copied().unwrap_or_default());
        }
        self.links = Vec::new();
        self.values.sort_unstable();
        self.values.shrink_to_fit();
        let mut hints = std::mem::take(&mut self.hints);
        for (_, row) in &mut hints {
            *row = self.parent(*row);
        }
        hints.sort_unstable();
        hints.dedup();
        for (hint, row) in std::mem::take(&mut self.asking) {
            match range(&hints, hint) {
                [] => _ = self.open.insert(row, Person::Unknown),
                [(_, person)] => self.set_parent(row, *person),
                _ => _ = self.open.insert(row, Person::Several),
            }
        }
        let shared = hints
            .windows(2)
            .filter(|two| two.first().map(|one| one.0) == two.last().map(|one| one.0));
        self.shared = shared.flatten().map(|(hint, _)| *hint).collect();
    }

    /// The person of a row, by its number.
    pub fn of(&self, row: u32) -> Person {
        let person = || self.parents.get(row as usize).map(|person| Person::One(*person));
        let open = self.open.get(&row).copied();
        open.or_else(person).unwrap_or(Person::Unknown)
    }

    /// The index of a person's record.
    pub fn record(&self, person: u32) -> Option<usize> {
        let record = self.records.get(person as usize).filter(|at| **at != NONE);
        record.map(|at| *at as usize)
    }

    /// Sets the record of a person without one.
    pub fn set_record(&mut self, person: u32, at: u32) {
        if let Some(record) = self.records.get_mut(person as usize).filter(|at| **at == NONE) {
            *record = at;
        }
    }

    /// Whether a row has the value and the name of a key of the id map.
    pub fn has(&self, key: &str) -> bool {
        self.values.binary_search(&digest("value", key)).is_ok()
    }

    /// Whether a lead of an earlier run has a name.
    pub fn was_named(&self, id: u64, name: &str, ids: &IdMap) -> bool {
        let mut named = range(&self.named, digest("name", name)).iter();
        named.any(|(_, other)| *other == id) || ids.known("lead", &format!("name:{name}")) == Some(id)
    }

    /// The id that a new person without an id in the export has by an earlier run: that of one of the person's values, else
    /// of the name, if it is that of one person alone and no other address or number is known of that person.
    pub fn earlier(&self, reference: &RowReference, ids: &IdMap) -> Option<u64> {
        let name = same_name(&reference.name);
        let hint = digest("name", &name);
        let by_name = ids.known("lead", &format!("name:{name}"));
        let with_value = range(&self.named, hint);
        match self.of(reference.row) {
            Person::One(person) => {
                let known = self.earlier.get(person as usize).copied().filter(|id| *id > 0);
                let is_free =
                    |id: &u64| !self.shared.contains(&hint) && !with_value.iter().any(|known| known.1 == *id);
                known.or(by_name.filter(is_free))
            }
            Person::Unknown if reference.values.is_empty() => by_name.or(match with_value {
                [(_, id)] => Some(*id),
                _ => None,
            }),
            _ => None,
        }
    }
}

/// The pairs with a digest.
fn range<T>(pairs: &[(u64, T)], digest: u64) -> &[(u64, T)] {
    let from = pairs.partition_point(|(known, _)| *known < digest);
    let rest = pairs.get(from..).unwrap_or_default();
    let count = rest.iter().take_while(|(known, _)| *known == digest).count();
    rest.get(..count).unwrap_or_default()
}

/// The key of a value and a name in the id map.
pub fn key_of((space, value): &(&'static str, String), name: &str) -> String {
    format!("{space}:{value}|{name}")
}
