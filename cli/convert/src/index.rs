//! The companies and leads of a conversion, and the references of rows to them (C-105).

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use domain::text::fold;

use super::ids::IdMap;

/// Listed places of an address or number.
const MAX_PLACES: usize = 10;
/// Variants of a key that are compared with a new one.
const MAX_VARIANTS: usize = 64;
/// Words of a name that are compared.
const WORDS: usize = 6;

/// Kinds of values that identify a company or lead.
pub const EMAIL: &str = "email";
pub const PHONE: &str = "phone";
pub const CNPJ: &str = "cnpj";

/// The keys of the id map that records of this run have.
#[derive(Debug, Default)]
pub struct RunKeys(HashMap<u64, u32>);

impl RunKeys {
    fn has(&self, key: &str) -> bool {
        self.0.contains_key(&digest("", key))
    }

    /// A key that no other record of the run has: the n-th record with a key gets a number at its end.
    pub fn distinct(&mut self, key: String) -> String {
        loop {
            let count = self.0.entry(digest("", &key)).or_default();
            *count += 1;
            if *count == 1 {
                return key;
            }
            let own = format!("{key}#{count}");
            if self.0.insert(digest("", &own), 1).is_none() {
                return own;
            }
        }
    }

    /// The key of a record without an id in the export, which begins with `base`: that with the same `variant`, else one
    /// of an earlier run with a variant that fits, else a new one.
    pub fn variant(
        &mut self,
        ids: &IdMap,
        (kind, base, variant): (&str, &str, &str),
        fits: impl Fn(&str) -> bool,
    ) -> String {
        let key = format!("{base}|{variant}");
        let is_free = |key: &str| !self.has(key);
        if ids.known(kind, &key).is_some() && is_free(&key) {
            return self.distinct(key);
        }
        let mut earlier = ids.variants(kind, base).take(MAX_VARIANTS);
        let earlier = earlier.find(|(key, variant)| is_free(key) && fits(variant));
        let earlier = earlier.map(|(key, _)| key.to_owned());
        self.distinct(earlier.unwrap_or(key))
    }
}

/// A digest of a text, which needs less memory. Two of a million texts share one with a probability of 1 in 30 million.
pub fn digest(space: &str, text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (space, text).hash(&mut hasher);
    hasher.finish()
}

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

/// A row's reference to a company or lead.
#[derive(Debug, Default)]
pub struct RowReference {
    /// The product of the export.
    pub product: &'static str,
    /// Id in the export.
    pub id: String,
    /// Addresses, numbers and the CNPJ, each with its kind, in the form in which they are compared.
    pub values: Vec<(&'static str, String)>,
    /// Name.
    pub name: String,
}

impl RowReference {
    /// Whether it refers to no record.
    pub fn is_empty(&self) -> bool {
        self.id.is_empty() && self.has_only_id()
    }

    /// Whether it has nothing but perhaps an id.
    pub fn has_only_id(&self) -> bool {
        self.values.is_empty() && self.name.is_empty()
    }
}

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

    /// The index of a record, by its id, else by an address or number with the same name, else by an e-mail address with
    /// a name that fits, else by its name. Of several companies with the name, the first one.
    ///
    /// # Errors
    /// A message, if it may be one of several leads.
    pub fn find(&self, reference: &RowReference) -> Result<Option<usize>, String> {
        if !reference.id.is_empty() {
            return Ok(self.by(reference.product, &reference.id));
        }
        let (words, name) = (NameWords::of(&reference.name), fold(&reference.name));
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
        // Persons with different names may share an address or a telephone.
        let emails = reference.values.iter().filter(|(space, _)| *space == EMAIL);
        let mut found = emails.filter_map(|(space, value)| self.by(space, value));
        if let Some(at) = found.find(|at| words.fits(self.words(*at))) {
            return Ok(Some(at));
        }
        let Some((at, count)) = self.by_name.get(&digest("name", &name)) else {
            return Ok(None);
        };
        let at = *at as usize;
        // A record of the same name with an unknown address or number is another one.
        let lacks_values = || self.records.get(at).is_some_and(|record| !record.has_values);
        if name.is_empty() || !reference.values.is_empty() && (self.kind == "lead" || !lacks_values()) {
            return Ok(None);
        }
        if *count > 1 && self.kind == "lead" {
            return Err(format!(
                "{count} leads are named {:?}; add a column with their ids or e-mail addresses",
                reference.name
            ));
        }
        Ok(Some(at))
    }

