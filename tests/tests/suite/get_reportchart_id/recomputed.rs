//! Every entity with every grouping and measure, compared with a count of the exported records.

use std::collections::BTreeMap;

use operator::RecordPages;
use operator::kinds::{Calls, Leads, Meetings, Opportunities, Tickets};
use serde::Serialize;
use serde_json::{Value, json};
use shared::lead::Lead;
use shared::opportunity::Status;
use shared::time::{Day, Timestamp, Zone};
use tests::World;
use tests::bookings::{add_meetings, meeting, open_calendars};
use tests::people::{add_leads, lead, user};
use tests::reports::{add_reports, chart, plotted, report};
use tests::sales::{add_opportunities, column, funnel, open_shop, plain_opportunity};
use tests::tickets::{add_tickets, ticket};
use tests::world::at;

use super::{add_calls, call};

const ZONE: &str = "America/Sao_Paulo";

/// A time within the year, different for each number.
fn time(number: u64) -> Timestamp {
    let seconds = number * 613_333 % (365 * 24 * 3600);
    at("2026-01-01T00:00:00Z").plus_seconds(u32::try_from(seconds).expect("less than a year"))
}

/// One of these, by number.
fn pick<T: Clone>(of: &[T], number: u64) -> T {
    let at = usize::try_from(number).expect("small") % of.len();
    of[at].clone()
}

async fn settle(world: &World) {
    let operator = world.operator("acme");
    tests::people::set(&operator, "timezone", &json!(ZONE)).await;
    open_shop(&operator).await;
    open_calendars(&operator).await;
    let leads = (2001..2041).map(|id| Lead {
        owner: (id % 4 > 0).then(|| user(7 + id % 4)),
        archived: id % 7 == 0,
        acquisition_channel: pick(&[Some("VoIP"), Some("Site"), None], id).map(str::to_owned),
        ..Lead::new(lead(id), time(id))
    });
    add_leads(&operator, leads.collect()).await;
    let opportunities = (1..61).map(|id| {
        let mut made = plain_opportunity(id, 7 + id % 3, 0);
        made.create_date = time(id);
        made.update_date = made.create_date;
        made.begin_as(pick(&Status::ALL, id));
        made.gain_date = made.gain_date.map(|_| time(id + 500));
        made.lost_date = made.lost_date.map(|_| time(id + 900));
        made.crm_column = column(31 + id % 2);
        if id % 5 == 0 {
            (made.crm_id, made.crm_column) = (funnel(4), column(41));
        }
        made.sale_channel = (id % 4 == 0).then(|| "Loja".to_owned());
        made.archived = id % 11 == 0;
        made
    });
    add_opportunities(&operator, opportunities.collect()).await;
    let tickets = (501..541).map(|id| {
        let ended = (id % 3 > 0).then(|| time(id).plus_seconds(77 * u32::try_from(id).expect("small")));
        ticket(&json!({
            "id": id, "attendant": (id % 4 > 0).then_some(7 + id % 4), "type": pick(&["chatapp", "email"], id),
            "status": pick(&[json!(null), json!(3), json!("closed")], id),
            "startDate": time(id), "endDate": ended, "createDate": time(id), "archive": (id % 9 == 0).then_some(1),
        }))
    });
    add_tickets(&operator, tickets).await;
    let meetings = (1..31).map(|id| {
        let start = at("2027-01-04T12:00:00Z").plus_days(u32::try_from(id).expect("small"));
        meeting(&json!({
            "id": id, "date": start, "endDate": start.plus_seconds(600 * (1 + u32::try_from(id % 5).expect("small"))),
            "status": pick(&["scheduled", "rescheduled", "canceled"], id),
            "userId": (id % 4 > 0).then_some(7 + id % 4), "createDate": time(id), "updateDate": time(id),
        }))
    });
    add_meetings(&operator, meetings).await;
    let calls = (1..61).map(|id| {
        let changes = json!({
            "user": 7 + id % 3, "duration": id * 7 % 100, "service": pick(&["acme", "beta"], id),
            "type": pick(&["INCOMING", "OUTGOING", "INCOMING"], id),
            "status": pick(&["COMPLETE", "INCOMPLETE"], id / 4),
        });
        call(id, &time(id).to_string(), &changes)
    });
    add_calls(world, calls).await;
}

