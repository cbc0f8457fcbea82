//! Formats of a workbook's numbers that are part of the value: a currency, zeros with fixed marks, percent (C-105).

use calamine::Style;

use super::grid::CellType;
use crate::names;

/// Formats of the system's currency. Their `$` stands for its sign.
const SYSTEM_CURRENCY: [u32; 6] = [5, 6, 7, 8, 42, 44];

/// A format of numbers that is part of their value.
#[derive(Debug, PartialEq)]
pub enum ShownFormat {
    /// The sign of a currency.
    Currency(String),
    /// A digit for each `None`, and marks: `000"."000"."000-00`.
    Digits(Vec<Option<char>>),
    /// The number of decimals.
    Percent(usize),
}

/// A character of a format.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Token {
    /// A character that decides about digits.
    Sign(char),
    /// A character that is shown.
    Mark(char),
}

impl ShownFormat {
    /// The format of a style, if it is one of these.
    pub fn of(style: &Style) -> Option<Self> {
        let format = style.number_format.as_ref()?;
        let is_system = format.format_id.is_some_and(|id| SYSTEM_CURRENCY.contains(&id));
        Self::of_code(&format.format_code, is_system)
    }

    fn of_code(code: &str, is_system: bool) -> Option<Self> {
        let (tokens, sign) = tokens(code)?;
        let signs = || {
            tokens.iter().filter_map(|token| match token {
                Token::Sign(sign) => Some(*sign),
                Token::Mark(_) => None,
            })
        };
        if signs().any(|sign| sign == '%') {
            let decimals = signs()
                .skip_while(|sign| *sign != '.')
                .filter(|sign| matches!(sign, '0' | '#'));
            return Some(Self::Percent(decimals.count()));
        }
        let marks = tokens.iter().filter_map(|token| match token {
            Token::Mark(mark) => Some(*mark),
            Token::Sign(_) => None,
        });
        let marks: String = marks.collect();
        let known = Some(marks.trim()).filter(|marks| names::currency(marks).is_some());
        let known = known
            .filter(|marks| !is_system || *marks != "$")
            .map(str::to_owned);
        if let Some(sign) = sign.or(known) {
            return Some(Self::Currency(sign));
        }
        let is_fixed = signs().count() > 1 && signs().all(|sign| sign == '0');
        let digits = tokens.iter().map(|token| match token {
            Token::Sign(_) => None,
            Token::Mark(mark) => Some(*mark),
        });
        is_fixed.then(|| Self::Digits(digits.collect()))
    }

    /// A number as it is shown; `None` if the format does not show all of it.
    pub fn shown(&self, number: f64) -> Option<(String, CellType)> {
        match self {
            Self::Currency(sign) => Some((format!("{sign} {number}"), CellType::Number)),
            Self::Percent(decimals) => {
                // A product of binary fractions misses its last decimal.
                let plain = format!("{:.8}", number * 100.0);
                let needed = plain
                    .trim_end_matches('0')
                    .rsplit('.')
                    .next()
                    .unwrap_or_default()
                    .len();
                let decimals = needed.max(*decimals);
                Some((format!("{:.decimals$}%", number * 100.0), CellType::Text))
            }
            Self::Digits(places) => {
                let width = places.iter().filter(|place| place.is_none()).count();
                let digits = format!("{number:0width$}");
                if digits.len() != width || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
                    return None;
                }
                let mut digits = digits.chars();
                let text = places.iter().filter_map(|place| place.or_else(|| digits.next()));
                Some((text.collect(), CellType::Text))
            }
        }
    }
}

/// The tokens of a format for positive numbers, and the sign of its currency: `[$R$-416] #,##0.00`. `None` for a format of
/// texts, and for a general one.
fn tokens(code: &str) -> Option<(Vec<Token>, Option<String>)> {
    let (mut tokens, mut currency) = (Vec::new(), None);
    let mut rest = code.chars();
    while let Some(c) = rest.next() {
        match c {
            ';' => break,
            '"' => tokens.extend(rest.by_ref().take_while(|c| *c != '"').map(Token::Mark)),
            '\\' => tokens.extend(rest.next().map(Token::Mark)),
            // A space as wide as the next character, or filled with it.
            '_' | '*' => _ = rest.next(),
            '[' => {
                let inner: String = rest.by_ref().take_while(|c| *c != ']').collect();
                let sign = inner
                    .strip_prefix('$')
                    .map(|sign| sign.split('-').next().unwrap_or_default().trim());
                currency = currency.or(sign.filter(|sign| !sign.is_empty()).map(str::to_owned));
            }
            '0' | '#' | '?' | '.' | ',' | '%' | '/' | 'E' | '@' => tokens.push(Token::Sign(c)),
            'G' => return None,
            other => tokens.push(Token::Mark(other)),
        }
    }
    Some((tokens, currency))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_shown_as_in_the_workbook() {
        for (code, number, text) in [
            ("[$US$-409] #,##0.00", 1234.5, "US$ 1234.5"),
            ("[$R$-416]\\ #,##0.00;[Red]-[$R$-416] #,##0.00", 99.9, "R$ 99.9"),
            ("#,##0.00\\ [$€-407]", 1500.0, "€ 1500"),
            ("_-\"R$\"\\ * #,##0.00_-;-\"R$\"\\ * #,##0.00_-", -5.0, "R$ -5"),
            ("$#,##0.00", 5.0, "$ 5"),
            ("[$kr-41D] 0", 5.0, "kr 5"),
            ("000\".\"000\".\"000-00", 1_234_567_890.0, "012.345.678-90"),
            ("00000-000", 1_310_100.0, "01310-100"),
            ("\\(00\\)\\ 00000\\-0000", 11_987_654_321.0, "(11) 98765-4321"),
            ("0.0%", 0.15, "15.0%"),
            ("0%", 0.075, "7.5%"),
            ("0%", 0.07, "7%"),
        ] {
            let shown = ShownFormat::of_code(code, false).and_then(|format| format.shown(number));
            assert_eq!(shown.map(|(text, _)| text).as_deref(), Some(text), "{code}");
        }
        for (code, number) in [
            ("General", 5.0),
            ("0", 5.0),
            ("#,##0.00", 5.0),
            ("0.00", 5.0),
            ("00000-000", 0.5),
            ("00000-000", 123_456_789.0),
            ("0\" un\"", 5.0),
            ("@", 5.0),
            ("[<=9999999]###-####;(###) ###-####", 5.0),
            ("[$-416]0.00", 5.0),
        ] {
            let shown = ShownFormat::of_code(code, false).and_then(|format| format.shown(number));
            assert_eq!(shown, None, "{code}");
        }
        assert_eq!(ShownFormat::of_code("_($* #,##0.00_)", true), None);
    }
}
