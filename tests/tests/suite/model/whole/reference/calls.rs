//! Endpoint 19, and automations for calls (C-76).

use serde_json::{Value, json};
use shared::phone::Phone;

use super::claims::{Claimed, mismatch};
use super::phones::{lines, rank};
use super::{Asked, Reference, Said, text};

/// A call.
#[derive(Debug, Clone)]
pub struct Call {
    pub date: String,
    pub kind: String,
    user: u64,
    lead: Option<u64>,
}

impl Reference {
    pub fn call(&mut self, asked: &Asked<'_>) -> Said {
        let data = &asked.body["data"];
        let claim = self.key_claim(asked);
        match self.claims.find(claim.as_ref(), &self.now) {
            Claimed::Free => {}
            Claimed::Other => return mismatch(asked),
            Claimed::Done(id) => {
                self.replayed = true;
                return (201, json!({ "msg": "created", "id": id }));
            }
        }
        let user = data["user"].as_u64().expect("a user");
        if !self.people.has(user) {
            let err = json!({ "instancePath": "/data/user", "keyword": "exists", "message": "must be the id of an existing user" });
            return (400, json!({ "msg": "invalid_body", "err": err }));
        }
        let phone = data["leadPhone"].as_str().expect("a number");
        let lead = match data["lead"].as_u64() {
            Some(lead) => self.leads.contains_key(&lead).then_some(lead),
            None => self.called(phone),
        };
        if let Some(lead) = lead {
            self.touch(lead);
        }
        let kind = data["type"].as_str().expect("a type").to_owned();
        let raises =
            kind == "INCOMING" && lead.is_some_and(|lead| self.leads[&lead]["archived"] == json!(false));
        self.calls.push(Call {
            date: self.now.clone(),
            kind,
            user,
            lead,
        });
        let id = u64::try_from(self.calls.len()).expect("small");
        if raises {
            self.raised.push(id);
        }
        self.claims.keep(claim, id, &self.now);
        (201, json!({ "msg": "created", "id": id }))
    }

    /// The lead of a number (C-72: exact before twin, not archived before archived, then the lowest id).
    pub fn owner_of(&self, phone: &Phone) -> Option<u64> {
        let found = self.leads.iter().filter_map(|(id, lead)| {
            let numbers = ["phone", "mobile", "chatapp"].map(|name| text(lead, name));
            let ranks = numbers.into_iter().filter_map(|number| rank(phone, number));
            let rank = ranks.min()?;
            Some((rank, lead["archived"] == json!(true), *id))
        });
        found.min().map(|(_, _, id)| id)
    }

    /// The lead of one of the numbers, or a new one (C-73); `None` if none can be somebody's.
    fn called(&mut self, phone: &str) -> Option<u64> {
        let (phones, written) = lines(phone);
        if let Some(id) = phones.iter().find_map(|phone| self.owner_of(phone)) {
            return Some(id);
        }
        let (first, number) = (phones.first()?, written?);
        let known = self
            .profiles
            .iter()
            .filter_map(|(number, profile)| Some((rank(first, number)?, profile)));
        let profile = known.min_by_key(|(rank, _)| *rank).map(|(_, profile)| profile);
        // A foreign number keeps its `+` if it would be read as Brazilian without.
        let is_same = Phone::of(&number).as_ref() == Some(first);
        let kept = if is_same {
            number.clone()
        } else {
            format!("+{number}")
        };
        let (name, photo) = profile.map_or((json!(number), Value::Null), |profile| {
            (profile["name"].clone(), profile["photoUrl"].clone())
        });
        Some(self.make_lead(
            json!({ "firstname": name, "phone": kept, "photoUrl": photo, "acquisition_channel": "VoIP",
            "createdByType": "voip" }),
        ))
    }

    /// The calls with pending automations.
    pub fn raised(&self) -> Vec<u64> {
        self.raised.clone()
    }

    /// Adds points and an opportunity of the call's user for each call's lead, once; then refreshes reports.
    pub fn tend(&mut self) {
        for call in std::mem::take(&mut self.raised) {
            let call = self.calls[usize::try_from(call - 1).expect("small")].clone();
            let Some(lead) = call.lead.and_then(|lead| self.leads.get_mut(&lead)) else {
                continue;
            };
            lead["points"] = json!(lead["points"].as_u64().expect("points") + 5);
            // No user made the change.
            for name in ["updatedBy", "updatedByName"] {
                lead.insert(name.to_owned(), Value::Null);
            }
            let body = json!({ "title": "Ligou", "crm_column": 41, "lead_id": call.lead });
            self.last_opportunity += 1;
            let made = self.made(self.last_opportunity, 4, call.user, &body);
            self.opportunities.insert(self.last_opportunity, made);
        }
        self.refresh_reports();
    }

    /// C-73: a call or a booking sets a lead's last activity.
    pub fn touch(&mut self, lead: u64) {
        let now = json!(self.now);
        if let Some(lead) = self.leads.get_mut(&lead) {
            lead.insert("lastActive".to_owned(), now);
        }
    }

    /// A lead created by a call or a booking.
    pub fn make_lead(&mut self, mut fields: Value) -> u64 {
        self.last_lead += 1;
        fields["id"] = json!(self.last_lead);
        fields["createDate"] = json!(self.now);
        fields["lastActive"] = json!(self.now);
        self.add_lead(&fields);
        self.last_lead
    }
}
