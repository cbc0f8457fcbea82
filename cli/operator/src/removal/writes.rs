//! The writes that remove a record, and those that put it back.

use shared::funnel::Funnel;
use shared::ids::{ColumnId, FunnelId, ReportId};
use shared::people::User;
use shared::store::unscoped::automations;
use shared::store::unscoped::derived::Derived;
use shared::store::unscoped::directory::decode_members;
use shared::store::unscoped::people::{decode_names, encode_names};
use shared::store::unscoped::quarantine::as_read;
use table::item::{self, Item};
use table::{Condition, Key, KeyRange, MAX_WRITES, Pages, Policy, StoreError, Transaction, unknown};

use super::{Removal, Target};
use crate::kinds::users::put_members;
use crate::kinds::{Kind, StoredKind as _, Users, storage};
use crate::{Operator, OperatorError};

/// How to put a removed record back.
#[derive(Debug)]
pub(super) enum Undo {
    /// By this transaction.
    Record(Transaction),
    /// By an import of the user.
    User(Box<User>),
    /// By an addition to its funnel.
    Column(FunnelId, shared::funnel::Column),
}

/// The removal and the restoration of a record as it was read.
type Writes = (Transaction, Undo);

impl Operator {
    /// Removes the record, and returns how to put it back. Reads the record again if another write was faster.
    pub(super) async fn delete_record(
        &self,
        removal: &Removal,
        target: Target,
    ) -> Result<Undo, OperatorError> {
        let mut retry = self.table().retry(Policy::CONFLICT, "a removal");
        loop {
            let writes = self.removal_of(removal, target).await?;
            let (transaction, undo) = writes.ok_or_else(|| self.no_record(removal))?;
            if self.table().try_commit(transaction).await? {
                return Ok(undo);
            }
            retry.again().await?;
        }
    }

    /// The writes that remove the record; `None` if there is none.
    async fn removal_of(&self, removal: &Removal, target: Target) -> Result<Option<Writes>, OperatorError> {
        if let Target::Column(funnel, column) = target {
            return self.column_removal(funnel, column).await;
        }
        let Some(kind) = target.kind().storage() else {
            return Ok(None);
        };
        let key = (kind.key)(self.keys(), &removal.id);
        let Some((key, item)) = self.reads().get_many(key).await?.into_iter().next() else {
            return Ok(None);
        };
        match kind.removal {
            None => Ok(None),
            Some(storage::Removal::OfUser) => self.user_removal(item).await,
            Some(storage::Removal::OfAutomation) => self.automation_removal(key, &item).await,
            Some(_) => {
                let derived = (kind.derived)(self.keys(), &item)?;
                let (mut transaction, mut undo) = (Transaction::default(), Transaction::default());
                transaction.delete(key.clone(), (kind.unchanged)(&item)?);
                Derived::change(&mut transaction, &derived, Derived::default());
                undo.put(key, item, Condition::Absent);
                Derived::change(&mut undo, &Derived::default(), derived);
                Ok(Some((transaction, Undo::Record(undo))))
            }
        }
    }

    /// The writes that remove a column from its funnel.
    async fn column_removal(
        &self,
        funnel: FunnelId,
        column: ColumnId,
    ) -> Result<Option<Writes>, OperatorError> {
        let Some((item, mut changed)) = self.funnel_item(funnel).await? else {
            return Ok(None);
        };
        let Some(at) = changed.columns.iter().position(|own| own.id == column) else {
            return Ok(None);
        };
        let removed = changed.columns.remove(at);
        let transaction = self.funnel_change(&item, &changed)?;
        Ok(Some((transaction, Undo::Column(funnel, removed))))
    }

    async fn funnel_item(&self, id: FunnelId) -> Result<Option<(Item, Funnel)>, StoreError> {
        let Some(item) = self.reads().get(&self.keys().funnel(id)).await? else {
            return Ok(None);
        };
        let funnel = item::decode("funnel", item.clone())?;
        Ok(Some((item, funnel)))
    }

