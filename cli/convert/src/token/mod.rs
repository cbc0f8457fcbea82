//! Cells as whole tokens: an amount, a date, numbers and addresses of people. A cell of which only a part is understood
//! is refused (C-105).

use domain::text::fold;

pub mod amount;
pub mod date;
pub mod people;

/// Whether a cell is empty. The others are placeholders that exports write for an absent value.
#[must_use]
pub fn is_absent(cell: &str) -> bool {
    if cell.starts_with(['-', '—', '/', '_', '.', '0']) && is_blank_form(cell) {
        return true;
    }
    matches!(
        cell,
        "" | "N/A"
            | "n/a"
            | "N/D"
            | "n/d"
            | "#N/A"
            | "#N/D"
            | "NULL"
            | "null"
            | "(No value)"
            | "(Sem valor)"
            | "(Sin valor)"
            | "Não informado"
            | "não informado"
            // A deal without a close date in exports of Kommo.
            | "not closed"
            | "não fechada"
            | "не закрыта"
    )
}

/// Whether a cell is a form that nobody filled in: `--`, `/  /`, `00/00/0000 00:00:00`.
fn is_blank_form(cell: &str) -> bool {
    let is_mark = |c: char| matches!(c, '/' | '-' | '—' | '_' | '.' | ':' | ' ');
    let is_zero_date = || {
        let marks = cell.matches(['/', '-']).count();
        marks > 1
            && cell
                .chars()
                .all(|c| matches!(c, '0' | '/' | '-' | ':' | ' ' | 'T'))
    };
    cell.chars().all(is_mark) || is_zero_date()
}

/// The form in which names are compared: without case, accents and repeated spaces.
#[must_use]
pub fn same_name(name: &str) -> String {
    let folded = fold(name);
    folded.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The digits of a number in the scientific form of a spreadsheet, and whether all of them are there: those of
/// `5,51199E+12` are not. `None` for another text.
#[must_use]
pub fn scientific(cell: &str) -> Option<(String, bool)> {
    let (mantissa, exponent) = cell.split_once(['e', 'E'])?;
    let (whole, decimals) = mantissa.split_once([',', '.']).unwrap_or((mantissa, ""));
    let power = exponent.strip_prefix('+').unwrap_or(exponent);
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let is_form = whole.len() == 1 && (!decimals.is_empty() || power != exponent);
    if !is_form || !is_number(whole) || !is_number(decimals) || !is_number(power) {
        return None;
    }
    let is_whole = power.parse() == Ok(decimals.len());
    Some((format!("{whole}{decimals}"), is_whole))
}

/// Whether a cell has an error value of a spreadsheet.
#[must_use]
pub fn is_error(cell: &str) -> bool {
    const ERRORS: [&str; 9] = [
        "#DIV/0!", "#REF!", "#NAME?", "#VALUE!", "#NUM!", "#NULL!", "#VALOR!", "#NOME?", "#ERROR!",
    ];
    ERRORS.contains(&cell)
}

/// Whether a spreadsheet has rounded a number: `5,51199E+12`.
#[must_use]
pub fn is_rounded(cell: &str) -> bool {
    scientific(cell).is_some_and(|(_, is_whole)| !is_whole)
}

/// A number without the `.0` that programs add to whole numbers: `5511987650501.0`.
#[must_use]
pub fn without_fraction(cell: &str) -> &str {
    let whole = cell.strip_suffix(".0").or_else(|| cell.strip_suffix(",0"));
    whole
        .filter(|whole| !whole.is_empty() && whole.bytes().all(|byte| byte.is_ascii_digit()))
        .unwrap_or(cell)
}
