//! Random creations and updates (endpoints 7 and 8), and what the model makes of them.

use serde_json::{Map, Value, json};
use tests::sales::FIELDS;

use super::Bench;
use super::state::{FUNNELS, LEADS, SELLERS, sees, sees_funnel, text};

const STATUSES: [&str; 3] = ["open", "gain", "lost"];
const TITLES: [&str; 5] = [
    "Pedido",
    "Orçamento São João",
    "renovação ANUAL",
    "teste 7",
    "Çelik & filhos",
];

impl Bench {
    /// A body with random properties of those that both endpoints take.
    fn properties(&self, columns: &[u64], with_fields: bool) -> Map<String, Value> {
        let dice = &self.dice;
        let mut body = Map::new();
        let mut put = |percent, name: &str, value: Value| {
            if dice.chance(percent) {
                body.insert(name.to_owned(), value);
            }
        };
        put(40, "title", json!(dice.one(&TITLES)));
        put(
            50,
            "value",
            json!(format!("{}.{:02}", dice.below(90_000), dice.below(100))),
        );
        put(50, "crm_column", json!(dice.one(columns)));
        put(30, "lead_id", json!(dice.one(&LEADS)));
        put(20, "sequence", json!(dice.below(9)));
        put(50, "status", json!(dice.one(&STATUSES)));
        put(50, "user", json!(dice.one(&SELLERS)));
        put(
            40,
            "expectedCloseDate",
            json!(format!(
                "2026-{:02}-{:02}T0{}:30:00.000Z",
                1 + dice.below(12),
                1 + dice.below(28),
                dice.below(6)
            )),
        );
        if with_fields && dice.chance(60) {
            let mut fields = Map::new();
            for name in dice.some(&FIELDS) {
                let values = [
                    json!("Google"),
                    json!("google"),
                    json!("Indicação"),
                    json!(""),
                    json!(7),
                    json!(true),
                    json!(12.5),
                ];
                fields.insert(name.to_owned(), dice.one(&values).clone());
            }
            body.insert("fields".to_owned(), Value::Object(fields));
        }
        body
    }

    pub async fn create(&mut self) {
        let (funnel, columns) = *self.dice.one(&FUNNELS);
        let by = *self.dice.one(&SELLERS);
        let mut body = self.properties(columns, funnel == 3);
        for (name, value) in [
            ("title", json!("Pedido novo")),
            ("crm_column", json!(columns[0])),
            ("lead_id", json!(1001)),
        ] {
            body.entry(name).or_insert(value);
        }
        let uri = format!("/crmopportunity?id={funnel}&i=acme");
        let body = Value::Object(body);
        let answer = self
            .world
            .call("POST", &uri)
            .with(self.wallet(by))
            .json(&body)
            .send()
            .await;
        let lead = body["lead_id"].as_u64().expect("an id");
        let allowed = by != 15
            && sees_funnel(by, funnel)
            && (by != 9
                || self.model.leads[&lead]
                    .owner
                    .is_some_and(|owner| owner.get() == 9));
        self.log
            .push(format!("{by} creates {body} in {funnel}: {}", answer.status));
        if !allowed {
            assert_eq!(answer.status, 400, "{} {:?}", answer.body, self.log.last());
            return;
        }
        assert_eq!(answer.status, 200, "{} {:?}", answer.body, self.log.last());
        let made = self.made(funnel, by, &body, answer.body["id"].as_u64().expect("an id"));
        self.compare_record(&answer.body, &made, true);
        self.model
            .opportunities
            .insert(made["id"].as_u64().expect("an id"), made);
    }

    fn made(&self, funnel: u64, by: u64, body: &Value, id: u64) -> Map<String, Value> {
        let now = self.model.now.as_str();
        let status = body["status"].as_str().unwrap_or("open");
        let date = |of: &str| if status == of { json!(now) } else { Value::Null };
        let made = json!({
            "id": id, "title": body["title"], "value": amount(&body["value"]), "crm_column": body["crm_column"],
            "crm_id": funnel, "lead_id": body["lead_id"], "sequence": body["sequence"].as_u64().unwrap_or(0),
            "status": status, "loss_reason": null, "gain_reason": null, "expectedCloseDate": body["expectedCloseDate"],
            "sale_channel": null, "campaign": null, "user": body["user"].as_u64().unwrap_or(by),
            "last_column_change": null, "last_status_change": null, "gain_date": date("gain"), "lost_date": date("lost"),
            "reopen_date": null, "await_column_approved": null, "await_column_approved_user": null, "reject_appro": null,
            "reject_appro_desc": null, "createDate": now, "updateDate": now, "archived": 0, "service_permission": "all",
            "service_permission_user": null, "service_permission_department": null, "service_permission_users": [],
            "service_permission_users_select": [], "service_permission_departments": [],
            "service_permission_departments_select": [], "dataCompanyExtra": [],
            "fields": body.get("fields").cloned().unwrap_or_else(|| json!({})), "files": [], "filesData": [],
            "conf_installment": [],
        });
        match made {
            Value::Object(made) => made,
            _ => unreachable!("it is an object"),
        }
    }

