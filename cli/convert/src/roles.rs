//! The roles of a file's columns: what has no column, or several, each with the lines of the map to write (C-105).

use std::collections::BTreeSet;

use domain::opportunity::Status;
use domain::text::cut;

use super::closing::{either, is_filled};
use super::columns::PERSON;
use super::content::Content;
use super::input::{Cell, CellType, Row};
use super::kind::FileKind;
use super::map::{MapFile, Role};
use super::mapping::{MappedColumn, MappedFile, quoted};
use super::names;
use super::records::RecordBuilder;
use super::target::Closing;
use super::token::amount::{Amount, MarkProof};
use super::token::{is_absent, people};

/// Fields that decide about a board, so that several columns that may fill one are asked about.
pub const DECIDING: [&str; 3] = ["value", "status", "column"];
/// Maximum columns proposed for a role.
const MAX_PROPOSED: usize = 3;
/// Maximum listed values of a column, and their characters.
const MAX_VALUES: usize = 8;
const MAX_SHOWN: usize = 40;
/// Minimum digits of a telephone number that no heading has.
const MIN_DIGITS: usize = 10;

/// The roles that a file has no column for and that its map does not state as absent: questions, and remarks for those
/// that a file may lack. Each has the lines of the map to write.
pub fn missing_roles(file: &MappedFile, map: &MapFile, has_admin: bool) -> (Vec<String>, Vec<String>) {
    let name = &file.sheet.name;
    if let Some(value) = file.sheet.headings.iter().find(|heading| is_value(heading)) {
        let question = format!(
            "{name} has no heading, because {value:?} is no name; write the names of its columns above the rows"
        );
        return (vec![question], Vec::new());
    }
    match file.main {
        FileKind::Opportunity => roles_of_deals(file, map, has_admin),
        // An id alone is no person.
        FileKind::Lead if !has_person(file, 1) => {
            let lines = proposal(file, "person", "lead.name");
            let question =
                format!("{name} has no column with a person's name, e-mail address or number:{lines}");
            (vec![question], Vec::new())
        }
        FileKind::Company | FileKind::Lead => (Vec::new(), Vec::new()),
    }
}

/// Whether a file has a field of a person, from this one on.
fn has_person(file: &MappedFile, from: usize) -> bool {
    let mut fields = PERSON.iter().skip(from);
    fields.any(|field| file.has(FileKind::Lead, field))
}

