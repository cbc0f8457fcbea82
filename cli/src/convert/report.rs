//! The report of a conversion: its decisions, the values and rows that are left out, and the decisions that the operator has
//! to judge (C-105).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde_json::Value;

use super::columns::PERSON;
use super::kind::FileKind;
use super::map::{MapFile, Role};
use super::mapping::{MappedFile, quoted};
use super::names;
use super::records::{RecordBuilder, RowRemark};
use super::target::ColumnTarget;
use super::token::amount::{Amount, MarkProof};
use super::token::is_absent;

/// Maximum listed duplicates, and maximum listed rows.
const MAX_LISTED: usize = 1000;
/// Rows with one reason that are listed one by one.
const MAX_SAME: u64 = 10;
/// Fields that decide about a board, so that several columns that may fill one are asked about.
const DECIDING: [&str; 3] = ["value", "status", "column"];
/// Maximum columns proposed for a role.
const MAX_PROPOSED: usize = 3;

/// The decisions about values, the duplicates, and the omitted values and rows.
/// Without the latter while a style is open, because their reasons depend on it.
pub fn text(records: &RecordBuilder, files: &[MappedFile], is_decided: bool) -> String {
    let mut text = String::new();
    // Writing to a `String` does not fail.
    let _ = write_decisions(records, &mut text).and_then(|()| write_duplicates(records, files, &mut text));
    if !is_decided {
        return text;
    }
    let _ = write_rows(&records.losses, files, &mut text)
        .and_then(|()| write_rows(&records.faults, files, &mut text));
    text
}

/// Writes the decisions about values.
fn write_decisions(records: &RecordBuilder, text: &mut String) -> std::fmt::Result {
    writeln!(text, "local dates are in {}", records.zone)?;
    for ((status, meaning), rows) in &records.deals.statuses {
        writeln!(text, "status {status:?}: {} ({rows})", meaning.as_str())?;
    }
    let known: BTreeMap<_, _> = records.deals.shown(records.map).collect();
    for funnel in records
        .map
        .funnels
        .keys()
        .filter(|name| !known.contains_key(name.as_str()))
    {
        writeln!(text, "no row has the funnel {funnel:?} of the map")?;
    }
    for (funnel, columns) in known {
        let is_in_map = records.map.funnels.contains_key(funnel);
        let order = if is_in_map {
            "of the map"
        } else {
            "of the rows, closed ones last; change it in the map's [funnels]"
        };
        let columns = columns.join(", ");
        writeln!(
            text,
            "funnel {funnel:?} has the columns {columns} (in the order {order})"
        )?;
    }
    for (currency, rows) in &records.deals.currencies {
        writeln!(text, "amounts in {currency}: {rows}")?;
    }
    write_users(records, text)?;
    for (remark, rows) in &records.notes {
        writeln!(text, "{remark} ({rows})")?;
    }
    Ok(())
}

/// Writes the new users.
fn write_users(records: &RecordBuilder, text: &mut String) -> std::fmt::Result {
    for user in records.users.records() {
        let field = |name: &str| user.get(name).and_then(Value::as_str);
        let names = [field("name"), field("lastName"), field("email")];
        let mut names: Vec<_> = names.into_iter().flatten().collect();
        names.dedup();
        let admin = if user.contains_key("admin") {
            ", with all permissions"
        } else {
            ""
        };
        let id = user.get("id").cloned().unwrap_or_default();
        writeln!(text, "new user {id}: {}{admin}", names.join(" "))?;
    }
    match records
        .admin
        .and_then(|id| records.users.address_without_name(id))
    {
        Some(email) => writeln!(
            text,
            "if {email} is the address of another of these users, convert again with --admin \"NAME ({email})\""
        ),
        None => Ok(()),
    }
}

/// Writes the addresses and numbers that several leads have.
fn write_duplicates(records: &RecordBuilder, files: &[MappedFile], text: &mut String) -> std::fmt::Result {
    let shared = &records.leads.shared;
    for (what, places) in shared.iter().take(MAX_LISTED) {
        let place = |(file, line): &(usize, u64)| format!("{}:{line}", name(files, *file));
        let places: Vec<_> = places.iter().map(place).collect();
        writeln!(text, "duplicate {what}: {}", places.join(", "))?;
    }
    match shared.len().saturating_sub(MAX_LISTED) {
        0 => Ok(()),
        more => writeln!(text, "and {more} more duplicates"),
    }
}

fn name(files: &[MappedFile], index: usize) -> &str {
    files
        .get(index)
        .map(|file| file.sheet.name.as_str())
        .unwrap_or_default()
}

