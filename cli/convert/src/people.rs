//! The users, companies and leads of a conversion, and the references of rows to them.

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use domain::people::User;
use domain::text::fold;
use serde_json::{Map, Value, json};

use super::ids::IdMap;
use super::token::people;

/// Listed places of an address or number.
const MAX_PLACES: usize = 10;

/// The fields of a record.
pub type RecordFields = Map<String, Value>;

/// The owners of records.
#[derive(Debug, Default)]
pub struct Owners {
    /// New users by id.
    records: BTreeMap<u64, RecordFields>,
    by_email: HashMap<String, u64>,
    by_name: HashMap<String, u64>,
}

impl Owners {
    /// Starts without new users. A cell that matches a user of the instance refers to that user.
    pub fn new(known: &[User]) -> Self {
        let mut users = Self::default();
        for user in known {
            users
                .by_name
                .entry(fold(&user.full_name()))
                .or_insert(user.id.get());
            if let Some(email) = &user.email {
                users.by_email.entry(people::same(email)).or_insert(user.id.get());
            }
        }
        users
    }

    /// The user of a cell: by e-mail address, else by name, else a new one.
    pub fn of(&mut self, cell: &str, ids: &mut IdMap) -> u64 {
        let (name, email) = people::person(cell);
        let (by_name, by_email) = (name.as_deref().map(fold), email.as_deref().map(people::same));
        let of_email = by_email.as_ref().and_then(|email| self.by_email.get(email));
        let of_name = || by_name.as_ref().and_then(|name| self.by_name.get(name));
        let known = of_email.or_else(of_name).copied();
        // The key of the id map.
        let key = by_email
            .clone()
            .or_else(|| by_name.as_ref().map(|name| format!("name:{name}")));
        let id = known.unwrap_or_else(|| ids.assign("user", key.unwrap_or_default()));
        if known.is_none() {
            let mut fields = RecordFields::from_iter([("id".to_owned(), json!(id))]);
            set_name(
                &mut fields,
                name.as_deref().or(email.as_deref()).unwrap_or_default(),
            );
            self.records.insert(id, fields);
        }
        // A new user known by the address only, for example from `--admin`, gets the name.
        let has_no_name = |record: &&mut RecordFields| record.get("name") == record.get("email");
        if let (Some(record), Some(name)) = (self.records.get_mut(&id).filter(has_no_name), &name) {
            set_name(record, name);
        }
        if let (Some(record), Some(email)) = (self.records.get_mut(&id), &email) {
            record.entry("email").or_insert_with(|| json!(email));
        }
        for (map, key) in [(&mut self.by_name, by_name), (&mut self.by_email, by_email)] {
            if let Some(key) = key {
                map.entry(key).or_insert(id);
            }
        }
        id
    }

    /// Gives a user all permissions if it is new. A user that the instance already has stays as it is.
    pub fn grant_all_permissions(&mut self, id: u64) {
        if let Some(user) = self.records.get_mut(&id) {
            user.insert("admin".to_owned(), json!(true));
        }
    }

    /// The address of a new user without a name, if other new users have no address: one of them may be the same
    /// person.
    pub fn address_without_name(&self, id: u64) -> Option<&str> {
        let record = self.records.get(&id)?;
        let email = record
            .get("email")
            .filter(|email| record.get("name") == Some(email))?;
        let has_others = self.records.values().any(|other| !other.contains_key("email"));
        email.as_str().filter(|_| has_others)
    }

    /// The new users by id.
    pub fn records(&self) -> impl Iterator<Item = &RecordFields> {
        self.records.values()
    }
}

fn set_name(user: &mut RecordFields, name: &str) {
    let (first, last) = people::halves(name);
    user.insert("name".to_owned(), json!(first));
    user.extend(last.map(|last| ("lastName".to_owned(), json!(last))));
}

/// The keys of the id map in this run, so that the n-th record with a key gets a number at its end.
#[derive(Debug, Default)]
pub struct KeyCounts(HashMap<u64, u32>);

impl KeyCounts {
    /// A key that is distinct in the run.
    pub fn distinct(&mut self, key: String) -> String {
        let count = self.0.entry(digest("", &key)).or_default();
        *count += 1;
        if *count == 1 {
            key
        } else {
            format!("{key}#{count}")
        }
    }
}

/// A digest of a text, which needs less memory. Two of a million texts share one with a probability of 1 in 30 million.
pub fn digest(space: &str, text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (space, text).hash(&mut hasher);
    hasher.finish()
}

/// A row's reference to a company or lead.
#[derive(Debug, Default)]
pub struct RowReference {
    /// The product of the export.
    pub product: &'static str,
    /// Id in the export.
    pub id: String,
    /// E-mail addresses.
    pub emails: Vec<String>,
    /// Telephone numbers in normal form.
    pub phones: Vec<String>,
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
        self.emails.is_empty() && self.phones.is_empty() && self.name.is_empty()
    }

    /// The key of the id map.
    fn key(&self) -> String {
        match (self.id.as_str(), self.emails.first(), self.phones.first()) {
            ("", Some(email), _) => format!("email:{}", people::same(email)),
            ("", None, Some(phone)) => format!("phone:{phone}"),
            ("", None, None) => format!("name:{}", fold(&self.name)),
            (id, ..) => format!("{}:id:{id}", self.product),
        }
    }
}

/// A record without its fields.
#[derive(Debug, Clone)]
pub struct Indexed {
    /// The id.
    pub id: u64,
    /// The place of its row: the index of the file, and the line.
    place: (usize, u64),
    /// Of a lead, a company that another row names.
    pub company: Option<u64>,
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
    pub records: Vec<Indexed>,
    /// By digests of ids, addresses and numbers.
    by_value: HashMap<u64, u32>,
    /// By digests of names, with the number of records.
    by_name: HashMap<u64, (u32, u32)>,
    keys: KeyCounts,
    /// Addresses and numbers that several records have.
    pub shared: BTreeMap<String, SharedValue>,
}

