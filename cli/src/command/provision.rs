//! `funil setup`, `funil user add`, `funil funnel add`, `funil calendar add`: the lines of new records from a few answers
//! (C-111).

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use indicatif::ProgressBar;
use operator::import::{self, ImportError, Source};
use operator::{Operator, kinds};
use serde_json::{Value, json};
use shared::calendar::{BadLinkName, LinkName, Openings};
use shared::ids::MAX_IMPORTED_ID;
use shared::time::Zone;

use super::ask::folder;
use super::{Answer, Failure};

/// Stages of a funnel, if none are given.
pub const STAGES: &str = "Entrada, Contato, Proposta, Fechamento";
/// Openings of a calendar from Monday to Friday, if none are given.
pub const OPENINGS: &str = "09:00-12:00, 13:30-18:00";
/// The days of these openings.
const WORKDAYS: [&str; 5] = ["mon", "tue", "wed", "thu", "fri"];
/// Reasons for lost opportunities of a new instance.
const LOSS_REASONS: [&str; 4] = [
    "Preço",
    "Sem resposta",
    "Escolheu o concorrente",
    "Adiou a compra",
];

/// A group that may do all daily work.
pub fn group_line(id: u64) -> Value {
    json!({ "kind": "group", "id": id, "name": "Equipe", "permissions": { "leads": "all", "opportunities": "all", "wonLost": true,
        "archiveLeads": true, "editOpportunities": true, "calendars": true, "tickets": true, "reports": true } })
}

/// A user; an administrator without a group.
pub fn user_line(id: u64, full_name: &str, email: Option<&str>, group: Option<u64>) -> Value {
    let (first, last) = full_name.split_once(' ').unwrap_or((full_name, ""));
    let mut line = json!({ "kind": "user", "id": id, "name": first });
    let last = Some(last.trim()).filter(|last| !last.is_empty());
    for (field, value) in [("lastName", last), ("email", email)] {
        if let Some(value) = value {
            line[field] = value.into();
        }
    }
    match group {
        Some(group) => line["group"] = group.into(),
        None => line["admin"] = true.into(),
    }
    line
}

/// A funnel with these stages.
pub fn funnel_line(id: u64, name: &str, stages: &[String]) -> Value {
    let columns = (1_u64..).zip(stages);
    let columns = columns.map(|(at, name)| json!({ "id": at, "name": name, "sequence": at }));
    json!({ "kind": "funnel", "id": id, "name": name, "columns": columns.collect::<Vec<_>>() })
}

/// A published calendar with the same openings from Monday to Friday.
pub fn calendar_line(id: u64, name: &str, link: &LinkName, user: u64, zone: &str, hours: &Openings) -> Value {
    let hours: serde_json::Map<_, _> = WORKDAYS
        .map(|day| (day.to_owned(), json!(hours)))
        .into_iter()
        .collect();
    json!({ "kind": "calendar", "id": id, "name": name, "keyName": link, "publicId": format!("pub_{link}"), "isPublished": true,
        "userId": user, "timezone": zone, "durationMinutes": 30, "minimumNoticeMinutes": 60, "hours": hours })
}

/// A form with the usual fields, which makes an opportunity in the first column of funnel 1.
pub fn hook_line(name: &LinkName, token: &str) -> Value {
    json!({ "kind": "hook", "id": 1, "name": name, "token": token, "owner": 1, "unique": ["phone", "email"],
        "fields": [{ "name": "nome", "to": "firstname", "required": true }, { "name": "email" },
            { "name": "telefone", "to": "phone" }, { "name": "mensagem" }],
        "opportunity": { "column": 1, "funnel": 1, "title": "Contato pelo site" } })
}

/// The loss reasons of a new instance.
pub fn loss_reason_lines() -> impl Iterator<Item = Value> {
    let reasons = (1_u64..).zip(LOSS_REASONS);
    reasons.map(|(id, name)| json!({ "kind": "lossReason", "id": id, "name": name }))
}

/// Reads the openings of a day, such as `09:00-12:00, 13:30-18:00`.
///
/// # Errors
/// The rule.
pub fn hours(text: &str) -> Result<Openings, String> {
    let openings: Vec<Vec<_>> = text
        .split(',')
        .map(|part| part.split('-').map(clock).collect())
        .collect();
    let read = serde_json::from_value(json!(openings));
    read.map_err(|_| "must be openings such as 09:00-12:00, 13:30-18:00".to_owned())
}

/// A time of day with two digits of the hour.
fn clock(text: &str) -> String {
    format!("{:0>5}", text.trim())
}