/// An entity's records as exported.
async fn exported(world: &World, entity: &str) -> Vec<Value> {
    let operator = world.operator("acme");
    match entity {
        "leads" => lines(operator.records::<Leads>()).await,
        "opportunities" => lines(operator.records::<Opportunities>()).await,
        "tickets" => lines(operator.records::<Tickets>()).await,
        "meetings" => lines(operator.records::<Meetings>()).await,
        _ => lines(operator.records::<Calls>()).await,
    }
}

async fn lines<T: Serialize>(mut pages: RecordPages<T>) -> Vec<Value> {
    let mut found = Vec::new();
    while let Some(page) = pages.next().await.expect("a page") {
        found.extend(page.iter().map(|record| json!(record)));
    }
    found
}

/// The field of an entity's record that it is grouped by.
fn field(entity: &str, aspect: &str) -> &'static str {
    match (entity, aspect) {
        ("leads", "user") => "owner",
        ("leads", "channel") => "acquisition_channel",
        ("opportunities", "channel") => "sale_channel",
        ("tickets", "user") => "attendant",
        ("meetings", "user") => "userId",
        (_, "status") => "status",
        (_, "column") => "crm_column",
        (_, "funnel") => "crm_id",
        (_, "user") => "user",
        (_, "service") => "service",
        _ => "type",
    }
}

fn label(value: &Value) -> String {
    let names = json!({
        "7": "Ana Souza", "8": "Bruno Lima", "9": "Carla Mendes", "10": "Diego Alves", "11": "Elisa Prado", "31": "Entrada", "32": "Proposta",
        "41": "Ativação", "3": "Vendas", "4": "Pós-venda",
    });
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => text.clone(),
        id => names[id.to_string()].as_str().unwrap_or_default().to_owned(),
    }
}

/// Hundredths or seconds of a record, if it has an amount.
fn amount(entity: &str, record: &Value) -> Option<u64> {
    let millis = |name: &str| record[name].as_str().map(|text| at(text).unix_millis());
    let between = |from: &str, to: &str| u64::try_from((millis(to)? - millis(from)?) / 1000).ok();
    match entity {
        "opportunities" => record["value"].as_str()?.replace('.', "").parse().ok(),
        "tickets" => between("startDate", "endDate"),
        "meetings" => between("date", "endDate"),
        _ => record["duration"].as_u64(),
    }
}

/// Labels with counts and amounts, of days from `from` to `to`.
fn counted(
    records: &[Value],
    (entity, group_by, measure): (&str, &str, &str),
    status: Option<&str>,
    (from, to): (Day, Day),
) -> BTreeMap<String, (u64, u64)> {
    let zone = Zone::parse(ZONE).expect("a zone");
    let mut found: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for record in records {
        let archived = [&record["archived"], &record["archive"]];
        if archived
            .into_iter()
            .any(|flag| flag == &json!(true) || flag == &json!(1))
        {
            continue;
        }
        let date = match status {
            Some(status) if record["status"] != status => continue,
            Some("gain") => "gain_date",
            Some("lost") => "lost_date",
            _ => "createDate",
        };
        let day = zone.day_of(at(record[date].as_str().expect("a time")));
        let amount = if measure == "count" {
            Some(0)
        } else {
            amount(entity, record)
        };
        let Some(amount) = amount.filter(|_| from <= day && day <= to) else {
            continue;
        };
        let label = match group_by {
            "day" => day.to_string(),
            "week" => day.week(),
            "month" => day.month(),
            // A ticket's status is free-form, not an id.
            "status" if record["status"].is_u64() => record["status"].to_string(),
            aspect => label(&record[field(entity, aspect)]),
        };
        let sums = found.entry(label).or_default();
        *sums = (sums.0 + 1, sums.1 + amount);
    }
    found
}