impl RecordIndex {
    /// An empty index.
    pub fn new(kind: &'static str) -> Self {
        Self {
            kind,
            records: Vec::new(),
            by_value: HashMap::new(),
            by_name: HashMap::new(),
            keys: KeyCounts::default(),
            shared: BTreeMap::new(),
        }
    }

    fn by(&self, space: &str, text: &str) -> Option<usize> {
        self.by_value.get(&digest(space, text)).map(|at| *at as usize)
    }

    /// The index of a record, by its id, else by an e-mail address or a telephone number, else by its name. Of several
    /// companies with the name, the first one.
    ///
    /// # Errors
    /// A message, if several leads have the name.
    pub fn find(&self, reference: &RowReference) -> Result<Option<usize>, String> {
        if !reference.id.is_empty() {
            return Ok(self.by(reference.product, &reference.id));
        }
        let by_email = reference
            .emails
            .iter()
            .find_map(|email| self.by("email", &people::same(email)));
        let by_phone = || {
            let found = reference.phones.iter().find_map(|phone| self.by("phone", phone));
            found.filter(|at| self.may_be_named(*at, &reference.name))
        };
        if let Some(at) = by_email.or_else(by_phone) {
            return Ok(Some(at));
        }
        let has_address = !reference.emails.is_empty() || !reference.phones.is_empty();
        match self.by_name.get(&digest("name", &fold(&reference.name))) {
            // A person of the same name with an unknown address or number is another person.
            Some((at, count)) if !has_address && !reference.name.is_empty() => {
                if *count > 1 && self.kind != "company" {
                    return Err(format!(
                        "{count} {}s are named {:?}; add a column with their ids or e-mail addresses",
                        self.kind, reference.name
                    ));
                }
                Ok(Some(*at as usize))
            }
            _ => Ok(None),
        }
    }

    /// Whether a record has this name, or the name is empty. Persons with different names may share a telephone.
    fn may_be_named(&self, at: usize, name: &str) -> bool {
        let named = self.by_name.get(&digest("name", &fold(name)));
        name.is_empty() || named.is_some_and(|(first, count)| *first as usize == at || *count > 1)
    }

    /// Adds a record and returns its index.
    ///
    /// # Errors
    /// A message, if another record has its id.
    pub fn add(
        &mut self,
        reference: &RowReference,
        place: (usize, u64),
        ids: &mut IdMap,
    ) -> Result<usize, String> {
        let has_id = !reference.id.is_empty();
        if has_id && self.by(reference.product, &reference.id).is_some() {
            return Err(format!("{} {} occurs twice", self.kind, reference.id));
        }
        let key = reference.key();
        let key = if has_id { key } else { self.keys.distinct(key) };
        let id = ids.of_record(self.kind, key, &reference.id);
        let at = u32::try_from(self.records.len()).unwrap_or(u32::MAX);
        if has_id {
            self.by_value.insert(digest(reference.product, &reference.id), at);
        }
        let emails = reference
            .emails
            .iter()
            .map(|email| ("email", people::same(email)));
        let phones = reference.phones.iter().map(|phone| ("phone", phone.clone()));
        for (space, value) in emails.chain(phones) {
            let first = *self.by_value.entry(digest(space, &value)).or_insert(at);
            if first != at {
                let name = if space == "email" { "e-mail" } else { space };
                self.note_shared(format!("{name} {value}"), first as usize, place);
            }
        }
        if !reference.name.is_empty() {
            let named = self
                .by_name
                .entry(digest("name", &fold(&reference.name)))
                .or_insert((at, 0));
            named.1 += 1;
        }
        self.records.push(Indexed {
            id,
            place,
            company: None,
            has_company: false,
        });
        Ok(at as usize)
    }

    /// Notes that a record and an earlier one have a value.
    fn note_shared(&mut self, value: String, first: usize, place: (usize, u64)) {
        let first = self.records.get(first).map(|record| record.place);
        let shared = self.shared.entry(value).or_default();
        if shared.places.is_empty() {
            shared.places.extend(first);
        }
        if shared.places.len() < MAX_PLACES {
            shared.places.push(place);
        } else {
            shared.more += 1;
        }
    }

    /// The id of a record.
    pub fn id(&self, at: usize) -> u64 {
        self.records.get(at).map(|record| record.id).unwrap_or_default()
    }

    /// Marks a lead as having a company in its own row.
    pub fn set_has_company(&mut self, at: usize) {
        if let Some(record) = self.records.get_mut(at) {
            record.has_company = true;
        }
    }

    /// Sets the company of a lead without one.
    pub fn add_company(&mut self, at: usize, company: u64) {
        if let Some(record) = self.records.get_mut(at).filter(|record| !record.has_company) {
            record.company.get_or_insert(company);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_of_many_leads_is_listed_with_few() {
        let (mut index, mut ids) = (RecordIndex::new("lead"), IdMap::default());
        for line in 2..17 {
            let reference = RowReference {
                phones: vec!["551132221111".to_owned()],
                name: format!("Maria {line}"),
                ..RowReference::default()
            };
            index.add(&reference, (0, line), &mut ids).unwrap();
        }
        let shared = &index.shared["phone 551132221111"];
        assert_eq!(shared.places, (2..12).map(|line| (0, line)).collect::<Vec<_>>());
        assert_eq!(shared.more, 5);
    }
}
