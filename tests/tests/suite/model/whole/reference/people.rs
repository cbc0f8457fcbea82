//! Permissions (C-82).

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Record, number, text};

#[derive(Debug, Clone, Default)]
pub struct People {
    pub(super) departments: BTreeMap<u64, Value>,
    groups: BTreeMap<u64, Value>,
    pub(super) users: BTreeMap<u64, Value>,
}

impl People {
    pub fn add(&mut self, line: &Value) {
        let id = line["id"].as_u64().expect("an id");
        match line["kind"].as_str() {
            Some("department") => drop(self.departments.insert(id, line.clone())),
            Some("group") => drop(self.groups.insert(id, line["permissions"].clone())),
            _ => drop(self.users.insert(id, line.clone())),
        }
    }

    pub fn has(&self, user: u64) -> bool {
        self.users.contains_key(&user)
    }

    pub fn is_admin(&self, user: u64) -> bool {
        self.users[&user]["admin"] == json!(true)
    }

    pub fn name(&self, user: u64) -> String {
        let user = &self.users[&user];
        format!(
            "{} {}",
            user["name"].as_str().expect("a name"),
            user["lastName"].as_str().expect("a name")
        )
    }

    /// A user in the opportunities of a lead (C-95).
    pub fn named(&self, user: u64) -> Value {
        let user = &self.users[&user];
        json!({ "id": user["id"], "name": user["name"], "lastName": user["lastName"] })
    }

    pub fn may(&self, user: u64, permission: &str) -> bool {
        self.is_admin(user) || self.permission(user, permission) == &json!(true)
    }

    /// `all`, `department`, `own` or `none`.
    pub fn reach(&self, user: u64, permission: &str) -> &str {
        if self.is_admin(user) {
            return "all";
        }
        self.permission(user, permission).as_str().expect("a reach")
    }

    fn permission(&self, user: u64, permission: &str) -> &Value {
        &self.groups[&self.users[&user]["group"].as_u64().expect("a group")][permission]
    }

    /// Whether a user sees only the leads of own owners.
    pub fn is_limited(&self, user: u64) -> bool {
        ["department", "own"].contains(&self.reach(user, "leads"))
    }

    fn department(&self, user: u64) -> u64 {
        self.users[&user]["department"].as_u64().expect("a department")
    }

    /// Whether a department is another or below it.
    fn is_within(&self, inner: u64, outer: u64) -> bool {
        inner == outer
            || self.departments[&inner]["parent"]
                .as_u64()
                .is_some_and(|above| self.is_within(above, outer))
    }

    fn reaches(&self, by: u64, permission: &str, of: Option<u64>) -> bool {
        match self.reach(by, permission) {
            "all" => true,
            "department" => of.is_some_and(|of| self.is_within(self.department(of), self.department(by))),
            "own" => of == Some(by),
            _ => false,
        }
    }

    pub fn sees_lead(&self, by: u64, lead: &Record) -> bool {
        if self.is_admin(by) {
            return true;
        }
        let owner = lead["owner"].as_u64();
        let listed = |name: &str| {
            let list = lead[name].as_array().expect("a list").iter();
            list.filter_map(Value::as_u64).collect::<Vec<_>>()
        };
        let (users, departments) = (listed("userAccess"), listed("departmentAccess"));
        let narrowed = !users.is_empty() || !departments.is_empty();
        let exactly = lead["ignoreSubDepartments"] == json!(true);
        let own = self.department(by);
        let admitted = users.contains(&by)
            || departments
                .iter()
                .any(|one| own == *one || !exactly && self.is_within(own, *one));
        self.reaches(by, "leads", owner) && (!narrowed || owner == Some(by) || admitted)
    }

    pub fn sees_opportunity(&self, by: u64, opportunity: &Record) -> bool {
        let closed = text(opportunity, "status") != "open";
        let responsible = number(opportunity, "user");
        let listed = |name: &str| {
            let list = opportunity[name].as_array().expect("a list").iter();
            list.filter_map(Value::as_u64).collect::<Vec<_>>()
        };
        let admitted = match text(opportunity, "service_permission") {
            "users" => listed("service_permission_users").contains(&by),
            "departments" => listed("service_permission_departments")
                .iter()
                .any(|one| self.is_within(self.department(by), *one)),
            _ => true,
        };
        self.reaches(by, "opportunities", Some(responsible))
            && (!closed || self.may(by, "wonLost"))
            && (admitted || responsible == by || self.is_admin(by))
    }

    pub fn sees_funnel(&self, by: u64, funnel: &Value) -> bool {
        let access = |name: &str| {
            let list = funnel["access"][name].as_array().into_iter().flatten();
            list.filter_map(Value::as_u64).collect::<Vec<_>>()
        };
        let (users, departments) = (access("users"), access("departments"));
        let open = users.is_empty() && departments.is_empty();
        let named = users.contains(&by)
            || departments
                .iter()
                .any(|one| self.is_within(self.department(by), *one));
        self.is_admin(by) || self.reach(by, "opportunities") != "none" && (open || named)
    }
}
