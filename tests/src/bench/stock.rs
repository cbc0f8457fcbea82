//! Records in bulk for the tables of [`uses`](super::uses). The numbers are those of a step, in the order of each function.

#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a measurement that cannot be set up must stop, and say where"
)]

use operator::Operator;
use serde_json::{Value, json};
use shared::directory::{Department, Group};
use shared::funnel::{Funnel, FunnelAccess};
use shared::ids::GroupId;
use shared::lead::Lead;
use shared::opportunity::{Opportunity, ServicePermission, Status};
use shared::people::User;
use shared::permissions::Permissions;
use shared::time::Timestamp;

use crate::bookings::{add_calendars, add_meetings, calendar, meeting, open_calendars};
use crate::forms::add_form;
use crate::labels::{add_loss_reasons, add_tags};
use crate::people::{add_leads, add_users, department, lead, plain_lead, user};
use crate::reports::{add_reports, report};
use crate::sales::{
    FIELDS, add_funnels, add_opportunities, column, columns, empty, funnel, open_shop, plain_opportunity,
    sales,
};
use crate::tickets::{add_files, add_tickets, file, ticket};
use crate::world::at;

/// Records of one import.
const CHUNK: usize = 1_000;
/// The number of the first user of a team.
const TEAM: u64 = 1_001;
/// Funnel of boards with columns of their own.
const BOARD: u64 = 6;

/// Adds the records of this name.
///
/// # Panics
///
/// If there are none of this name, or they cannot be stored.
pub async fn add(operator: &Operator, name: &str, numbers: &[u64]) {
    match *numbers {
        [] if name == "shop" => open_shop(operator).await,
        [] if name == "calendars" => open_calendars(operator).await,
        [] if name == "form" => add_form(operator, &Value::Null).await,
        [] if name == "reports" => reports(operator).await,
        [count] if name == "departments" => departments(operator, count).await,
        [count] if name == "lists" => short_lists(operator, count).await,
        [count, fields] if name == "leads" => leads(operator, count, fields).await,
        [count] if name == "named" => named(operator, count).await,
        [count] if name == "restricted" => restricted(operator, count).await,
        [columns, in_each, fields] if name == "board" => board(operator, columns, in_each, fields).await,
        [count, seconds, fields] if name == "column" => {
            sold(operator, 1, count, |id| {
                let mut made = plain_opportunity(id, 8 + id % 3, small(id * seconds));
                made.begin_as(status(id / 3));
                made.fields.insert(FIELDS[0].to_owned(), text(fields));
                made
            })
            .await;
        }
        [count] if name == "days" => {
            sold(operator, 100_000, count, |id| {
                plain_opportunity(
                    id,
                    if id % 4 == 0 { 9 } else { 8 },
                    small((id - 100_000) * 86_400),
                )
            })
            .await;
        }
        [count] if name == "growing" => growing(operator, count).await,
        [count] if name == "searched" => searched(operator, count).await,
        [is_each] if name == "busy" => busy(operator, is_each == 1).await,
        [users] if name == "users" => of_users(operator, users).await,
        [count] if name == "agendas" => agendas(operator, count).await,
        [a_day, days, before, fields] if name == "meetings" => {
            meetings(operator, [a_day, days, before, fields]).await;
        }
        [count, fields] if name == "tickets" => tickets(operator, count, fields).await,
        [ticket, count] if name == "files" => files(operator, ticket, count).await,
        _ => panic!("{name} {numbers:?} are no records"),
    }
}

fn small(number: u64) -> u32 {
    u32::try_from(number).expect("small")
}

fn text(length: u64) -> Value {
    "x".repeat(usize::try_from(length).expect("small")).into()
}

fn status(turn: u64) -> Status {
    Status::ALL[usize::try_from(turn % 3).expect("small")]
}

fn chunks(first: u64, count: u64) -> Vec<Vec<u64>> {
    let ids: Vec<_> = (first..first + count).collect();
    ids.chunks(CHUNK).map(<[u64]>::to_vec).collect()
}

/// Opportunities with ids from `first`.
async fn sold(operator: &Operator, first: u64, count: u64, make: impl Fn(u64) -> Opportunity) {
    for ids in chunks(first, count) {
        add_opportunities(operator, ids.into_iter().map(&make).collect()).await;
    }
}

/// An instance with this many departments, a tenth as many groups, the largest ids of 7 digits, and every setting.
async fn departments(operator: &Operator, count: u64) {
    let put = operator.put_directory(|directory| {
        let more = count - directory.departments.len() as u64;
        let (step, top) = (9_999_000 / count, department(9_999_999));
        let shop = |parent| Department::new("Loja do Centro", parent);
        directory.departments.insert(top, shop(None));
        for at in 1..more {
            directory
                .departments
                .insert(department(at * step), shop(Some(top)));
        }
        let groups = (count / 10).saturating_sub(directory.groups.len() as u64);
        for at in 1..=groups {
            let id = GroupId::new(9_000_000 + at * 1_000).expect("a group id");
            let (name, permissions) = ("Vendedores".to_owned(), Permissions::EVERYTHING);
            directory.groups.insert(id, Group { name, permissions });
        }
    });
    put.await.expect("the directory");
    for (name, value) in [
        ("voip_webhook_secret", json!("s".repeat(256))),
        ("timezone", json!("America/Argentina/ComodRivadavia")),
        ("requests_per_minute", json!(1_000_000)),
        ("public_requests_per_minute", json!(1)),
        ("webhook_requests_per_minute", json!(1_000_000)),
    ] {
        operator.set_setting(name, &value).await.expect("a setting");
    }
}

