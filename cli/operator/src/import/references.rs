//! Checking the records that lines refer to.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use shared::directory::Directory;
use shared::funnel::Funnel;
use shared::ids::{ColumnId, CompanyId, DepartmentId, FormId, FunnelId, GroupId, LeadId, TagId, UserId};
use shared::store::unscoped::key::Key;
use table::item::Item;

use crate::kinds::references::{References, Referent};
use crate::kinds::{ANOTHER_RECORD, Kind};
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
    /// Checks the references of some lines. Returns for each line the reason to refuse it, if a record does not exist.
    /// Reads the companies, tags, leads and forms; the other records are in memory.
    pub async fn check(
        &self,
        operator: &Operator,
        lines: &[References],
    ) -> Result<Vec<Result<(), String>>, OperatorError> {
        let all = lines.iter().flat_map(References::iter);
        let keys = all.filter_map(|reference| stored(operator, reference.target));
        let found = operator.reads().get_many(keys).await?;
        let results = lines.iter().map(|references| {
            let missing = references.iter().filter(|reference| {
                let target = reference.target;
                // A column of a missing funnel is omitted, because the funnel is reported itself.
                !self.has(operator, target, &found) && !self.is_column_of_missing_funnel(target)
            });
            let mut reasons: Vec<_> = missing.map(ToString::to_string).collect();
            reasons.dedup();
            if reasons.is_empty() {
                Ok(())
            } else {
                Err(reasons.join("; "))
            }
        });
        Ok(results.collect())
    }

    /// The reasons to refuse a line that refers to the id of a refused line: the record with that id is another one.
    pub fn refers_to_other(&self, references: &References) -> Option<String> {
        let reasons = references.iter().filter_map(|reference| {
            let (kind, id) = match reference.target {
                Referent::Lead(id) => (Kind::Leads, id),
                Referent::Opportunity(id) => (Kind::Opportunities, id),
                Referent::Ticket(id) => (Kind::Tickets, id),
                _ => return None,
            };
            let line = self.others.get(&(kind, id))?;
            let (field, kind) = (reference.field(), kind.name());
            Some(format!(
                "{field}: {kind} {id} is the one of line {line}, which was refused: {ANOTHER_RECORD}"
            ))
        });
        let reasons: Vec<_> = reasons.collect();
        (!reasons.is_empty()).then(|| reasons.join("; "))
    }

    fn is_column_of_missing_funnel(&self, target: Referent) -> bool {
        let absent = |id| FunnelId::new(id).is_none_or(|id| !self.funnels.contains_key(&id));
        matches!(target, Referent::ColumnOf { funnel, .. } if absent(funnel))
    }

    /// Whether a record exists: in memory, or in `found` if it is looked up in the table.
    fn has(&self, operator: &Operator, target: Referent, found: &HashMap<Key, Item>) -> bool {
        let funnel = |id| FunnelId::new(id).and_then(|id| self.funnels.get(&id));
        let in_funnel =
            |funnel: &Funnel, column| ColumnId::new(column).is_some_and(|column| funnel.has_column(column));
        match target {
            Referent::User(id) => UserId::new(id).is_some_and(|id| self.users.contains(&id)),
            Referent::Department(id) => {
                DepartmentId::new(id).is_some_and(|id| self.directory.departments.contains_key(&id))
            }
            Referent::Group(id) => GroupId::new(id).is_some_and(|id| self.directory.groups.contains_key(&id)),
            Referent::Company(_) | Referent::Tag(_) | Referent::Lead(_) | Referent::Hook(_) => {
                stored(operator, target).is_some_and(|key| found.contains_key(&key))
            }
            // `Decide::decide` checks these.
            Referent::Opportunity(_) | Referent::Calendar(_) | Referent::Ticket(_) => true,
            Referent::Funnel(id) => funnel(id).is_some(),
            Referent::Column(column) => self.funnels.values().any(|funnel| in_funnel(funnel, column)),
            Referent::ColumnOf {
                funnel: id, column, ..
            } => funnel(id).is_some_and(|funnel| in_funnel(funnel, column)),
        }
    }
}

/// The key of a record that is looked up in the table.
fn stored(operator: &Operator, target: Referent) -> Option<Key> {
    let keys = operator.keys();
    match target {
        Referent::Company(id) => CompanyId::new(id).map(|id| keys.company(id)),
        Referent::Tag(id) => TagId::new(id).map(|id| keys.tag(id)),
        Referent::Lead(id) => LeadId::new(id).map(|id| keys.lead(id)),
        Referent::Hook(id) => FormId::new(id).map(|id| keys.form(id)),
        _ => None,
    }
}