/// Writes rows (file, line, reason), each on a line. Many rows of a file with one reason are one line.
fn write_rows(rows: &[RowRemark], files: &[MappedFile], text: &mut String) -> std::fmt::Result {
    let mut counts = BTreeMap::<_, u64>::new();
    for (file, _, reason) in rows {
        *counts.entry((file, reason)).or_default() += 1;
    }
    let mut joined = BTreeSet::new();
    let (mut lines, mut listed) = (0, 0);
    for (file, line, reason) in rows {
        let same = counts.get(&(file, reason)).copied().unwrap_or_default();
        let is_joined = same > MAX_SAME;
        if lines == MAX_LISTED || (is_joined && !joined.insert((file, reason))) {
            continue;
        }
        let more = if is_joined {
            format!(" (and {} more rows)", same - 1)
        } else {
            String::new()
        };
        let reason = reason.escape_debug().to_string();
        let reason = reason
            .replace("\\\"", "\"")
            .replace("\\'", "'")
            .replace("\\\\", "\\");
        writeln!(text, "{}:{line}: {reason}{more}", name(files, *file))?;
        lines += 1;
        listed += if is_joined { same } else { 1 };
    }
    match rows.len() as u64 - listed {
        0 => Ok(()),
        unlisted => writeln!(text, "and {unlisted} more rows"),
    }
}

/// The roles that a file has no column for and that its map does not state as absent: questions, and remarks for those
/// that a file may lack. Each has the lines of the map to write.
pub fn missing_roles(file: &MappedFile, map: &MapFile, has_admin: bool) -> (Vec<String>, Vec<String>) {
    let name = &file.sheet.name;
    let (mut questions, mut remarks) = (Vec::new(), Vec::new());
    let has_person = |from: usize| {
        PERSON
            .iter()
            .skip(from)
            .any(|field| file.has(FileKind::Lead, field))
    };
    match file.main {
        FileKind::Opportunity => {
            questions.extend(missing_role(file, map, has_person(0)));
            questions.extend(DECIDING.iter().filter_map(|field| several_columns(file, field)));
        }
        // An id alone is no person.
        FileKind::Lead if !has_person(1) => {
            let lines = proposal(file, "person", "lead.name");
            questions.push(format!(
                "{name} has no column with a person's name, e-mail address or number:{lines}"
            ));
            return (questions, remarks);
        }
        FileKind::Company | FileKind::Lead => return (questions, remarks),
    }
    if !file.has(FileKind::Opportunity, "user") {
        let lines = proposal(file, "owner", "opportunity.user");
        let text = format!("{name} has no column for the owner of an opportunity");
        if has_admin {
            remarks.push(format!("{text}, so the user of --admin gets them:{lines}"));
        } else {
            questions.push(format!("{text}; add --admin E-MAIL, or write:{lines}"));
        }
    }
    if !file.has(FileKind::Opportunity, "createDate") {
        let lines = proposal(file, "created", "opportunity.createDate");
        remarks.push(format!(
            "{name} has no column for the creation date, so opportunities get the time of their import:{lines}"
        ));
    }
    (questions, remarks)
}

/// The question about several columns of a table of no product that may fill a field and that the map does not name.
fn several_columns(file: &MappedFile, field: &str) -> Option<String> {
    let wanted = names::field(&format!("opportunity.{field}"));
    let columns = file.sheet.headings.iter().zip(&file.columns);
    let guessed = columns.filter(|(_, column)| column.is_guessed && file.names.product == "csv");
    let fits = guessed.filter(|(_, column)| column.alike == wanted || column.target.field() == wanted);
    let (headings, columns): (Vec<_>, Vec<_>) = fits.unzip();
    let is_filled = columns.iter().any(|column| column.target.field() == wanted);
    let lines = headings
        .iter()
        .map(|heading| map_line(file, heading, &format!("opportunity.{field}")));
    (headings.len() > 1 && is_filled).then(|| {
        format!(
            "{} has several columns that may be the {field} of an opportunity; write the line of the right one:{}",
            file.sheet.name,
            lines.collect::<Vec<_>>().concat()
        )
    })
}

/// The question about the roles that a file of opportunities must have a column for.
fn missing_role(file: &MappedFile, map: &MapFile, has_person: bool) -> Option<String> {
    let (name, deal) = (&file.sheet.name, FileKind::Opportunity);
    let has_status = file.has(deal, "status") || file.has(deal, "column");
    let missing = Role::ALL.iter().filter_map(|role| {
        let (field, has) = match role {
            Role::Title => ("opportunity.title", file.has(deal, "title")),
            Role::Value => ("opportunity.value", file.has(deal, "value")),
            Role::Status => ("opportunity.status", has_status),
            Role::Person => ("lead.name", has_person),
        };
        let is_missing = !has && !map.lacks(name, *role);
        is_missing.then(|| (role.name(), proposal(file, role.name(), field)))
    });
    let (roles, lines): (Vec<_>, Vec<_>) = missing.unzip();
    (!roles.is_empty()).then(|| {
        format!(
            "{name} has no column for the {} of an opportunity:{}\n    absent.{} = {roles:?}  # if it has none",
            roles.join(", "),
            lines.concat(),
            quoted(name)
        )
    })
}

