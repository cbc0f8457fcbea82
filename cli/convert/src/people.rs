//! The users of a conversion.

use std::collections::{BTreeMap, HashMap, HashSet};

use domain::people::User;
use domain::text::fold;
use serde_json::{Map, Value, json};

use super::ids::IdMap;
use super::names;
use super::token::people;

/// The fields of a record.
pub type RecordFields = Map<String, Value>;

/// The owners of records.
#[derive(Debug, Default)]
pub struct Owners {
    /// New users by id.
    records: BTreeMap<u64, RecordFields>,
    by_email: HashMap<String, u64>,
    by_name: HashMap<String, u64>,
    /// Names in cells of the run.
    written: HashSet<String>,
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
        let name = name.map(|name| self.without_remark(name));
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

    /// Notes the name in a cell.
    pub fn note_name(&mut self, cell: &str) {
        self.written.insert(fold(cell));
    }

    /// The name without a remark such as `(inativo)`, if another cell has it so.
    fn without_remark(&self, name: String) -> String {
        let parts = name.strip_suffix(')').and_then(|text| text.rsplit_once(" ("));
        let own = parts
            .filter(|(_, remark)| names::is_former(remark))
            .map(|(own, _)| own);
        let is_known = |own: &&str| {
            let own = fold(own);
            self.written.contains(&own) || self.by_name.contains_key(&own)
        };
        own.filter(is_known).map(str::to_owned).unwrap_or(name)
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