/// The questions and remarks about a file of opportunities.
fn roles_of_deals(file: &MappedFile, map: &MapFile, has_admin: bool) -> (Vec<String>, Vec<String>) {
    let name = &file.sheet.name;
    let is_person = has_person(file, 0);
    let mut questions: Vec<_> = missing_role(file, map, is_person).into_iter().collect();
    questions.extend(DECIDING.iter().filter_map(|field| several_columns(file, field)));
    let mut remarks = Vec::new();
    for (has_several, text) in other_currencies(file) {
        if has_several { &mut questions } else { &mut remarks }.push(text);
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
    if is_person && !names_person {
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
pub fn several_columns(file: &MappedFile, field: &str) -> Option<String> {
    let wanted = names::field(&format!("opportunity.{field}"));
    let columns = file.columns.iter().enumerate();
    let guessed = columns.filter(|(_, column)| column.is_guessed && file.names.product == "csv");
    let fits = guessed.filter(|(at, column)| {
        let is_named = column.alike == wanted || column.target.field() == wanted;
        is_named || field == "value" && is_second_amount(file, *at)
    });
    let (headings, columns): (Vec<_>, Vec<_>) = fits.map(|(at, column)| (file.heading(at), column)).unzip();
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

/// Whether a column of no field has amounts alone, of which one is another than the value of its row.
fn is_second_amount(file: &MappedFile, at: usize) -> bool {
    let cents = |cell: Cell<'_>| Amount::of(cell)?.cents(None, false);
    let differs = |row: Row<'_>| {
        let own = cents(row.cell(at)).ok().filter(|cents| cents.get() > 0);
        let value = file.first(row, (FileKind::Opportunity, "value"));
        own.is_some() && own != value.and_then(|(_, cell)| cents(cell).ok())
    };
    let mut rows = file.sheet.grid.rows();
    let is_amount = |cell: Cell<'_>| is_absent(cell.text) || Amount::of(cell).is_ok();
    may_be_value(file, at) && rows.clone().all(|row| is_amount(row.cell(at))) && rows.any(differs)
}

/// Whether a column that the map does not name may be the value of opportunities, and fills no field.
pub fn may_be_value(file: &MappedFile, at: usize) -> bool {
    let column = file.columns.get(at);
    let custom = column.filter(|column| column.is_guessed && column.is_custom_of(Content::Amounts));
    custom.is_some_and(|column| fits(file, "value", file.heading(at), column))
}

/// Whether a status can be read from a file.
fn has_status(file: &MappedFile, map: &MapFile) -> bool {
    let has = |field| file.has(FileKind::Opportunity, field);
    has("status") || has("column") || map.closed.contains_key(&file.sheet.name)
}

/// The question about the roles that a file of opportunities must have a column for.
fn missing_role(file: &MappedFile, map: &MapFile, has_person: bool) -> Option<String> {
    let (name, deal) = (&file.sheet.name, FileKind::Opportunity);
    let missing = Role::ALL.iter().filter_map(|role| {
        let (field, has) = match role {
            Role::Title => ("opportunity.title", file.has(deal, "title")),
            Role::Value => ("opportunity.value", file.has(deal, "value")),
            Role::Status => ("opportunity.status", has_status(file, map)),
            Role::Person => ("lead.name", has_person),
        };
        let is_missing = !has && !map.lacks(name, *role);
        is_missing.then(|| (role.name(), proposal(file, role.name(), field)))
    });
    let (roles, lines): (Vec<_>, Vec<_>) = missing.unzip();
    let quoted = quoted(name);
    let persons = format!("\n    kinds.{quoted} = \"lead\"  # if its rows are persons");
    let persons = if file.names.kind.is_some() { "" } else { &persons };
    (!roles.is_empty()).then(|| {
        format!(
            "{name} has no column for the {} of an opportunity:{}\n    absent.{quoted} = {roles:?}  # if it has none{persons}",
            roles.join(", "),
            lines.concat(),
        )
    })
}

/// The lines of a map that give a role a column: one of the columns that resemble it and have fitting values, else a
/// placeholder.
fn proposal(file: &MappedFile, role: &str, field: &str) -> String {
    let mut lines = candidates(file, role, field);
    if lines.is_empty() && role == "status" {
        lines = (0..file.columns.len()).map(|at| closing_line(file, at)).collect();
    }
    if lines.is_empty() {
        // A remark, so that the printed lines are a map.
        lines = map_line(file, "COLUMN", field).replacen("files", "# files", 1);
    }
    lines
}

/// The lines of a map for the columns that may fill a role.
pub fn candidates(file: &MappedFile, role: &str, field: &str) -> String {
    let columns = file.sheet.headings.iter().zip(&file.columns);
    let alike = columns
        .filter(|(heading, column)| column.target.field().is_none() && fits(file, role, heading, column));
    let lines = alike.take(MAX_PROPOSED).map(|(heading, column)| {
        let has = |content| role == "person" && column.contents.contains(&content);
        let field = match (has(Content::Emails), has(Content::Phones)) {
            (true, _) => "lead.email",
            (false, true) => "lead.phone",
            (false, false) => field,
        };
        map_line(file, heading, field)
    });
    lines.collect()
}

/// Whether a column may fill a role, by its heading and its values.
fn fits(file: &MappedFile, role: &str, heading: &str, column: &MappedColumn) -> bool {
    use Content::{Amounts, Answers, Currencies, Dates, Emails, Money, Phones, Statuses};
    let resembles = |role| names::resembles(role, heading);
    let has = |contents: &[Content]| column.contents.iter().any(|content| contents.contains(content));
    match role {
        "value" => {
            let is_other = resembles("other_amount") || names::is_scaled(heading);
            has(&[Amounts]) && (resembles(role) || has(&[Money])) && !is_other
        }
        "created" | "closing" if resembles("other_date") => false,
        "created" if resembles("closing") => false,
        // A date of a workbook may be a number.
        "created" | "closing" => {
            resembles(role) && (has(&[Dates]) || has(&[Amounts]) && file.sheet.epoch.is_some())
        }
        "status" => {
            has(&[Statuses]) || resembles(role) && !has(&[Amounts, Currencies, Dates, Emails, Phones])
        }
        "title" | "person" if resembles("owner") || resembles("source") => false,
        "title" if resembles("amount") => false,
        "title" => resembles(role) && !has(&[Answers, Currencies, Dates, Emails, Statuses]),
        "person" if has(&[Phones]) => resembles(role),
        _ => resembles(role) && !has(&[Amounts, Answers, Currencies, Dates, Phones, Statuses]),
    }
}

/// The line of a map that gives a column a field, on a line of its own.
pub fn map_line(file: &MappedFile, heading: &str, field: &str) -> String {
    let (name, heading) = (quoted(&file.sheet.name), quoted(heading));
    format!("\n    files.{name}.{heading} = {field:?}")
}

/// Whether a heading is an e-mail address, a telephone number or an amount, so that it is a value of a row.
fn is_value(heading: &str) -> bool {
    let cell = Cell {
        text: heading,
        kind: CellType::Text,
    };
    let is_amount = Amount::of(cell).is_ok_and(|amount| matches!(amount.proof, MarkProof::Proven(_)));
    let digits = heading.bytes().filter(u8::is_ascii_digit).count();
    is_amount
        || heading.contains('@') && people::emails(heading).is_ok()
        || digits >= MIN_DIGITS && people::phones(heading).is_ok()
}

/// The columns with codes of currencies in a file whose amounts have no column of currencies, each with whether it has
/// several.
fn other_currencies(file: &MappedFile) -> Vec<(bool, String)> {
    let deal = FileKind::Opportunity;
    let columns = file.columns.iter().enumerate();
    let columns = columns.filter(|(_, column)| column.is_guessed && column.is_custom_of(Content::Currencies));
    let is_open = file.has(deal, "value") && !file.has(deal, "currency");
    let codes = |at: usize| {
        let cells = file.sheet.grid.rows().map(move |row| row.cell(at).text);
        cells
            .filter(|text| !is_absent(text))
            .take(2)
            .collect::<BTreeSet<_>>()
    };
    let shown = |(at, _): (usize, &MappedColumn)| {
        let heading = file.heading(at);
        let text = format!(
            "{}: column {heading:?} has codes of currencies; if they are those of the amounts:{}",
            file.sheet.name,
            map_line(file, heading, "opportunity.currency")
        );
        (codes(at).len() > 1, text)
    };
    columns.filter(|_| is_open).map(shown).collect()
}

/// The line of a map by which a column that states that an opportunity is closed decides its status.
fn closing_line(file: &MappedFile, column: usize) -> String {
    let heading = file.heading(column);
    let line = |statuses: &[Status]| {
        let (name, heading, values) = (
            quoted(&file.sheet.name),
            quoted(heading),
            closing_values(file, column),
        );
        format!("{values}\n    closed.{name}.{heading} = {}", either(statuses))
    };
    match file.columns.get(column).and_then(|column| column.closing) {
        Some(Closing::Word) => map_line(file, heading, "opportunity.status"),
        Some(Closing::Value([status])) => line(&[*status, Status::Open]),
        Some(Closing::Value(statuses)) => line(&[statuses, &[Status::Open]].concat()),
        Some(Closing::Map(_)) | None => String::new(),
    }
}

/// A remark with the first values of a column by which a map would close opportunities.
fn closing_values(file: &MappedFile, column: usize) -> String {
    let rows = file.sheet.grid.rows().filter(|row| is_filled(*row, column));
    let values: BTreeSet<_> = rows.map(|row| row.cell(column).text).collect();
    let more = if values.len() > MAX_VALUES { ", …" } else { "" };
    let first = values
        .iter()
        .take(MAX_VALUES)
        .map(|text| quoted(cut(text, MAX_SHOWN)));
    let first = first.collect::<Vec<_>>().join(", ");
    if first.is_empty() {
        return first;
    }
    format!("\n    # by {first}{more}:")
}

/// The columns that state that opportunities are closed which are read as open: questions of files without a column of
/// statuses, doubts of the others.
pub fn closed_elsewhere(records: &RecordBuilder, files: &[MappedFile], of_statuses: bool) -> Vec<String> {
    let (map, status) = (records.map, Role::Status);
    let counts = records.deals.closed_by.iter();
    let counts = counts.filter_map(|((file, column), rows)| Some((files.get(*file)?, *column, *rows)));
    let is_wanted = |(file, ..): &(&MappedFile, usize, u64)| {
        // A file without a status is asked for one.
        let is_asked = !has_status(file, map) && !map.lacks(&file.sheet.name, status);
        file.has(FileKind::Opportunity, "status") == of_statuses && !is_asked
    };
    let shown = |(file, column, rows): (&MappedFile, usize, u64)| {
        let (name, heading, line) = (&file.sheet.name, file.heading(column), closing_line(file, column));
        format!(
            "{name}: {rows} opportunities are closed by column {heading:?}, and open by their stage or status; to read it \
             too:{line}"
        )
    };
    counts.filter(is_wanted).map(shown).collect()
}

/// The doubts about closed opportunities without a date or a reason of which a column may have it.
pub fn unclosed(records: &RecordBuilder, files: &[MappedFile]) -> Vec<String> {
    let shown = |((file, role), rows): (&(usize, &'static str), &u64)| {
        let file = files.get(*file)?;
        let (what, field) = match *role {
            "closing" => ("closing date", "opportunity.closeDate"),
            _ => ("loss reason", "opportunity.loss_reason"),
        };
        let (name, lines) = (&file.sheet.name, candidates(file, role, field));
        let text = format!("{name}: {rows} closed opportunities have no {what}; if a column has it:{lines}");
        (!lines.is_empty()).then_some(text)
    };
    records.deals.lacking.iter().filter_map(shown).collect()
}

#[cfg(test)]
mod tests;
