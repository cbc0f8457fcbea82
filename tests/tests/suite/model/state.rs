//! The model: what opportunities there are, as answers show them, and who sees which.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use shared::lead::Lead;
use shared::opportunity::{Opportunity, ServicePermission};
use tests::people::{department, user};

/// Who asks: an admin, and every kind of permission (see `tests::sales`).
pub const SELLERS: [u64; 8] = [7, 8, 9, 10, 11, 13, 14, 15];
/// The leads that have opportunities; no access list narrows who sees them.
pub const LEADS: [u64; 5] = [1001, 1002, 1003, 1006, 1007];
/// The columns by funnel.
pub const FUNNELS: [(u64, &[u64]); 2] = [(3, &[31, 32, 33]), (4, &[41])];

#[derive(Default)]
pub struct Model {
    /// By id, as lists show them, without what is embedded.
    pub opportunities: BTreeMap<u64, Map<String, Value>>,
    pub leads: BTreeMap<u64, Lead>,
    pub last_active: BTreeMap<u64, String>,
    pub now: String,
}

impl Model {
    pub fn add(&mut self, opportunity: &Opportunity) {
        let Value::Object(fields) = json!(opportunity) else {
            unreachable!("an opportunity is an object");
        };
        self.opportunities.insert(opportunity.id.get(), fields);
    }

    /// Those that a user sees (C-82), newest first (C-42).
    pub fn seen(&self, by: u64) -> Vec<&Map<String, Value>> {
        let mut seen: Vec<_> = self.opportunities.values().filter(|one| sees(by, one)).collect();
        seen.sort_by_key(|one| (text(one, "createDate").to_owned(), number(one, "id")));
        seen.reverse();
        seen
    }
}

pub fn number(one: &Map<String, Value>, name: &str) -> u64 {
    one[name].as_u64().expect("a number")
}

pub fn text<'a>(one: &'a Map<String, Value>, name: &str) -> &'a str {
    one[name].as_str().expect("text")
}

/// The department of each seller; 2 lies below 1.
fn works_in(seller: u64) -> u64 {
    match seller {
        7 | 10 | 13 | 15 => 1,
        8 | 9 => 2,
        _ => 3,
    }
}

fn is_within(inner: u64, outer: u64) -> bool {
    inner == outer || (inner, outer) == (2, 1)
}

pub fn sees_funnel(by: u64, funnel: u64) -> bool {
    by == 7 || by != 13 && (funnel == 3 || is_within(works_in(by), 1))
}

pub fn sees(by: u64, one: &Map<String, Value>) -> bool {
    if by == 7 {
        return true;
    }
    let responsible = number(one, "user");
    let own = responsible == by;
    let reached = match by {
        8 | 9 => own,
        10 | 14 => own || is_within(works_in(responsible), works_in(by)),
        11 | 15 => true,
        _ => false,
    };
    let closed = text(one, "status") != "open";
    let lists = |name: &str| {
        one[name]
            .as_array()
            .expect("a list")
            .iter()
            .filter_map(Value::as_u64)
            .collect::<Vec<_>>()
    };
    let admitted = match text(one, "service_permission") {
        "users" => lists("service_permission_users").contains(&by),
        "departments" => lists("service_permission_departments")
            .iter()
            .any(|department| is_within(works_in(by), *department)),
        _ => true,
    };
    reached && (!closed || by != 9 && by != 11) && (own || admitted)
}

/// Every third is for some users, every fourth for a department.
pub fn narrow(opportunity: &mut Opportunity, id: u64) {
    if id.is_multiple_of(3) {
        opportunity.service_permission = ServicePermission::Users;
        opportunity.service_permission_users = vec![user(8), user(11), user(14)];
    } else if id.is_multiple_of(4) {
        opportunity.service_permission = ServicePermission::Departments;
        opportunity.service_permission_departments = vec![department(1 + id % 3)];
    }
}
