//! The id map: the ids of all converted records, and the zones of their dates, so that a second conversion gives the
//! same records (C-105).

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::Write as _;
use std::path::Path;
use std::{fs, io};

use domain::ids::MAX_IMPORTED_ID;
use serde::{Deserialize, Serialize};

/// The file.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct IdFile {
    /// The zone of the local dates of each product's files.
    zones: BTreeMap<String, String>,
    /// Ids by kind and key.
    ids: BTreeMap<String, BTreeMap<String, u64>>,
}

/// Ids by kind and key.
#[derive(Debug, Clone, Default)]
pub struct IdMap {
    file: IdFile,
    /// Ids of records, by kind.
    used: HashMap<String, HashSet<u64>>,
    /// Ids that records of the export have, by kind.
    reserved: HashMap<String, HashSet<u64>>,
    /// By kind, the lowest id to assign.
    first: BTreeMap<&'static str, u64>,
    /// By kind, the number of ids that this run assigned.
    assigned: BTreeMap<&'static str, u64>,
    /// Whether records get assigned ids even if those of the export are usable, because the instance may have its own
    /// records with these ids.
    pub is_assigning: bool,
}

impl IdMap {
    /// Reads a map. A file that does not exist is an empty map.
    ///
    /// # Errors
    /// The system's error, or one of kind `InvalidData` or `UnexpectedEof` if the file is no id map.
    pub fn read(path: &Path) -> io::Result<Self> {
        let text = match fs::read(path) {
            Ok(text) => text,
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(cause) => return Err(cause),
        };
        let file: IdFile = serde_json::from_slice(&text)?;
        let used = file
            .ids
            .iter()
            .map(|(kind, ids)| (kind.clone(), ids.values().copied().collect()));
        Ok(Self {
            used: used.collect(),
            file,
            ..Self::default()
        })
    }

    /// Replaces the file. Only its owner can read it, because its keys contain addresses and names.
    ///
    /// # Errors
    /// The system's error.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let file = tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))?;
        let mut out = io::BufWriter::new(file);
        serde_json::to_writer_pretty(&mut out, &self.file)?;
        out.write_all(b"\n")?;
        out.into_inner()
            .map_err(io::IntoInnerError::into_error)?
            .persist(path)?;
        Ok(())
    }

    /// Assigns ids of a kind from `first` on.
    pub fn begin_at(&mut self, kind: &'static str, first: u64) {
        self.first.insert(kind, first);
    }

    /// The lowest id of a kind to assign.
    #[must_use]
    pub fn first(&self, kind: &str) -> u64 {
        self.first.get(kind).copied().unwrap_or(1)
    }

    /// Uses a record of the instance for a key without a record.
    pub fn adopt(&mut self, kind: &str, key: String, id: u64) {
        if self.known(kind, &key).is_none() {
            self.set(kind, key, id);
        }
    }

    /// The number of ids of a kind that this run assigned.
    #[must_use]
    pub fn assigned(&self, kind: &str) -> u64 {
        self.assigned.get(kind).copied().unwrap_or_default()
    }

    /// The zone of a product's local dates.
    pub fn zone(&self, product: &str) -> Option<&str> {
        self.file.zones.get(product).map(String::as_str)
    }

    /// Sets the zone of a product's local dates.
    pub fn set_zone(&mut self, product: &str, zone: &str) {
        self.file.zones.insert(product.to_owned(), zone.to_owned());
    }

    /// The id of a key, if it has one.
    #[must_use]
    pub fn known(&self, kind: &str, key: &str) -> Option<u64> {
        self.file.ids.get(kind)?.get(key).copied()
    }

    /// The keys of a kind, each with its id.
    pub fn records(&self, kind: &str) -> impl Iterator<Item = (&str, u64)> {
        let records = self.file.ids.get(kind).into_iter().flatten();
        records.map(|(key, id)| (key.as_str(), *id))
    }

    /// The keys of a kind that consist of `base`, `|` and a variant, and the variants without the number of a repeated key.
    pub fn variants<'m>(
        &'m self,
        kind: &str,
        base: &str,
    ) -> impl Iterator<Item = (&'m str, &'m str)> + use<'m> {
        let prefix = format!("{base}|");
        let keys = self.file.ids.get(kind).map(|ids| ids.range(prefix.clone()..));
        keys.into_iter().flatten().map_while(move |(key, _)| {
            let variant = key.strip_prefix(&prefix)?;
            let whole = variant.split_once('#').map_or(variant, |(whole, _)| whole);
            Some((key.as_str(), whole))
        })
    }

    /// Reserves an id of the export for its record, so that no other record gets it.
    pub fn reserve(&mut self, kind: &str, text: &str) {
        if let Some(id) = whole(text).filter(|_| !self.is_assigning) {
            self.reserved.entry(kind.to_owned()).or_default().insert(id);
        }
    }

    /// The id of a record: that of its key in an earlier run, else the id that it has in the export, if it is usable, else
    /// the next free one.
    pub fn of_record(&mut self, kind: &'static str, key: String, exported: &str) -> u64 {
        if let Some(id) = self.known(kind, &key) {
            return id;
        }
        let kept = whole(exported).filter(|_| !self.is_assigning);
        let is_free = |id: &u64| !self.used.get(kind).is_some_and(|used| used.contains(id));
        match kept.filter(is_free) {
            Some(id) => self.set(kind, key, id),
            None => self.assign(kind, key),
        }
    }

    /// The id of a key: that of an earlier run, else the next free one.
    pub fn assign(&mut self, kind: &'static str, key: String) -> u64 {
        if let Some(id) = self.known(kind, &key) {
            return id;
        }
        let taken = [self.used.get(kind), self.reserved.get(kind)];
        let first = self.first.entry(kind).or_insert(1);
        while taken.iter().flatten().any(|ids| ids.contains(first)) {
            *first += 1;
        }
        let id = *first;
        *self.assigned.entry(kind).or_default() += 1;
        self.set(kind, key, id)
    }

    fn set(&mut self, kind: &str, key: String, id: u64) -> u64 {
        self.used.entry(kind.to_owned()).or_default().insert(id);
        self.file.ids.entry(kind.to_owned()).or_default().insert(key, id);
        id
    }
}

/// An id of an export that an import accepts.
pub fn whole(text: &str) -> Option<u64> {
    let text = super::token::without_fraction(text);
    let is_digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse()
        .ok()
        .filter(|id| is_digits && (1..=MAX_IMPORTED_ID).contains(id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_run_gives_the_same_ids() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("ids.json");
        let mut ids = IdMap::read(&path).unwrap();
        ids.reserve("lead", "1");
        let key = |text: &str| text.to_owned();
        assert_eq!(ids.of_record("lead", key("id:5f3a"), "5f3a"), 2);
        assert_eq!(ids.of_record("lead", key("id:1"), "1"), 1);
        assert_eq!(
            ids.of_record("lead", key("id:999999999999999"), "999999999999999"),
            3
        );
        assert_eq!((ids.assigned("lead"), ids.assigned("user")), (2, 0));
        ids.set_zone("csv", "America/Recife");
        ids.write(&path).unwrap();
        let mut again = IdMap::read(&path).unwrap();
        assert_eq!(again.zone("csv"), Some("America/Recife"));
        again.is_assigning = true;
        again.begin_at("lead", 70);
        assert_eq!(again.of_record("lead", key("id:1"), "1"), 1);
        assert_eq!(again.of_record("lead", key("id:4"), "4"), 70);
        // Its own id is taken by another record.
        again.is_assigning = false;
        assert_eq!(again.of_record("lead", key("id:2"), "2"), 71);
    }
}
