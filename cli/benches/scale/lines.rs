//! Generates the records of an instance as import lines (C-81). The same number of lines always gives the same records.
//!
//! The data of a sales team of fifty: leads, opportunities, tickets with files, meetings, calls and their events, in
//! the proportions of a system used for years, ordered by kind as in a table dump.

use std::io::{self, Write};

use serde_json::{Value, json};

const USERS: u64 = 50;
const FUNNELS: u64 = 4;
const COLUMNS: u64 = 6;
const DEPARTMENTS: u64 = 5;
/// The first of January 2024, in seconds.
const FIRST_DAY: u64 = 1_704_067_200;
const DAYS: u64 = 1000;

/// Number of lines of each kind per thousand.
const COMPANIES: u64 = 30;
const LEADS: u64 = 300;
const OPPORTUNITIES: u64 = 170;
const MEETINGS: u64 = 50;
const TICKETS: u64 = 100;
const FILES: u64 = 100;
const CALLS: u64 = 125;

/// Writes about as many lines as requested, at least a thousand, and returns their number.
///
/// # Errors
/// The error of `out`.
pub fn write(about: u64, out: &mut impl Write) -> io::Result<u64> {
    let thousands = (about / 1000).max(1);
    let mut sheet = NdjsonWriter { out, lines: 0 };
    sheet.all(1..=DEPARTMENTS, department)?;
    sheet.all(1..=USERS, user)?;
    sheet.all(1..=FUNNELS, funnel)?;
    sheet.all(1..=USERS, calendar)?;
    sheet.all(1..=thousands * COMPANIES, company)?;
    let (companies, leads) = (thousands * COMPANIES, thousands * LEADS);
    sheet.all(1..=leads, |id| lead(id, companies))?;
    let opportunities = thousands * OPPORTUNITIES;
    sheet.all(1..=opportunities, |id| opportunity(id, leads))?;
    sheet.all(1..=thousands * MEETINGS, |id| meeting(id, leads))?;
    let tickets = thousands * TICKETS;
    sheet.all(1..=tickets, |id| ticket(id, leads))?;
    sheet.all(1..=thousands * FILES, |id| file(id, tickets))?;
    sheet.all(1..=thousands * CALLS, |id| call(id, leads))?;
    sheet.all(1..=thousands * CALLS, |id| event(id, leads))?;
    Ok(sheet.lines)
}

struct NdjsonWriter<'a, W> {
    out: &'a mut W,
    lines: u64,
}

impl<W: Write> NdjsonWriter<'_, W> {
    fn all(&mut self, ids: impl Iterator<Item = u64>, record: impl Fn(u64) -> Value) -> io::Result<()> {
        for id in ids {
            writeln!(self.out, "{}", record(id))?;
            self.lines += 1;
        }
        Ok(())
    }
}

/// A pseudo-random number below `bound`: one step of `SplitMix64`.
fn pick(id: u64, what: u64, bound: u64) -> u64 {
    let mut mixed = (id ^ (what << 56)).wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (mixed ^ (mixed >> 31)) % bound
}

fn one_of<'a>(id: u64, what: u64, of: &[&'a str]) -> &'a str {
    let at = pick(id, what, of.len() as u64);
    usize::try_from(at)
        .ok()
        .and_then(|at| of.get(at))
        .copied()
        .unwrap_or_default()
}

/// A time within the years of the data, on the minute.
fn time(id: u64, what: u64) -> String {
    let minute = pick(id, what, DAYS * 24 * 60);
    moment(FIRST_DAY + minute * 60)
}

fn moment(seconds: u64) -> String {
    let millis = i64::try_from(seconds * 1000).unwrap_or_default();
    let moment = shared::time::Timestamp::from_unix_millis(millis);
    moment.map_or(String::new(), |moment| moment.to_string())
}

fn mobile(lead: u64) -> String {
    format!("55119{:08}", lead * 17 % 100_000_000)
}

fn department(id: u64) -> Value {
    let parent = (id > 1).then_some(1);
    json!({ "kind": "department", "id": id, "name": format!("Vendas {id}"), "parent": parent })
}

fn user(id: u64) -> Value {
    json!({
        "kind": "user", "id": id, "name": format!("Vendedora {id}"), "lastName": "Lima", "department": id % DEPARTMENTS + 1,
        "admin": id == 1, "email": format!("u{id}@example.com"),
    })
}

fn funnel(id: u64) -> Value {
    let column = |at: u64| json!({ "id": id * 10 + at, "name": format!("Etapa {at}"), "sequence": at });
    let columns: Vec<_> = (0..COLUMNS).map(column).collect();
    json!({ "kind": "funnel", "id": id, "name": format!("Funil {id}"), "columns": columns })
}

fn calendar(id: u64) -> Value {
    let day = [["09:00", "12:00"], ["13:00", "18:00"]];
    json!({
        "kind": "calendar", "id": id, "name": "Visita", "keyName": format!("visita-{id}"), "publicId": format!("pub{id}"),
        "isPublished": true, "userId": id, "timezone": "America/Sao_Paulo", "durationMinutes": 30, "bufferMinutes": 0,
        "minimumNoticeMinutes": 60, "hours": { "mon": day, "tue": day, "wed": day, "thu": day, "fri": day },
        "horizon": { "type": "unlimited" },
    })
}

