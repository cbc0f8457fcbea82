use serde_json::{Map, Value, json};

use super::{Maker, Request};

impl Maker<'_> {
    /// A new lead, or changes of one.
    pub fn lead_edit(&self) -> Request {
        let dice = self.dice;
        let mut body = Map::new();
        let mut put = |percent, name: &str, value: Value| {
            if dice.chance(percent) {
                body.insert(name.to_owned(), value);
            }
        };
        let numbers = [
            "41 3678-2554",
            "5511971629072",
            "+55 11 97326-3471",
            "41988880001",
            "4188880001",
            "",
        ];
        let emails = [
            "lead1001@example.com",
            "LEAD1002@example.com",
            "novo@example.com",
            "NOVO@example.com",
            "",
        ];
        put(40, "firstname", json!(dice.one(&["Nara", "João", "Çelik"])));
        put(20, "lastname", json!(dice.one(&["Vidal", "Müller"])));
        put(30, "phone", json!(dice.one(&numbers)));
        put(20, "mobile", json!(dice.one(&numbers)));
        put(15, "chatapp", json!(dice.one(&numbers)));
        put(30, "email", json!(dice.one(&emails)));
        put(40, "owner", json!(dice.one(&[7, 8, 9, 10, 11, 12, 13, 99])));
        put(10, "userAccess", dice.one(&[json!([]), json!([8, 10])]).clone());
        put(
            10,
            "departmentAccess",
            dice.one(&[json!([]), json!([1]), json!([2])]).clone(),
        );
        put(10, "ignoreSubDepartments", json!(dice.chance(50)));
        put(20, "points", json!(dice.below(9)));
        put(20, "city", json!("Ibiporã"));
        put(20, "cor", json!(dice.one(&["azul", "verde"])));
        if dice.chance(40) {
            body.entry("firstname").or_insert(json!("Nara"));
            let unique = dice.one(&["", "phone", "email", "phone,email"]);
            return ("POST", format!("/leads?unique={unique}"), Value::Object(body));
        }
        for (percent, name, value) in [
            (15, "archived", json!(dice.chance(50))),
            (10, "owner", Value::Null),
            (10, "mobile", Value::Null),
            (10, "email", Value::Null),
            (10, "cor", Value::Null),
        ] {
            if dice.chance(percent) {
                body.insert(name.to_owned(), value);
            }
        }
        if dice.chance(30) {
            body.insert("id".to_owned(), json!(self.lead()));
            return ("PUT", "/leads".to_owned(), Value::Object(body));
        }
        ("PUT", format!("/leads/{}", self.lead()), Value::Object(body))
    }
}