    fn funnel_change(&self, item: &Item, funnel: &Funnel) -> Result<Transaction, StoreError> {
        let mut transaction = Transaction::default();
        let next = unknown::rewritten("funnel", Some(item), funnel)?;
        transaction.put(self.keys().funnel(funnel.id), next, as_read(item));
        Ok(transaction)
    }

    /// The writes that remove a user's record, name and entry in the members of its department. The directory's version
    /// serialises them with the issue of credentials.
    async fn user_removal(&self, item: Item) -> Result<Option<Writes>, OperatorError> {
        let (keys, table) = (self.keys(), self.table());
        let user = Users::DECODE(item.clone())?;
        let id = user.id;
        let stored = self.stored_directory().await?;
        let mut transaction = Transaction::default();
        transaction.delete(keys.user(id), as_read(&item));
        let names_key = keys.user_name(id);
        if let Some(names) = table.reads().get(&names_key).await? {
            let mut others = decode_names(&names)?;
            others.remove(&id);
            if others.is_empty() {
                transaction.delete(names_key, Condition::Always);
            } else {
                transaction.set(names_key, encode_names(others), &[], Condition::Always);
            }
        }
        if let Some(department) = user.department {
            let members_key = keys.member(department, id);
            if let Some(members) = table.reads().get(&members_key).await? {
                let mut members = decode_members(&members)?;
                members.remove(&id);
                put_members(&mut transaction, members_key, &members);
            }
        }
        self.raise_version(&mut transaction, stored.version);
        Ok(Some((transaction, Undo::User(Box::new(user)))))
    }

    /// The writes that remove an automation and update the directory's summary of active automations.
    async fn automation_removal(&self, key: Key, item: &Item) -> Result<Option<Writes>, OperatorError> {
        let id = automations::decode(item)?.id();
        let mut directory = self.stored_directory().await?;
        let items = self.reader().automation_items().await?;
        let all = items.iter().map(automations::decode);
        let mut all = all.collect::<Result<Vec<_>, _>>()?;
        all.retain(|automation| automation.id() != id);
        let mut transaction = Transaction::default();
        transaction.delete(key, as_read(item));
        automations::summarize(&mut directory.directory, &all);
        self.put_next(&mut transaction, directory);
        // Nothing depends on an automation, so it is never put back.
        Ok(Some((transaction, Undo::Record(Transaction::default()))))
    }

    /// Puts a removed record back.
    pub(super) async fn put_back(&self, undo: Undo) -> Result<(), OperatorError> {
        match undo {
            Undo::Record(undo) => {
                // Refused if an import has created the record again.
                self.table().try_commit(undo).await?;
            }
            Undo::User(user) => {
                self.import::<Users>(&[*user], true).await?;
            }
            Undo::Column(funnel, column) => {
                let mut retry = self.table().retry(Policy::CONFLICT, "a removal");
                while let Some((item, mut funnel)) = self.funnel_item(funnel).await? {
                    if funnel.has_column(column.id) {
                        break;
                    }
                    funnel.columns.push(column.clone());
                    let transaction = self.funnel_change(&item, &funnel)?;
                    if self.table().try_commit(transaction).await? {
                        break;
                    }
                    retry.again().await?;
                }
            }
        }
        Ok(())
    }

    /// Deletes the stored result of a removed report.
    pub(super) async fn clear_results(&self, target: Target) -> Result<(), OperatorError> {
        let Target::Record((Kind::Reports, id)) = target else {
            return Ok(());
        };
        let Some(id) = ReportId::new(id) else {
            return Ok(());
        };
        for partition in [self.keys().report_data(id), self.keys().report_drafts(id)] {
            let mut pages = Pages::of(KeyRange::whole(partition));
            while let Some(keys) = pages.next_keys(self.reads()).await? {
                for keys in keys.chunks(MAX_WRITES) {
                    let mut transaction = Transaction::default();
                    for key in keys {
                        transaction.delete(key.clone(), Condition::Always);
                    }
                    self.table().try_commit(transaction).await?;
                }
            }
        }
        Ok(())
    }
}
