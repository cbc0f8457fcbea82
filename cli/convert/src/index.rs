//! The companies and leads of a conversion, and the references of rows to them (C-105).

use std::collections::{BTreeMap, HashMap};

use domain::text::fold;

use super::ids::IdMap;
use super::keys::{RunKeys, digest};
use super::persons::{Person, Persons, key_of};
use super::reference::{CNPJ, EMAIL, RowReference};
use super::token::same_name;

/// Listed places of an address or number.
const MAX_PLACES: usize = 10;
/// Words of a name that are compared.
const WORDS: usize = 6;

/// Digests of the words of a name: the first ones and the last one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct NameWords([u16; WORDS]);

impl NameWords {
    fn of(name: &str) -> Self {
        let folded = fold(name);
        let words = folded.split(|letter: char| !letter.is_alphanumeric());
        let mut digests = [0; WORDS];
        for (at, word) in words.filter(|word| !word.is_empty()).enumerate() {
            let [low, high, ..] = digest("word", word).to_le_bytes();
            digests[at.min(WORDS - 1)] = u16::from_le_bytes([low, high]).max(1);
        }
        Self(digests)
    }

    /// Whether one name has no other words than the other one: `Ana Souza` and `Ana de Souza Lima`.
    fn fits(self, other: Self) -> bool {
        let is_in = |one: Self, other: Self| one.0.iter().all(|word| *word == 0 || other.0.contains(word));
        is_in(self, other) || is_in(other, self)
    }
}

/// A company to which a row refers: its id, and its index if a file of this run contains it.
pub type CompanyRef = (u64, Option<usize>);

/// A record without its fields.
#[derive(Debug, Clone)]
pub struct Indexed {
    /// The id.
    pub id: u64,
    /// The place of its row: the index of the file, and the line.
    place: (u32, u32),
    words: NameWords,
    has_values: bool,
    /// Of a lead, its company.
    company: Option<u64>,
    /// Whether its own row has the company.
    has_company: bool,
}

/// An address or a number that several records have.
#[derive(Debug, Default)]
pub struct SharedValue {
    /// The places of the first records: the index of the file, and the line.
    pub places: Vec<(usize, u64)>,
    /// Number of further records.
    pub more: u64,
}

/// The companies or the leads of a conversion, found by ids, addresses, numbers and names.
#[derive(Debug)]
pub struct RecordIndex {
    kind: &'static str,
    /// In the order of the rows.
    records: Vec<Indexed>,
    /// By digests of ids, addresses and numbers. A value that several records have is also found with the name, and with
    /// the index, of each but the first.
    by_value: HashMap<u64, u32>,
    /// By digests of names, with the number of records.
    by_name: HashMap<u64, (u32, u32)>,
    keys: RunKeys,
    /// The persons of the run.
    pub persons: Persons,
    /// Addresses and numbers that several records have.
    pub shared: BTreeMap<String, SharedValue>,
    /// Values of further rows that records lack, by index.
    further: BTreeMap<usize, Vec<(&'static str, String)>>,
}

impl RecordIndex {
    /// An empty index.
    pub fn new(kind: &'static str) -> Self {
        Self {
            kind,
            records: Vec::new(),
            by_value: HashMap::new(),
            by_name: HashMap::new(),
            keys: RunKeys::default(),
            persons: Persons::default(),
            shared: BTreeMap::new(),
            further: BTreeMap::new(),
        }
    }

    fn by(&self, space: &str, text: &str) -> Option<usize> {
        self.by_value.get(&digest(space, text)).map(|at| *at as usize)
    }

    fn words(&self, at: usize) -> NameWords {
        self.records
            .get(at)
            .map(|record| record.words)
            .unwrap_or_default()
    }

    /// The index of a record, by its id, else by its person, else by an address or number with the same name, else by an e-mail
    /// address unless another record alone has the name, else by its name. Of several companies with the name, the first one.
    ///
    /// # Errors
    /// A message, if it may be one of several leads.
    pub fn find(&self, reference: &RowReference) -> Result<Option<usize>, String> {
        if !reference.id.is_empty() {
            return Ok(self.by(reference.product, &reference.id));
        }
        let (words, name) = (NameWords::of(&reference.name), same_name(&reference.name));
        if let Some(at) = self.by_person(reference, &name)? {
            return Ok(Some(at));
        }
        for (space, value) in &reference.values {
            let Some(first) = self.by(space, value) else {
                continue;
            };
            if name.is_empty() {
                return self.only_one(space, value).map(|()| Some(first));
            }
            if *space == CNPJ || self.words(first) == words {
                return Ok(Some(first));
            }
            if let Some(at) = self.by(space, &of_name(value, &name)) {
                return Ok(Some(at));
            }
        }
        // Persons with different names may share a telephone, and rarely an address.
        let mut emails = reference.values.iter().filter(|(space, _)| *space == EMAIL);
        let by_email = emails.find_map(|(space, value)| self.by(space, value));
        let Some((at, count)) = self.by_name.get(&digest("name", &name)) else {
            return Ok(by_email);
        };
        let at = *at as usize;
        if let Some(by_email) = by_email {
            let is_other = *count == 1 && !words.fits(self.words(by_email));
            return Ok(Some(if is_other { at } else { by_email }));
        }
        // A record of the same name with an unknown address or number is another one.
        let lacks_values = || self.records.get(at).is_some_and(|record| !record.has_values);
        if name.is_empty() || !reference.values.is_empty() && (self.kind == "lead" || !lacks_values()) {
            return Ok(None);
        }
        Ok(Some(at))
    }

