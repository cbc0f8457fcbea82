//! Sales of `acme`: funnels, and users with different access to them.
//!
//! In addition to admin 7 of department 1: 8 and 9 of department 2 see their own opportunities, 9 without won
//! and lost ones; 10 of department 1 sees the department's; 11 of department 3 sees all but won and lost
//! ones; 13 sees none; 14 of department 3 sees the department's. All see all leads, except 9, who sees its
//! own. 15 of department 1 sees all and may change nothing.

#![expect(
    clippy::expect_used,
    clippy::missing_panics_doc,
    clippy::must_use_candidate,
    reason = "a test that cannot be set up must fail, and say where"
)]

use operator::kinds::{Funnels, Opportunities};
use operator::{Operator, Outcome};
use serde_json::{Value, json};
use shared::directory::Group;
use shared::funnel::{Column, CustomField, Funnel, FunnelAccess};
use shared::ids::{ColumnId, FunnelId, GroupId, OpportunityId};
use shared::money::Cents;
use shared::opportunity::Opportunity;
use shared::people::User;
use shared::permissions::{AccessLevel, Permissions};
use shared::time::Timestamp;

use crate::people::{add_users, department, lead, user, users};
use crate::world::at;

/// The custom fields of funnel 3.
pub const FIELDS: [&str; 3] = ["Origem do Lead", " Número do pedido ", "Data da visita"];

/// A funnel's id.
pub fn funnel(id: u64) -> FunnelId {
    FunnelId::new(id).expect("a funnel id")
}

/// A column's id.
pub fn column(id: u64) -> ColumnId {
    ColumnId::new(id).expect("a column id")
}

/// An opportunity's id.
pub fn opportunity_id(id: u64) -> OpportunityId {
    OpportunityId::new(id).expect("an opportunity id")
}

/// Adds the funnels and the users' permissions.
pub async fn open_shop(operator: &Operator) {
    operator
        .put_directory(|directory| {
            for (id, permissions) in groups() {
                let name = format!("Grupo {id}");
                let id = GroupId::new(id).expect("a group id");
                directory.groups.insert(id, Group { name, permissions });
            }
        })
        .await
        .expect("the directory can be written");
    add_users(operator, &sellers()).await;
    add_funnels(operator, &[sales(), support(), empty()]).await;
}

fn groups() -> [(u64, Permissions); 6] {
    let sees = |opportunities, won_lost| Permissions {
        opportunities,
        won_lost,
        ..Permissions::EVERYTHING
    };
    let looks = Permissions {
        edit_opportunities: false,
        ..Permissions::EVERYTHING
    };
    [
        (21, sees(AccessLevel::Own, true)),
        (
            22,
            Permissions {
                leads: AccessLevel::Own,
                ..sees(AccessLevel::Own, false)
            },
        ),
        (23, sees(AccessLevel::Department, true)),
        (24, sees(AccessLevel::All, false)),
        (25, sees(AccessLevel::None, true)),
        (26, looks),
    ]
}

fn sellers() -> Vec<User> {
    let mut sellers = users();
    for (id, group) in [(8, 21), (9, 22), (10, 23), (11, 24), (13, 25), (14, 23)] {
        let seller = sellers.iter_mut().find(|seller| seller.id == user(id));
        seller.expect("one of acme's users").group = GroupId::new(group);
    }
    sellers.push(User {
        department: Some(department(1)),
        group: GroupId::new(26),
        ..User::new(user(15), "Íris")
    });
    sellers
}

/// Funnel 3, visible to everyone, with three columns whose sequence differs from the order of ids.
pub fn sales() -> Funnel {
    let text = |name: &str| CustomField {
        name: name.to_owned(),
        kind: "text".to_owned(),
    };
    Funnel {
        id: funnel(3),
        name: "Vendas".to_owned(),
        columns: columns(&[(33, "Fechamento", 3), (31, "Entrada", 1), (32, "Proposta", 2)]),
        fields: FIELDS.map(text).into(),
        access: FunnelAccess::default(),
    }
}

/// Funnel 4, visible to department 1 and those below it.
fn support() -> Funnel {
    Funnel {
        id: funnel(4),
        name: "Pós-venda".to_owned(),
        columns: columns(&[(41, "Ativação", 1)]),
        fields: Vec::new(),
        access: FunnelAccess {
            departments: vec![department(1)],
            ..FunnelAccess::default()
        },
    }
}

/// Funnel 5, visible to user 8 and group 24, without opportunities.
pub fn empty() -> Funnel {
    Funnel {
        id: funnel(5),
        name: "Parcerias".to_owned(),
        columns: columns(&[(51, "Conversa", 1)]),
        fields: Vec::new(),
        access: FunnelAccess {
            users: vec![user(8)],
            groups: vec![GroupId::new(24).expect("a group id")],
            ..FunnelAccess::default()
        },
    }
}

/// Columns by id, name and sequence.
pub fn columns(columns: &[(u64, &str, u64)]) -> Vec<Column> {
    let column = |(id, name, sequence): &(u64, &str, u64)| Column {
        id: column(*id),
        name: (*name).to_owned(),
        sequence: *sequence,
    };
    columns.iter().map(column).collect()
}

/// Writes funnels.
pub async fn add_funnels(operator: &Operator, funnels: &[Funnel]) {
    let outcomes = operator
        .import::<Funnels>(funnels, false)
        .await
        .expect("the funnels can be written");
    assert!(outcomes.iter().all(is_good), "{outcomes:?}");
}

/// Writes opportunities.
pub async fn add_opportunities(operator: &Operator, opportunities: Vec<Opportunity>) {
    let lines: Vec<_> = opportunities.into_iter().map(Into::into).collect();
    let outcomes = operator
        .import::<Opportunities>(&lines, true)
        .await
        .expect("the opportunities can be written");
    assert!(outcomes.iter().all(is_good), "{outcomes:?}");
}

fn is_good(outcome: &Outcome) -> bool {
    !matches!(outcome, Outcome::Refused(_))
}

/// An open opportunity of lead 1001 in column 31 of funnel 3, created `seconds` after the start of the year.
pub fn plain_opportunity(id: u64, responsible: u64, seconds: u32) -> Opportunity {
    let created: Timestamp = at("2026-01-01T00:00:00Z").plus_seconds(seconds);
    Opportunity {
        title: format!("Pedido {id:03}"),
        value: Cents::new(id * 100 + 1).expect("an amount"),
        ..Opportunity::new(
            opportunity_id(id),
            (funnel(3), column(31)),
            lead(1001),
            user(responsible),
            created,
        )
    }
}

/// The body of a request for opportunities.
pub fn page(page: u64, limit: u64, more: &Value) -> Value {
    let mut body = json!({ "page": page, "limit": limit });
    for (name, value) in more.as_object().into_iter().flatten() {
        body[name] = value.clone();
    }
    body
}
