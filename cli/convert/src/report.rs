//! The report of a conversion: its decisions, the values and rows that are left out, and the decisions that the operator has
//! to judge (C-105).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde_json::Value;

use super::columns::PERSON;
use super::index::SharedValue;
use super::input::CellType;
use super::kind::FileKind;
use super::map::{MapFile, Role};
use super::mapping::{MappedFile, quoted};
use super::names;
use super::people::RecordFields;
use super::records::{RecordBuilder, RowRemark};
use super::target::ColumnTarget;
use super::token::amount::{Amount, MarkProof};
use super::token::date::WrittenDate;
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
    let mut lines = decisions(records);
    lines.extend(duplicates(records, files));
    if is_decided {
        lines.extend(rows(&records.losses, files));
        lines.extend(rows(&records.faults, files));
    }
    lines.into_iter().map(|line| line + "\n").collect()
}

/// The decisions about values.
fn decisions(records: &RecordBuilder) -> Vec<String> {
    let (map, deals) = (records.map, &records.deals);
    let known: BTreeMap<_, _> = deals.shown(map).collect();
    let mut lines = vec![format!("local dates are in {}", records.zone)];
    for ((status, meaning), rows) in &deals.statuses {
        lines.push(format!("status {status:?}: {} ({rows})", meaning.as_str()));
    }
    for funnel in map
        .funnels
        .keys()
        .filter(|name| !known.contains_key(name.as_str()))
    {
        lines.push(format!("no row has the funnel {funnel:?} of the map"));
    }
    for (funnel, columns) in known {
        let order = if map.funnels.contains_key(funnel) {
            "of the map"
        } else {
            "of the rows, closed ones last; change it in the map's [funnels]"
        };
        let columns = columns.join(", ");
        lines.push(format!(
            "funnel {funnel:?} has the columns {columns} (in the order {order})"
        ));
    }
    for (currency, rows) in &deals.currencies {
        lines.push(format!("amounts in {currency}: {rows}"));
    }
    lines.extend(users(records));
    for (remark, rows) in &records.notes {
        lines.push(format!("{remark} ({rows})"));
    }
    lines
}

/// The new users.
fn users(records: &RecordBuilder) -> Vec<String> {
    let shown = |user: &RecordFields| {
        let field = |name: &str| user.get(name).and_then(Value::as_str);
        let names = [field("name"), field("lastName"), field("email")];
        let mut names: Vec<_> = names.into_iter().flatten().collect();
        names.dedup();
        let is_admin = user.contains_key("admin");
        let admin = if is_admin { ", with all permissions" } else { "" };
        let id = user.get("id").cloned().unwrap_or_default();
        format!("new user {id}: {}{admin}", names.join(" "))
    };
    let mut lines: Vec<_> = records.users.records().map(shown).collect();
    let admin = records
        .admin
        .and_then(|id| records.users.address_without_name(id));
    lines.extend(admin.map(|email| {
        format!("if {email} is the address of another of these users, convert again with --admin \"NAME ({email})\"")
    }));
    lines
}

/// The addresses and numbers that several leads have.
fn duplicates(records: &RecordBuilder, files: &[MappedFile]) -> Vec<String> {
    let shared = &records.leads.shared;
    let place = |(file, line): &(usize, u64)| format!("{}:{line}", name(files, *file));
    let line = |(what, of): (&String, &SharedValue)| {
        let places = of.places.iter().map(place).collect::<Vec<_>>().join(", ");
        format!("duplicate {what}: {places}{}", and_more(of.more))
    };
    let mut lines: Vec<_> = shared.iter().take(MAX_LISTED).map(line).collect();
    let more = shared.len().saturating_sub(MAX_LISTED);
    lines.extend((more > 0).then(|| format!("and {more} more duplicates")));
    lines
}

/// The end of a line that stands for further rows.
fn and_more(rows: u64) -> String {
    if rows > 0 {
        format!(" (and {rows} more rows)")
    } else {
        String::new()
    }
}

fn name(files: &[MappedFile], index: usize) -> &str {
    files.get(index).map_or("", |file| file.sheet.name.as_str())
}