    /// The record of the person of a row.
    fn by_person(&self, reference: &RowReference, name: &str) -> Result<Option<usize>, String> {
        let person = self.persons.of(reference.row);
        let named = self.by_name.get(&digest("name", name));
        let has_namesakes = reference.values.is_empty() && named.is_some_and(|(_, count)| *count > 1);
        match (person, reference.values.first()) {
            _ if self.kind != "lead" => Ok(None),
            (Person::Several, Some((space, value))) => Err(several(space, value)),
            _ if person == Person::Several || has_namesakes => Err(format!(
                "several leads are named {:?}; add a column with their ids or e-mail addresses",
                reference.name
            )),
            (Person::One(person), _) => Ok(self.persons.record(person)),
            _ => Ok(None),
        }
    }

    fn only_one(&self, space: &str, value: &str) -> Result<(), String> {
        if self.kind != "lead" || !self.shared.contains_key(&shown(space, value)) {
            return Ok(());
        }
        Err(several(space, value))
    }

    /// Adds a record and returns its index.
    ///
    /// # Errors
    /// A message, if another record has its id.
    pub fn add(
        &mut self,
        reference: &RowReference,
        (file, line): (usize, u64),
        ids: &mut IdMap,
    ) -> Result<usize, String> {
        let name = same_name(&reference.name);
        let may_be_earlier = self.kind == "lead" && !reference.is_row && reference.id.is_empty();
        let earlier = may_be_earlier.then(|| self.persons.earlier(reference, ids));
        let key = match earlier.flatten() {
            Some(id) => {
                let value = reference.values.first();
                let key = value.map_or(format!("name:{name}"), |value| key_of(value, &name));
                ids.adopt(self.kind, key.clone(), id);
                key
            }
            None => self.key(reference, &name, ids)?,
        };
        let id = ids.of_record(self.kind, key.clone(), &reference.id);
        let at = u32::try_from(self.records.len()).unwrap_or(u32::MAX);
        if !reference.id.is_empty() {
            self.by_value.insert(digest(reference.product, &reference.id), at);
            if self.is_checked(reference) {
                ids.adopt(self.kind, format!("{key}|{name}"), id);
            }
        }
        self.records.push(Indexed {
            id,
            place: (
                u32::try_from(file).unwrap_or(u32::MAX),
                u32::try_from(line).unwrap_or(u32::MAX),
            ),
            words: NameWords::of(&reference.name),
            has_values: !reference.values.is_empty(),
            company: None,
            has_company: false,
        });
        if let Person::One(person) = self.persons.of(reference.row) {
            self.persons.set_record(person, at);
        }
        for (space, value) in &reference.values {
            self.own(at as usize, (space, value), &name, (file, line));
        }
        if !name.is_empty() {
            let named = self.by_name.entry(digest("name", &name)).or_insert((at, 0));
            named.1 += 1;
        }
        Ok(at as usize)
    }

    /// The key of a new record.
    fn key(&mut self, reference: &RowReference, name: &str, ids: &IdMap) -> Result<String, String> {
        let (kind, id) = (self.kind, &reference.id);
        if id.is_empty() {
            let bases = reference.values.iter();
            let bases: Vec<_> = bases
                .map(|(space, value)| (*space, format!("{space}:{value}")))
                .collect();
            let is_earlier = |base: &str| ids.known(kind, &format!("{base}|{name}")).is_some();
            // A person who got an address since an earlier run is still known by the number.
            let base = bases.iter().find(|(_, base)| is_earlier(base)).or(bases.first());
            let Some((space, base)) = base else {
                return Ok(self.keys.distinct(format!("name:{name}")));
            };
            let words = NameWords::of(name);
            let is_identity = *space == CNPJ || *space == EMAIL && !reference.is_row;
            let fits = |earlier: &str| {
                let is_here = self.persons.has(&format!("{base}|{earlier}"));
                !is_here && (is_identity || words.fits(NameWords::of(earlier)))
            };
            return Ok(self.keys.variant(ids, (kind, base, name), fits));
        }
        if self.by(reference.product, id).is_some() {
            return Err(format!("{kind} {id} occurs twice"));
        }
        let key = format!("{}:id:{id}", reference.product);
        let first_word = |name: &str| name.split(' ').next().unwrap_or_default().to_owned();
        let is_renamed = |earlier: &str| {
            let (before, now) = (first_word(earlier), first_word(name));
            let is_same_first = before.starts_with(&now) || now.starts_with(&before);
            is_same_first || NameWords::of(name).fits(NameWords::of(earlier))
        };
        let mut earlier = ids.variants(kind, &key).map(|(_, name)| name).peekable();
        match earlier.peek().map(|name| (*name).to_owned()) {
            Some(first) if self.is_checked(reference) && !earlier.any(is_renamed) => Err(format!(
                "{kind} {id} was {first:?} in an earlier conversion; leave the column of ids out of another list \
                     (files.FILE.COLUMN = \"\"), or remove \"{key}|{first}\" from the id map if the name has changed"
            )),
            _ => Ok(key),
        }
    }