/// Reads an IANA time zone.
///
/// # Errors
/// The rule.
pub fn zone(text: &str) -> Result<String, String> {
    Zone::parse(text)
        .map(|zone| zone.name().to_owned())
        .ok_or_else(|| Zone::MUST.to_owned())
}

/// Reads the last segment of a public link.
///
/// # Errors
/// The rule.
pub fn link_name(text: &str) -> Result<LinkName, String> {
    LinkName::parse(text).ok_or_else(|| BadLinkName.to_string())
}

/// Imports new records and keeps their lines in a file, if one is named.
///
/// # Errors
/// [`Failure`] if a line is refused, the file cannot be written or the table fails.
pub async fn bring(operator: &Operator, lines: &[Value], output: Option<&Path>) -> Result<(), Failure> {
    let text = text_of(lines);
    if let Some(path) = output {
        write_new(path, &text)?;
    }
    let source = Source::of(text);
    let report = import::import(operator, &source, false, &ProgressBar::hidden()).await;
    let report = report.map_err(|error| match error {
        ImportError::Read(cause) => cause.into(),
        ImportError::Operator(error) => Failure::from(error),
    })?;
    let refused = report.refused.first();
    refused.map_or(Ok(()), |refused| {
        let (line, reason) = (refused.line, &refused.reason);
        let place = if lines.len() > 1 {
            format!("line {line}: ")
        } else {
            String::new()
        };
        Err(Failure::Refused(format!("{place}{reason}")))
    })
}

fn text_of(lines: &[Value]) -> String {
    let lines: Vec<_> = lines.iter().map(Value::to_string).collect();
    lines.join("\n") + "\n"
}

/// Creates a file that only its owner can read, because a form's line has a token.
fn write_new(path: &Path, text: &str) -> Result<(), Failure> {
    let file = tempfile::NamedTempFile::new_in(folder(path));
    let written = file.and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        Ok(file.persist_noclobber(path)?)
    });
    let refused = |cause| Failure::Refused(format!("{} cannot be written: {cause}", path.display()));
    written.map(|_| ()).map_err(refused)
}

/// A secret or a link of new records: its names in the document of `--json` and in text, and its value.
pub type Fact = (&'static str, &'static str, String);

/// The lines, unless a file has them, and the secrets and links of the new records.
pub fn answer(lines: &[Value], output: Option<&Path>, facts: &[Fact]) -> Answer {
    let mut document = json!({ "records": lines });
    let mut text = output.map_or_else(|| text_of(lines) + "\n", |_| String::new());
    for (key, name, value) in facts {
        document[key] = value.as_str().into();
        let _ = writeln!(text, "{name:12}  {value}");
    }
    Answer::new(text.trim_end(), document)
}

/// An id for a new user, funnel or calendar, which no other command gets.
pub async fn next_id<K: kinds::StoredKind>(
    operator: &Operator,
    id: impl Fn(&K::Record) -> u64,
) -> Result<u64, Failure> {
    let (mut highest, mut pages) = (0, operator.records::<K>());
    while let Some(page) = pages.next().await? {
        highest = page.iter().map(&id).fold(highest, u64::max);
    }
    if highest >= MAX_IMPORTED_ID {
        let name = K::KIND.name();
        return Err(Failure::Refused(format!(
            "{name} {highest} has the highest id; import this {name} with an id of your choice"
        )));
    }
    Ok(operator.reserve_above(K::KIND, highest).await?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn openings_are_read_or_refused() {
        let read = |text| hours(text).map(|openings| json!(openings));
        assert_eq!(read("9:00-18:00"), Ok(json!([["09:00", "18:00"]])));
        let two = json!([["09:00", "12:00"], ["13:30", "24:00"]]);
        assert_eq!(read(" 09:00 - 12:00 ,13:30-24:00"), Ok(two));
        // It ends on the next day.
        assert_eq!(read("22:00-02:00"), Ok(json!([["22:00", "02:00"]])));
        for bad in [
            "",
            "9-18",
            "09:00-24:01",
            "09:60-18:00",
            "13:00-18:00,09:00-12:00",
            "+9:00-18:00",
            "9:00-9:00",
        ] {
            assert!(hours(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_name_is_split_and_an_administrator_has_no_group() {
        let ana = user_line(1, "Ana Souza Lima", Some("ana@example.com"), None);
        let expected = json!({ "kind": "user", "id": 1, "name": "Ana", "lastName": "Souza Lima", "email": "ana@example.com", "admin": true });
        assert_eq!(ana, expected);
        assert_eq!(
            user_line(2, "Bia", None, Some(3)),
            json!({ "kind": "user", "id": 2, "name": "Bia", "group": 3 })
        );
    }
}
