//! The map: changes to the guessed mapping (C-105).

use std::collections::{BTreeMap, HashSet};
use std::io;

use domain::opportunity::Status;
use serde::Deserialize;
use toml::{Table, Value};

use super::input::Sheet;
use super::kind::FileKind;
use super::target::ColumnTarget;
use super::token::amount::DecimalMark;
use super::token::date::DateOrder;

/// A role without a column in a file of opportunities, which the map allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The title.
    Title,
    /// The value.
    Value,
    /// The status and the stage.
    Status,
    /// The person.
    Person,
}

impl Role {
    /// The roles of a file of opportunities.
    pub const ALL: [Self; 4] = [Self::Title, Self::Value, Self::Status, Self::Person];

    /// The name in a map.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Title => "title",
            Self::Value => "value",
            Self::Status => "status",
            Self::Person => "person",
        }
    }
}

/// Changes to the guessed mapping.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MapFile {
    /// The decimal mark of all amounts.
    pub decimal: Option<DecimalMark>,
    /// The order of all dates.
    pub dates: Option<DateOrder>,
    /// The currency of all amounts. Others are kept in custom fields.
    pub currency: Option<String>,
    /// The main kind of a file.
    pub kinds: BTreeMap<String, FileKind>,
    /// Roles that a file lacks.
    pub absent: BTreeMap<String, Vec<Role>>,
    /// Statuses of opportunities by file and heading of a column in which they have a value other than "no".
    pub closed: BTreeMap<String, BTreeMap<String, Status>>,
    /// Lines that look like totals and are rows.
    pub rows: BTreeMap<String, Vec<u64>>,
    /// Fields by heading, in all files.
    pub columns: BTreeMap<String, String>,
    /// Fields by file and heading.
    pub files: BTreeMap<String, BTreeMap<String, String>>,
    /// Statuses by the text of a status or stage.
    pub status: BTreeMap<String, Status>,
    /// The order of each funnel's columns.
    pub funnels: BTreeMap<String, Vec<String>>,
}

impl MapFile {
    /// Reads a map.
    ///
    /// # Errors
    /// An error of kind `InvalidData`, if the text is not TOML or has an unknown key.
    pub fn read(text: &str) -> io::Result<Self> {
        let read = toml::from_str(text).or_else(|error| {
            let joined = joined(text).and_then(|table| table.try_into().ok());
            joined.ok_or(error)
        });
        read.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
    }

    /// Requires that the files and headings of the map exist.
    ///
    /// # Errors
    /// A message with the first one that does not exist.
    pub fn check(&self, sheets: &[Sheet]) -> Result<(), String> {
        let named: HashSet<_> = sheets.iter().map(|sheet| &sheet.name).collect();
        let mut files = self
            .kinds
            .keys()
            .chain(self.absent.keys())
            .chain(self.rows.keys())
            .chain(self.closed.keys())
            .chain(self.files.keys());
        if let Some(file) = files.find(|name| !named.contains(name)) {
            return Err(format!("there is no file {file:?} among the files to convert"));
        }
        let known: HashSet<_> = sheets.iter().flat_map(|sheet| &sheet.headings).collect();
        let own = self.files.values().flat_map(BTreeMap::keys);
        let own = own.chain(self.closed.values().flat_map(BTreeMap::keys));
        let mut headings = self.columns.keys().chain(own);
        match headings.find(|heading| !known.contains(heading)) {
            Some(heading) => Err(format!(
                "no file has a column {heading:?}; copy the name from the heading of the file"
            )),
            None => Ok(()),
        }
    }

    /// The use that the map gives a column.
    #[must_use]
    pub fn target(&self, file: &str, heading: &str) -> Option<Result<ColumnTarget, String>> {
        let own = self.files.get(file).and_then(|columns| columns.get(heading));
        let text = own.or_else(|| self.columns.get(heading))?;
        Some(ColumnTarget::parse(text))
    }

    /// Whether the map states that a file lacks a role.
    #[must_use]
    pub fn lacks(&self, file: &str, role: Role) -> bool {
        self.absent.get(file).is_some_and(|roles| roles.contains(&role))
    }
}

/// The table of a map that repeats keys, because lines were appended to it: a later line replaces an earlier one, and
/// lists of rows and roles grow. `None` if a line is no entry of its own.
fn joined(text: &str) -> Option<Table> {
    let mut table = Table::new();
    for line in text.lines() {
        if line.trim_start().starts_with('[') {
            return None;
        }
        join(&mut table, toml::from_str(line).ok()?, "");
    }
    Some(table)
}

fn join(table: &mut Table, added: Table, section: &str) {
    for (key, value) in added {
        let section = if section.is_empty() {
            key.clone()
        } else {
            section.to_owned()
        };
        match (table.get_mut(&key), value) {
            (Some(Value::Table(known)), Value::Table(added)) => join(known, added, &section),
            (Some(Value::Array(known)), Value::Array(added)) if section != "funnels" => known.extend(added),
            (_, value) => _ = table.insert(key, value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The printed lines may be added after those of a printed map.
    #[test]
    fn later_lines_replace_earlier_ones() {
        let map = MapFile::read(
            "kinds.\"a.csv\" = \"opportunity\"\nstatus.\"Fim\" = \"open\"\nfunnels.\"Funil\" = [\"A\", \"B\"]\n\
             rows.\"a.csv\" = [5]\n# to judge\n    status.\"Fim\" = \"gain\"  # or \"lost\"\n    rows.\"a.csv\" = [9]\n\
             funnels.\"Funil\" = [\"B\"]\n",
        )
        .unwrap();
        assert_eq!(map.status["Fim"], Status::Gain);
        assert_eq!(map.rows["a.csv"], [5, 9]);
        assert_eq!(map.funnels["Funil"], ["B"]);
        for text in [
            "colums = 1",
            "dates = \"dmy\"\ndates = \"ydm\"",
            "[kinds]\na = \"lead\"\na = \"lead\"",
        ] {
            assert!(MapFile::read(text).is_err(), "{text}");
        }
    }
}
