//! The report of a conversion: its decisions, the values and rows that are left out, and the decisions that the operator has
//! to judge (C-105).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde_json::Value;

use super::closing::either;
use super::doubts;
use super::index::SharedValue;
use super::mapping::{MappedFile, quoted};
use super::names::{self, plain};
use super::people::RecordFields;
use super::records::{RecordBuilder, RowRemark};
use super::roles;

/// Maximum listed duplicates, and maximum listed rows.
const MAX_LISTED: usize = 1000;
/// Rows with one reason that are listed one by one.
const MAX_SAME: u64 = 10;

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

/// The decisions that the operator has to judge, each with the line of the map to write.
pub fn doubts(records: &RecordBuilder, files: &[MappedFile]) -> Vec<String> {
    let mut doubts = records.doubts.clone();
    doubts.extend(files.iter().flat_map(doubts::of_columns));
    doubts.extend(doubts::of_ids(files));
    doubts.extend(roles::closed_elsewhere(records, files, true));
    doubts.extend(roles::unclosed(records, files));
    doubts.extend(unknown_currency(records).filter(|_| records.deals.currencies.len() == 1));
    let doubtful = records.deals.doubtful.iter();
    doubts.extend(doubtful.map(|(stage, rows)| doubtful_status(stage, *rows)));
    doubts
}

/// The doubt about a stage that looks closed, or about an unknown status.
fn doubtful_status(status: &str, rows: u64) -> String {
    let name = quoted(status);
    match names::closings(&plain(status)) {
        [] => format!(
            "status {name} is unknown and is read as open ({rows} rows); its meaning:\n    status.{name} = \"open\"  # or \"gain\", \"lost\""
        ),
        statuses => format!(
            "stage {name} looks closed and is read as open ({rows} rows); if it is closed:\n    status.{name} = {}",
            either(statuses)
        ),
    }
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

/// Statuses and the order of columns as lines of a map.
pub fn written_decisions(records: &RecordBuilder) -> String {
    let deals = &records.deals;
    let mut text = String::new();
    let mut seen = BTreeSet::new();
    let statuses = deals.statuses.keys();
    for (status, meaning) in statuses.filter(|(status, _)| seen.insert(status.clone())) {
        let _ = writeln!(text, "status.{} = {}", quoted(status), quoted(meaning.as_str()));
    }
    for status in &deals.unknown {
        let _ = writeln!(
            text,
            "# status.{} = \"open\", \"gain\" or \"lost\"",
            quoted(status)
        );
    }
    for (funnel, columns) in deals.shown(records.map) {
        let _ = writeln!(text, "funnels.{} = {}", quoted(funnel), Value::from(columns));
    }
    text
}