    /// Whether a later run checks the name of the record with this id: tables of no product number their rows.
    fn is_checked(&self, reference: &RowReference) -> bool {
        self.kind == "lead" && reference.product == "csv" && !reference.name.is_empty()
    }

    /// Notes that a record has a value.
    fn own(&mut self, at: usize, (space, value): (&str, &str), name: &str, place: (usize, u64)) {
        let index = u32::try_from(at).unwrap_or(u32::MAX);
        let first = *self.by_value.entry(digest(space, value)).or_insert(index);
        if first != index {
            for further in [of_name(value, name), of_index(value, at)] {
                self.by_value.entry(digest(space, &further)).or_insert(index);
            }
            self.note_shared(shown(space, value), first as usize, place);
        }
    }

    /// Notes that a record and an earlier one have a value.
    fn note_shared(&mut self, value: String, first: usize, place: (usize, u64)) {
        let first = self.records.get(first).map(|record| record.place);
        let shared = self.shared.entry(value).or_default();
        if shared.places.is_empty() {
            shared
                .places
                .extend(first.map(|(file, line)| (file as usize, line.into())));
        }
        if shared.places.len() < MAX_PLACES {
            shared.places.push(place);
        } else {
            shared.more += 1;
        }
    }

    /// Whether a record has the words of a name.
    pub fn is_named(&self, at: usize, name: &str) -> bool {
        NameWords::of(name) == self.words(at)
    }

    /// Whether a name may be that of a record.
    pub fn may_be_named(&self, at: usize, name: &str) -> bool {
        NameWords::of(name).fits(self.words(at))
    }

    /// Whether a record has an address or number.
    pub fn has_value(&self, at: usize, (space, value): (&str, &str)) -> bool {
        self.by(space, value) == Some(at) || self.by(space, &of_index(value, at)).is_some()
    }

    /// Gives a record a field of another row.
    pub fn add_value(
        &mut self,
        at: usize,
        (field, text): (&'static str, &str),
        value: (&'static str, &str),
        place: (usize, u64),
    ) {
        self.own(at, value, "", place);
        let further = self.further.entry(at).or_default();
        further.push((field, text.to_owned()));
    }

    /// Gives a record without a name that of another row.
    pub fn add_name(&mut self, at: usize, name: &str, parts: impl Iterator<Item = (&'static str, String)>) {
        if let Some(record) = self
            .records
            .get_mut(at)
            .filter(|record| record.words == NameWords::default())
        {
            record.words = NameWords::of(name);
            self.further.entry(at).or_default().extend(parts);
        }
    }

    /// The fields that further rows give a record: its company and other values.
    pub fn further(&self, at: usize) -> impl Iterator<Item = (&'static str, serde_json::Value)> {
        let company = self.records.get(at).filter(|record| !record.has_company);
        let company = company.and_then(|record| Some(("company", record.company?.into())));
        let values = self.further.get(&at).into_iter().flatten();
        company
            .into_iter()
            .chain(values.map(|(field, text)| (*field, text.as_str().into())))
    }

    /// The id of a record.
    pub fn id(&self, at: usize) -> u64 {
        self.records.get(at).map(|record| record.id).unwrap_or_default()
    }

    /// Sets the company that a lead has in its own row.
    pub fn set_company(&mut self, at: usize, company: u64) {
        if let Some(record) = self.records.get_mut(at) {
            (record.company, record.has_company) = (Some(company), true);
        }
    }

    /// Sets the company of a lead without one. Returns whether its company is this one.
    pub fn add_company(&mut self, at: usize, company: u64) -> bool {
        let record = self.records.get_mut(at);
        record.is_some_and(|record| *record.company.get_or_insert(company) == company)
    }
}

fn of_name(value: &str, name: &str) -> String {
    format!("{value}\n{name}")
}

fn of_index(value: &str, at: usize) -> String {
    format!("{value}\n#{at}")
}

/// The reason why a value alone identifies no lead.
fn several(space: &str, value: &str) -> String {
    format!(
        "several leads have the {}; add a column with their ids or names",
        shown(space, value)
    )
}

/// A value in a message.
fn shown(space: &str, value: &str) -> String {
    let name = if space == EMAIL { "e-mail" } else { space };
    format!("{name} {value}")
}

#[cfg(test)]
mod tests;
