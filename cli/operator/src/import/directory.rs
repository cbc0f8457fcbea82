//! Imports settings, departments and groups in one transaction, because the directory's version orders their writes.

use std::collections::BTreeMap;

use crate::{OperatorError, Outcome, progress};
use serde_json::Value;
use shared::directory::{Department, Directory, DirectoryHead, Group};
use shared::ids::{DepartmentId, GroupId};
use shared::permissions::Permissions;
use shared::store::unscoped::directory::has_room;

use super::departments::{self, DepartmentLines};
use super::{Import, ImportError};
use crate::kinds::{self, Departments, Groups, Kind, RecordKind as _, Settings};

const KINDS: [Kind; 3] = [Kind::Settings, Kind::Departments, Kind::Groups];
/// Maximum bytes of kept lines.
const MAX_BYTES: usize = 1_000_000;

/// The directory's lines of an import.
#[derive(Default)]
struct ImportedDirectory {
    settings: Vec<(u64, String, Value)>,
    /// Lines that set only what is not set.
    defaults: Vec<(u64, String, Value)>,
    departments: DepartmentLines,
    /// Earlier lines of those departments, by line number.
    superseded: BTreeMap<u64, (DepartmentId, Department)>,
    groups: BTreeMap<GroupId, (u64, Group)>,
}

impl ImportedDirectory {
    /// Adds a line that is good by itself.
    fn take(&mut self, line: u64, text: &str) -> Result<(), String> {
        match kinds::open_merging(text)? {
            (Kind::Settings, fields, merges) => {
                let (name, value) = Settings::parse(fields)?;
                let lines = if merges {
                    &mut self.defaults
                } else {
                    &mut self.settings
                };
                lines.push((line, name, value));
            }
            (Kind::Departments, fields, _) => {
                let (id, department) = Departments::parse(fields)?;
                if let Some((line, earlier)) = self.departments.insert(id, (line, department)) {
                    self.superseded.insert(line, (id, earlier));
                }
            }
            (Kind::Groups, fields, _) => {
                let (id, group) = Groups::parse(fields)?;
                self.groups.insert(id, (line, group));
            }
            _ => {}
        }
        Ok(())
    }

    fn apply(&self, directory: &mut Directory) {
        for (_, name, value) in &self.settings {
            // The value was accepted when the line was checked, and nothing else can refuse it.
            let _ = directory.settings.set(name, value);
        }
        for (id, (_, department)) in &self.departments {
            directory.departments.insert(*id, department.clone());
        }
        for (id, (_, group)) in &self.groups {
            directory.groups.insert(*id, group.clone());
        }
    }

    /// The outcome of each line if the directory is changed from `old`.
    fn outcomes(&self, old: &Directory) -> Vec<(u64, Outcome)> {
        let changes = |differs: bool| {
            if differs {
                Outcome::Written
            } else {
                Outcome::Unchanged
            }
        };
        let settings = self.settings.iter().map(|(line, name, value)| {
            let mut set = old.settings.clone();
            let _ = set.set(name, value);
            (*line, changes(set != old.settings))
        });
        let departments = self
            .departments
            .iter()
            .map(|(id, (line, department))| (*line, changes(old.departments.get(id) != Some(department))));
        let groups = self
            .groups
            .iter()
            .map(|(id, (line, group))| (*line, changes(old.groups.get(id) != Some(group))));
        settings.chain(departments).chain(groups).collect()
    }
}

/// A change of the directory's head by a line.
#[derive(Clone, Copy)]
enum Addition {
    Department(DepartmentId, Option<DepartmentId>),
    Group(GroupId, Permissions),
}

impl Addition {
    fn apply(&self, head: &mut DirectoryHead) {
        match *self {
            Self::Department(id, parent) => drop(head.departments.insert(id, parent)),
            Self::Group(id, permissions) => drop(head.groups.insert(id, permissions)),
        }
    }
}