fn company(id: u64) -> Value {
    json!({
        "kind": "company", "id": id, "companyname": format!("Padaria Estrela {id} Ltda"), "companycity": "Curitiba",
        "companystate": "PR", "companycountry": "Brazil", "companyemail": format!("contato@estrela{id}.example"),
        "companynemployees": pick(id, 1, 400), "owner": pick(id, 2, USERS) + 1,
    })
}

fn lead(id: u64, companies: u64) -> Value {
    let company = (pick(id, 1, 4) == 0).then(|| pick(id, 2, companies) + 1);
    json!({
        "kind": "lead", "id": id, "firstname": one_of(id, 3, &["Ana", "Bruno", "Carla", "Tiago", "Maria", "João"]),
        "lastname": one_of(id, 4, &["Peçanha", "Lima", "Souza", "Ferreira", "da Silva"]), "email": format!("lead{id}@example.com"),
        "mobile": mobile(id), "city": one_of(id, 5, &["Curitiba", "São Paulo", "Apucarana", "Londrina"]), "state": "PR",
        "country": "Brazil", "timezone": "America/Sao_Paulo", "owner": pick(id, 6, USERS) + 1, "company": company,
        "points": pick(id, 7, 100), "department": pick(id, 8, DEPARTMENTS) + 1, "archived": pick(id, 9, 10) == 0,
        "acquisition_channel": one_of(id, 10, &["site", "feira", "indicação"]), "createDate": time(id, 11),
        "lastActive": time(id, 12), "filial": "Apucarana", "interesse": "um plano anual, com visita na próxima semana",
    })
}

fn opportunity(id: u64, leads: u64) -> Value {
    let funnel = pick(id, 1, FUNNELS) + 1;
    let status = one_of(id, 2, &["open", "open", "gain", "lost"]);
    let close = |when: &str| (status == when).then(|| time(id, 3));
    json!({
        "kind": "opportunity", "id": id, "title": format!("Pedido {id}"),
        "value": format!("{}.{:02}", pick(id, 4, 20_000), pick(id, 5, 100)), "crm_id": funnel,
        "crm_column": funnel * 10 + pick(id, 6, COLUMNS), "lead_id": pick(id, 7, leads) + 1, "sequence": id, "status": status,
        "user": pick(id, 8, USERS) + 1, "createDate": time(id, 9), "updateDate": time(id, 10), "gain_date": close("gain"),
        "lost_date": close("lost"), "archived": u8::from(pick(id, 11, 20) == 0), "service_permission": "all",
        "fields": { "Origem do Lead": "feira", " Número do pedido ": format!("{id}/2026") },
    })
}

fn meeting(id: u64, leads: u64) -> Value {
    let calendar = pick(id, 1, USERS) + 1;
    let begin = FIRST_DAY + pick(id, 2, DAYS) * 86_400 + 12 * 3600 + pick(id, 3, 18) * 1800;
    json!({
        "kind": "meeting", "id": id, "calendarId": calendar, "date": moment(begin), "endDate": moment(begin + 1800),
        "leadId": pick(id, 4, leads) + 1, "userId": calendar, "status": one_of(id, 5, &["scheduled", "canceled"]),
        "formData": { "Assunto": "Visita" }, "createDate": time(id, 6), "updateDate": time(id, 7),
    })
}

fn ticket(id: u64, leads: u64) -> Value {
    let lead = pick(id, 1, leads) + 1;
    json!({
        "kind": "ticket", "id": id, "lead_relation": lead, "attendant": pick(id, 2, USERS) + 1, "name": "Atendimento",
        "name_contact": "Maria", "type": "chatapp", "recipientid": format!("{}@c", mobile(lead)), "accid": "acc1",
        "startDate": time(id, 3), "star": pick(id, 4, 5) + 1, "unread": pick(id, 5, 4), "sequence": id,
        "createDate": time(id, 6), "updateDate": time(id, 7), "chatapp_number": "551130001000",
    })
}

fn file(id: u64, tickets: u64) -> Value {
    json!({
        "kind": "file", "ticket": pick(id, 1, tickets) + 1, "type": "image", "url": format!("https://media.example/{id}"),
        "mimetype": "image/jpeg", "store_url": format!("https://files.example/{id}"), "store_path": format!("s/{id}"),
        "ext": "jpg",
    })
}

/// The fields that a call and its event share.
fn talk(id: u64, leads: u64) -> (u64, &'static str, u64, String) {
    let status = one_of(id, 1, &["COMPLETE", "COMPLETE", "INCOMPLETE"]);
    (pick(id, 2, leads) + 1, status, pick(id, 3, 900), time(id, 4))
}

fn call(id: u64, leads: u64) -> Value {
    let (lead, status, duration, date) = talk(id, leads);
    json!({
        "kind": "call", "id": id, "user": pick(id, 5, USERS) + 1, "leadPhone": mobile(lead), "type": "INCOMING",
        "status": status, "duration": duration, "record": true, "service": "voip", "lead": lead,
        "callId": format!("c-{id}"), "createDate": date,
    })
}

fn event(id: u64, leads: u64) -> Value {
    let (lead, status, duration, date) = talk(id, leads);
    json!({
        "kind": "event", "id": id, "lead": lead, "name": "voip.call_incoming", "operator": pick(id, 5, USERS) + 1,
        "phone": mobile(lead), "status": status, "duration": duration, "callId": format!("c-{id}"), "service": "voip",
        "call": id, "createDate": date,
    })
}