    pub async fn update(&mut self) {
        let ids: Vec<_> = self.model.opportunities.keys().copied().collect();
        let id = *self.dice.one(&ids);
        let old = self.model.opportunities[&id].clone();
        let own = old["crm_id"].as_u64().expect("an id");
        let funnel = if self.dice.chance(95) { own } else { 7 - own };
        let (_, columns) = *FUNNELS.iter().find(|(id, _)| *id == own).expect("a funnel");
        let by = *self.dice.one(&SELLERS);
        let mut body = self.properties(columns, own == 3);
        if self.dice.chance(15) {
            body.insert("archived".to_owned(), json!(self.dice.chance(50)));
        }
        if self.dice.chance(15) {
            body.insert(
                "loss_reason".to_owned(),
                self.dice.one(&[json!("Preço"), Value::Null]).clone(),
            );
        }
        if self.dice.chance(10) {
            body.insert("expectedCloseDate".to_owned(), Value::Null);
        }
        if own == 3 && self.dice.chance(20) {
            let fields = body.entry("fields").or_insert_with(|| json!({}));
            fields[*self.dice.one(&FIELDS)] = Value::Null;
        }
        let body = Value::Object(body);
        let uri = format!("/crmopportunity/{id}?id={funnel}&i=acme");
        let answer = self
            .world
            .call("PUT", &uri)
            .with(self.wallet(by))
            .json(&body)
            .send()
            .await;
        self.log.push(format!(
            "{by} updates {id} in {funnel} with {body}: {}",
            answer.status
        ));
        // The lead that it has already need not be seen.
        let lead_seen = body.get("lead_id").is_none_or(|lead| {
            *lead == old["lead_id"]
                || by != 9
                || self.model.leads[&lead.as_u64().expect("an id")]
                    .owner
                    .is_some_and(|owner| owner.get() == 9)
        });
        let allowed = by != 15 && funnel == own && sees_funnel(by, own) && sees(by, &old) && lead_seen;
        if !allowed {
            assert_eq!(
                (answer.status.as_u16(), &answer.body),
                (400, &json!({ "error": "Invalid request" })),
                "{:?}",
                self.log.last()
            );
            return;
        }
        assert_eq!(
            (answer.status.as_u16(), &answer.body["msg"]),
            (200, &json!("updated")),
            "{:?}",
            self.log.last()
        );
        let new = self.updated(&old, &body);
        self.compare_record(&answer.body["data"], &new, true);
        self.model.opportunities.insert(id, new);
    }

    fn updated(&self, old: &Map<String, Value>, body: &Value) -> Map<String, Value> {
        let now = json!(self.model.now);
        let mut new = old.clone();
        for name in [
            "title",
            "lead_id",
            "sequence",
            "user",
            "expectedCloseDate",
            "loss_reason",
        ] {
            if let Some(value) = body.get(name) {
                new.insert(name.to_owned(), value.clone());
            }
        }
        if let Some(value) = body.get("value") {
            new.insert("value".to_owned(), amount(value));
        }
        if let Some(archived) = body.get("archived") {
            new.insert("archived".to_owned(), json!(u8::from(*archived == json!(true))));
        }
        if let Some(column) = body
            .get("crm_column")
            .filter(|column| **column != old["crm_column"])
        {
            new.insert("crm_column".to_owned(), column.clone());
            new.insert("last_column_change".to_owned(), now.clone());
        }
        if let Some(status) = body["status"]
            .as_str()
            .filter(|status| *status != text(old, "status"))
        {
            new.insert("status".to_owned(), json!(status));
            new.insert("last_status_change".to_owned(), now.clone());
            let date = |of: &str| if status == of { now.clone() } else { Value::Null };
            new.insert("gain_date".to_owned(), date("gain"));
            new.insert("lost_date".to_owned(), date("lost"));
            if status == "open" {
                new.insert("reopen_date".to_owned(), now.clone());
            }
        }
        for (name, value) in body["fields"].as_object().into_iter().flatten() {
            let fields = new["fields"].as_object_mut().expect("an object");
            if value.is_null() {
                fields.shift_remove(name);
            } else {
                fields.insert(name.clone(), value.clone());
            }
        }
        if new != *old {
            new.insert("updateDate".to_owned(), now);
        }
        new
    }

    /// Requires that an answer's record is the model's, with its lead embedded as it is now.
    pub fn compare_record(&self, answer: &Value, expected: &Map<String, Value>, numeric: bool) {
        let mut shown = answer.as_object().expect("a record").clone();
        let lead = shown.shift_remove("dataLead").expect("an embedded lead");
        shown.shift_remove("dataCompany");
        let mut expected = expected.clone();
        if numeric {
            let value = text(&expected, "value").parse::<f64>().expect("a number");
            assert_eq!(shown["value"].as_f64(), Some(value), "{:?}", self.log.last());
            expected.insert("value".to_owned(), shown["value"].clone());
        }
        assert_eq!(
            Value::Object(shown),
            Value::Object(expected.clone()),
            "{:?}",
            self.log.last()
        );
        let id = expected["lead_id"].as_u64().expect("an id");
        let known = &self.model.leads[&id];
        assert_eq!(
            (
                &lead["id"],
                &lead["fullname"],
                &lead["email"],
                &lead["lastActive"]
            ),
            (
                &json!(id),
                &json!(known.fullname()),
                &json!(known.email),
                &json!(self.model.last_active[&id])
            ),
            "{:?}",
            self.log.last()
        );
    }
}

/// An amount as lists show it.
fn amount(sent: &Value) -> Value {
    json!(sent.as_str().unwrap_or("0.00"))
}
