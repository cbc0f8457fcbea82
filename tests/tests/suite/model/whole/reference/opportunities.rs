use serde_json::{Value, json};

use super::board::place;
use super::claims::{Claimed, mismatch};
use super::{Asked, Record, Reference, Said, error, number, over, page, text};

impl Reference {
    pub fn add_opportunity(&mut self, line: &Value) {
        let [id, funnel, user] = ["id", "crm_id", "user"].map(|name| line[name].as_u64().expect("an id"));
        let made = over(self.made(id, funnel, user, line), line);
        self.last_opportunity = self.last_opportunity.max(id);
        self.opportunities.insert(id, made);
    }

    pub fn column_of(&self, funnel: u64, column: &Value) -> bool {
        let columns = self.funnels[&funnel]["columns"].as_array().expect("columns");
        columns.iter().any(|one| one["id"] == *column)
    }

    pub fn create_opportunity(&mut self, asked: &Asked<'_>) -> Said {
        let (by, body, funnel) = (asked.by, asked.body, asked.number("id", 0));
        let refused = |msg: String| (400, json!({ "msg": msg }));
        let claim = self.key_claim(asked);
        match self.claims.find(claim.as_ref(), &self.now) {
            Claimed::Free => {}
            Claimed::Other => return mismatch(asked),
            Claimed::Done(made) => {
                let one = self.opportunities[&made].clone();
                let seen = self.people.may(by, "editOpportunities")
                    && (self.people).sees_funnel(by, &self.funnels[&number(&one, "crm_id")])
                    && self.people.sees_opportunity(by, &one);
                if !seen {
                    return refused("the opportunity of this key is gone".to_owned());
                }
                self.replayed = true;
                return (200, self.shown(by, one, true));
            }
        }
        if !self.people.may(by, "editOpportunities") {
            return refused("editOpportunities: the user does not have this permission".to_owned());
        }
        if !self
            .funnels
            .get(&funnel)
            .is_some_and(|one| self.people.sees_funnel(by, one))
        {
            return refused(format!("id: funnel {funnel} does not exist"));
        }
        if !self.column_of(funnel, &body["crm_column"]) {
            return refused(format!(
                "crm_column: column {} is not one of funnel {funnel}",
                body["crm_column"]
            ));
        }
        let lead = body["lead_id"].as_u64().expect("an id");
        if self.seen_lead(by, lead).is_none() {
            return refused(format!("lead_id: lead {lead} does not exist"));
        }
        let user = body["user"].as_u64().unwrap_or(by);
        if !self.people.has(user) {
            return refused(format!("user: user {user} does not exist"));
        }
        self.last_opportunity += 1;
        let made = self.made(self.last_opportunity, funnel, user, body);
        self.opportunities.insert(self.last_opportunity, made.clone());
        self.claims.keep(claim, self.last_opportunity, &self.now);
        (200, self.shown(by, made, true))
    }

    /// C-95.
    pub fn opportunities_of(&self, asked: &Asked<'_>, lead: u64) -> Said {
        let by = asked.by;
        if self.seen_lead(by, lead).is_none() {
            return error(404);
        }
        let visible = |one: &&Record| {
            self.people.sees_opportunity(by, one)
                && (self.people).sees_funnel(by, &self.funnels[&number(one, "crm_id")])
        };
        let all = self.opportunities.values();
        let mut seen: Vec<_> = all
            .filter(|one| one["lead_id"] == json!(lead))
            .filter(visible)
            .collect();
        seen.sort_by_key(|one| std::cmp::Reverse(place(one)));
        let (nth, limit) = (
            asked.number("page", 1).max(1),
            asked.number("limit", u64::from(u32::MAX)),
        );
        let shown = page(seen, (nth - 1) * limit, limit).into_iter();
        let shown = shown.map(|one| {
            let mut view = self.shown(by, one.clone(), false);
            view["user"] = self.people.named(number(one, "user"));
            view["funnel_id"] = one["crm_id"].clone();
            view
        });
        (200, shown.collect())
    }

