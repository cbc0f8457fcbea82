//! Removal of a record on which no other depends (C-104).
//!
//! Dependent records are searched before the removal and again after it, because a request that had read the record may
//! link to it until the request ends. If one does, the record is put back. Without the wait, the transactions of
//! requests would have to depend on each record to which they link, at 2 write units for each. The transaction of the
//! removal depends on the record as it was read, and changes all derived items.

mod dependents;
mod writes;

use std::collections::BTreeSet;
use std::time::Duration;

use serde::Serialize;
use shared::funnel::Funnel;
use shared::ids::{ColumnId, FunnelId};

use crate::kinds::Kind;
use crate::kinds::storage;
use crate::{Operator, OperatorError};

pub use dependents::Dependent;

/// Seconds after which every request that had read a removed record has ended.
const SETTLED: u64 = 30;

/// The kind of a record, or a part of one, that can be removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Removable {
    /// A column of a funnel.
    Column,
    /// A record of a kind.
    Record(Kind),
}

impl Removable {
    /// All of them.
    pub fn all() -> impl Iterator<Item = Self> {
        let kinds = Kind::STORED.iter().copied();
        let removed = kinds.filter(|kind| kind.storage().is_some_and(|storage| storage.removal.is_some()));
        std::iter::once(Self::Column).chain(removed.map(Self::Record))
    }

    /// The name, as in a line of an import.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Column => "column",
            Self::Record(kind) => kind.name(),
        }
    }
}

/// A record to remove.
#[derive(Debug, Clone)]
pub struct Removal {
    /// Its kind.
    pub kind: Removable,
    /// Its id; of a file without one, its ticket and path as `501:path`.
    pub id: String,
    /// The funnel of a column, if several funnels have a column with this id.
    pub funnel: Option<FunnelId>,
}

/// The outcome of a removal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Removed {
    /// The kind of the record.
    pub kind: &'static str,
    /// Its id.
    pub id: String,
    /// Whether it is removed.
    pub removed: bool,
    /// The records that depend on it, at most 100.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dependents: Vec<Dependent>,
    /// The number of further dependents.
    #[serde(rename = "dependentsMore", skip_serializing_if = "is_zero")]
    pub unlisted: u64,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde gives the field by reference"
)]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// The record that a [`Removal`] names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    Column(FunnelId, ColumnId),
    /// A record by its kind and number. The number of a file is not used, because no record depends on a file.
    Record((Kind, u64)),
}

impl Target {
    /// The kind of the record that is removed or changed.
    fn kind(self) -> Kind {
        match self {
            Self::Column(..) => Kind::Funnels,
            Self::Record((kind, _)) => kind,
        }
    }

    /// Whether a request can link to the record.
    fn is_linked_by_requests(self) -> bool {
        use storage::Removal::{Linked, OfUser};
        let removal = self.kind().storage().and_then(|storage| storage.removal);
        matches!(removal, Some(Linked | OfUser))
    }
}

impl Operator {
    /// Removes a record and everything derived from it, unless other records depend on it. Unless no other process uses
    /// the table (`alone`), it then waits for requests that had read the record, and puts the record back if one of
    /// them linked to it. Reads every record that may refer to it. Calls `watch` with each number of read records.
    ///
    /// # Errors
    /// [`OperatorError::NoInstance`], [`OperatorError::NoRecord`], [`OperatorError::ManyFunnels`],
    /// [`OperatorError::Store`] if the table fails.
    pub async fn remove(
        &self,
        removal: &Removal,
        alone: bool,
        watch: &(dyn Fn(u64) + Sync),
    ) -> Result<Removed, OperatorError> {
        self.directory_head().await?;
        let funnels = self.reader().every_funnel().await?;
        let target = self.target(removal, &funnels)?;
        let lost_columns = lost_columns(target, &funnels);
        let mut found = self.dependents(target, &lost_columns, watch).await?;
        if found.is_empty() {
            let undo = self.delete_record(removal, target).await?;
            if target.is_linked_by_requests() {
                if !alone {
                    tokio::time::sleep(Duration::from_secs(SETTLED)).await;
                }
                found = self.dependents(target, &lost_columns, watch).await?;
            }
            if found.is_empty() {
                self.clear_results(target).await?;
            } else {
                self.put_back(undo).await?;
            }
        }
        Ok(Removed {
            kind: removal.kind.name(),
            id: removal.id.clone(),
            removed: found.is_empty(),
            dependents: found.listed,
            unlisted: found.unlisted,
        })
    }

    /// The record that is named. Only of a column it is known here whether it exists.
    fn target(&self, removal: &Removal, funnels: &[Funnel]) -> Result<Target, OperatorError> {
        let number = removal.id.parse::<u64>().ok();
        match (removal.kind, number) {
            (Removable::Record(Kind::Files), number) => {
                Ok(Target::Record((Kind::Files, number.unwrap_or_default())))
            }
            (_, None) => Err(self.no_record(removal)),
            (Removable::Column, Some(id)) => {
                let column = ColumnId::new(id).ok_or_else(|| self.no_record(removal))?;
                let is_meant = |funnel: &&Funnel| removal.funnel.is_none_or(|id| id == funnel.id);
                let with_column = funnels.iter().filter(|funnel| funnel.has_column(column));
                let with_column: Vec<_> = with_column.filter(is_meant).collect();
                match with_column[..] {
                    [] => Err(self.no_record(removal)),
                    [funnel] if funnel.columns.len() == 1 => Err(OperatorError::LastColumn(id, funnel.id)),
                    [funnel] => Ok(Target::Column(funnel.id, column)),
                    _ => {
                        let ids = with_column.iter().map(|funnel| funnel.id.to_string());
                        Err(OperatorError::ManyFunnels(id, ids.collect::<Vec<_>>().join(", ")))
                    }
                }
            }
            (Removable::Record(kind), Some(id)) => Ok(Target::Record((kind, id))),
        }
    }

    fn no_record(&self, removal: &Removal) -> OperatorError {
        OperatorError::NoRecord {
            instance: self.instance().clone(),
            kind: removal.kind.name(),
            id: removal.id.clone(),
        }
    }
}

/// The columns that no funnel has after the removal.
fn lost_columns(target: Target, funnels: &[Funnel]) -> BTreeSet<ColumnId> {
    let columns = |funnel: &Funnel| funnel.columns.iter().map(|column| column.id).collect::<Vec<_>>();
    let (changed_funnel, removed): (_, BTreeSet<_>) = match target {
        Target::Column(funnel, column) => (funnel, [column].into()),
        Target::Record((Kind::Funnels, id)) => {
            let Some(funnel) = funnels.iter().find(|funnel| funnel.id.get() == id) else {
                return BTreeSet::new();
            };
            (funnel.id, columns(funnel).into_iter().collect())
        }
        Target::Record(_) => return BTreeSet::new(),
    };
    let others = funnels.iter().filter(|funnel| funnel.id != changed_funnel);
    let kept: BTreeSet<_> = others.flat_map(columns).collect();
    removed.difference(&kept).copied().collect()
}
