//! Cells as whole tokens: an amount, a date, numbers and addresses of people. A cell of which only a part is understood
//! is refused (C-105).

pub mod amount;
pub mod date;
pub mod people;

/// Whether a cell is empty. The others are placeholders that exports write for an absent value.
#[must_use]
pub fn is_absent(cell: &str) -> bool {
    matches!(
        cell,
        "" | "-"
            | "--"
            | "—"
            | "N/A"
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
    let mantissa = cell
        .to_lowercase()
        .split_once("e+")
        .map(|(mantissa, _)| mantissa.to_owned());
    mantissa.is_some_and(|mantissa| mantissa.starts_with(|first: char| first.is_ascii_digit()))
}

/// A number without the `.0` that programs add to whole numbers: `5511987650501.0`.
#[must_use]
pub fn without_fraction(cell: &str) -> &str {
    let whole = cell.strip_suffix(".0").or_else(|| cell.strip_suffix(",0"));
    whole
        .filter(|whole| !whole.is_empty() && whole.bytes().all(|byte| byte.is_ascii_digit()))
        .unwrap_or(cell)
}
