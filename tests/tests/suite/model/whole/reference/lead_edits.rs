//! `POST /leads` and `PUT /leads` (C-91, C-92).

use serde_json::{Value, json};
use shared::lead::same_email;

use super::claims::{Claimed, mismatch};
use super::leads::fullname;
use super::phones::lines;
use super::{Asked, Record, Reference, Said, error, text};

const NUMBERS: [&str; 3] = ["phone", "mobile", "chatapp"];

pub fn invalid(details: &str) -> Said {
    (400, json!({ "error": "Invalid request", "details": details }))
}

/// Texts are trimmed (C-108).
fn trim(value: &mut Value) {
    if let Some(text) = value.as_str() {
        *value = json!(text.trim());
    }
}

impl Reference {
    pub fn create_lead(&mut self, asked: &Asked<'_>) -> Said {
        let by = asked.by;
        let claim = self.key_claim(asked);
        match self.claims.find(claim.as_ref(), &self.now) {
            Claimed::Free => {}
            Claimed::Other => return mismatch(asked),
            Claimed::Done(made) => {
                let lead = self.leads.get(&made);
                let own = |lead: &&Record| self.people.sees_lead(by, lead);
                if !self.people.may(by, "editLeads") {
                    return error(403);
                }
                let Some(lead) = lead.filter(own).cloned() else {
                    return error(404);
                };
                self.replayed = true;
                return (200, self.full(by, &lead));
            }
        }
        if !self.people.may(by, "editLeads") {
            return error(403);
        }
        let mut fields = asked.body.clone();
        let given = fields.as_object_mut().expect("an object");
        given.values_mut().for_each(trim);
        given.retain(|_, value| !value.is_null() && *value != json!(""));
        if let Some(refused) = self.unknown(&fields) {
            return refused;
        }
        if let Some(id) = self.existing(asked.param("unique"), &fields) {
            let lead = self.leads[&id].clone();
            if !self.people.sees_lead(by, &lead) {
                return (409, json!({ "error": "Conflict" }));
            }
            self.claims.keep(claim, id, &self.now);
            return (200, self.full(by, &lead));
        }
        if fields["owner"].is_null() && self.people.is_limited(by) {
            fields["owner"] = json!(by);
        }
        fields["createdBy"] = json!(by);
        fields["createdByName"] = json!(self.people.name(by));
        fields["createdByType"] = json!("user");
        let made = self.make_lead(fields);
        self.claims.keep(claim, made, &self.now);
        (200, self.full(by, &self.leads[&made]))
    }

    /// The lead with one of the numbers, in their order, else with the address.
    pub fn existing(&self, unique: &str, fields: &Value) -> Option<u64> {
        let texts = NUMBERS.iter().filter_map(|name| fields[*name].as_str());
        let numbers = texts
            .flat_map(|text| lines(text).0)
            .filter(shared::phone::Phone::is_unique);
        let mut numbers = numbers.filter(|_| unique.contains("phone"));
        let called = numbers.find_map(|number| self.owner_of(&number));
        let email = fields["email"].as_str().filter(|_| unique.contains("email"));
        called.or_else(|| {
            let email = same_email(email?)?;
            let is_same = |lead: &Record| same_email(text(lead, "email")).as_ref() == Some(&email);
            let same = self.leads.iter().filter(|(_, lead)| is_same(lead));
            same.map(|(id, lead)| (lead["archived"] == json!(true), *id))
                .min()
                .map(|(_, id)| id)
        })
    }

    fn unknown(&self, fields: &Value) -> Option<Said> {
        let owner = fields["owner"]
            .as_u64()
            .filter(|owner| !self.people.has(*owner))?;
        Some(invalid(&format!("owner: user {owner} does not exist")))
    }

    pub fn update_lead(&mut self, asked: &Asked<'_>, id: u64) -> Said {
        let (by, body) = (asked.by, asked.body);
        if !self.people.may(by, "editLeads") {
            return error(403);
        }
        let Some(stored) = self.seen_lead(by, id).cloned() else {
            return error(404);
        };
        if let Some(refused) = self.unknown(body) {
            return refused;
        }
        let (mut lead, mut custom) = (stored.clone(), self.customs[&id].clone());
        for (name, value) in body.as_object().expect("an object") {
            let mut value = value.clone();
            trim(&mut value);
            let keeps = NUMBERS.contains(&name.as_str()) || name == "email";
            match name.as_str() {
                "id" => {}
                _ if keeps && value == json!("") => {}
                "archived" if value != lead["archived"] && !self.people.may(by, "archiveLeads") => {
                    return error(403);
                }
                _ if lead.contains_key(name) => drop(lead.insert(name.clone(), value.clone())),
                _ if value.is_null() => drop(custom.shift_remove(name)),
                _ => drop(custom.insert(name.clone(), value.clone())),
            }
        }
        lead.insert("fullname".to_owned(), json!(fullname(&lead)));
        lead.insert("whatsapp".to_owned(), lead["chatapp"].clone());
        if lead != stored || custom != self.customs[&id] {
            lead.insert("updatedBy".to_owned(), json!(by));
            lead.insert("updatedByName".to_owned(), json!(self.people.name(by)));
            lead.insert("updatedDate".to_owned(), json!(self.now));
        }
        self.leads.insert(id, lead.clone());
        self.customs.insert(id, custom);
        (200, json!({ "msg": "updated", "data": self.full(by, &lead) }))
    }
}
