use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use shared::phone::{self, Phone};
use shared::text::fold;

use super::{Asked, Record, Reference, Said, error, over, text};

const NOT_CUSTOM: [&str; 1] = ["kind"];

impl Reference {
    pub fn add_lead(&mut self, line: &Value) {
        let id = line["id"].as_u64().expect("an id");
        let mut lead = over(defaults(), line);
        lead.insert("_id".to_owned(), json!(format!("lead-{id}")));
        lead.insert("fullname".to_owned(), json!(fullname(&lead)));
        lead.insert("whatsapp".to_owned(), lead["chatapp"].clone());
        let fields = line.as_object().expect("a line").iter();
        let custom =
            fields.filter(|(name, _)| !lead.contains_key(*name) && !NOT_CUSTOM.contains(&name.as_str()));
        let custom = custom
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        self.last_lead = self.last_lead.max(id);
        self.customs.insert(id, custom);
        self.leads.insert(id, lead);
    }

    pub fn seen_lead(&self, by: u64, id: u64) -> Option<&Record> {
        self.leads.get(&id).filter(|lead| self.people.sees_lead(by, lead))
    }

    /// The lead embedded in an opportunity.
    pub fn embedded_lead(&self, by: u64, id: &Value) -> Value {
        let Some(id) = id.as_u64() else {
            return Value::Null;
        };
        let mut lead = self.leads[&id].clone();
        if !self.people.is_admin(by) {
            lead.insert("initial_password".to_owned(), Value::Null);
        }
        Value::Object(lead)
    }

    pub fn full(&self, by: u64, lead: &Record) -> Value {
        let mut full = self.embedded_lead(by, &lead["id"]);
        let custom = self.customs[&lead["id"].as_u64().expect("an id")].clone();
        full.as_object_mut().expect("a lead").extend(custom);
        full
    }

    /// The view of a lead for a request (C-21, C-22).
    fn view(&self, asked: &Asked<'_>, lead: &Record) -> Value {
        let query = asked.param("query");
        if query.is_empty() {
            return match asked.param("allFields") {
                "1" => self.full(asked.by, lead),
                _ => json!({ "id": lead["id"], "fullname": lead["fullname"], "email": lead["email"] }),
            };
        }
        let inner = query
            .rsplit_once("s{")
            .or_else(|| query.split_once("lead{"))
            .expect("a root")
            .1;
        let inner = inner.replace("owner{name}", "owner.name");
        let mut selected = Map::new();
        for field in inner.trim_end_matches('}').split(',') {
            match field {
                "owner.name" => {
                    let owner = lead["owner"].as_u64();
                    let shown = owner.map_or(Value::Null, |owner| json!({ "name": self.people.name(owner) }));
                    selected.insert("owner".to_owned(), shown);
                }
                _ => drop(selected.insert(field.to_owned(), lead[field].clone())),
            }
        }
        Value::Object(selected)
    }

    /// C-93: endpoint 1 with the parameters of a body.
    pub fn list_advanced(&self, asked: &Asked<'_>) -> Said {
        let body = asked.body;
        let page = body["page"].as_u64().expect("a page") + 1;
        let mut params: BTreeMap<_, _> =
            [("page", page.to_string()), ("limit", body["limit"].to_string())].into();
        params.insert("archived", body["showArchived"].to_string());
        for name in ["search", "query"] {
            let text = body[name].as_str().unwrap_or_default();
            params.insert(name, text.to_owned());
        }
        self.list_leads(&Asked {
            path: asked.path.clone(),
            params,
            ..*asked
        })
    }

    pub fn list_leads(&self, asked: &Asked<'_>) -> Said {
        let archived = json!(asked.param("archived") == "true");
        let (page, limit) = (asked.number("page", 1).max(1), asked.number("limit", 50));
        let found: Vec<_> = self
            .leads
            .values()
            .filter(|lead| lead["archived"] == archived && self.people.sees_lead(asked.by, lead))
            .filter(|lead| is_found(lead, asked.param("search")))
            .filter(|lead| has_tag(lead, asked.param("tag")))
            .collect();
        let total = found.len();
        let shown = super::page(found, (page - 1) * limit, limit).into_iter();
        let shown: Vec<_> = shown.map(|lead| self.view(asked, lead)).collect();
        let query = asked.param("query");
        if query.is_empty() || query.contains("total") {
            return (200, json!({ "data": { "total": total, "leads": shown } }));
        }
        (200, json!({ "data": { "leads": shown } }))
    }

    pub fn get_lead(&self, asked: &Asked<'_>, id: u64) -> Said {
        let found = self.seen_lead(asked.by, id);
        found.map_or_else(
            || error(404),
            |lead| (200, json!({ "data": { "lead": self.view(asked, lead) } })),
        )
    }

    pub fn delete_lead(&mut self, asked: &Asked<'_>, id: u64) -> Said {
        if !self.people.may(asked.by, "deleteLeads") {
            return error(403);
        }
        if self.seen_lead(asked.by, id).is_none() {
            return error(404);
        }
        self.forget(id);
        (200, json!({ "msg": "deleted", "data": { "id": id } }))
    }

    pub fn delete_leads(&mut self, asked: &Asked<'_>) -> Said {
        if !self.people.may(asked.by, "deleteLeads") {
            return error(403);
        }
        let (found, missing): (Vec<_>, Vec<_>) = ids(asked.body)
            .into_iter()
            .partition(|id| self.seen_lead(asked.by, *id).is_some());
        for id in &found {
            self.forget(*id);
        }
        (
            200,
            json!({ "msg": "deleted", "data": { "ids": found, "notFound": missing } }),
        )
    }

