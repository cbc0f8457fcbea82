//! `POST /api/hook/{name}` (C-101).

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use shared::phone::identifying;

use super::claims::{Claim, Claimed, mismatch};
use super::lead_edits::invalid;
use super::leads::fullname;
use super::{Asked, Record, Reference, Said, error};

/// The fields of a lead that forms set, by which one of them is named at first.
const FIELDS: [&str; 13] = [
    "firstname",
    "lastname",
    "email",
    "phone",
    "mobile",
    "chatapp",
    "address",
    "city",
    "state",
    "country",
    "zipcode",
    "timezone",
    "preferred_locale",
];
const NAMING: usize = 6;

/// The values that reach the lead.
#[derive(Default)]
struct AcceptedFields {
    fields: Record,
    custom: Record,
    utm: Record,
    /// By the names of the form's fields.
    values: BTreeMap<String, Value>,
}

impl Reference {
    pub fn submit(&mut self, asked: &Asked<'_>, name: &str) -> Said {
        let presented = asked.param("access_token");
        let is_it =
            |hook: &&Value| hook["name"] == name && hook["token"] == presented && hook["active"] != false;
        let Some(hook) = self.hooks.iter().find(is_it).cloned() else {
            return error(404);
        };
        let query = asked.params.iter().filter(|(name, _)| **name != "access_token");
        let mut sent: Record = query
            .map(|(name, value)| ((*name).to_owned(), json!(value)))
            .collect();
        sent.extend(asked.body.as_object().expect("an object").clone());
        let fields = match taken(&hook, &sent) {
            Ok(fields) => fields,
            Err(details) => return invalid(&details),
        };
        let claim = asked.key.map(|key| {
            let name = format!("{} {} {key}", asked.path[0], hook["id"]);
            Claim::new(name, Value::Object(sent.clone()).to_string())
        });
        let content = fields.is_of_person().then(|| {
            let name = format!("form {} {}", hook["id"], json!(fields.values));
            Claim::new(name, String::new())
        });
        let earlier = match self.claims.find(claim.as_ref(), &self.now) {
            Claimed::Other => return mismatch(asked),
            Claimed::Done(lead) => Some(lead),
            Claimed::Free => match self.claims.find(content.as_ref(), &self.now) {
                Claimed::Done(lead) => Some(lead),
                _ => None,
            },
        };
        let earlier = earlier.filter(|lead| self.leads.contains_key(lead));
        self.replayed = earlier.is_some() && asked.key.is_some();
        let lead = earlier.unwrap_or_else(|| {
            let unique = hook["unique"].to_string();
            let found = self.existing(&unique, &Value::Object(fields.fields.clone()));
            let lead = found.unwrap_or_else(|| {
                self.make_lead(json!({ "createdByType": "form",
                    "preferred_locale": fields.fields.get("preferred_locale").unwrap_or(&json!("pt-BR")) }))
            });
            self.complete(lead, &hook, &fields);
            self.touch(lead);
            self.claims.keep(claim, lead, &self.now);
            self.claims.keep(content, lead, &self.now);
            lead
        });
        // An equal submission is no second event, and yet the lead is wanted again.
        if let Some(found) = self.leads.get_mut(&lead) {
            found.insert("archived".to_owned(), json!(false));
        }
        self.open(lead, &hook, earlier.is_some());
        (200, json!({ "msg": "received", "data": { "lead": lead } }))
    }

    /// Adds what a lead lacks, but no number or address of another lead, and restores it.
    fn complete(&mut self, id: u64, hook: &Value, taken: &AcceptedFields) {
        let is_of_other = |name: &String, value: &Value| {
            let unique = match name.as_str() {
                "phone" | "mobile" | "chatapp" => "phone",
                "email" => "email",
                _ => return false,
            };
            let found = self.existing(unique, &json!({ (name): value }));
            found.is_some_and(|found| found != id)
        };
        let is_new =
            self.leads[&id]["createDate"] == json!(self.now) && is_blank(&self.leads[&id]["firstname"]);
        let others: Vec<_> = taken
            .fields
            .iter()
            .filter(|(name, value)| !is_new && is_of_other(name, value))
            .map(|(name, _)| name.clone())
            .collect();
        let lead = self.leads.get_mut(&id).expect("a lead");
        lead.insert("archived".to_owned(), json!(false));
        for (name, value) in &taken.fields {
            if is_blank(&lead[name]) && !others.contains(name) {
                lead.insert(name.clone(), value.clone());
            }
        }
        if lead["owner"].is_null() {
            lead.insert("owner".to_owned(), hook["owner"].clone());
        }
        let custom = self.customs.get_mut(&id).expect("a lead");
        for (name, value) in &taken.custom {
            let held = custom.entry(name.clone()).or_insert(Value::Null);
            if is_blank(held) {
                held.clone_from(value);
            }
        }
        let tags = hook["tags"].as_array().into_iter().flatten().cloned();
        let utm = (!taken.utm.is_empty()).then(|| Value::Object(taken.utm.clone()));
        for (list, value) in tags
            .map(|tag| ("tags", tag))
            .chain(utm.map(|utm| ("utmTags", utm)))
        {
            let list = lead[list].as_array_mut().expect("a list");
            if !list.contains(&value) && list.len() < 50 {
                list.push(value);
            }
        }
        lead.insert("fullname".to_owned(), json!(fullname(lead)));
        lead.insert("whatsapp".to_owned(), lead["chatapp"].clone());
    }

