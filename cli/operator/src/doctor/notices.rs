//! Markers of stale copies and of deletions that background work should have finished (C-87).
//!
//! Each marker is checked by itself, and the mark of a deletion together with its notice. A repair ends with a refresh
//! of copies, which processes stuck markers again.

use super::check::Check;
use super::{Doctor, Result};
use crate::Operator;
use shared::jobs::copies;
use shared::store::unscoped::key;
use shared::store::unscoped::notices::{self, DELETED, MARKED_AT};
use shared::store::unscoped::quarantine;
use table::item::{self, Item};
use table::{Condition, Key, Transaction, key_of};

/// The age in seconds that a marker should not exceed.
const MAX_AGE: u64 = 60 * 60;

impl Doctor<'_> {
    /// Reports notices that are unreadable, that are older than an hour or that have a stuck lead, and the marks of
    /// deletions that no notice finishes.
    pub(super) async fn check_notices(&mut self) -> Result<()> {
        let keys = self.operator.keys();
        let mut pages = self.pages(keys.stale_markers());
        while let Some(page) = pages.next().await? {
            for notice in page {
                self.count_checked("notices", 1);
                self.check_notice(&notice).await?;
            }
        }
        let mut pages = self.pages(keys.tombstones());
        while let Some(page) = pages.next().await? {
            for mark in page {
                self.count_checked("erasure marks", 1);
                self.check_erasure_mark(&key_of(&mark)?).await?;
            }
        }
        Ok(())
    }

    /// Reports a notice that is unreadable, stuck or too old. A repair releases a stuck one.
    async fn check_notice(&mut self, item: &Item) -> Result<()> {
        let key = key_of(item)?;
        let reason = if key::stale_marker_lead(&key).is_none() {
            "names no lead; it will be set aside".to_owned()
        } else if !copies::is_readable(item) {
            "cannot be read; it will be renewed".to_owned()
        } else if let Some(kind) = copies::stuck(item) {
            let reason = format!("is stuck, because {}", quarantine::reason(kind));
            // A refused transaction means that the notice has changed since it was read.
            if self.repair && !self.operator.table().try_commit(copies::unstick(item)?).await? {
                return Ok(());
            }
            reason
        } else if self.is_old(item) {
            "was raised more than an hour ago; is maintenance running?".to_owned()
        } else {
            return Ok(());
        };
        // A repair ends with a refresh of all copies.
        self.report(key, reason, self.repair);
        Ok(())
    }

    /// Reports the mark of a deletion that nothing finishes. A repair writes its notice again, or deletes a mark that
    /// names no lead.
    async fn check_erasure_mark(&mut self, mark: &Key) -> Result<()> {
        let operator = self.operator;
        let Some(lead) = key::tombstone_lead(mark) else {
            let mut deletion = Transaction::default();
            deletion.delete(mark.clone(), Condition::Always);
            if !self.repair || operator.table().try_commit(deletion).await? {
                self.report(mark, "names no lead", self.repair);
            }
            return Ok(());
        };
        let notice = operator.keys().stale_marker(lead);
        if finishes_deletion(operator, &notice).await? {
            return Ok(());
        }
        // One transaction writes the mark and the notice, and one deletes both.
        self.recheck(mark, mark, async |_| {
            if finishes_deletion(operator, &notice).await? {
                return Ok(Check::Fine);
            }
            let mut fix = Transaction::default();
            fix.check(mark.clone(), Condition::Present);
            fix.check(operator.keys().lead(lead), Condition::Absent);
            notices::mark_deleted(&mut fix, operator.keys(), lead, operator.now());
            let reason = "marks a deletion that nothing finishes: its notice is gone";
            Ok(Check::wrong(mark, reason, fix))
        })
        .await
    }

    /// Whether a marker is too old.
    fn is_old(&self, item: &Item) -> bool {
        let now = u64::try_from(self.operator.now().unix_seconds()).unwrap_or(0);
        let raised = item::number("notice", item, MARKED_AT).unwrap_or(0);
        raised > 0 && now.saturating_sub(raised) > MAX_AGE
    }
}

/// Whether the notice at a key is of a deletion, which background work then finishes.
async fn finishes_deletion(operator: &Operator, notice: &Key) -> Result<bool> {
    let notice = operator.reads().get(notice).await?;
    Ok(notice.is_some_and(|notice| notice.contains_key(DELETED)))
}