#[expect(clippy::cast_precision_loss, reason = "the numbers of this test are small")]
fn number(entity: &str, measure: &str, (count, amount): (u64, u64)) -> f64 {
    let scale = if entity == "opportunities" { 100.0 } else { 1.0 };
    match measure {
        "count" => count as f64,
        "sum" => amount as f64 / scale,
        _ if count == 0 => 0.0,
        _ => amount as f64 / scale / count as f64,
    }
}

/// Every permitted combination with an id, and for opportunities each with a status.
fn combinations() -> Vec<(&'static str, &'static str, &'static str, Option<&'static str>)> {
    let mut all = Vec::new();
    for (entity, aspects, measures) in [
        ("leads", &["user", "channel"][..], &["count"][..]),
        (
            "opportunities",
            &["status", "column", "funnel", "user", "channel"],
            &["count", "sum", "average"],
        ),
        (
            "tickets",
            &["status", "user", "channel"],
            &["count", "sum", "average"],
        ),
        ("meetings", &["status", "user"], &["count", "sum", "average"]),
        (
            "calls",
            &["status", "user", "service", "type"],
            &["count", "sum", "average"],
        ),
    ] {
        for aspect in ["day", "week", "month"].iter().chain(aspects) {
            for measure in measures {
                all.push((entity, *aspect, *measure, None));
                if entity == "opportunities" {
                    let statuses = [Some("open"), Some("gain"), Some("lost")];
                    all.extend(statuses.map(|status| (entity, *aspect, *measure, status)));
                }
            }
        }
    }
    all
}

#[tokio::test]
async fn every_report_equals_a_count_of_the_export() {
    let world = World::new().await;
    settle(&world).await;
    let wallet = world.wallet(14).await;
    let combinations = combinations();
    let reports = (1..)
        .zip(&combinations)
        .map(|(id, (entity, group_by, measure, status))| {
            let filters = status.map_or(json!({}), |status| json!({ "status": status }));
            report(
                id,
                &json!({ "entity": entity, "groupBy": group_by, "measure": measure, "filters": filters }),
            )
        });
    add_reports(&world.operator("acme"), reports.collect::<Vec<_>>()).await;
    for stored in [false, true] {
        if stored {
            let all = u64::try_from(combinations.len()).expect("few");
            assert_eq!(
                world.store.refresh_reports().await.expect("they are refreshed"),
                all
            );
        }
        for (id, (entity, group_by, measure, status)) in (1..).zip(&combinations) {
            let records = exported(&world, entity).await;
            for (from, to) in [("2026-01-01", "2026-12-31"), ("2026-03-15", "2026-04-15")] {
                let days = (Day::parse(from).expect("a day"), Day::parse(to).expect("a day"));
                let expected = counted(&records, (entity, group_by, measure), *status, days);
                world.meet(&wallet).await;
                let answer = chart(&world, &wallet, id, &format!("from={from}&to={to}")).await;
                assert_eq!(answer.cost.round_trips == 1, stored);
                let what = format!("{entity} by {group_by}, {measure}, {status:?}, from {from}");
                compare(&plotted(&answer), &expected, (entity, measure), &what);
            }
        }
    }
}

#[track_caller]
fn compare(
    plotted: &Value,
    expected: &BTreeMap<String, (u64, u64)>,
    (entity, measure): (&str, &str),
    what: &str,
) {
    let near = |shown: &Value, sums: (u64, u64)| {
        let difference = shown.as_f64().expect("a number") - number(entity, measure, sums);
        assert!(difference.abs() < 1e-9, "{what}: {shown} {sums:?}");
    };
    let labels = plotted[0].as_array().expect("labels");
    for (label, data) in labels.iter().zip(plotted[1].as_array().expect("numbers")) {
        let label = label.as_str().expect("a label");
        near(data, expected.get(label).copied().unwrap_or_default());
    }
    let missing: Vec<_> = expected
        .keys()
        .filter(|label| !labels.contains(&json!(label)))
        .collect();
    assert!(missing.is_empty(), "{what}: {missing:?}");
    let all = expected
        .values()
        .fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    near(&plotted[2], all);
}