impl Import<'_> {
    /// Writes settings, departments and groups.
    pub(super) async fn import_directory(&mut self) -> Result<(), ImportError> {
        let mut imported = self.read_directory()?;
        self.apply_defaults(&mut imported);
        self.refuse_excess(&mut imported);
        self.refuse_bad_departments(&mut imported);
        let mut outcomes = imported.outcomes(&self.known.directory);
        match self
            .operator
            .put_directory(|directory| imported.apply(directory))
            .await
        {
            Ok(_) => {}
            Err(error @ (OperatorError::TooLarge(_) | OperatorError::DirectoryFull)) => {
                let reason = error.to_string();
                for (_, outcome) in &mut outcomes {
                    *outcome = Outcome::Refused(reason.clone());
                }
            }
            Err(error) => return Err(error.into()),
        }
        progress::worked(self.bar, outcomes.len() as u64);
        for (line, outcome) in outcomes {
            self.tally.note(line, outcome);
        }
        self.known.directory = self.operator.lenient().directory().await?;
        Ok(())
    }

    /// Sets the settings of lines that merge where they are not set. Warns of those that are set to another value.
    fn apply_defaults(&mut self, imported: &mut ImportedDirectory) {
        let set = self.known.directory.settings.entries();
        for (line, name, value) in std::mem::take(&mut imported.defaults) {
            let own = set.iter().find(|(known, _)| *known == name);
            match own {
                None => imported.settings.push((line, name, value)),
                Some((_, own)) => {
                    if *own != value {
                        let warning =
                            format!("setting {name} is {own} and stays so, and the line has {value}");
                        self.tally.warn(line, &[warning]);
                    }
                    self.tally.count_unchanged();
                }
            }
        }
    }

    /// Refuses the lines of departments and groups that would exceed the limits of an instance.
    fn refuse_excess(&mut self, imported: &mut ImportedDirectory) {
        let (old, _) = self.known.directory.clone().split();
        let departments = imported.departments.iter();
        let departments =
            departments.map(|(id, (line, department))| (*line, Addition::Department(*id, department.parent)));
        let groups = imported.groups.iter();
        let groups = groups.map(|(id, (line, group))| (*line, Addition::Group(*id, group.permissions)));
        let lines: BTreeMap<_, _> = departments.chain(groups).collect();
        let mut next = old.clone();
        for addition in lines.values() {
            addition.apply(&mut next);
        }
        if has_room(&next) {
            return;
        }
        // Applied again in the order of the lines, and without those for which there is no room.
        let (mut next, reason) = (old, OperatorError::DirectoryFull.to_string());
        for (line, addition) in lines {
            let before = next.clone();
            addition.apply(&mut next);
            if has_room(&next) {
                continue;
            }
            next = before;
            self.tally.refuse(line, reason.clone());
            match addition {
                Addition::Department(id, _) => {
                    imported.departments.remove(&id);
                    let superseded = std::mem::take(&mut imported.superseded).into_iter();
                    let (own, others) = superseded.partition(|(_, (of, _))| *of == id);
                    imported.superseded = others;
                    let own: BTreeMap<_, _> = own;
                    for line in own.into_keys() {
                        self.tally.refuse(line, reason.clone());
                    }
                }
                Addition::Group(id, _) => drop(imported.groups.remove(&id)),
            }
        }
    }

    /// Keeps the last good line of each department, and refuses the bad ones.
    fn refuse_bad_departments(&mut self, imported: &mut ImportedDirectory) {
        let stored = &self.known.directory.departments;
        loop {
            for (line, reason) in departments::take_bad(&mut imported.departments, stored) {
                self.tally.refuse(line, reason);
            }
            let ImportedDirectory {
                departments,
                superseded,
                ..
            } = imported;
            let next = superseded
                .iter()
                .rev()
                .find(|(_, (id, _))| !departments.contains_key(id));
            let Some(line) = next.map(|(line, _)| *line) else {
                break;
            };
            if let Some((id, department)) = superseded.remove(&line) {
                departments.insert(id, (line, department));
            }
        }
        for (line, (id, department)) in &imported.superseded {
            let mut alone = imported.departments.clone();
            alone.insert(*id, (*line, department.clone()));
            let bad = departments::take_bad(&mut alone, stored);
            match bad.into_iter().find(|(bad, _)| bad == line) {
                Some((line, reason)) => self.tally.refuse(line, reason),
                None => self.tally.count_unchanged(),
            }
        }
    }

    fn read_directory(&mut self) -> Result<ImportedDirectory, ImportError> {
        let (mut imported, mut bytes) = (ImportedDirectory::default(), 0);
        let superseded = self.plan.take_superseded(Kind::Departments).unwrap_or_default();
        let Some(range) = self.plan.range(&KINDS) else {
            return Ok(imported);
        };
        let source = self.source;
        let mut lines = source.lines(range.first)?;
        while let Some((number, line)) = lines.next()?.filter(|(number, _)| *number <= range.last) {
            let taken = self.plan.kind(number).is_some_and(|kind| KINDS.contains(&kind));
            if !taken && !superseded.lines.contains_key(&number) {
                continue;
            }
            let Ok(text) = line else { continue };
            bytes += text.len();
            if bytes > MAX_BYTES {
                let reason = OperatorError::TooLarge("directory").to_string();
                self.tally.refuse(number, reason);
            } else {
                // An error is possible only if the file changed since the plan was made.
                let _ = imported.take(number, text);
            }
        }
        Ok(imported)
    }
}