/// The lines of a map that give a role a column: one of the columns that resemble it, else a placeholder.
fn proposal(file: &MappedFile, role: &str, field: &str) -> String {
    let columns = file.sheet.headings.iter().zip(&file.columns);
    let alike = columns
        .filter(|(heading, column)| column.target.field().is_none() && names::resembles(role, heading));
    let mut headings: Vec<_> = alike
        .map(|(heading, _)| heading.as_str())
        .take(MAX_PROPOSED)
        .collect();
    if headings.is_empty() {
        headings.push("COLUMN");
    }
    let lines = headings.iter().map(|heading| map_line(file, heading, field));
    lines.collect::<Vec<_>>().concat()
}

/// The line of a map that gives a column a field, on a line of its own.
fn map_line(file: &MappedFile, heading: &str, field: &str) -> String {
    let (name, heading) = (quoted(&file.sheet.name), quoted(heading));
    format!("\n    files.{name}.{heading} = {field:?}")
}

/// The doubt about a file of persons that is none of a product and has a column of amounts: its rows may be deals.
fn amounts_of_leads(file: &MappedFile) -> Option<String> {
    if file.main != FileKind::Lead || file.names.kind.is_some() {
        return None;
    }
    let is_amount = |column: usize| {
        let cells = file.sheet.grid.rows().map(|row| row.cell(column));
        let mut amounts = cells.filter(|cell| !is_absent(cell.text)).map(Amount::of);
        let is_money =
            |amount: &Amount| amount.currency.is_some() || matches!(amount.proof, MarkProof::Proven(_));
        let mut has_money = false;
        amounts.all(|amount| {
            amount.is_ok_and(|amount| {
                has_money |= is_money(&amount);
                true
            })
        }) && has_money
    };
    let mut columns = file.columns.iter().enumerate();
    let (at, _) =
        columns.find(|(at, column)| matches!(column.target, ColumnTarget::Custom(..)) && is_amount(*at))?;
    let name = &file.sheet.name;
    Some(format!(
        "{name} is read as persons, and column {:?} has amounts; if its rows are deals:\n    kinds.{} = \"opportunity\"",
        file.heading(at),
        quoted(name)
    ))
}

/// The decisions that the operator has to judge, each with the line of the map to write.
pub fn doubts(records: &RecordBuilder, files: &[MappedFile]) -> Vec<String> {
    let mut doubts = records.doubts.clone();
    for file in files {
        doubts.extend(amounts_of_leads(file));
        let alike = file.sheet.headings.iter().zip(&file.columns);
        for (heading, column) in alike {
            let Some((part, field)) = column.alike else {
                continue;
            };
            if DECIDING.contains(&field) && several_columns(file, field).is_some() {
                continue;
            }
            let name = &file.sheet.name;
            let line = map_line(file, heading, &format!("{}.{field}", part.name()));
            doubts.push(format!(
                "{name}: column {heading:?} may be {}.{field} too, which another column fills; to use it instead:{line}",
                part.name()
            ));
        }
    }
    for (stage, rows) in &records.deals.doubtful {
        let stage = quoted(stage);
        doubts.push(format!(
            "stage {stage} looks closed and is read as open ({rows} rows); if it is closed:\n    status.{stage} = \"gain\"  # or \"lost\""
        ));
    }
    let currencies = &records.deals.currencies;
    if currencies.len() > 1 {
        let counts: Vec<_> = currencies
            .iter()
            .map(|(currency, rows)| format!("{currency} ({rows} rows)"))
            .collect();
        doubts.push(format!(
            "amounts are in several currencies, {}, and are added up as they are written; to leave amounts out, map their \
             column to an empty text:\n    columns.\"COLUMN\" = \"\"",
            counts.join(", ")
        ));
    }
    doubts
}

/// Statuses and the order of columns as sections of a map.
pub fn written_decisions(records: &RecordBuilder) -> String {
    let mut text = String::new();
    if !records.deals.statuses.is_empty() || !records.deals.unknown.is_empty() {
        text += "\n[status]\n";
    }
    let mut seen = BTreeSet::new();
    for (status, meaning) in records
        .deals
        .statuses
        .keys()
        .filter(|(status, _)| seen.insert(status.clone()))
    {
        let _ = writeln!(text, "{} = {}", quoted(status), quoted(meaning.as_str()));
    }
    for status in &records.deals.unknown {
        let _ = writeln!(text, "# {} = \"open\", \"gain\" or \"lost\"", quoted(status));
    }
    for (at, (funnel, columns)) in records.deals.shown(records.map).enumerate() {
        let head = if at == 0 { "\n[funnels]\n" } else { "" };
        let _ = writeln!(text, "{head}{} = {}", quoted(funnel), Value::from(columns));
    }
    text
}
