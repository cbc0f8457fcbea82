use serde_json::{Map, Value, json};

use super::{Maker, Request};

/// Names and tokens of forms, good and bad.
const FORMS: [(&str, &str); 8] = [
    ("contato", "tok-contato"),
    ("contato", "tok-contato"),
    ("contato", "tok-contato"),
    ("leve", "tok-leve"),
    ("leve", "tok-leve"),
    ("fechado", "tok-fechado"),
    ("contato", "tok-leve"),
    ("nenhum", "tok-contato"),
];

const NUMBERS: [&str; 6] = [
    "41 3678-2554",
    "5511971629072",
    "+55 11 97326-3471",
    "41988880001",
    "4188880001",
    "",
];
const EMAILS: [&str; 5] = [
    "lead1001@example.com",
    "LEAD1002@example.com",
    "novo@example.com",
    "NOVO@example.com",
    "",
];

impl Maker<'_> {
    /// A submission of a form; each form ignores the other's fields.
    pub fn submission(&self) -> Request {
        let dice = self.dice;
        let (name, token) = dice.one(&FORMS);
        let mut body = Map::new();
        for (percent, field, value) in [
            (90, "nome", json!(dice.one(&["Nara", " João ", ""]))),
            (60, "firstname", json!(dice.one(&["Lia", "Çelik"]))),
            (50, "email", json!(dice.one(&EMAILS))),
            (30, "fone", json!(dice.one(&NUMBERS))),
            (20, "whatsapp", json!(41_988_880_001_u64)),
            (20, "mobile", json!(dice.one(&NUMBERS))),
            (30, "cidade", json!(dice.one(&["Recife", " "]))),
            (30, "city", json!("Olinda")),
            (
                30,
                "cor",
                dice.one(&[json!("azul"), json!(7), json!(true), Value::Null])
                    .clone(),
            ),
            (10, "preferred_locale", json!("en")),
            (20, "utm_source", json!(dice.one(&["ads", "news"]))),
            (10, "owner", json!(9)),
        ] {
            if dice.chance(percent) {
                body.insert(field.to_owned(), value);
            }
        }
        let query = if dice.chance(15) { "&utm_medium=cpc" } else { "" };
        let path = format!("/api/hook/{name}?access_token={token}{query}");
        ("POST", path, Value::Object(body))
    }

    /// A new lead, or changes of one.
    pub fn lead_edit(&self) -> Request {
        let dice = self.dice;
        let mut body = Map::new();
        let mut put = |percent, name: &str, value: Value| {
            if dice.chance(percent) {
                body.insert(name.to_owned(), value);
            }
        };
        put(40, "firstname", json!(dice.one(&["Nara", "João", "Çelik"])));
        put(20, "lastname", json!(dice.one(&["Vidal", "Müller"])));
        put(30, "phone", json!(dice.one(&NUMBERS)));
        put(20, "mobile", json!(dice.one(&NUMBERS)));
        put(15, "chatapp", json!(dice.one(&NUMBERS)));
        put(30, "email", json!(dice.one(&EMAILS)));
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
