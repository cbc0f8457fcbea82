//! The users, companies and leads of a conversion, and the references of rows to them.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Map, Value, json};
use shared::people::User;
use shared::text::fold;

use super::contact;
use super::ids::IdMap;

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
                users.by_email.entry(fold(email)).or_insert(user.id.get());
            }
        }
        users
    }

    /// The user of a cell: by e-mail address, else by name, else a new one.
    pub fn of(&mut self, cell: &str, ids: &mut IdMap) -> u64 {
        let (name, email) = contact::person(cell);
        let (by_name, by_email) = (name.as_deref().map(fold), email.as_deref().map(fold));
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
    let (first, last) = contact::halves(name);
    user.insert("name".to_owned(), json!(first));
    user.extend(last.map(|last| ("lastName".to_owned(), json!(last))));
}

/// A key of the id map that is distinct in a run: the n-th record with a key gets a number at its end. `counts` are the
/// records with each key so far.
pub fn distinct_key(counts: &mut HashMap<String, u64>, key: String) -> String {
    let count = counts.entry(key.clone()).or_default();
    *count += 1;
    if *count == 1 {
        key
    } else {
        format!("{key}#{count}")
    }
}

/// A row's reference to a company or lead.
#[derive(Debug, Default)]
pub struct RowReference {
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
        self.id.is_empty() && self.emails.is_empty() && self.phones.is_empty() && self.name.is_empty()
    }

    /// The key of the id map.
    fn key(&self) -> String {
        match (self.id.as_str(), self.emails.first(), self.phones.first()) {
            ("", Some(email), _) => format!("email:{}", fold(email)),
            ("", None, Some(phone)) => format!("phone:{phone}"),
            ("", None, None) => format!("name:{}", fold(&self.name)),
            (id, ..) => format!("id:{id}"),
        }
    }
}

/// The companies or the leads of a conversion, found by ids, addresses, numbers and names.
#[derive(Debug)]
pub struct RecordIndex {
    kind: &'static str,
    /// In the order of the rows.
    pub records: Vec<RecordFields>,
    by_id: HashMap<String, usize>,
    by_email: HashMap<String, usize>,
    by_phone: HashMap<String, usize>,
    by_name: HashMap<String, Vec<usize>>,
    /// The number of records with each key of the id map.
    keys: HashMap<String, u64>,
    /// Places of addresses and numbers, as `FILE:LINE`.
    pub seen: BTreeMap<String, Vec<String>>,
}

impl RecordIndex {
    /// An empty book.
    pub fn new(kind: &'static str) -> Self {
        Self {
            kind,
            records: Vec::new(),
            by_id: HashMap::new(),
            by_email: HashMap::new(),
            by_phone: HashMap::new(),
            by_name: HashMap::new(),
            keys: HashMap::new(),
            seen: BTreeMap::new(),
        }
    }

    /// The index of a record, by its id, else by an e-mail address or a telephone number, else by its name. Of several
    /// companies with the name, the first one.
    ///
    /// # Errors
    /// A message, if several leads have the name.
    pub fn find(&self, reference: &RowReference) -> Result<Option<usize>, String> {
        if !reference.id.is_empty() {
            return Ok(self.by_id.get(&reference.id).copied());
        }
        let by_email = reference
            .emails
            .iter()
            .find_map(|email| self.by_email.get(&fold(email)));
        let by_phone = || {
            let found = reference.phones.iter().find_map(|phone| self.by_phone.get(phone));
            found.filter(|at| self.may_be_named(**at, &reference.name))
        };
        if let Some(at) = by_email.or_else(by_phone) {
            return Ok(Some(*at));
        }
        let with_name = self
            .by_name
            .get(&fold(&reference.name))
            .filter(|_| !reference.name.is_empty());
        match with_name.map(Vec::as_slice) {
            None => Ok(None),
            // A person of the same name with an unknown address or number is another person.
            Some(_) if !reference.emails.is_empty() || !reference.phones.is_empty() => Ok(None),
            Some([at]) => Ok(Some(*at)),
            Some(several) if self.kind == "company" => Ok(several.first().copied()),
            Some(several) => Err(format!(
                "{} {}s are named {:?}; add a column with their ids or e-mail addresses",
                several.len(),
                self.kind,
                reference.name
            )),
        }
    }

    /// Whether a record has this name, or the name is empty. Persons with different names may share a telephone.
    fn may_be_named(&self, at: usize, name: &str) -> bool {
        let named = || self.by_name.get(&fold(name));
        name.is_empty() || named().is_some_and(|places| places.contains(&at))
    }

    /// Adds a record and returns its index.
    ///
    /// # Errors
    /// A message, if another record has its id.
    pub fn add(
        &mut self,
        reference: &RowReference,
        mut fields: RecordFields,
        ids: &mut IdMap,
    ) -> Result<usize, String> {
        if !reference.id.is_empty() && self.by_id.contains_key(&reference.id) {
            return Err(format!("{} {} occurs twice", self.kind, reference.id));
        }
        let kept_id = ids.keep(self.kind, &reference.id)?;
        let id =
            kept_id.unwrap_or_else(|| ids.assign(self.kind, distinct_key(&mut self.keys, reference.key())));
        fields.insert("id".to_owned(), json!(id));
        let at = self.records.len();
        self.records.push(fields);
        if !reference.id.is_empty() {
            self.by_id.insert(reference.id.clone(), at);
        }
        for email in &reference.emails {
            self.by_email.entry(fold(email)).or_insert(at);
        }
        for phone in &reference.phones {
            self.by_phone.entry(phone.clone()).or_insert(at);
        }
        if !reference.name.is_empty() {
            self.by_name.entry(fold(&reference.name)).or_default().push(at);
        }
        Ok(at)
    }

    /// Adds the place of a row to the addresses and numbers in it.
    pub fn note(&mut self, reference: &RowReference, place: &str) {
        let emails = reference
            .emails
            .iter()
            .map(|email| format!("e-mail {}", fold(email)));
        let phones = reference.phones.iter().map(|phone| format!("phone {phone}"));
        for what in emails.chain(phones) {
            self.seen.entry(what).or_default().push(place.to_owned());
        }
    }

    /// The id of a record.
    pub fn id(&self, at: usize) -> u64 {
        self.records[at]
            .get("id")
            .and_then(Value::as_u64)
            .unwrap_or_default()
    }
}
