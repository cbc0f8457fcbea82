//! `funil setup`, `funil user add`, `funil funnel add`, `funil calendar add`: the lines of new records from a few answers
//! (C-111).

use std::io::Write as _;
use std::path::Path;

use indicatif::ProgressBar;
use operator::import::{self, Source};
use operator::{Operator, kinds};
use serde_json::{Value, json};
use shared::calendar::{BadLinkName, LinkName};
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
    if !last.trim().is_empty() {
        line["lastName"] = last.trim().into();
    }
    if let Some(email) = email {
        line["email"] = email.into();
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
pub fn calendar_line(id: u64, name: &str, link: &LinkName, user: u64, zone: &str, hours: &Hours) -> Value {
    let openings = json!(hours.0);
    let hours: serde_json::Map<_, _> = WORKDAYS
        .map(|day| (day.to_owned(), openings.clone()))
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

/// Openings of a day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hours(Vec<[String; 2]>);

/// Reads openings such as `09:00-12:00, 13:30-18:00`.
///
/// # Errors
/// The rule.
pub fn hours(text: &str) -> Result<Hours, String> {
    let rule = || "must be openings such as 09:00-12:00, 13:30-18:00".to_owned();
    let opening = |part: &str| {
        let (from, to) = part.split_once('-')?;
        let [from, to] = [from, to].map(|time| clock(time.trim()));
        let (from, to) = (from?, to?);
        (from < to).then_some([from, to])
    };
    let openings = text.split(',').map(opening).collect::<Option<Vec<_>>>();
    let openings = openings.ok_or_else(rule)?;
    let in_order = openings.windows(2).all(|pair| match pair {
        [[_, end], [start, _]] => end <= start,
        _ => true,
    });
    if in_order {
        Ok(Hours(openings))
    } else {
        Err(rule())
    }
}

/// A time of day as `HH:MM`.
fn clock(text: &str) -> Option<String> {
    let (hour, minute) = text.split_once(':')?;
    let digits = |part: &str| (1..=2).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
    let number = |part: &str| digits(part).then(|| part.parse::<u32>().ok()).flatten();
    let (hour, minute) = (number(hour)?, number(minute)?);
    let fits = minute < 60 && hour * 60 + minute <= 24 * 60;
    fits.then(|| format!("{hour:02}:{minute:02}"))
}

/// Reads an IANA time zone.
///
/// # Errors
/// The rule.
pub fn zone(text: &str) -> Result<String, String> {
    let known = Zone::parse(text).map(|_| text.to_owned());
    known.ok_or_else(|| Zone::MUST.to_owned())
}

/// Reads the last segment of a public link.
///
/// # Errors
/// The rule.
pub fn link_name(text: &str) -> Result<LinkName, String> {
    LinkName::parse(text).ok_or_else(|| BadLinkName.to_string())
}

/// Imports new records and keeps their lines in a file, if one is named. Returns the lines as text.
///
/// # Errors
/// [`Failure`] if a line is refused, the file cannot be written or the table fails.
pub async fn bring(operator: &Operator, lines: &[Value], output: Option<&Path>) -> Result<String, Failure> {
    let text = lines.iter().map(ToString::to_string).collect::<Vec<_>>();
    let text = text.join("\n") + "\n";
    if let Some(path) = output {
        write_new(path, &text)?;
    }
    let source = Source::spool(text.as_bytes())?;
    let report = import::import(operator, &source, false, &ProgressBar::hidden()).await;
    let report = report.map_err(|error| match error {
        import::ImportError::Read(cause) => cause.into(),
        import::ImportError::Operator(error) => Failure::from(error),
    })?;
    if let Some(refused) = report.refused.first() {
        return Err(Failure::Refused(format!(
            "line {}: {}",
            refused.line, refused.reason
        )));
    }
    Ok(text)
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

/// A secret or a link of new records.
pub struct Fact {
    /// Its name in the document of `--json`.
    pub key: &'static str,
    /// Its name in text.
    pub name: &'static str,
    pub value: String,
}

impl Fact {
    pub fn new(key: &'static str, name: &'static str, value: impl Into<String>) -> Self {
        let value = value.into();
        Self { key, name, value }
    }
}

/// The lines, unless a file has them, and the secrets and links of the new records.
pub fn answer(lines: &[Value], text: &str, output: Option<&Path>, facts: &[Fact]) -> Answer {
    let said = facts
        .iter()
        .map(|fact| format!("{:12}  {}", fact.name, fact.value));
    let said = said.collect::<Vec<_>>().join("\n");
    let mut document = json!({ "records": lines });
    for fact in facts {
        document[fact.key] = fact.value.as_str().into();
    }
    let shown = if output.is_some() { "" } else { text };
    let gap = if shown.is_empty() || said.is_empty() {
        ""
    } else {
        "\n"
    };
    Answer::new(format!("{shown}{gap}{said}").trim_end(), document)
}

/// The next id of users, funnels or calendars, which only imports create.
pub async fn next_id<K: kinds::ExportKind>(
    operator: &Operator,
    id: impl Fn(&K::Record) -> u64,
) -> Result<u64, Failure> {
    let (mut highest, mut pages) = (0, operator.records::<K>());
    while let Some(page) = pages.next().await? {
        highest = page.iter().map(&id).fold(highest, u64::max);
    }
    Ok(highest + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn openings_are_read_or_refused() {
        let read = |text| hours(text).map(|Hours(openings)| json!(openings));
        assert_eq!(read("9:00-18:00"), Ok(json!([["09:00", "18:00"]])));
        let two = json!([["09:00", "12:00"], ["13:30", "24:00"]]);
        assert_eq!(read(" 09:00 - 12:00 ,13:30-24:00"), Ok(two));
        for bad in [
            "",
            "9-18",
            "18:00-09:00",
            "09:00-24:01",
            "09:60-18:00",
            "13:00-18:00,09:00-12:00",
            "+9:00-18:00",
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