/// Rows (file, line, reason), each on a line. Many rows of a file with one reason are one line.
fn rows(rows: &[RowRemark], files: &[MappedFile]) -> Vec<String> {
    let mut counts = BTreeMap::<_, u64>::new();
    for (file, _, reason) in rows {
        *counts.entry((file, reason)).or_default() += 1;
    }
    let (mut joined, mut lines, mut listed) = (BTreeSet::new(), Vec::new(), 0);
    for (file, line, reason) in rows {
        let same = counts.get(&(file, reason)).copied().unwrap_or_default();
        let is_joined = same > MAX_SAME;
        if lines.len() == MAX_LISTED || (is_joined && !joined.insert((file, reason))) {
            continue;
        }
        let more = and_more(if is_joined { same - 1 } else { 0 });
        let reason = reason.escape_debug().to_string();
        let reason = reason
            .replace("\\\"", "\"")
            .replace("\\'", "'")
            .replace("\\\\", "\\");
        lines.push(format!("{}:{line}: {reason}{more}", name(files, *file)));
        listed += if is_joined { same } else { 1 };
    }
    let unlisted = rows.len() as u64 - listed;
    lines.extend((unlisted > 0).then(|| format!("and {unlisted} more rows")));
    lines
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
    let names_person = ["name", "firstname", "lastname", "id"]
        .iter()
        .any(|field| file.has(FileKind::Lead, field));
    if has_person(0) && !names_person {
        let lines = proposal(file, "person", "lead.name");
        remarks.push(format!("{name} has no column for the name of a person:{lines}"));
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

/// The lines of a map that give a role a column: one of the columns that resemble it and may have its values, else a
/// placeholder.
fn proposal(file: &MappedFile, role: &str, field: &str) -> String {
    let columns = file.sheet.headings.iter().zip(&file.columns).enumerate();
    let may_be = |at: usize, heading: &str| match role {
        "value" => !names::is_scaled(heading),
        "created" => {
            let mut cells = file.sheet.grid.rows().map(|row| row.cell(at));
            cells.any(|cell| cell.kind == CellType::Number || WrittenDate::of(cell.text).is_some())
        }
        _ => true,
    };
    let alike = columns.filter(|(at, (heading, column))| {
        column.target.field().is_none() && names::resembles(role, heading) && may_be(*at, heading)
    });
    let mut headings: Vec<_> = alike
        .map(|(_, (heading, _))| heading.as_str())
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
        let is_asked = |field: &&str| several_columns(file, field).is_some();
        let asked: Vec<_> = DECIDING.into_iter().filter(is_asked).collect();
        let alike = file.sheet.headings.iter().zip(&file.columns);
        for (heading, column) in alike {
            let Some((part, field)) = column.alike else {
                continue;
            };
            if asked.contains(&field) {
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
    doubts.extend(unknown_currency(records).filter(|_| records.deals.currencies.len() == 1));
    for (stage, rows) in &records.deals.doubtful {
        let stage = quoted(stage);
        doubts.push(format!(
            "stage {stage} looks closed and is read as open ({rows} rows); if it is closed:\n    status.{stage} = \"gain\"  # or \"lost\""
        ));
    }
    doubts
}

/// The doubt about a sign that many currencies have, or a text that is the code of none.
fn unknown_currency(records: &RecordBuilder) -> Option<String> {
    let only = records.deals.currencies.keys().next()?;
    let is_unknown = records.currency.is_none() && records.one_currency().is_none();
    is_unknown.then(|| {
        format!(
            "amounts are in {only:?}, which is the code of no currency, so the board shows them in that of the instance; to name \
             it:\n    currency = \"USD\""
        )
    })
}

/// The question about amounts in several currencies, which a board would add up.
pub fn several_currencies(records: &RecordBuilder) -> Option<String> {
    let currencies = records.deals.currencies.iter();
    let codes = currencies.clone().filter(|(code, _)| *code != "$");
    let most = codes.rev().max_by_key(|(_, rows)| **rows)?;
    let counts: Vec<_> = currencies
        .map(|(currency, rows)| format!("{currency} ({rows} rows)"))
        .collect();
    (records.currency.is_none() && counts.len() > 1).then(|| {
        format!(
            "amounts are in several currencies, {}; write the one of the board, and amounts in others are left out and kept in \
             custom fields:\n    currency = {:?}",
            counts.join(", "),
            most.0
        )
    })
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
