use serde_json::{Map, Value, json};

use super::super::op::{Ask, Op};
use super::super::setup::{FIELDS, FUNNELS};
use super::{Maker, Request, TERMS};

impl Maker<'_> {
    /// Properties that endpoints 7 and 8 accept.
    fn properties(&self, columns: &[u64]) -> Map<String, Value> {
        let dice = self.dice;
        let mut body = Map::new();
        let mut put = |percent, name: &str, value: Value| {
            if dice.chance(percent) {
                body.insert(name.to_owned(), value);
            }
        };
        put(
            40,
            "title",
            json!(dice.one(&[
                "Pedido",
                "Orçamento São João",
                "renovação ANUAL 7",
                "Çelik & filhos"
            ])),
        );
        put(
            50,
            "value",
            json!(format!("{}.{:02}", dice.below(90_000), dice.below(100))),
        );
        put(50, "crm_column", json!(dice.one(columns)));
        put(40, "lead_id", json!(self.lead()));
        put(50, "status", json!(dice.one(&["open", "gain", "lost"])));
        put(40, "user", json!(dice.one(&[7, 8, 9, 10, 11, 12, 13, 99])));
        put(20, "sequence", json!(dice.below(9)));
        let close = format!(
            "2026-{:02}-{:02}T0{}:30:00.000Z",
            1 + dice.below(12),
            1 + dice.below(28),
            dice.below(6)
        );
        put(40, "expectedCloseDate", json!(close));
        body
    }

    pub fn creation(&self) -> Request {
        let (funnel, columns) = *self.dice.one(&FUNNELS);
        let mut body = self.properties(columns);
        for (name, value) in [
            ("title", json!("Pedido novo")),
            ("crm_column", json!(columns[0])),
            ("lead_id", json!(self.lead())),
        ] {
            body.entry(name).or_insert(value);
        }
        if self.dice.chance(5) {
            body["crm_column"] = json!(99);
        }
        self.add_fields(funnel, &mut body, false);
        (
            "POST",
            format!("/crmopportunity?id={funnel}"),
            Value::Object(body),
        )
    }

    fn add_fields(&self, funnel: u64, body: &mut Map<String, Value>, may_clear: bool) {
        if funnel == 3 && self.dice.chance(40) {
            let values = [
                json!("Google"),
                json!("google"),
                json!("Indicação"),
                json!(""),
                json!(7),
                json!(true),
                json!(12.5),
            ];
            let named = self.dice.some(&FIELDS).into_iter().map(|name| {
                let clears = may_clear && self.dice.chance(30);
                let value = if clears {
                    &Value::Null
                } else {
                    self.dice.one(&values)
                };
                (name.to_owned(), value.clone())
            });
            body.insert("fields".to_owned(), named.collect::<Map<_, _>>().into());
        }
    }

    pub fn update(&self) -> Request {
        let (_, opportunities) = self.reference.known();
        let id = if opportunities.is_empty() || self.dice.chance(5) {
            9999
        } else {
            *self.dice.one(&opportunities)
        };
        let own = self.reference.stands(id).map_or(3, |(funnel, _)| funnel);
        let funnel = if self.dice.chance(5) { 7 - own } else { own };
        let columns = FUNNELS.iter().find(|(id, _)| *id == own).expect("a funnel").1;
        let mut body = self.properties(columns);
        self.add_fields(own, &mut body, true);
        for (percent, name, value) in [
            (15, "archived", json!(self.dice.chance(50))),
            (10, "loss_reason", json!("Preço")),
            (10, "gain_reason", Value::Null),
            (10, "expectedCloseDate", Value::Null),
        ] {
            if self.dice.chance(percent) {
                body.insert(name.to_owned(), value);
            }
        }
        (
            "PUT",
            format!("/crmopportunity/{id}?id={funnel}"),
            Value::Object(body),
        )
    }

    pub fn board(&self) -> Request {
        let dice = self.dice;
        let (funnel, columns) = *dice.one(&FUNNELS);
        let mut body =
            json!({ "page": dice.one(&[0, 1, 1, 2, 3, 1_000_000]), "limit": dice.one(&[1, 2, 5, 25, 100]) });
        if dice.chance(60) {
            body["columnId"] = json!(dice.one(columns));
        }
        if dice.chance(3) {
            body["columnId"] = json!(99);
        }
        if dice.chance(30) {
            body["filterByUsers"] = json!(dice.some(&[7, 8, 9, 10, 11, 12, 13, 99, 0]));
        }
        if dice.chance(30) {
            body["filterByStatus"] = json!(dice.some(&["open", "gain", "lost"]));
        }
        if dice.chance(30) {
            let titles = ["", "  ", "nobrega", "renova", "são joão", "1"];
            body["search"] = json!(dice.one(if dice.chance(40) { &titles[..] } else { &TERMS[..] }));
            body["searchBy"] = json!(dice.one(&["lead", "opportunity"]));
        }
        for (percent, name) in [(25, "filterByCreateDate"), (15, "filterByExpectedCloseDate")] {
            if dice.chance(percent) {
                body[name] = self.range();
            }
        }
        if dice.chance(25) {
            body["filters"] = (0..dice.below(4)).map(|_| self.condition()).collect();
        }
        if dice.chance(15) {
            body["modifiedSince"] = self.moment();
        }
        if dice.chance(20) {
            body["onlyArchived"] = json!(dice.chance(70));
        }
        ("POST", format!("/crm/opportunities/{funnel}"), body)
    }

    /// The opportunities of a lead, all or a page of them.
    pub fn of_lead(&self) -> Request {
        let paged = match self.dice.below(3) {
            0 => format!(
                "?page={}&limit={}",
                self.dice.below(4),
                self.dice.one(&[1, 2, 50])
            ),
            _ => String::new(),
        };
        let path = format!("/listopportunitysleadcomplete/{}{paged}", self.lead());
        ("GET", path, Value::Null)
    }

    /// The next page of a sequence through a column, or the first of a new one.
    pub fn walk(&self, by: u64) -> Op {
        let walks = self.reference.walks.next();
        let (by, path, mut body, page) = if walks.is_empty() || self.dice.chance(20) {
            let (_, path, mut body) = self.board();
            let body_of = body.as_object_mut().expect("a body");
            body_of.shift_remove("page");
            let columns = FUNNELS.iter().find(|(id, _)| path.ends_with(&format!("/{id}")));
            let columns = columns.expect("a funnel").1;
            body["columnId"] = json!(self.dice.one(columns));
            body["limit"] = json!(self.dice.one(&[1, 2, 3, 5]));
            (by, path, body, self.dice.below(2))
        } else {
            self.dice.one(&walks).clone()
        };
        body["page"] = json!(page);
        Op::Ask(Ask {
            by,
            method: "POST".to_owned(),
            path,
            body,
            key: None,
            walks: true,
        })
    }
}