    /// Makes the opportunity, unless the lead has an open one. An equal submission makes none for 24 hours after one of the
    /// lead was handled.
    fn open(&mut self, id: u64, hook: &Value, is_equal: bool) {
        let (wanted, lead) = (&hook["opportunity"], self.leads.get(&id));
        let Some(lead) = lead.filter(|_| wanted.is_object()) else {
            return;
        };
        let claim = Some(Claim::new(format!("form opportunity {id}"), String::new()));
        let is_handled = matches!(self.claims.find(claim.as_ref(), &self.now), Claimed::Done(_));
        let is_open = |one: &&Record| {
            one["lead_id"] == json!(id)
                && one["status"] == "open"
                && one["archived"] == json!(0)
                && one["crm_id"] == json!(3)
        };
        if self.opportunities.values().any(|one| is_open(&one)) {
            if !is_handled {
                self.claims.keep(claim, id, &self.now);
            }
            return;
        }
        if is_handled && is_equal {
            return;
        }
        // User 7 has the lowest id.
        let user = hook["owner"].as_u64().or(lead["owner"].as_u64()).unwrap_or(7);
        let body = json!({ "title": wanted["title"], "crm_column": wanted["column"], "lead_id": id,
            "value": wanted["value"] });
        self.last_opportunity += 1;
        let made = self.made(self.last_opportunity, 3, user, &body);
        self.opportunities.insert(self.last_opportunity, made);
        self.claims.keep(claim, self.last_opportunity, &self.now);
    }
}

/// The values that a form takes of what was sent, or the details of the refusal.
fn taken(hook: &Value, sent: &Record) -> Result<AcceptedFields, String> {
    let listed = hook["fields"].as_array().expect("fields").clone();
    let fields = match listed.len() {
        0 => {
            let names = FIELDS.iter().chain(&["whatsapp"]);
            names.map(|name| json!({ "name": name })).collect()
        }
        _ => listed,
    };
    let mut taken = AcceptedFields::default();
    for field in fields {
        let name = field["name"].as_str().expect("a name");
        let Some(value) = sent.get(name).filter(|value| !is_blank(value)) else {
            if field["required"] == true {
                return Err(format!("{name}: is required"));
            }
            continue;
        };
        let to = field["to"].as_str().unwrap_or(name);
        let is_fixed = to == "whatsapp" || FIELDS.contains(&to);
        let kept = if is_fixed { text(value) } else { trimmed(value) };
        taken.values.insert(name.to_owned(), kept);
        match to {
            "whatsapp" => {
                let other = taken.fields.insert("chatapp".to_owned(), text(value));
                if other.is_some_and(|other| other != text(value)) {
                    return Err("whatsapp: must be the same as chatapp".to_owned());
                }
            }
            to if FIELDS.contains(&to) => drop(taken.fields.insert(to.to_owned(), text(value))),
            to => drop(taken.custom.insert(to.to_owned(), trimmed(value))),
        }
    }
    let utm = sent
        .iter()
        .filter(|(name, value)| name.starts_with("utm_") && !is_blank(value));
    taken.utm = utm
        .map(|(name, value)| (name.clone(), trimmed(value)))
        .collect::<Map<_, _>>();
    let is_named = FIELDS[..NAMING]
        .iter()
        .any(|name| taken.fields.contains_key(*name));
    let rule = "body: must have a firstname, lastname, email, phone, mobile or chatapp";
    is_named.then_some(taken).ok_or_else(|| rule.to_owned())
}

impl AcceptedFields {
    /// Whether an address or a number tells who sent them.
    fn is_of_person(&self) -> bool {
        let numbers = ["phone", "mobile", "chatapp"]
            .iter()
            .filter_map(|name| self.fields.get(*name)?.as_str());
        let is_unique = |text: &str| identifying(text).iter().any(|read| read.phone.is_unique());
        self.fields.contains_key("email") || numbers.into_iter().any(is_unique)
    }
}

fn trimmed(value: &Value) -> Value {
    value
        .as_str()
        .map_or_else(|| value.clone(), |text| json!(text.trim()))
}

fn text(value: &Value) -> Value {
    json!(
        value
            .as_str()
            .map_or_else(|| value.to_string(), |text| text.trim().to_owned())
    )
}

fn is_blank(value: &Value) -> bool {
    value.is_null() || value.as_str().is_some_and(|text| text.trim().is_empty())
}
