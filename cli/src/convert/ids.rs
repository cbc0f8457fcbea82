//! The id map: the ids assigned to records of an export without a usable one, so that a second conversion assigns the
//! same ids (C-105).

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::Path;
use std::{fs, io};

/// Maximum id that an import accepts.
pub const MAX_ID: u64 = 999_999_999_999_999;

/// Assigned ids, by kind and key.
#[derive(Debug, Default)]
pub struct IdMap {
    assigned: BTreeMap<String, BTreeMap<String, u64>>,
    /// By kind, the ids that earlier runs assigned.
    earlier: BTreeMap<String, BTreeSet<u64>>,
    /// By kind, the ids that are taken.
    taken: BTreeMap<String, BTreeSet<u64>>,
    /// By kind, the lowest id to assign.
    first: BTreeMap<&'static str, u64>,
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
        let assigned: BTreeMap<String, BTreeMap<String, u64>> = serde_json::from_slice(&text)?;
        let ids = |map: &BTreeMap<String, u64>| map.values().copied().collect();
        let earlier: BTreeMap<_, _> = assigned
            .iter()
            .map(|(kind, map)| (kind.clone(), ids(map)))
            .collect();
        Ok(Self {
            assigned,
            taken: earlier.clone(),
            earlier,
            first: BTreeMap::new(),
        })
    }

    /// Replaces the file. Only its owner can read it, because its keys contain addresses and names.
    ///
    /// # Errors
    /// The system's error.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let mut file = tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))?;
        serde_json::to_writer_pretty(&mut file, &self.assigned)?;
        file.write_all(b"\n")?;
        file.persist(path)?;
        Ok(())
    }

    /// Assigns ids of a kind from `first` on.
    pub fn begin_at(&mut self, kind: &'static str, first: u64) {
        self.first.insert(kind, first);
    }

    /// The number of assigned ids.
    pub fn len(&self) -> usize {
        self.assigned.values().map(BTreeMap::len).sum()
    }

    /// Keeps an id of the export; `None` if it is no whole number that an import accepts.
    ///
    /// # Errors
    /// A message, if an earlier run assigned the id to another record.
    pub fn keep(&mut self, kind: &str, text: &str) -> Result<Option<u64>, String> {
        let Some(id) = whole(text) else { return Ok(None) };
        if self.earlier.get(kind).is_some_and(|ids| ids.contains(&id)) {
            return Err(format!(
                "{kind} id {id} was assigned to another record by an earlier run; convert all files together with a new id map, or \
                 with --first-id above the export's ids"
            ));
        }
        self.taken.entry(kind.to_owned()).or_default().insert(id);
        Ok(Some(id))
    }

    /// The id of a key: that of an earlier run, else the next free one.
    pub fn assign(&mut self, kind: &'static str, key: String) -> u64 {
        if let Some(id) = self.assigned.get(kind).and_then(|map| map.get(&key)) {
            return *id;
        }
        let taken = self.taken.entry(kind.to_owned()).or_default();
        let first = self.first.entry(kind).or_insert(1);
        while taken.contains(first) {
            *first += 1;
        }
        let id = *first;
        taken.insert(id);
        self.assigned.entry(kind.to_owned()).or_default().insert(key, id);
        id
    }
}

/// An id of an export that an import accepts.
pub fn whole(text: &str) -> Option<u64> {
    let is_digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse()
        .ok()
        .filter(|id| is_digits && (1..=MAX_ID).contains(id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_run_gives_the_same_ids() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("ids.json");
        let mut ids = IdMap::read(&path).unwrap();
        assert_eq!(ids.keep("lead", "1"), Ok(Some(1)));
        assert_eq!(ids.keep("lead", "5f3a"), Ok(None));
        assert_eq!(ids.keep("lead", "1000000000000000"), Ok(None));
        let ana = ids.assign("lead", "ana".to_owned());
        assert_eq!((ana, ids.assign("lead", "bia".to_owned())), (2, 3));
        ids.write(&path).unwrap();
        let mut again = IdMap::read(&path).unwrap();
        assert_eq!(again.assign("lead", "caio".to_owned()), 1);
        assert_eq!(again.assign("lead", "ana".to_owned()), 2);
        assert!(again.keep("lead", "2").is_err());
        again.begin_at("user", 100);
        assert_eq!(again.assign("user", "ana".to_owned()), 100);
        assert_eq!(again.len(), 4);
    }
}
