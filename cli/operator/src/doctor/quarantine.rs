//! Items that background work moved to quarantine because a part of them could not be read (C-87).

use super::{Doctor, Result};
use shared::store::unscoped::quarantine;
use table::key_of;

impl Doctor<'_> {
    /// Reports them. A repair moves each item back, and background work tries it again. A still unreadable item returns
    /// to quarantine. A notification that could not be delivered is no difference.
    pub(super) async fn report_quarantine(&mut self) -> Result<()> {
        let mut pages = self.pages(self.operator.keys().set_aside());
        while let Some(page) = pages.next().await? {
            for item in page {
                let Some(unreadable) = quarantine::unreadable(&item) else {
                    continue;
                };
                self.count_checked("set aside", 1);
                let reason = format!("was set aside, because {}", quarantine::reason(unreadable));
                let key = key_of(&item)?;
                // A refused transaction means that another doctor has moved it back.
                if !self.repair || self.operator.table().try_commit(quarantine::back(item)?).await? {
                    self.report(key, reason, self.repair);
                }
            }
        }
        Ok(())
    }
}
