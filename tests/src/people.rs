//! The instance `acme`: departments, groups, users and leads.
//!
//! Department 1 contains 2; 3 is separate. User 7 is an admin; 8 and 9 of department 2 and 11 of department 3
//! see their own leads; 10 of department 1 sees the department's; 12 is inactive; 13 sees nothing; 14 sees
//! all but is not an admin.

#![expect(
    clippy::expect_used,
    clippy::missing_panics_doc,
    clippy::must_use_candidate,
    clippy::too_many_lines,
    reason = "a test that cannot be set up must fail, and say where"
)]

use operator::Operator;
use operator::kinds::{Leads, Profiles, Users};
use serde_json::{Value, json};
use shared::directory::{Department, Directory, Group};
use shared::ids::{CompanyId, DepartmentId, GroupId, LeadId, UserId};
use shared::lead::Lead;
use shared::people::{Profile, User};
use shared::permissions::{AccessLevel, Permissions};

use crate::world::at;

/// The instance.
pub const ACME: &str = "acme";
/// The time of the tests.
pub const NOW: &str = "2026-11-21T12:00:00.000Z";

/// A lead's id.
pub fn lead(id: u64) -> LeadId {
    LeadId::new(id).expect("a lead id")
}

/// A user's id.
pub fn user(id: u64) -> UserId {
    UserId::new(id).expect("a user id")
}

/// A department's id.
pub fn department(id: u64) -> DepartmentId {
    DepartmentId::new(id).expect("a department id")
}

/// Creates the instance and everything in it.
pub async fn settle(operator: &Operator) {
    operator.create_instance().await.expect("the instance is new");
    operator
        .put_directory(appoint)
        .await
        .expect("the directory can be written");
    operator
        .import::<Users>(&users(), false)
        .await
        .expect("the users can be written");
    operator
        .import::<Profiles>(&profiles(), false)
        .await
        .expect("the profiles can be written");
    add_leads(operator, leads()).await;
}

/// Adds departments and groups.
fn appoint(directory: &mut Directory) {
    for (id, name, parent) in [
        (1, "Comercial", None),
        (2, "Inside Sales", Some(1)),
        (3, "Suporte", None),
    ] {
        let added = Department::new(name, parent.map(department));
        directory.departments.insert(department(id), added);
    }
    for (id, name, leads) in [
        (1, "Gestores", AccessLevel::All),
        (2, "Vendedores", AccessLevel::Own),
        (3, "Coordenação", AccessLevel::Department),
        (4, "Visitantes", AccessLevel::None),
    ] {
        let permissions = Permissions {
            leads,
            ..Permissions::EVERYTHING
        };
        let group = Group {
            name: name.to_owned(),
            permissions,
        };
        directory
            .groups
            .insert(GroupId::new(id).expect("a group id"), group);
    }
}

fn profiles() -> [Profile; 2] {
    let profile = |number: &str, name: &str, photo: Option<&str>| Profile {
        number: number.to_owned(),
        name: name.to_owned(),
        photo_url: photo.map(str::to_owned),
    };
    [
        profile(
            "5511987001122",
            "Zé Ribeiro",
            Some("https://photos.example/ze.jpg"),
        ),
        profile("551191234567", "Cliente do Zap", None),
    ]
}

/// Sets a setting.
pub async fn set(operator: &Operator, name: &str, value: &Value) {
    operator.set_setting(name, value).await.expect("a setting");
}

/// Writes leads.
pub async fn add_leads(operator: &Operator, leads: Vec<Lead>) {
    let leads: Vec<_> = leads.into_iter().map(Into::into).collect();
    operator
        .import::<Leads>(&leads, true)
        .await
        .expect("the leads can be written");
}

/// Writes users.
pub async fn add_users(operator: &Operator, users: &[User]) {
    operator
        .import::<Users>(users, false)
        .await
        .expect("the users can be written");
}

/// The users of `acme`.
pub fn users() -> Vec<User> {
    let plain = |id, name: &str, last_name: &str, at, group| User {
        last_name: Some(last_name.to_owned()),
        department: Some(department(at)),
        group: GroupId::new(group),
        ..User::new(user(id), name)
    };
    vec![
        User {
            admin: true,
            ..plain(7, "Ana", "Souza", 1, 1)
        },
        plain(8, "Bruno", "Lima", 2, 2),
        plain(9, "Carla", "Mendes", 2, 2),
        plain(10, "Diego", "Alves", 1, 3),
        plain(11, "Elisa", "Prado", 3, 2),
        plain(12, "Fábio", "Nunes", 1, 1),
        plain(13, "Gina", "Rocha", 1, 4),
        plain(14, "Hugo", "Dias", 3, 1),
    ]
}

/// A lead with a name and an owner.
pub fn plain_lead(id: u64, firstname: &str, lastname: &str, owner: Option<u64>) -> Lead {
    Lead {
        firstname: Some(firstname.to_owned()),
        lastname: Some(lastname.to_owned()),
        owner: owner.map(user),
        ..Lead::new(lead(id), at("2026-03-11T12:00:01.123Z"))
    }
}

/// The leads of `acme`. 1003 and 1012 are archived; 1004 is restricted to user 8, 1005 to department 1
/// without those below it.
pub fn leads() -> Vec<Lead> {
    let email = |id: u64| Some(format!("lead{id}@example.com"));
    let text = |text: &str| Some(text.to_owned());
    let mut filial = serde_json::Map::new();
    filial.insert("filial".to_owned(), json!("Apucarana"));
    filial.insert(
        " Número do pedido ".to_owned(),
        json!({ "n": 1e300, "": [null, 0.1] }),
    );
    vec![
        Lead {
            email: email(1001),
            mobile: text("+55 11 97326-3471"),
            city: text("Curitiba"),
            initial_password: text("s3nh4-inicial"),
            utm_tags: vec![json!({ "utm_source": "ads" })],
            custom: filial,
            ..plain_lead(1001, "Maria", "Silva", Some(8))
        },
        Lead {
            email: email(1002),
            phone: text("554136782554"),
            company: CompanyId::new(1),
            ..plain_lead(1002, "João", "Pereira", Some(9))
        },
        Lead {
            email: email(1003),
            archived: true,
            ..plain_lead(1003, "Antônia", "Gonçalves", Some(10))
        },
        Lead {
            user_access: vec![user(8)],
            ..plain_lead(1004, "José", "da Conceição", Some(11))
        },
        Lead {
            email: email(1005),
            department_access: vec![department(1)],
            ignore_sub_departments: true,
            chatapp: text("551171629072"),
            ..plain_lead(1005, "Luiz", "Araújo", Some(7))
        },
        Lead {
            email: email(1006),
            ..plain_lead(1006, "Márcia", "Nóbrega", Some(8))
        },
        plain_lead(1007, "Pedro", "Henrique Sá", None),
        Lead {
            archived: true,
            ..plain_lead(1012, "Tiago", "Peçanha", Some(9))
        },
    ]
}