/// Users, tags, loss reasons and funnels.
async fn short_lists(operator: &Operator, count: u64) {
    let team = (TEAM..TEAM + count).map(|id| User {
        department: Some(department(3)),
        ..User::new(user(id), "Equipe de Tal")
    });
    add_users(operator, &team.collect::<Vec<_>>()).await;
    add_tags(operator, 1..=count).await;
    add_loss_reasons(operator, 1..=count).await;
    let funnels = (1..=count).map(|id| Funnel {
        id: funnel(id),
        ..empty()
    });
    add_funnels(operator, &funnels.collect::<Vec<_>>()).await;
}

/// Leads 2001 and later of users 8 and 9 in turn, with a custom field of this length.
async fn leads(operator: &Operator, count: u64, fields: u64) {
    for ids in chunks(2_001, count) {
        let people = ids.into_iter().map(|id| {
            let mut lead = plain_lead(id, "Pessoa", "de Tal", Some(8 + id % 2));
            lead.custom.insert("nota".to_owned(), text(fields));
            lead
        });
        add_leads(operator, people.collect()).await;
    }
}

/// Leads with numbers, of users 8 and 9, of which 40 are called Zulmira.
async fn named(operator: &Operator, count: u64) {
    let of_forty = count / 40;
    for ids in chunks(10_001, count) {
        let people = ids.into_iter().map(|id| {
            let first = if id % of_forty == 0 { "Zulmira" } else { "Pessoa" };
            Lead {
                phone: Some(format!("55419{:08}", 60_000_000 + id)),
                ..plain_lead(id, first, "de Tal", Some(8 + id / of_forty % 2))
            }
        });
        add_leads(operator, people.collect()).await;
    }
}

/// Leads of user 9, each with an access list of its own, of which users 10 and 8 see none, and user 14 every third.
async fn restricted(operator: &Operator, count: u64) {
    let people = (3_001..3_001 + count).map(|id| Lead {
        user_access: [14, id]
            .into_iter()
            .filter(|who| *who == id || id % 3 == 0)
            .map(user)
            .collect(),
        ..plain_lead(id, "Pessoa", "de Tal", Some(9))
    });
    add_leads(operator, people.collect()).await;
}

/// Columns 601 and later of funnel 6 with opportunities of users 8, 9 and 10 and all statuses, and a custom field of this length.
async fn board(operator: &Operator, count: u64, in_each: u64, fields: u64) {
    add_board(operator, count, 600).await;
    for n in 1..=count {
        sold(operator, n * 1_000, in_each, |id| {
            let turn = id % 1_000;
            let mut made = plain_opportunity(id, 8 + turn % 3, small(id * 60));
            (made.crm_id, made.crm_column) = (funnel(BOARD), column(600 + n));
            made.begin_as(status(turn / 3));
            made.fields.insert(FIELDS[0].to_owned(), text(fields));
            made
        })
        .await;
    }
}

/// A funnel with columns that follow `before`.
async fn add_board(operator: &Operator, count: u64, before: u64) {
    let texts: Vec<_> = (1..=count)
        .map(|n| (before + n, format!("Etapa {n}"), n))
        .collect();
    let named: Vec<_> = texts
        .iter()
        .map(|(id, name, n)| (*id, name.as_str(), *n))
        .collect();
    let board = Funnel {
        id: funnel(BOARD),
        name: "Medida".to_owned(),
        columns: columns(&named),
        fields: sales().fields,
        access: FunnelAccess::default(),
    };
    add_funnels(operator, &[board]).await;
}

/// A column of opportunities of a year, of 200 leads and four users; the three oldest are of user 11, and twenty are called Reforma.
async fn growing(operator: &Operator, count: u64) {
    const SECONDS: u64 = 320 * 86_400;
    let people = (0..200).map(|n| plain_lead(2_000 + n, &format!("Cliente {n}"), "Antigo", Some(8)));
    add_leads(operator, people.collect()).await;
    // Ids of equal length, so that entries have equal lengths too.
    sold(operator, 1_000_001, count, |id| {
        let n = id - 1_000_000;
        let responsible = if n <= 3 {
            11
        } else {
            [8, 9, 10, 14][usize::try_from(n % 4).expect("small")]
        };
        let mut made = plain_opportunity(id, responsible, small(n * SECONDS / count));
        made.title = format!(
            "{} {id}",
            if n % (count / 20) == 0 {
                "Reforma"
            } else {
                "Pedido"
            }
        );
        made.lead_id = Some(lead(2_000 + n % 200));
        made.begin_as(status(n / 4));
        for (name, value) in [
            (
                FIELDS[0],
                ["Google", "Indicação"][usize::try_from(n % 2).expect("small")].to_owned(),
            ),
            (FIELDS[1], format!("A-{n}")),
        ] {
            made.fields.insert(name.to_owned(), value.into());
        }
        made
    })
    .await;
}

