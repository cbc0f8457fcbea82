//! Settings, departments and groups: few, one item, written together.

use std::collections::BTreeMap;

use serde_json::Value;
use shared::directory::{Department, Directory, Group};
use shared::id::{DepartmentId, GroupId};
use shared::store::operator::{OperatorError, Outcome};

use super::departments::{self, Lines};
use super::line::parse;
use super::record::{Kind, Record};
use super::{Error, Import};

const KINDS: [Kind; 3] = [Kind::Setting, Kind::Department, Kind::Group];
/// More lines' bytes than the directory's item can hold are not kept.
const MOST_BYTES: usize = 1_000_000;

/// What an import brings for the directory.
#[derive(Default)]
struct Brought {
    settings: Vec<(u64, String, Value)>,
    departments: Lines,
    /// Earlier lines of those departments, by line.
    spares: BTreeMap<u64, (DepartmentId, Department)>,
    groups: BTreeMap<GroupId, (u64, Group)>,
}

impl Brought {
    fn take(&mut self, line: u64, record: Record) {
        match record {
            Record::Setting(name, value) => self.settings.push((line, name, value)),
            Record::Department(id, department) => {
                if let Some((line, earlier)) = self.departments.insert(id, (line, department)) {
                    self.spares.insert(line, (id, earlier));
                }
            }
            Record::Group(id, group) => {
                self.groups.insert(id, (line, group));
            }
            _ => {}
        }
    }

    fn apply(&self, directory: &mut Directory) {
        for (_, name, value) in &self.settings {
            // It was accepted when its line was judged, and what a setting accepts depends on nothing else.
            let _ = directory.settings.set(name, value);
        }
        for (id, (_, department)) in &self.departments {
            directory.departments.insert(*id, department.clone());
        }
        for (id, (_, group)) in &self.groups {
            directory.groups.insert(*id, group.clone());
        }
    }

    /// What becomes of each line where the directory is changed from `old`.
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

impl Import<'_> {
    /// Writes settings, departments and groups.
    pub(super) async fn directory(&mut self) -> Result<(), Error> {
        let mut brought = self.brought()?;
        self.judge_departments(&mut brought);
        let mut outcomes = brought.outcomes(&self.directory);
        match self
            .operator
            .put_directory(|directory| brought.apply(directory))
            .await
        {
            Ok(_) => {}
            Err(error @ OperatorError::TooLarge(_)) => {
                let reason = error.to_string();
                for (_, outcome) in &mut outcomes {
                    *outcome = Outcome::Refused(reason.clone());
                }
            }
            Err(error) => return Err(error.into()),
        }
        self.bar.inc(outcomes.len() as u64);
        for (line, outcome) in outcomes {
            self.tally.note(line, outcome);
        }
        self.directory = self.operator.directory().await?;
        Ok(())
    }

    /// Leaves of each department the last line that can stand, and tells of those that cannot.
    fn judge_departments(&mut self, brought: &mut Brought) {
        let stored = &self.directory.departments;
        loop {
            for (line, reason) in departments::take_bad(&mut brought.departments, stored) {
                self.tally.refuse(line, reason);
            }
            let Brought {
                departments, spares, ..
            } = brought;
            let next = spares
                .iter()
                .rev()
                .find(|(_, (id, _))| !departments.contains_key(id));
            let Some(line) = next.map(|(line, _)| *line) else {
                break;
            };
            if let Some((id, department)) = spares.remove(&line) {
                departments.insert(id, (line, department));
            }
        }
        for (line, (id, department)) in &brought.spares {
            let mut alone = brought.departments.clone();
            alone.insert(*id, (*line, department.clone()));
            let bad = departments::take_bad(&mut alone, stored);
            match bad.into_iter().find(|(bad, _)| bad == line) {
                Some((line, reason)) => self.tally.refuse(line, reason),
                None => self.tally.unchanged(),
            }
        }
    }

    fn brought(&mut self) -> Result<Brought, Error> {
        let (mut brought, mut bytes) = (Brought::default(), 0);
        let spares = self.plan.take_spares(Kind::Department).unwrap_or_default();
        let Some(stretch) = self.plan.stretch(&KINDS) else {
            return Ok(brought);
        };
        let source = self.source;
        let mut lines = source.lines(stretch.first)?;
        while let Some((number, line)) = lines.next()?.filter(|(number, _)| *number <= stretch.last) {
            let taken = self.plan.kind(number).is_some_and(|kind| KINDS.contains(&kind));
            if !taken && !spares.lines.contains_key(&number) {
                continue;
            }
            let Ok(text) = line else { continue };
            bytes += text.len();
            if bytes > MOST_BYTES {
                let reason = OperatorError::TooLarge("directory").to_string();
                self.tally.refuse(number, reason);
            } else if let Ok(record) = parse(text) {
                brought.take(number, record);
            }
        }
        Ok(brought)
    }
}
