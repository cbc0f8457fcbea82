//! Compares the items of departments and groups with the directory's head. A repair never adds permissions.

use super::check::Finding;
use super::{Doctor, Result};
use crate::{Operator, OperatorError};
use shared::permissions::Permissions;
use shared::store::unscoped::directory::StoredDirectory;
use table::Transaction;

impl Doctor<'_> {
    /// Reports unreadable items of departments and groups. An import replaces them.
    pub(super) async fn report_unreadable_details(&mut self) -> Result<()> {
        let stored = self.operator.stored_directory().await?;
        for (key, cause) in self.operator.stored_details(&stored).await?.unreadable {
            self.report(key, cause, false);
        }
        Ok(())
    }
}

/// Compares the items with a head and corrects both. Under one version of the head the items are consistent. Does
/// nothing in a former format, in which the head contains everything.
pub(super) async fn compare(
    operator: &Operator,
    stored: &mut StoredDirectory,
    findings: &mut Vec<Finding>,
    fix: &mut Transaction,
) -> Result<(), OperatorError> {
    if stored.details.is_some() {
        return Ok(());
    }
    let (before, keys) = (operator.stored_details(stored).await?, operator.keys());
    let findings_before = findings.len();
    let head = &mut stored.directory;
    // Details in an unreadable item cannot be distinguished from missing ones, so they are not compared.
    let mut named = before.details.clone();
    named.complete(head);
    named
        .departments
        .retain(|id, _| !before.unreadable.contains_key(&keys.department(*id)));
    named
        .groups
        .retain(|id, _| !before.unreadable.contains_key(&keys.group(*id)));
    for id in named.departments.keys() {
        let lacks = |whose: &str| {
            (
                keys.department(*id).to_string(),
                format!("{whose} department {id}"),
            )
        };
        if !before.details.departments.contains_key(id) {
            findings.push(lacks("lacks the name of"));
        } else if !head.departments.contains_key(id) {
            head.departments.insert(*id, None);
            findings.push(lacks("the directory lacks"));
        }
    }
    for id in named.groups.keys() {
        let lacks = |whose: &str| (keys.group(*id).to_string(), format!("{whose} group {id}"));
        if !before.details.groups.contains_key(id) {
            findings.push(lacks("lacks the name of"));
        } else if !head.groups.contains_key(id) {
            head.groups.insert(*id, Permissions::default());
            findings.push(lacks("the directory lacks"));
        }
    }
    if findings.len() > findings_before {
        operator.put_details(fix, &before, &named)?;
    }
    Ok(())
}