    fn only_one(&self, space: &str, value: &str) -> Result<(), String> {
        if self.kind != "lead" || !self.shared.contains_key(&shown(space, value)) {
            return Ok(());
        }
        Err(format!(
            "several leads have the {}; add a column with their ids or names",
            shown(space, value)
        ))
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
        let name = fold(&reference.name);
        let key = self.key(reference, &name, ids)?;
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
            let Some((space, value)) = reference.values.first() else {
                return Ok(self.keys.distinct(format!("name:{name}")));
            };
            let (base, words) = (format!("{space}:{value}"), NameWords::of(name));
            let fits = |earlier: &str| *space == CNPJ || words.fits(NameWords::of(earlier));
            return Ok(self.keys.variant(ids, (kind, &base, name), fits));
        }
        if self.by(reference.product, id).is_some() {
            return Err(format!("{kind} {id} occurs twice"));
        }
        let key = format!("{}:id:{id}", reference.product);
        let words = NameWords::of(name);
        let mut earlier = ids.variants(kind, &key).map(|(_, name)| name).peekable();
        match earlier.peek().map(|name| (*name).to_owned()) {
            Some(first)
                if self.is_checked(reference) && !earlier.any(|name| words.fits(NameWords::of(name))) =>
            {
                Err(format!(
                    "{kind} {id} was {first:?} in an earlier conversion; leave the column of ids out of another list \
                     (files.FILE.COLUMN = \"\"), or remove \"{key}|{first}\" from the id map if the name has changed"
                ))
            }
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

    /// Gives a record a field of another row, unless it has the value. Returns whether it lacked it.
    pub fn add_value(
        &mut self,
        at: usize,
        (field, text): (&'static str, &str),
        (space, value): (&'static str, &str),
        place: (usize, u64),
    ) -> bool {
        let has = self.by(space, value) == Some(at) || self.by(space, &of_index(value, at)).is_some();
        if !has {
            self.own(at, (space, value), "", place);
            self.further.entry(at).or_default().push((field, text.to_owned()));
        }
        !has
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

/// A value in a message.
fn shown(space: &str, value: &str) -> String {
    let name = if space == EMAIL { "e-mail" } else { space };
    format!("{name} {value}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lead(name: &str, values: &[(&'static str, &str)]) -> RowReference {
        RowReference {
            product: "csv",
            values: values
                .iter()
                .map(|(space, value)| (*space, (*value).to_owned()))
                .collect(),
            name: name.to_owned(),
            ..RowReference::default()
        }
    }

    #[test]
    fn a_value_of_many_leads_is_listed_with_few() {
        let (mut index, mut ids) = (RecordIndex::new("lead"), IdMap::default());
        for line in 2..17 {
            let reference = lead(&format!("Maria {line}"), &[(PHONE, "551132221111")]);
            index.add(&reference, (0, line), &mut ids).unwrap();
        }
        let shared = &index.shared["phone 551132221111"];
        assert_eq!(shared.places, (2..12).map(|line| (0, line)).collect::<Vec<_>>());
        assert_eq!(shared.more, 5);
    }

    /// C-105: who a person is is never assumed.
    #[test]
    fn persons_who_share_a_value_are_told_apart_by_name() {
        let (mut index, mut ids) = (RecordIndex::new("lead"), IdMap::default());
        let (shop, phone) = ((EMAIL, "contato@loja.com"), (PHONE, "5511987654321"));
        for (line, reference) in [
            (2, lead("João Melo", &[shop])),
            (3, lead("Maria Reis", &[phone])),
            (4, lead("Rui Sá", &[phone])),
        ] {
            index.add(&reference, (0, line), &mut ids).unwrap();
        }
        for (reference, found) in [
            (lead("Maria Reis", &[shop, phone]), Some(1)),
            (lead("Rui Sá", &[phone]), Some(2)),
            (lead("Joao", &[shop]), Some(0)),
            (lead("Maria", &[phone]), None),
            (lead("Ana", &[shop]), None),
            (lead("", &[shop]), Some(0)),
            (lead("rui sa", &[]), Some(2)),
        ] {
            assert_eq!(index.find(&reference), Ok(found), "{reference:?}");
        }
        assert!(index.find(&lead("", &[phone])).is_err());
    }

    /// C-105: a newer export gives no record to somebody else.
    #[test]
    fn later_runs_know_records_without_ids() {
        let (mut ids, phone) = (IdMap::default(), [(PHONE, "551132221111")]);
        let mut run = |names: &[&str]| {
            let mut index = RecordIndex::new("lead");
            let add = |name: &&str| {
                let at = index.add(&lead(name, &phone), (0, 2), &mut ids).unwrap();
                index.id(at)
            };
            names.iter().map(add).collect::<Vec<_>>()
        };
        assert_eq!(run(&["João Melo", "Maria Reis", "Maria Reis"]), [1, 2, 3]);
        assert_eq!(run(&["Maria Reis"]), [2]);
        assert_eq!(run(&["Maria Reis", "Rui Sá", "João de Melo"]), [2, 4, 1]);
        assert_eq!(run(&["Maria Reis", "Maria Reis", "João Melo"]), [2, 3, 1]);
        let numbered = |name: &str| RowReference {
            id: "1".to_owned(),
            ..lead(name, &[])
        };
        let mut add = |name: &str| RecordIndex::new("lead").add(&numbered(name), (0, 2), &mut ids);
        assert!(add("Ana Souza").is_ok() && add("Ana Souza Lima").is_ok());
        assert!(add("Rui Sá").unwrap_err().starts_with("lead 1 was \"ana souza\""));
    }
}
