use serde_json::{Value, json};

use super::{Asked, Record, Reference, Said, error, over, text};

/// Fields that a ticket loses when its lead is deleted (C-24).
const PERSONAL: [&str; 8] = [
    "lead_relation",
    "name",
    "lead_name",
    "name_contact",
    "recipientid",
    "photo",
    "photo_larger",
    "photo_store",
];

fn text_id(id: &Value) -> u64 {
    id.as_str().expect("text").parse().expect("an id")
}

impl Reference {
    pub fn add_ticket(&mut self, line: &Value) {
        let names = [
            "id",
            "status",
            "attendant",
            "attendantName",
            "userAttendance",
            "userClient",
            "department",
            "name",
            "lead_name",
            "name_contact",
            "startDate",
            "endDate",
            "star",
            "evaluation",
            "chatGroup",
            "isGroup",
            "type",
            "recipientid",
            "accid",
            "photo",
            "photo_larger",
            "photo_store",
            "obs",
            "lead_relation",
            "post_id",
            "page_id",
            "comment_id",
            "comment_txt",
            "chatapp_acc",
            "chatapp_number",
            "chatapp_oficial",
            "lastMesssageUser",
            "lastMesssageAttendance",
            "pin",
            "archive",
            "opportunity",
            "createDate",
            "updateDate",
            "createDateUnix",
            "updateDateUnix",
            "lastMesssageUserUnix",
        ];
        let mut defaults: Record = names
            .iter()
            .map(|name| ((*name).to_owned(), Value::Null))
            .collect();
        defaults.insert("unread".to_owned(), json!(0));
        defaults.insert("sequence".to_owned(), json!(0));
        let mut ticket = over(defaults, line);
        for name in ["createDate", "updateDate"] {
            let date = tests::world::at(text(&ticket, name)).unix_seconds();
            ticket.insert(format!("{name}Unix"), json!(date));
        }
        self.tickets.insert(line["id"].as_u64().expect("an id"), ticket);
    }

    pub fn forget_tickets(&mut self, lead: u64) {
        for ticket in self
            .tickets
            .values_mut()
            .filter(|one| one["lead_relation"] == json!(lead))
        {
            for name in PERSONAL {
                ticket.insert(name.to_owned(), Value::Null);
            }
        }
    }

    /// The visible tickets of a lead, newest first.
    fn tickets_of(&self, by: u64, lead: u64) -> Option<Vec<&Record>> {
        self.seen_lead(by, lead)?;
        let tickets = self
            .tickets
            .values()
            .filter(|one| one["lead_relation"] == json!(lead));
        let mut tickets: Vec<_> = tickets.collect();
        tickets.sort_by_key(|one| std::cmp::Reverse(text(one, "createDate").to_owned()));
        self.people.may(by, "tickets").then_some(tickets)
    }

    pub fn list_tickets(&self, asked: &Asked<'_>, lead: u64) -> Said {
        self.tickets_of(asked.by, lead)
            .map_or_else(|| error(400), |tickets| (200, json!(tickets)))
    }

    pub fn files_of_lead(&self, asked: &Asked<'_>, lead: u64) -> Said {
        let Some(mut tickets) = self.tickets_of(asked.by, lead) else {
            return error(400);
        };
        tickets.reverse();
        let files = tickets
            .into_iter()
            .flat_map(|ticket| self.files_in(&ticket["id"]));
        (200, files.collect())
    }

    pub fn files_of_ticket(&self, asked: &Asked<'_>, id: u64) -> Said {
        match self.seen_ticket(asked.by, id) {
            Some(_) => (200, self.files_in(&json!(id)).collect()),
            None => error(400),
        }
    }

    fn seen_ticket(&self, by: u64, id: u64) -> Option<&Record> {
        let ticket = self.tickets.get(&id)?;
        // A ticket without a lead is visible to viewers of all leads (C-82).
        let seen = match ticket["lead_relation"].as_u64() {
            Some(lead) => self.seen_lead(by, lead).is_some(),
            None => self.people.reach(by, "leads") == "all",
        };
        (seen && self.people.may(by, "tickets")).then_some(ticket)
    }

    /// C-100.
    pub fn reassign(&mut self, asked: &Asked<'_>) -> Said {
        let lead = asked.body["lead"].as_u64().expect("an id");
        let id = text_id(&asked.body["attendance"]);
        let Some(new) = self.seen_lead(asked.by, lead) else {
            return error(400);
        };
        let name = new["fullname"].clone();
        let Some(mut ticket) = self.seen_ticket(asked.by, id).cloned() else {
            return error(400);
        };
        if ticket["lead_relation"] != json!(lead) {
            let now = tests::world::at(&self.now).unix_seconds();
            let named = if ticket["lead_name"].is_null() {
                Value::Null
            } else {
                name
            };
            for (field, value) in [
                ("lead_relation", json!(lead)),
                ("lead_name", named),
                ("updateDate", json!(self.now)),
                ("updateDateUnix", json!(now)),
            ] {
                ticket.insert(field.to_owned(), value);
            }
            self.tickets.insert(id, ticket.clone());
        }
        (200, json!({ "msg": "updated", "data": ticket }))
    }

    fn files_in(&self, ticket: &Value) -> impl Iterator<Item = Value> {
        let files = self.files.iter().filter(move |file| file["ticket"] == *ticket);
        files.map(|file| {
            let mut file = file.clone();
            file.shift_remove("kind");
            file.shift_remove("ticket");
            Value::Object(file)
        })
    }
}
