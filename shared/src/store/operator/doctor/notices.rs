//! Notices and marks of deletions that background work should have seen to (C-87).
//!
//! Each is read and judged by itself, and a mark with the notice that belongs to it. A repair has what is stuck tried
//! again when the doctor brings copies up to date, which is the last that it does.

use super::Doctor;
use super::settle::{Look, Wrong};
use crate::store::copies;
use crate::store::item::{self, Item};
use crate::store::key::{self, Key};
use crate::store::notices::{self, DELETED, RAISED};
use crate::store::operator::{Operator, OperatorError};
use crate::store::table::{PAGE, Page, Span, key_of};
use crate::store::transaction::{CommitError, Condition, Transaction};

/// For how many seconds a notice or mark may stand.
const MAX_AGE: u64 = 60 * 60;

impl Doctor<'_> {
    /// Reports the notices that cannot be read, whose lead is stuck, or that are older than an hour, and the marks of
    /// deletions that nothing sees to.
    pub(super) async fn notices(&mut self) -> Result<(), OperatorError> {
        let keys = self.operator.keys();
        for (partition, stage) in [(keys.notices(), "notices"), (keys.erasures(), "erasure marks")] {
            let mut rest = Span::head(partition, PAGE);
            loop {
                let Page { items, more } = self.operator.table().query(rest.clone()).await?;
                if !items.is_empty() {
                    self.looked_at(stage, items.len());
                }
                rest.after = items.last().map(key_of).transpose()?.map(|key| key.sk);
                for item in items {
                    if stage == "notices" {
                        self.notice(&item).await?;
                    } else {
                        self.mark(&item).await?;
                    }
                }
                if !more {
                    break;
                }
            }
        }
        Ok(())
    }

    async fn notice(&mut self, item: &Item) -> Result<(), OperatorError> {
        let key = key_of(item)?;
        let reason = if key::noticed(&key).is_none() {
            "names no lead; it will be set aside".to_owned()
        } else if !copies::is_readable(item) {
            "cannot be read; it will be renewed".to_owned()
        } else if let Some(kind) = copies::stuck(item) {
            let reason = format!("is stuck, because the {kind} could not be read");
            if self.repair && !self.commit(copies::unstick(item)?).await? {
                return Ok(());
            }
            reason
        } else if self.is_old(item) {
            "was raised more than an hour ago; is maintenance running?".to_owned()
        } else {
            return Ok(());
        };
        // A repair ends with bringing all copies up to date, which sees to it.
        self.report(key.to_string(), reason, self.repair);
        Ok(())
    }

    async fn mark(&mut self, item: &Item) -> Result<(), OperatorError> {
        let operator = self.operator;
        let key = key_of(item)?;
        let Some(lead) = key::marked(&key) else {
            // It marks nothing.
            let mut deletion = Transaction::default();
            deletion.delete(key.clone(), Condition::Always);
            if !self.repair || self.commit(deletion).await? {
                self.report(key.to_string(), "names no lead", self.repair);
            }
            return Ok(());
        };
        let notice = operator.keys().lead_notice(lead);
        let found = operator.table().get(&notice).await?;
        match found {
            Some(found) if found.contains_key(DELETED) => Ok(()),
            _ => {
                let look = async || look(operator, &key, &notice).await;
                self.settle(&key.to_string(), look).await
            }
        }
    }

    /// Whether something was raised too long ago. What the former version raised says no time.
    fn is_old(&self, item: &Item) -> bool {
        let now = u64::try_from(self.operator.now().unix_seconds()).unwrap_or(0);
        let raised = item::number("notice", item, RAISED).unwrap_or(0);
        raised > 0 && now.saturating_sub(raised) > MAX_AGE
    }

    /// Carries a repair out; `false` where others were faster.
    async fn commit(&self, transaction: Transaction) -> Result<bool, OperatorError> {
        match self.operator.table().commit(transaction).await {
            Ok(()) => Ok(true),
            Err(CommitError::Refused(_)) => Ok(false),
            Err(CommitError::Store(error)) => Err(error.into()),
        }
    }
}

/// Looks at a mark and at the notice that finishes the deletion. They come and go in one transaction.
async fn look(operator: &Operator, mark: &Key, notice: &Key) -> Result<Look, OperatorError> {
    let found = operator.table().get_many([mark.clone(), notice.clone()]).await?;
    let again = operator.table().get(mark).await?;
    let has_notice = found
        .get(notice)
        .is_some_and(|notice| notice.contains_key(DELETED));
    let Some(lead) = key::marked(mark).filter(|_| again.is_some() && !has_notice) else {
        return Ok(Look::Fine);
    };
    if found.get(mark) != again.as_ref() {
        return Ok(Look::Changing);
    }
    let mut remedy = Transaction::default();
    remedy.check(mark.clone(), Condition::Present);
    remedy.check(operator.keys().lead(lead), Condition::Absent);
    notices::raise_deleted(&mut remedy, operator.keys(), lead, operator.now());
    let reason = "marks a deletion that nothing finishes: its notice is gone".to_owned();
    Ok(Look::Wrong(Wrong {
        wounds: vec![(mark.to_string(), reason)],
        remedy: Some(remedy),
    }))
}
