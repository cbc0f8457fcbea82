//! Lists for choice: totals of a funnel, users, departments, tags and loss reasons (C-96 to C-98).

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::people::People;
use super::{Asked, Reference, Said, error};

/// The optional fields of a user.
const UNKNOWN: [&str; 8] = [
    "telephone",
    "photo",
    "whatsapp",
    "branch",
    "position_company",
    "username",
    "last_login",
    "last_action",
];

impl Reference {
    /// The board of endpoint 10 without its items.
    pub fn list_totals(&mut self, asked: &Asked<'_>, funnel: u64) -> Said {
        let body = json!({ "page": 1, "limit": 1 });
        let board = Asked {
            body: &body,
            path: asked.path.clone(),
            params: BTreeMap::new(),
            ..*asked
        };
        if !self.funnels.contains_key(&funnel) {
            let details = format!("funnel_id: funnel {funnel} does not exist");
            return (400, json!({ "error": "Invalid request", "details": details }));
        }
        let (status, mut said) = self.list_opportunities(&board, funnel);
        self.ignored = None;
        for column in said.as_array_mut().into_iter().flatten() {
            column.as_object_mut().expect("a column").shift_remove("items");
        }
        (status, said)
    }

    pub fn list_users(&self, asked: &Asked<'_>) -> Said {
        let limit = match asked.param("limit") {
            "" => usize::MAX,
            limit => match limit.parse() {
                Ok(limit @ 1..=1000) => limit,
                _ => return error(400),
            },
        };
        // Without a limit everything is on the first page.
        let skipped = usize::try_from(asked.number("page", 1).max(1) - 1)
            .expect("small")
            .saturating_mul(limit);
        let users = self
            .people
            .users()
            .filter(|user| user["active"] == 1 || asked.param("noblock") != "1");
        (200, users.skip(skipped).take(limit).collect())
    }

    pub fn list_departments(&self) -> Said {
        (200, self.people.below(None))
    }

    /// The lines of a kind by id, with these fields.
    pub fn list_labels(&self, kind: &str, fields: &[&str]) -> Said {
        let lines = self.labels.iter().filter(|line| line["kind"] == kind);
        let mut shown: Vec<Value> = lines
            .map(|line| {
                let field = |name: &&str| ((*name).to_owned(), line[*name].clone());
                fields.iter().map(field).collect::<Map<_, _>>().into()
            })
            .collect();
        shown.sort_by_key(|label| label["id"].as_u64());
        (200, shown.into())
    }
}

impl People {
    /// The users by id, as they are listed.
    fn users(&self) -> impl Iterator<Item = Value> {
        self.users.iter().map(|(id, line)| {
            let mut user = json!({ "id": id, "name": line["name"], "lastName": line["lastName"], "email": line["email"],
                "admin": u8::from(line["admin"] == json!(true)), "active": u8::from(line["active"] == json!(true)),
                "department": line["department"], "group": line["group"] });
            for name in UNKNOWN {
                user[name] = Value::Null;
            }
            user
        })
    }

    /// The departments below one, or the top ones.
    fn below(&self, parent: Option<u64>) -> Value {
        let below = self
            .departments
            .iter()
            .filter(|(_, line)| line["parent"].as_u64() == parent);
        let shown = below.map(|(id, line)| {
            let users = self.users.iter().filter(|(_, user)| user["department"] == json!(id));
            let users: Vec<_> = users.map(|(id, _)| id).collect();
            json!({ "id": id, "name": line["name"], "department": parent, "users": users, "subs": self.below(Some(*id)),
                "show_crm": 1, "show_sac360": 1, "createDate": null, "updateDate": null })
        });
        shown.collect()
    }
}