/// A column, in which one opportunity of each of 20 parts is of another lead called Zulmira, is called Reforma, and is of user 8
/// or 9 in turn.
async fn searched(operator: &Operator, count: u64) {
    let people = (1..=20).map(|n| plain_lead(2_000 + n, "Zulmira", "de Tal", Some(8)));
    add_leads(operator, people.collect()).await;
    sold(operator, 10_001, count, |id| {
        let n = id - 10_000;
        let part = n * 20 / count;
        let plain = plain_opportunity(id, 8 + part % 2, small(n * 60));
        if n * 20 % count > 0 {
            return plain;
        }
        Opportunity {
            lead_id: Some(lead(2_000 + part)),
            title: format!("Reforma parte{part}"),
            ..plain
        }
    })
    .await;
}

/// A day of 2,400 opportunities with permitted users; with `is_each`, only they see each.
async fn busy(operator: &Operator, is_each: bool) {
    sold(operator, 100_000, 2_400, |id| {
        let mut one = plain_opportunity(id, 8 + id % 3, small(id - 100_000));
        if is_each {
            one.service_permission = ServicePermission::Users;
        }
        one.service_permission_users = vec![user(11), user(id)];
        one
    })
    .await;
}

/// A board of 20 columns of 250: a quarter of the first user, another of a department of ten, the rest of all users.
async fn of_users(operator: &Operator, users: u64) {
    const COLUMNS: u64 = 20;
    let team = (TEAM..TEAM + users).map(|id| User::new(user(id), "Vendedor"));
    add_users(operator, &team.collect::<Vec<_>>()).await;
    add_board(operator, COLUMNS, 60).await;
    sold(operator, 100_001, COLUMNS * 250, |id| {
        let (at, place) = (61 + id % COLUMNS, (id - 100_000) / COLUMNS);
        let of = match place % 4 {
            0 => 0,
            1 => place / 4 % users.min(10),
            _ => place / 4 % users,
        };
        let mut made = plain_opportunity(id, TEAM + of, small((id - 100_000) * 60));
        (made.crm_id, made.crm_column) = (funnel(BOARD), column(at));
        made.begin_as(status(place / 4));
        made
    })
    .await;
}

/// Calendars 5 and later, and a meeting of the first.
async fn agendas(operator: &Operator, count: u64) {
    let line =
        |at| calendar(&json!({ "id": 5 + at, "keyName": format!("k{at}"), "publicId": format!("p{at}") }));
    add_calendars(operator, (0..count).map(line)).await;
    add_meetings(operator, [meeting(&Value::Null)]).await;
}

/// `a_day` meetings a day on calendar 5 with lead 1001 from 03:00, for `days` days, which begin so many days before the first free
/// one, with a property of this length.
async fn meetings(operator: &Operator, [a_day, days, before, fields]: [u64; 4]) {
    let signed = |number: u64| i64::from(small(number));
    let lines = (0..days * a_day).map(|turn| {
        let first = at("2026-11-23T03:00:00Z").unix_millis() - signed(before) * 86_400_000;
        let start = first + signed(turn / a_day) * 86_400_000 + signed(turn % a_day) * 900_000;
        let date = Timestamp::from_unix_millis(start).expect("a time");
        let nota = if fields > 0 {
            json!({ "nota": text(fields) })
        } else {
            json!({})
        };
        meeting(
            &json!({ "id": turn + 1, "date": date, "endDate": date.plus_seconds(900), "properties": nota }),
        )
    });
    for lines in lines.collect::<Vec<_>>().chunks(CHUNK) {
        add_meetings(operator, lines.to_vec()).await;
    }
}

/// Tickets of lead 1001 with an observation of this length, each with a file.
async fn tickets(operator: &Operator, count: u64, fields: u64) {
    for ids in chunks(1, count) {
        add_tickets(
            operator,
            ids.iter()
                .map(|id| ticket(&json!({ "id": id, "obs": text(fields) }))),
        )
        .await;
        add_files(operator, ids.iter().map(|id| file(&json!({ "ticket": id })))).await;
    }
}

/// Files of one ticket.
async fn files(operator: &Operator, ticket: u64, count: u64) {
    for ids in chunks(1, count) {
        let of_one = ids
            .iter()
            .map(|id| file(&json!({ "ticket": ticket, "store_path": format!("{id}") })));
        add_files(operator, of_one).await;
    }
}

/// Two reports about opportunities, and one of leads.
async fn reports(operator: &Operator) {
    let by = |group: &str| json!({ "entity": "opportunities", "groupBy": group, "measure": "sum" });
    add_reports(operator, [report(1, &by("day")), report(2, &by("column"))]).await;
}