    pub fn made(&self, id: u64, funnel: u64, user: u64, body: &Value) -> Record {
        let (now, status) = (&self.now, body["status"].as_str().unwrap_or("open"));
        let date = |of: &str| if status == of { json!(now) } else { Value::Null };
        let made = json!({
            "id": id, "title": body["title"], "value": body["value"].as_str().unwrap_or("0.00"),
            "crm_column": body["crm_column"], "crm_id": funnel, "lead_id": body["lead_id"],
            "sequence": body["sequence"].as_u64().unwrap_or(0),
            "status": status, "loss_reason": null, "gain_reason": null, "expectedCloseDate": body["expectedCloseDate"],
            "sale_channel": null, "campaign": null, "user": user, "last_column_change": null,
            "last_status_change": null, "gain_date": date("gain"), "lost_date": date("lost"), "reopen_date": null,
            "await_column_approved": null, "await_column_approved_user": null, "reject_appro": null,
            "reject_appro_desc": null, "createDate": now, "updateDate": now, "archived": 0,
            "service_permission": "all", "service_permission_user": null, "service_permission_department": null,
            "service_permission_users": [], "service_permission_users_select": [],
            "service_permission_departments": [], "service_permission_departments_select": [],
            "dataCompany": null, "dataCompanyExtra": [], "files": [], "filesData": [], "conf_installment": [],
            "fields": body.get("fields").cloned().unwrap_or_else(|| json!({})),
        });
        match made {
            Value::Object(made) => made,
            _ => unreachable!("it is an object"),
        }
    }

    /// An opportunity in a response: with its current lead, the amount as number or text (C-33).
    pub fn shown(&self, by: u64, mut record: Record, is_number: bool) -> Value {
        record.insert("dataLead".to_owned(), self.embedded_lead(by, &record["lead_id"]));
        if is_number {
            let amount = text(&record, "value")
                .trim_end_matches('0')
                .trim_end_matches('.')
                .to_owned();
            let amount: Value = serde_json::from_str(&amount).expect("a number");
            record.insert("value".to_owned(), amount);
        }
        Value::Object(record)
    }

    pub fn update_opportunity(&mut self, asked: &Asked<'_>, id: u64) -> Said {
        let (by, body, funnel) = (asked.by, asked.body, asked.number("id", 0));
        let found = self
            .opportunities
            .get(&id)
            .filter(|one| number(one, "crm_id") == funnel);
        let Some(old) = found.filter(|one| self.people.sees_opportunity(by, one)) else {
            return error(400);
        };
        // The current lead need not be visible.
        let lead = body["lead_id"].as_u64();
        let linked =
            lead.is_none_or(|lead| old["lead_id"] == json!(lead) || self.seen_lead(by, lead).is_some());
        let placed = body
            .get("crm_column")
            .is_none_or(|column| self.column_of(funnel, column));
        let staffed = body["user"].as_u64().is_none_or(|user| self.people.has(user));
        let allowed =
            self.people.may(by, "editOpportunities") && self.people.sees_funnel(by, &self.funnels[&funnel]);
        if !(linked && placed && staffed && allowed) {
            return error(400);
        }
        let new = self.changed(old, body);
        self.opportunities.insert(id, new.clone());
        (
            200,
            json!({ "msg": "updated", "data": self.shown(by, new, true) }),
        )
    }

    /// C-31, C-32.
    fn changed(&self, old: &Record, body: &Value) -> Record {
        let (mut new, now) = (old.clone(), json!(self.now));
        let named = [
            "title",
            "value",
            "lead_id",
            "sequence",
            "user",
            "expectedCloseDate",
            "loss_reason",
            "gain_reason",
        ];
        for name in named.into_iter().filter(|name| body.get(name).is_some()) {
            new.insert(name.to_owned(), body[name].clone());
        }
        if let Some(archived) = body["archived"].as_bool() {
            new.insert("archived".to_owned(), json!(u8::from(archived)));
        }
        if body
            .get("crm_column")
            .is_some_and(|column| *column != old["crm_column"])
        {
            new.insert("crm_column".to_owned(), body["crm_column"].clone());
            new.insert("last_column_change".to_owned(), now.clone());
        }
        if let Some(status) = body["status"]
            .as_str()
            .filter(|status| *status != text(old, "status"))
        {
            let date = |of: &str| if status == of { now.clone() } else { Value::Null };
            for (name, value) in [
                ("status", json!(status)),
                ("last_status_change", now.clone()),
                ("gain_date", date("gain")),
                ("lost_date", date("lost")),
            ] {
                new.insert(name.to_owned(), value);
            }
            if status == "open" {
                new.insert("reopen_date".to_owned(), now.clone());
            }
        }
        for (name, value) in body["fields"].as_object().into_iter().flatten() {
            let fields = new["fields"].as_object_mut().expect("an object");
            match value {
                Value::Null => drop(fields.shift_remove(name)),
                value => drop(fields.insert(name.clone(), value.clone())),
            }
        }
        if new != *old {
            new.insert("updateDate".to_owned(), now);
        }
        new
    }
}
