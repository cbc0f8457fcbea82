//! Words of cells: statuses, answers, totals, currencies, dates.

use std::collections::HashMap;
use std::sync::LazyLock;

use domain::opportunity::Status;

use super::{common, plain};

/// The status of a text, which is in plain form.
pub fn status(text: &str) -> Option<Status> {
    static KNOWN: LazyLock<HashMap<String, Status>> = LazyLock::new(|| {
        let words = &common().status;
        let lists = [
            (&words.gain, Status::Gain),
            (&words.lost, Status::Lost),
            (&words.open, Status::Open),
        ];
        let pairs = lists
            .iter()
            .flat_map(|(words, status)| words.iter().map(|word| (plain(word), *status)));
        pairs.collect()
    });
    KNOWN.get(text).copied()
}

/// The statuses of a text in plain form that looks closed, the likely one first; none if it does not.
pub fn closings(text: &str) -> &'static [Status] {
    let words = &common().status;
    let rests = text.match_indices(' ').filter_map(|(at, _)| text.get(at + 1..));
    let rests: Vec<_> = std::iter::once(text).chain(rests).collect();
    let has = |starts: &[String]| {
        let mut pairs = rests
            .iter()
            .flat_map(|rest| starts.iter().map(move |start| (rest, start)));
        pairs.any(|(rest, start)| rest.starts_with(start.as_str()))
    };
    if has(&words.losses) && denied(text, &words.losses) {
        &[Status::Gain, Status::Lost]
    } else if denied(text, &words.gains) || denied(text, &words.closed) {
        &[Status::Lost, Status::Gain]
    } else if has(&words.losses) {
        &[Status::Lost]
    } else if has(&words.gains) {
        &[Status::Gain]
    } else if has(&words.closed) {
        &[Status::Gain, Status::Lost]
    } else {
        &[]
    }
}

/// Whether a text in plain form denies a word with one of these beginnings: `Não faturado`, `Sem sucesso`.
fn denied(text: &str, starts: &[String]) -> bool {
    let words: Vec<_> = text.split(' ').collect();
    let is_denied = |two: &[&str]| {
        let [no, word] = two else { return false };
        let is_start = |start: &String| word.starts_with(start.as_str());
        ["nao", "not", "no", "nicht", "sem", "sin", "without"].contains(no) && starts.iter().any(is_start)
    };
    words.windows(2).any(is_denied)
}

/// Whether a cell of a closing date states that there is none: `Não fechado`.
pub fn is_not_closed(cell: &str) -> bool {
    let (text, words) = (plain(cell), &common().status);
    [&words.gains, &words.losses, &words.closed]
        .iter()
        .any(|starts| denied(&text, starts))
}

/// Whether a cell is a yes, or a no; `None` if it is neither.
pub fn answer(cell: &str) -> Option<bool> {
    let (name, words) = (plain(cell), &common().answers);
    let is_in = |words: &[String]| words.contains(&name);
    if is_in(&words.yes) {
        return Some(true);
    }
    is_in(&words.no).then_some(false)
}

/// Whether a text states that nothing is decided, or that there is nothing to state: `Aguardando retorno`, `Nenhum`.
pub fn is_undecided(cell: &str) -> bool {
    let (name, words) = (plain(cell), &common().answers);
    let is_start = |start: &String| name.starts_with(start.as_str());
    name.is_empty() || words.none.contains(&name) || words.open.iter().any(is_start)
}

/// Whether the cell of an owner names nobody.
pub fn is_nobody(cell: &str) -> bool {
    common().owners.nobody.contains(&plain(cell))
}

/// Whether a remark after the name of an owner states that the user is a former one.
pub fn is_former(remark: &str) -> bool {
    common().owners.former.contains(&plain(remark))
}

/// Whether a text can be the name of a line of totals, or the foot of a page: `Total geral:`, `Total (2 pedidos)`,
/// `Página 1 de 3`.
pub fn names_totals(text: &str) -> bool {
    has_total(text, true)
}

/// Whether a text begins as the name of a line of totals, perhaps of a group: `Total Proposta`.
pub fn begins_totals(text: &str) -> bool {
    has_total(text, false)
}

fn has_total(text: &str, is_whole: bool) -> bool {
    let words = &common().totals;
    let name = plain(text);
    let mut parts = name.split(' ').skip_while(|word| words.before.contains(*word));
    let first = parts.next().unwrap_or_default();
    words.first.contains(first) && (!is_whole || parts.all(is_of_totals))
}

fn is_of_totals(word: &str) -> bool {
    common().totals.rest.contains(word) || word.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a cell of a line of totals counts its rows: `2 negócios`.
pub fn is_count(cell: &str) -> bool {
    let name = plain(cell);
    let count = name
        .split_once(' ')
        .filter(|(count, _)| count.parse::<u64>().is_ok());
    count.is_some_and(|(_, rest)| rest.split(' ').all(|word| common().totals.rest.contains(word)))
}

/// The ISO code of a currency by its sign, name or code; `$` for that sign alone.
pub fn currency(word: &str) -> Option<&'static str> {
    common().codes.get(&plain_sign(word)).map(String::as_str)
}

pub(super) fn plain_sign(sign: &str) -> String {
    sign.trim().trim_end_matches('.').to_lowercase()
}

/// The number of a month by its name.
pub fn month(word: &str) -> Option<u32> {
    let months = &common().dates.months;
    let at = months
        .iter()
        .position(|names| names.iter().any(|name| name == word))?;
    u32::try_from(at + 1).ok()
}

/// Whether a word of a date has no meaning for it: a weekday, or `de`.
pub fn is_date_filler(word: &str) -> bool {
    let words = &common().dates;
    words.weekdays.contains(word) || words.fillers.contains(word)
}

/// Whether a heading says that its amounts are thousands, millions or cents: `Valor (R$ mil)`.
pub fn is_scaled(heading: &str) -> bool {
    let scales = &common().tokens.scales;
    plain(heading).split(' ').any(|word| scales.contains(word))
}

/// Whether a folded word of a cell with numbers or addresses names their use or joins them: `cel`, `trabalho`, `ou`.
pub fn is_contact_label(word: &str) -> bool {
    common().tokens.labels.contains(word)
}
