//! The measured instance: `acme` with records of every kind, and three boards of ten columns.

use serde_json::{Map, Value, json};
use shared::funnel::{CustomField, Funnel, FunnelAccess};
use shared::lead::Lead;
use shared::money::Cents;
use shared::opportunity::{Opportunity, ServicePermission, Status};
use shared::people::Company;
use tests::bookings::{FREE, add_meetings, book, booking, meeting, open_calendars};
use tests::forms::add_form;
use tests::people::{add_leads, department, lead, plain_lead, user};
use tests::records::{add_companies, full_company};
use tests::reports::{add_reports, report};
use tests::sales::{
    FIELDS, add_funnels, add_opportunities, column, columns, funnel, open_shop, opportunity_id,
};
use tests::tickets::{add_files, add_tickets, file, ticket};
use tests::world::at;
use tests::{ACME, NOW, Wallet, World};

/// The funnel of typical opportunities.
pub const COMMON: u64 = 6;
/// Like [`COMMON`], with a lead and a company that have every field.
pub const FULL: u64 = 7;
/// Like [`FULL`], with opportunities that have every field.
pub const FULLEST: u64 = 8;
/// Columns of each funnel, and opportunities in each column: more than a board shows.
const COLUMNS: u64 = 10;
const DEPTH: u64 = 30;
/// The first lead of a list of usual length, and the number of leads.
const LEADS: (u64, u64) = (3_001, 200);

pub async fn stocked() -> (World, Wallet) {
    let world = World::new().await;
    let operator = world.operator(ACME);
    open_shop(&operator).await;
    open_calendars(&operator).await;
    add_companies(&operator).await;
    add_leads(&operator, (LEADS.0..LEADS.0 + LEADS.1).map(common_lead).collect()).await;
    add_funnels(&operator, &[COMMON, FULL, FULLEST].map(board)).await;
    for make in [common, full, fullest] {
        add_opportunities(&operator, (0..COLUMNS * DEPTH).map(make).collect()).await;
    }
    add_tickets(&operator, (501..506).map(|id| ticket(&json!({ "id": id })))).await;
    add_files(
        &operator,
        (10..15).map(|n| file(&json!({ "store_path": format!("s/{n}") }))),
    )
    .await;
    let meetings = (1..=20).map(|day| {
        let (date, end) = (
            format!("2026-12-{day:02}T09:00:00.000Z"),
            format!("2026-12-{day:02}T09:30:00.000Z"),
        );
        meeting(&json!({ "id": day, "date": date, "endDate": end }))
    });
    add_meetings(&operator, meetings).await;
    let columns = json!({ "entity": "opportunities", "groupBy": "column" });
    add_reports(&operator, [report(1, &Value::Null), report(2, &columns)]).await;
    world.store.refresh_reports().await.expect("they are refreshed");
    add_form(&operator, &Value::Null).await;
    // The first booking of an instance generates a random secret, which would differ in every replay.
    let first = book(&world, &booking(FREE[0], &json!({}))).await;
    assert_eq!(first.status, 200, "{first:?}");
    let admin = world.wallet(7).await;
    (world, admin)
}

fn common_lead(id: u64) -> Lead {
    Lead {
        email: Some(format!("pessoa.{id}@example.com")),
        mobile: Some(format!("55119{id:08}")),
        city: Some("Curitiba".to_owned()),
        ..plain_lead(id, &format!("Pessoa {id}"), "de Tal", Some(8))
    }
}

/// A funnel of ten columns, whose ids begin with the funnel's.
fn board(id: u64) -> Funnel {
    let names: Vec<_> = (0..COLUMNS).map(|at| format!("Etapa {at}")).collect();
    let heads: Vec<_> = (0..)
        .zip(&names)
        .map(|(at, name)| (id * 10 + at, name.as_str(), at))
        .collect();
    let text = |name: &str| CustomField {
        name: name.to_owned(),
        kind: "text".to_owned(),
    };
    Funnel {
        id: funnel(id),
        name: format!("Funil {id}"),
        columns: columns(&heads),
        fields: FIELDS.map(text).into(),
        access: FunnelAccess::default(),
    }
}

/// A typical opportunity of a funnel of ten columns, ordered by time.
fn plain(n: u64, in_funnel: u64) -> Opportunity {
    let responsible = [8, 9, 10, 14][usize::try_from(n % 4).expect("small")];
    let created = at("2026-01-01T00:00:00Z").plus_seconds(u32::try_from(n).expect("small") * 3_600);
    let mut fields = Map::new();
    fields.insert(FIELDS[0].to_owned(), json!("Google"));
    fields.insert(FIELDS[1].to_owned(), json!(format!("A-{n}")));
    Opportunity {
        title: format!("Pedido {n:03}"),
        value: Cents::new(n * 1_000 + 99).expect("an amount"),
        fields,
        ..Opportunity::new(
            opportunity_id(in_funnel * 1_000 + n),
            (funnel(in_funnel), column(in_funnel * 10 + n / DEPTH)),
            lead(LEADS.0 + n % LEADS.1),
            user(responsible),
            created,
        )
    }
}

fn common(n: u64) -> Opportunity {
    plain(n, COMMON)
}

fn full(n: u64) -> Opportunity {
    Opportunity {
        lead_id: Some(lead(2001)),
        ..plain(n, FULL)
    }
}

fn fullest(n: u64) -> Opportunity {
    let (text, day) = (|text: &str| Some(text.to_owned()), at("2026-10-05T14:30:12.345Z"));
    let mut fields = Map::new();
    for name in FIELDS {
        fields.insert(name.to_owned(), json!(format!("Indicação de cliente nº {n}")));
    }
    let extra: Company = serde_json::from_value(full_company()).expect("a company");
    Opportunity {
        lead_id: Some(lead(2001)),
        title: format!("Reforma da cozinha e da área de serviço {n:03}"),
        value: Cents::new(123_456_700 + n).expect("an amount"),
        sequence: n + 1,
        status: Status::Gain,
        loss_reason: text("Preço acima do concorrente"),
        gain_reason: text("Prazo de entrega"),
        expected_close_date: Some(day),
        sale_channel: text("Loja física"),
        campaign: text("Primavera 2026"),
        last_column_change: Some(day),
        last_status_change: Some(day),
        gain_date: Some(day),
        lost_date: Some(day),
        reopen_date: Some(day),
        await_column_approved: json!(FULLEST * 10),
        await_column_approved_user: json!(8),
        reject_appro: json!(true),
        reject_appro_desc: json!("Falta a medição"),
        update_date: at(NOW),
        service_permission: ServicePermission::Users,
        service_permission_user: Some(user(8)),
        service_permission_department: Some(department(2)),
        service_permission_users: vec![user(8), user(14), user(15)],
        service_permission_users_select: vec![json!({ "id": 8, "name": "Bruno Lima" })],
        service_permission_departments: vec![department(2)],
        service_permission_departments_select: vec![json!({ "id": 2, "name": "Inside Sales" })],
        data_company_extra: vec![extra],
        fields,
        files: vec![json!(871)],
        files_data: vec![json!({ "id": 871, "name": "planta.pdf", "url": "https://files.example/871" })],
        conf_installment: vec![json!({ "n": 3, "value": "411522.33" })],
        ..plain(n, FULLEST)
    }
}
