//! Finds the records that depend on another one.

use std::collections::BTreeSet;

use serde::Serialize;
use shared::credential::CredentialKind;
use shared::ids::{ColumnId, FunnelId};
use table::item;

use super::Target;
use crate::kinds::{
    Automations, Events, Hooks, Kind, RecordKind, Referent, Reports, StoredKind, with_stored,
};
use crate::{Operator, OperatorError};

/// Maximum listed dependents.
const MAX_LISTED: usize = 100;

/// A record that depends on another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Dependent {
    /// Its kind; `key` or `token` for a credential.
    pub kind: &'static str,
    /// Its id.
    pub id: String,
    /// The field that names the other record.
    pub field: String,
}

/// The records that depend on a record.
#[derive(Debug, Default)]
pub(super) struct Dependents {
    pub listed: Vec<Dependent>,
    pub unlisted: u64,
}

impl Dependents {
    pub fn is_empty(&self) -> bool {
        self.listed.is_empty()
    }

    fn add(&mut self, kind: &'static str, id: String, field: &str) {
        if self.listed.len() < MAX_LISTED {
            let field = field.to_owned();
            self.listed.push(Dependent { kind, id, field });
        } else {
            self.unlisted += 1;
        }
    }
}

/// A search for dependents.
struct Search<'a> {
    operator: &'a Operator,
    target: Target,
    lost_columns: &'a BTreeSet<ColumnId>,
    watch: &'a (dyn Fn(u64) + Sync),
    found: Dependents,
}

impl Operator {
    /// The records that depend on `target`. Reads all records of every kind that may depend on it. `lost_columns` are
    /// the columns that no funnel has after the removal.
    pub(super) async fn dependents(
        &self,
        target: Target,
        lost_columns: &BTreeSet<ColumnId>,
        watch: &(dyn Fn(u64) + Sync),
    ) -> Result<Dependents, OperatorError> {
        let mut search = Search {
            operator: self,
            target,
            lost_columns,
            watch,
            found: Dependents::default(),
        };
        search.search_all().await?;
        Ok(search.found)
    }
}

impl Operator {
    /// A form, report or automation that names a column of a funnel. `is_last` tells whether no other funnel has the column.
    pub(crate) async fn setting_with_column(
        &self,
        funnel: FunnelId,
        column: ColumnId,
        is_last: bool,
    ) -> Result<Option<Dependent>, OperatorError> {
        let lost_columns: BTreeSet<_> = is_last.then_some(column).into_iter().collect();
        let mut search = Search {
            operator: self,
            target: Target::Column(funnel, column),
            lost_columns: &lost_columns,
            watch: &|_| (),
            found: Dependents::default(),
        };
        search.search_kind::<Hooks>().await?;
        search.search_kind::<Reports>().await?;
        search.search_kind::<Automations>().await?;
        Ok(search.found.listed.into_iter().next())
    }
}

impl Search<'_> {
    /// Searches the records of every kind that may refer to the target's kind.
    async fn search_all(&mut self) -> Result<(), OperatorError> {
        let target = self.target.kind();
        if target == Kind::Users {
            self.search_credentials().await?;
        }
        for kind in Kind::STORED {
            if !kind.fields().iter().any(|field| field.may_refer_to(target)) {
                continue;
            }
            match kind {
                Kind::Events => self.search_events().await?,
                kind => with_stored!(kind, K => self.search_kind::<K>().await?, ()),
            }
        }
        Ok(())
    }

    async fn search_events(&mut self) -> Result<(), OperatorError> {
        let mut events = self.operator.events(None);
        while let Some(page) = events.next().await? {
            self.add_dependents::<Events>(&page, |event| event.id().to_string())?;
        }
        Ok(())
    }

    /// Adds the user's credentials that are not revoked.
    async fn search_credentials(&mut self) -> Result<(), OperatorError> {
        for kind in [CredentialKind::Key, CredentialKind::Token] {
            for entry in self.operator.credentials(kind).await? {
                if entry.revoked.is_none() && self.is_target(Referent::Record(Kind::Users, entry.user.get()))
                {
                    self.found.add(kind.name(), entry.id, "user");
                }
            }
        }
        Ok(())
    }

    async fn search_kind<K: StoredKind>(&mut self) -> Result<(), OperatorError> {
        let mut pages = self.operator.records::<K>();
        while let Some(page) = pages.next().await? {
            self.add_dependents::<K>(&page, K::label)?;
        }
        Ok(())
    }

    /// Adds the records of a page that refer to the target.
    fn add_dependents<K: RecordKind>(
        &mut self,
        page: &[K::Record],
        label: impl Fn(&K::Record) -> String,
    ) -> Result<(), OperatorError> {
        for record in page {
            let references = K::references(record).map_err(|cause| item::corrupt(K::KIND.name(), cause))?;
            if let Some(reference) = references
                .iter()
                .find(|reference| self.is_target(reference.target))
            {
                self.found.add(K::KIND.name(), label(record), &reference.field);
            }
        }
        (self.watch)(page.len() as u64);
        Ok(())
    }

    /// Whether a reference is to the target, or to a column that the removal takes from the last funnel.
    fn is_target(&self, referent: Referent) -> bool {
        match (referent, self.target) {
            (Referent::Record(kind, id), Target::Record(target)) => (kind, id) == target,
            (Referent::Column { funnel: None, column }, _) => {
                ColumnId::new(column).is_some_and(|column| self.lost_columns.contains(&column))
            }
            (Referent::Column { funnel, column }, Target::Column(of, removed)) => {
                (funnel, column) == (Some(of.get()), removed.get())
            }
            (Referent::Column { funnel, .. }, Target::Record((Kind::Funnels, id))) => funnel == Some(id),
            _ => false,
        }
    }
}
