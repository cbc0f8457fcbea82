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
        for (key, cause) in self.operator.stored_details().await?.unreadable {
            self.report(key, cause, false);
        }
        Ok(())
    }
}

/// Reports departments and groups that only the head or only an item contains. Adds the missing ones: to the head in
/// `stored`, which the caller then writes in `fix`, and to the items, by writes added to `fix`. The caller's write
/// requires an unchanged version of the head. Every write of an item changes that version, so `fix` fails if another
/// process wrote items meanwhile.
pub(super) async fn compare(
    operator: &Operator,
    stored: &mut StoredDirectory,
    findings: &mut Vec<Finding>,
    fix: &mut Transaction,
) -> Result<(), OperatorError> {
    let (items, keys) = (operator.stored_details().await?, operator.keys());
    let findings_count = findings.len();
    let head = &mut stored.directory;
    // The departments and groups of the items and of the head. Those without an item get their id as the name.
    let mut all_details = items.details.clone();
    all_details.complete(head);
    // Those of an unreadable item are skipped. `items.details` lacks them, so the item would be overwritten.
    all_details
        .departments
        .retain(|id, _| !items.unreadable.contains_key(&keys.department(*id)));
    all_details
        .groups
        .retain(|id, _| !items.unreadable.contains_key(&keys.group(*id)));
    for id in all_details.departments.keys() {
        let finding = |problem: &str| {
            (
                keys.department(*id).to_string(),
                format!("{problem} department {id}"),
            )
        };
        if !items.details.departments.contains_key(id) {
            // It has no item. `put_details` below adds one.
            findings.push(finding("lacks the name of"));
        } else if !head.departments.contains_key(id) {
            // Without permissions, because a repair adds none.
            head.departments.insert(*id, None);
            findings.push(finding("the directory lacks"));
        }
    }
    for id in all_details.groups.keys() {
        let finding = |problem: &str| (keys.group(*id).to_string(), format!("{problem} group {id}"));
        if !items.details.groups.contains_key(id) {
            // It has no item. `put_details` below adds one.
            findings.push(finding("lacks the name of"));
        } else if !head.groups.contains_key(id) {
            head.groups.insert(*id, Permissions::default());
            findings.push(finding("the directory lacks"));
        }
    }
    if findings.len() > findings_count {
        // Writes only items that differ, so those of the head alone.
        operator.put_details(fix, &items, &all_details)?;
    }
    Ok(())
}
