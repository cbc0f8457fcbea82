//! What background work set aside because something of it could not be read (C-87).

use super::Doctor;
use crate::store::item::Item;
use crate::store::operator::OperatorError;
use crate::store::quarantine;
use crate::store::table::{PAGE, Page, Span, key_of};
use crate::store::transaction::CommitError;

impl Doctor<'_> {
    /// Reports what was set aside. A repair moves it back to where it came from, where it is tried again: what still
    /// cannot be read then comes back here.
    pub(super) async fn set_aside(&mut self) -> Result<(), OperatorError> {
        for partition in self.operator.keys().quarantine() {
            let mut rest = Span::head(partition, PAGE);
            loop {
                let Page { items, more } = self.operator.table().query(rest.clone()).await?;
                if !items.is_empty() {
                    self.looked_at("set aside", items.len());
                }
                rest.after = items.last().map(key_of).transpose()?.map(|key| key.sk);
                for item in items {
                    self.one_set_aside(item).await?;
                }
                if !more {
                    break;
                }
            }
        }
        Ok(())
    }

    async fn one_set_aside(&mut self, item: Item) -> Result<(), OperatorError> {
        let name = key_of(&item)?.to_string();
        let (unreadable, back) = quarantine::back(item)?;
        let reason = format!("was set aside, because the {unreadable} could not be read");
        if self.repair {
            match self.operator.table().commit(back).await {
                Ok(()) => {}
                // Another doctor put it back.
                Err(CommitError::Refused(_)) => return Ok(()),
                Err(CommitError::Store(error)) => return Err(error.into()),
            }
        }
        self.report(name, reason, self.repair);
        Ok(())
    }
}