    /// Removes the person from all records (C-24).
    fn forget(&mut self, id: u64) {
        self.leads.remove(&id);
        self.customs.remove(&id);
        for opportunity in self
            .opportunities
            .values_mut()
            .filter(|one| one["lead_id"] == json!(id))
        {
            opportunity.insert("lead_id".to_owned(), Value::Null);
        }
        self.forget_tickets(id);
        self.forget_meetings(id);
    }

    pub fn archive(&mut self, asked: &Asked<'_>) -> Said {
        if !self.people.may(asked.by, "archiveLeads") {
            return error(403);
        }
        let wanted = ids(asked.body);
        let (found, missing): (Vec<_>, Vec<_>) = wanted
            .into_iter()
            .partition(|id| self.seen_lead(asked.by, *id).is_some());
        let shown: Vec<_> = found
            .iter()
            .map(|id| {
                let lead = self.leads.get_mut(id).expect("a lead");
                lead.insert("archived".to_owned(), asked.body["archived"].clone());
                json!({ "id": id, "fullname": lead["fullname"], "email": lead["email"], "archived": lead["archived"] })
            })
            .collect();
        match (asked.body["id"].is_u64(), shown.first()) {
            (true, None) => error(404),
            (true, Some(lead)) => (200, json!({ "data": { "lead": lead } })),
            _ => (200, json!({ "data": { "leads": shown, "notFound": missing } })),
        }
    }
}

/// The distinct ids of a body.
fn ids(body: &Value) -> Vec<u64> {
    let named = if body["ids"].is_array() {
        &body["ids"]
    } else {
        &body["id"]
    };
    let mut ids = Vec::new();
    for id in named.as_array().map_or_else(|| vec![named.clone()], Clone::clone) {
        let id = id.as_u64().expect("an id");
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    ids
}

fn has_tag(lead: &Record, tag: &str) -> bool {
    let tags = lead["tags"].as_array().expect("a list");
    tag.is_empty() || tags.iter().any(|one| *one == json!(tag.parse::<u64>().ok()))
}

/// Whether each word of a term begins a word of a text.
pub fn begins_words(text: &str, term: &str) -> bool {
    let (text, term) = (fold(text), fold(term));
    let begins = |word: &str| {
        let places = text.match_indices(word).map(|(at, _)| &text[..at]);
        let mut before = places.map(|before| before.chars().next_back());
        before.any(|last| last.is_none_or(|last| !last.is_alphanumeric()))
    };
    let words = term.split_whitespace();
    let words = words.map(|word| word.trim_start_matches(|c: char| !c.is_alphanumeric()));
    let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
    !words.is_empty() && words.iter().all(|word| begins(word))
}

/// Whether each word of a term begins a word of a lead's name or address, or the term is its id, one of its numbers or
/// the last four or more digits of one (C-20, C-43).
pub fn is_found(lead: &Record, term: &str) -> bool {
    let term = term.trim();
    let texts = format!("{} {}", text(lead, "fullname"), text(lead, "email"));
    let typed = phone::digits(term);
    let is_numeric = !term.chars().any(char::is_alphabetic) || phone::is_only_numbers(term);
    let dials = !typed.is_empty() && is_numeric;
    let wanted = phone::read(term);
    let numbered = |name: &&str| {
        phone::read(text(lead, name)).iter().any(|stored| {
            let ends = stored
                .phone
                .forms()
                .any(|form| typed.len() >= 4 && form.ends_with(&typed));
            let mut forms = wanted.iter().map(|wanted| &wanted.phone).flat_map(Phone::forms);
            ends || forms.any(|form| form == stored.phone.digits())
        })
    };
    term.is_empty()
        || begins_words(&texts, term)
        || lead["id"].as_u64().is_some_and(|id| id.to_string() == fold(term))
        || dials && ["phone", "mobile", "chatapp"].iter().any(numbered)
}

pub fn fullname(lead: &Record) -> String {
    let parts = ["firstname", "lastname"].map(|name| text(lead, name));
    parts
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

fn defaults() -> Record {
    let channel =
        json!({ "mainChannel": false, "disabled": false, "frequencyValue": null, "frequencyUnits": "DAY" });
    let lead = json!({
        "_id": null, "id": null, "fullname": null, "firstname": null, "lastname": null, "email": null, "phone": null,
        "chatapp": null, "mobile": null, "points": 0, "owner": null, "stage": null, "photoUrl": null, "company": null,
        "userAccess": [], "departmentAccess": [], "ignoreSubDepartments": false, "address": null, "city": null,
        "state": null, "country": null, "zipcode": null, "timezone": null, "archived": false,
        "acquisition_channel": null, "createDate": null, "lastActive": null, "createdBy": null, "createdByName": null,
        "createdByType": null, "updatedBy": null, "updatedByName": null, "updatedDate": null, "ips": [],
        "link_instancia": null, "preferred_locale": "pt-BR", "initial_password": null, "utmTags": [], "role": null,
        "department": null, "instance_active": "true", "lead_online": "false", "partner_instance": null, "whatsapp": null, "tags": [],
        "instancedomain": "acme", "channelRestrictions": {
            "social_photo": channel, "chatapp": channel, "email": channel, "social_chat": channel,
        },
    });
    match lead {
        Value::Object(lead) => lead,
        _ => unreachable!("it is an object"),
    }
}
