//! Checking the records that lines refer to.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use shared::directory::Directory;
use shared::funnel::Funnel;
use shared::ids::{ColumnId, DepartmentId, FunnelId, GroupId, UserId};
use shared::store::unscoped::key::Key;
use table::item::Item;

use crate::kinds::{ANOTHER_RECORD, Kind, Reference, References, Referent};
use crate::{Operator, OperatorError};

/// The records to which lines of later kinds refer, as written by the import.
#[derive(Default)]
pub struct KnownRecords {
    pub directory: Directory,
    pub users: BTreeSet<UserId>,
    pub funnels: BTreeMap<FunnelId, Funnel>,
    /// Lines that were refused because another record has their id, by kind and id.
    pub others: BTreeMap<(Kind, u64), u64>,
}

impl KnownRecords {
    /// Checks the references of some lines. Returns for each line the reasons to refuse it: records that do not exist, or
    /// ids of refused lines, whose records are others. Records that are not in memory are read.
    pub async fn check(
        &self,
        operator: &Operator,
        lines: &[References],
    ) -> Result<Vec<Result<(), String>>, OperatorError> {
        let keys = lines.iter().flat_map(References::undecided);
        let keys = keys.filter_map(|reference| stored(operator, reference));
        let found = operator.reads().get_many(keys).await?;
        let reasons = lines.iter().map(|references| {
            let others = references.iter().filter_map(|reference| self.other(reference));
            let others: Vec<_> = others.collect();
            if others.is_empty() {
                self.missing(operator, references.undecided(), &found)
            } else {
                others
            }
        });
        let mut reasons: Vec<_> = reasons.collect();
        self.add_decided(operator, lines, &mut reasons).await?;
        let results = reasons.into_iter().map(|reasons| {
            if reasons.is_empty() {
                Ok(())
            } else {
                Err(reasons.join("; "))
            }
        });
        Ok(results.collect())
    }

    /// Looks up the other references of refused lines, because no decision is made of these, and adds the missing ones to
    /// their reasons.
    async fn add_decided(
        &self,
        operator: &Operator,
        lines: &[References],
        reasons: &mut [Vec<String>],
    ) -> Result<(), OperatorError> {
        let refused = lines
            .iter()
            .zip(reasons)
            .filter(|(_, reasons)| !reasons.is_empty());
        let refused: Vec<_> = refused.collect();
        let keys = refused.iter().flat_map(|(references, _)| references.decided());
        let keys: Vec<_> = keys.filter_map(|reference| stored(operator, reference)).collect();
        if keys.is_empty() {
            return Ok(());
        }
        let found = operator.reads().get_many(keys).await?;
        for (references, reasons) in refused {
            reasons.extend(self.missing(operator, references.decided(), &found));
        }
        Ok(())
    }

    /// The reasons for references to records that are neither known here nor found.
    fn missing<'r>(
        &self,
        operator: &Operator,
        references: impl Iterator<Item = &'r Reference>,
        found: &HashMap<Key, Item>,
    ) -> Vec<String> {
        let missing = references.filter(|reference| {
            let is_found = stored(operator, reference).is_some_and(|key| found.contains_key(&key));
            !is_found && !self.has(reference)
        });
        let mut reasons: Vec<_> = missing.map(ToString::to_string).collect();
        reasons.dedup();
        reasons
    }

    /// The reason to refuse a line that refers to the id of a refused line: the record with that id is another one.
    fn other(&self, reference: &Reference) -> Option<String> {
        let Referent::Record(kind, id) = reference.target else {
            return None;
        };
        let line = self.others.get(&(kind, id))?;
        let (field, kind) = (&reference.field, kind.name());
        Some(format!(
            "{field}: {kind} {id} is the one of line {line}, which was refused: {ANOTHER_RECORD}"
        ))
    }

    /// Whether a record exists, as far as it is known here.
    fn has(&self, reference: &Reference) -> bool {
        match reference.target {
            Referent::Record(Kind::Users, id) => UserId::new(id).is_some_and(|id| self.users.contains(&id)),
            Referent::Record(Kind::Departments, id) => {
                DepartmentId::new(id).is_some_and(|id| self.directory.departments.contains_key(&id))
            }
            Referent::Record(Kind::Groups, id) => {
                GroupId::new(id).is_some_and(|id| self.directory.groups.contains_key(&id))
            }
            Referent::Record(Kind::Funnels, id) => {
                FunnelId::new(id).is_some_and(|id| self.funnels.contains_key(&id))
            }
            // The others are looked up in the table.
            Referent::Record(..) => false,
            Referent::Column { funnel: None, column } => {
                let has_it = |id| self.funnels.values().any(|funnel| funnel.has_column(id));
                ColumnId::new(column).is_some_and(has_it)
            }
            Referent::Column {
                funnel: Some(funnel),
                column,
            } => {
                // A column of a missing funnel is omitted, because the funnel is reported itself.
                let funnel = FunnelId::new(funnel).and_then(|id| self.funnels.get(&id));
                funnel.is_none_or(|funnel| ColumnId::new(column).is_some_and(|id| funnel.has_column(id)))
            }
        }
    }
}

/// The key of a record that is looked up in the table.
fn stored(operator: &Operator, reference: &Reference) -> Option<Key> {
    match reference.target {
        Referent::Record(Kind::Users | Kind::Funnels, _) | Referent::Column { .. } => None,
        Referent::Record(kind, id) => (kind.storage()?.key)(operator.keys(), &id.to_string()),
    }
}
