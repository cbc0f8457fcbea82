//! Columns that may have another use, each with the line of the map to write (C-105).

use super::content::Content;
use super::input::Cell;
use super::kind::FileKind;
use super::mapping::{MappedColumn, MappedFile, quoted};
use super::names;
use super::roles::{DECIDING, map_line, may_be_value, several_columns};
use super::target::ColumnTarget;
use super::token::amount::{Amount, MarkProof, is_not_zero};
use super::token::is_absent;

/// The columns that may have another use.
pub fn of_columns(file: &MappedFile) -> Vec<String> {
    let name = &file.sheet.name;
    let is_asked = |field: &&str| several_columns(file, field).is_some();
    let asked: Vec<_> = DECIDING.into_iter().filter(is_asked).collect();
    let second = second_amounts(file).filter(|_| !asked.contains(&"value"));
    let mut doubts: Vec<_> = amounts_of_leads(file).into_iter().chain(second).collect();
    for (at, column) in file
        .columns
        .iter()
        .enumerate()
        .filter(|(_, column)| column.is_guessed)
    {
        let heading = file.heading(at);
        let is_decided = |wanted| {
            let mut columns = file.columns.iter().filter(|column| !column.is_guessed);
            columns.any(|column| column.target.field() == Some(wanted))
        };
        let alike = column
            .alike
            .filter(|wanted| !asked.contains(&wanted.1) && !is_decided(*wanted));
        if let Some((part, field)) = alike {
            let field = format!("{}.{field}", part.name());
            let line = map_line(file, heading, &field);
            doubts.push(format!(
                "{name}: column {heading:?} may be {field} too, which another column fills; to use it instead:{line}"
            ));
            continue;
        }
        doubts.extend(further_values(file, at));
        doubts.extend(contacts(file, at));
    }
    doubts
}

/// The doubts about ids of persons in files of opportunities of a product whose files of persons have none.
pub fn of_ids(files: &[MappedFile]) -> Vec<String> {
    let lead = FileKind::Lead;
    let has_persons = |deals: &&MappedFile| {
        let mut persons = files
            .iter()
            .filter(|file| file.main == lead && file.names.product == deals.names.product);
        persons.any(|file| !file.has(lead, "id"))
    };
    let shown = |file: &MappedFile| {
        let id = |column: &MappedColumn| column.is_guessed && column.target.field() == Some((lead, "id"));
        let heading = file.heading(file.columns.iter().position(id)?);
        let line = map_line(file, heading, &format!("opportunity:{heading}"));
        Some(format!(
            "{}: column {heading:?} has ids of persons, and the file of persons has none; to find these by address, number or \
             name:{line}",
            file.sheet.name
        ))
    };
    let deals = files.iter().filter(|file| file.main == FileKind::Opportunity);
    deals.filter(has_persons).filter_map(shown).collect()
}

/// The doubt about a column of which values differ from those of another column of the same field.
fn further_values(file: &MappedFile, at: usize) -> Option<String> {
    let column = file.columns.get(at)?;
    let kept = column.further.as_ref()?;
    let wanted @ (part, field) = column.target.field()?;
    let is_other = |other: &&MappedColumn| other.target.field() == Some(wanted) && other.further.is_none();
    let (other, _) = file
        .columns
        .iter()
        .enumerate()
        .find(|(_, other)| is_other(other))?;
    file.columns.get(other).filter(|other| other.is_guessed)?;
    let (heading, other) = (file.heading(at), file.heading(other));
    // Beside a contact, a customer may be a company.
    let is_contact = |heading| names::resembles("contact", heading);
    let company = match (is_contact(other), is_contact(heading)) {
        (true, false) => Some(heading),
        (false, true) => Some(other),
        _ => None,
    };
    let company = company.filter(|_| field == "name" && !file.has(FileKind::Company, "companyname"));
    let line = match company {
        Some(company) => format!(
            "if {company:?} is a company:{}",
            map_line(file, company, "company.companyname")
        ),
        None => format!(
            "to use it instead:{}",
            map_line(file, heading, &format!("{}.{field}", part.name()))
        ),
    };
    let field = format!("{}.{field}", part.name());
    Some(format!(
        "{}: columns {other:?} and {heading:?} both may be {field}, and differ; the second is {}; {line}",
        file.sheet.name,
        kept.shown()
    ))
}

/// The doubt about a column of addresses or numbers that is no field of a person.
fn contacts(file: &MappedFile, at: usize) -> Option<String> {
    let (column, heading) = (file.columns.get(at)?, file.heading(at));
    let has_number = ["phone", "mobile", "chatapp"]
        .iter()
        .any(|field| file.has(FileKind::Lead, field));
    let is_phone = column.is_custom_of(Content::Phones);
    let (what, field) = if is_phone && !has_number {
        ("telephone numbers", "lead.phone")
    } else if column.is_custom_of(Content::Emails) && !is_phone {
        ("e-mail addresses", "lead.email")
    } else {
        return None;
    };
    (!names::resembles("owner", heading)).then(|| {
        let line = map_line(file, heading, field);
        format!(
            "{}: column {heading:?} has {what}; if they are those of the person:{line}",
            file.sheet.name
        )
    })
}

/// The doubt about a column of amounts in rows of which the value is zero or absent.
fn second_amounts(file: &MappedFile) -> Option<String> {
    let value = (FileKind::Opportunity, "value");
    let is_amount = |cell: Cell<'_>| is_not_zero(cell.text);
    let is_missed = |at: usize| {
        file.sheet.grid.rows().any(|row| {
            let first = file.first(row, value);
            is_amount(row.cell(at)) && !first.is_some_and(|(_, cell)| is_amount(cell))
        })
    };
    let own = file
        .columns
        .iter()
        .position(|column| column.target.field() == Some(value))?;
    let at = (0..file.columns.len()).find(|at| may_be_value(file, *at) && is_missed(*at))?;
    let lines = [own, at].map(|at| map_line(file, file.heading(at), "opportunity.value"));
    Some(format!(
        "{}: column {:?} has amounts in rows without a value; to read those as the value:{}",
        file.sheet.name,
        file.heading(at),
        lines.concat()
    ))
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
