//! Reads the values of a row and collects its faults (C-105).

use shared::time::{Timestamp, Zone};

use super::kind::FileKind;
use super::mapping::MappedFile;
use super::sheet::SheetRow;

/// A row of a file, and its faults.
pub struct RowCells<'a> {
    pub table: &'a MappedFile,
    pub row: &'a SheetRow,
    pub faults: Vec<String>,
}

impl<'a> RowCells<'a> {
    /// The first value of a field.
    pub fn text(&self, part: FileKind, field: &str) -> Option<&'a str> {
        self.table
            .values(self.row, part, field)
            .next()
            .map(|(_, cell)| cell)
    }

    /// Returns a value, or adds the reason why it cannot be read to the faults.
    pub fn ok_or_fault<T>(&mut self, what: &str, read: Result<T, String>) -> Option<T> {
        read.map_err(|reason| self.faults.push(format!("{what}: {reason}")))
            .ok()
    }

    /// The instant of a field. `clock_field` may contain its time of day.
    pub fn time(
        &mut self,
        part: FileKind,
        field: &str,
        clock_field: Option<&str>,
        zone: Zone,
    ) -> Option<Timestamp> {
        let (column, cell) = self.table.values(self.row, part, field).next()?;
        let clock = clock_field
            .and_then(|field| self.text(part, field))
            .unwrap_or_default();
        self.ok_or_fault(field, column.dates.instant(cell, clock, zone))
    }

    /// Several values of a field, read from all its columns.
    pub fn several(
        &mut self,
        part: FileKind,
        field: &str,
        read: fn(&str) -> Result<Vec<String>, String>,
    ) -> Vec<String> {
        let cells: Vec<_> = self
            .table
            .values(self.row, part, field)
            .map(|(_, cell)| cell)
            .collect();
        let mut found = Vec::new();
        for cell in cells {
            for value in self.ok_or_fault(field, read(cell)).unwrap_or_default() {
                if !found.contains(&value) {
                    found.push(value);
                }
            }
        }
        found
    }
}
