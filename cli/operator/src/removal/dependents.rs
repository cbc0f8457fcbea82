//! Finds the records that depend on another one.

use std::collections::BTreeSet;

use serde::Serialize;
use shared::credential::CredentialKind;
use shared::ids::ColumnId;

use super::{Removable, Target};
use crate::kinds::references::{References, Referent};
use crate::kinds::{
    Automations, Calendars, Calls, Companies, Events, ExportKind, Files, Funnels, Hooks, Leads, Meetings,
    Opportunities, RecordKind, Reports, Tickets,
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

impl Search<'_> {
    /// Searches the records of every kind that may refer to the target's kind.
    async fn search_all(&mut self) -> Result<(), OperatorError> {
        let kind = match self.target {
            Target::File => return Ok(()),
            Target::Column(..) => Removable::Funnel,
            Target::Numbered(kind, _) => kind,
        };
        match kind {
            Removable::Funnel | Removable::Column => {
                self.search_kind::<Opportunities>().await?;
                self.search_kind::<Reports>().await?;
                self.search_kind::<Automations>().await?;
                self.search_kind::<Hooks>().await
            }
            Removable::User => self.search_of_user().await,
            Removable::Tag => {
                self.search_kind::<Leads>().await?;
                self.search_kind::<Hooks>().await
            }
            Removable::Company => self.search_kind::<Leads>().await,
            Removable::Calendar => self.search_kind::<Meetings>().await,
            Removable::Opportunity => {
                self.search_kind::<Meetings>().await?;
                self.search_kind::<Tickets>().await
            }
            Removable::Ticket => self.search_kind::<Files>().await,
            Removable::Hook => {
                self.search_kind::<Automations>().await?;
                self.search_events().await
            }
            Removable::Report | Removable::Automation | Removable::File => Ok(()),
        }
    }

    async fn search_of_user(&mut self) -> Result<(), OperatorError> {
        self.search_credentials().await?;
        self.search_kind::<Companies>().await?;
        self.search_kind::<Leads>().await?;
        self.search_kind::<Funnels>().await?;
        self.search_kind::<Opportunities>().await?;
        self.search_kind::<Calendars>().await?;
        self.search_kind::<Meetings>().await?;
        self.search_kind::<Tickets>().await?;
        self.search_kind::<Calls>().await?;
        self.search_kind::<Reports>().await?;
        self.search_kind::<Automations>().await?;
        self.search_kind::<Hooks>().await?;
        self.search_events().await
    }

    async fn search_events(&mut self) -> Result<(), OperatorError> {
        let mut events = self.operator.events(None);
        while let Some(page) = events.next().await? {
            for event in &page {
                self.add_if_dependent::<Events>(event, || event.id().to_string());
            }
            (self.watch)(page.len() as u64);
        }
        Ok(())
    }

    /// Adds the user's credentials that are not revoked.
    async fn search_credentials(&mut self) -> Result<(), OperatorError> {
        for kind in [CredentialKind::Key, CredentialKind::Token] {
            for entry in self.operator.credentials(kind).await? {
                if entry.revoked.is_none() && self.is_target(Referent::User(entry.user.get())) {
                    self.found.add(kind.name(), entry.id, "user");
                }
            }
        }
        Ok(())
    }

    async fn search_kind<K: ExportKind>(&mut self) -> Result<(), OperatorError> {
        let mut pages = self.operator.records::<K>();
        while let Some(page) = pages.next().await? {
            for record in &page {
                self.add_if_dependent::<K>(record, || K::label(record));
            }
            (self.watch)(page.len() as u64);
        }
        Ok(())
    }

    /// Adds a record if it refers to the target.
    fn add_if_dependent<K: RecordKind>(&mut self, record: &K::Record, label: impl FnOnce() -> String) {
        let mut named = References::default();
        K::references(record, &mut named);
        K::links(record, &mut named);
        if let Some(reference) = named.iter().find(|reference| self.is_target(reference.target)) {
            self.found.add(K::KIND.name(), label(), reference.field());
        }
    }

    /// Whether a reference is to the target, or to a column that the removal takes from the last funnel.
    fn is_target(&self, referent: Referent) -> bool {
        let is = |kind, id| self.target == Target::Numbered(kind, id);
        match referent {
            Referent::User(id) => is(Removable::User, id),
            Referent::Company(id) => is(Removable::Company, id),
            Referent::Tag(id) => is(Removable::Tag, id),
            Referent::Hook(id) => is(Removable::Hook, id),
            Referent::Opportunity(id) => is(Removable::Opportunity, id),
            Referent::Calendar(id) => is(Removable::Calendar, id),
            Referent::Ticket(id) => is(Removable::Ticket, id),
            Referent::Funnel(id) => is(Removable::Funnel, id),
            Referent::Column(id) => ColumnId::new(id).is_some_and(|id| self.lost_columns.contains(&id)),
            Referent::ColumnOf { funnel, column, .. } => match self.target {
                Target::Column(of, removed) => (of.get(), removed.get()) == (funnel, column),
                _ => is(Removable::Funnel, funnel),
            },
            Referent::Department(_) | Referent::Group(_) | Referent::Lead(_) => false,
        }
    }
}
