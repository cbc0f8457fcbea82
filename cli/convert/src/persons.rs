//! The rows of a run that are one person, whatever their order: those of one name that share an address or number, directly
//! or by other rows, and those with the name alone if no other person has it (C-105).

use std::collections::{HashMap, HashSet};

use super::ids::IdMap;
use super::index::{PHONE, RowReference};
use super::keys::digest;
use super::token::same_name;

/// The person of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Person {
    /// Not in the index of persons.
    Unknown,
    /// The number of the person.
    One(u32),
    /// One of several.
    Several,
}

/// The persons of a run.
#[derive(Debug, Default)]
pub struct Persons {
    /// By digests of values with names, of ids, and of ids of earlier runs.
    nodes: HashMap<u64, u32>,
    /// A node of the same person, by node. That of a person's number is itself.
    parents: Vec<u32>,
    /// Nodes by digests of names and of numbers.
    hints: HashMap<u64, u32>,
    /// Further nodes of hints, before all rows are noted.
    further: Vec<(u64, u32)>,
    /// Hints of several persons.
    several: HashSet<u64>,
    /// Ids of earlier runs by person.
    earlier: HashMap<u32, u64>,
    /// Ids of earlier runs by digests of the names of persons with an address or number; `None` of several.
    named: HashMap<u64, Option<u64>>,
    /// Digests of names by id of an earlier run.
    names: HashMap<u64, u64>,
}

impl Persons {
    /// The persons of earlier runs.
    pub fn of_earlier(ids: &IdMap) -> Self {
        let mut persons = Self::default();
        for (key, id) in ids.records("lead") {
            let value = key.split_once('|').map(|(_, name)| name);
            let Some(name) = value.or(key.strip_prefix("name:")) else {
                continue;
            };
            let name = digest("name", name.split_once('#').map_or(name, |(name, _)| name));
            persons.names.insert(id, name);
            if value.is_some() {
                let known = persons.named.entry(name).or_insert(Some(id));
                *known = known.filter(|known| *known == id);
            }
        }
        persons
    }

    /// Notes a row.
    pub fn note(&mut self, reference: &RowReference, ids: &IdMap) {
        let name = same_name(&reference.name);
        let first = u32::try_from(self.parents.len()).unwrap_or(u32::MAX);
        let digests = digests(reference, &name);
        if digests.is_empty() {
            // A row of a list is a person of its own.
            if reference.is_row && !name.is_empty() {
                self.parents.push(first);
                self.hint(digest("name", &name), first);
            }
            return;
        }
        let keys = reference
            .values
            .iter()
            .map(|value| key_of(value, &name))
            .filter(|_| reference.id.is_empty());
        let earlier: Vec<_> = keys.filter_map(|key| ids.known("lead", &key)).collect();
        let of_earlier = earlier.iter().map(|id| digest("earlier", &id.to_string()));
        let mut nodes = Vec::new();
        for digest in digests.into_iter().chain(of_earlier) {
            let new = u32::try_from(self.parents.len()).unwrap_or(u32::MAX);
            let node = *self.nodes.entry(digest).or_insert(new);
            if node == new {
                self.parents.push(node);
            }
            nodes.push(self.root(node));
        }
        let root = nodes.iter().copied().min().unwrap_or(first);
        for node in nodes {
            self.set_parent(node, root);
        }
        if let Some(id) = earlier.into_iter().min() {
            self.earlier.insert(root, id);
        }
        let phones = reference.values.iter().filter(|(space, _)| *space == PHONE);
        let hints = phones.map(|(space, value)| digest(space, value));
        for hint in hints.chain([digest("name", &name)]) {
            self.hint(hint, root);
        }
    }

    fn hint(&mut self, hint: u64, node: u32) {
        let first = *self.hints.entry(hint).or_insert(node);
        if first != node {
            self.further.push((hint, node));
        }
    }

    fn set_parent(&mut self, node: u32, parent: u32) {
        if let Some(known) = self.parents.get_mut(node as usize) {
            *known = parent;
        }
    }

    fn parent(&self, node: u32) -> u32 {
        self.parents.get(node as usize).copied().unwrap_or(node)
    }

    fn root(&mut self, mut node: u32) -> u32 {
        loop {
            let parent = self.parent(node);
            if parent == node {
                return node;
            }
            let above = self.parent(parent);
            self.set_parent(node, above);
            node = above;
        }
    }

    /// Decides after all rows are noted.
    pub fn decide(&mut self) {
        for node in 0..u32::try_from(self.parents.len()).unwrap_or(u32::MAX) {
            let root = self.root(node);
            self.set_parent(node, root);
        }
        for (hint, node) in std::mem::take(&mut self.further) {
            let first = self.hints.get(&hint).map(|first| self.parent(*first));
            if first != Some(self.parent(node)) {
                self.several.insert(hint);
            }
        }
        let earlier = std::mem::take(&mut self.earlier);
        for (node, id) in earlier {
            let known = self.earlier.entry(self.parent(node)).or_insert(id);
            *known = id.min(*known);
        }
    }

    /// Whether a row has the value and the name of a key of the id map.
    pub fn has(&self, key: &str) -> bool {
        self.nodes.contains_key(&digest("value", key))
    }

    /// The person of a row.
    pub fn of(&self, reference: &RowReference) -> Person {
        let name = same_name(&reference.name);
        if let Some(first) = digests(reference, &name).first() {
            let node = self.nodes.get(first);
            return node.map_or(Person::Unknown, |node| Person::One(self.parent(*node)));
        }
        let hint = match reference.values.first() {
            Some((PHONE, value)) => digest(PHONE, value),
            Some(_) => return Person::Unknown,
            None => digest("name", &name),
        };
        if self.several.contains(&hint) {
            return Person::Several;
        }
        let node = self.hints.get(&hint);
        node.map_or(Person::Unknown, |node| Person::One(self.parent(*node)))
    }

    /// Whether a lead of an earlier run has a name.
    pub fn was_named(&self, id: u64, name: &str) -> bool {
        self.names.get(&id) == Some(&digest("name", name))
    }

    /// The id that a new person without an id in the export has by an earlier run: that of one of the person's values, else
    /// of the name, if it is that of one person alone and no other address or number is known of that person.
    pub fn earlier(&self, reference: &RowReference, ids: &IdMap) -> Option<u64> {
        let name = same_name(&reference.name);
        let hint = digest("name", &name);
        let person = self.of(reference);
        let by_name = ids.known("lead", &format!("name:{name}"));
        let with_value = self.named.get(&hint).copied().flatten();
        match person {
            Person::One(person) => {
                let of_name = by_name.filter(|id| !self.several.contains(&hint) && with_value != Some(*id));
                self.earlier.get(&person).copied().or(of_name)
            }
            Person::Unknown if reference.values.is_empty() => by_name.or(with_value),
            _ => None,
        }
    }
}

/// The key of a value and a name in the id map.
pub fn key_of((space, value): &(&'static str, String), name: &str) -> String {
    format!("{space}:{value}|{name}")
}

/// The digests that identify the person of a row: of the id, else of each value with the name.
fn digests(reference: &RowReference, name: &str) -> Vec<u64> {
    if !reference.id.is_empty() {
        return vec![digest(reference.product, &reference.id)];
    }
    let values = reference.values.iter().filter(|_| !name.is_empty());
    values
        .map(|value| digest("value", &key_of(value, name)))
        .collect()
}
