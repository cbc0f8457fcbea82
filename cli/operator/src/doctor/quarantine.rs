//! Items that background work moved to quarantine because a part of them could not be read (C-87).

use super::{Doctor, Result};
use shared::store::unscoped::quarantine;
use table::key_of;

impl Doctor<'_> {
    /// Reports them. A repair moves each item back, and background work tries it again. A still unreadable item returns
    /// to quarantine.
    pub(super) async fn report_quarantine(&mut self) -> Result<()> {
        for partition in self.operator.keys().quarantine() {
            let mut pages = self.pages(partition);
            while let Some(page) = pages.next().await? {
                for item in page {
                    self.count_checked("set aside", 1);
                    let key = key_of(&item)?;
                    let (unreadable, back) = quarantine::back(item)?;
                    // A refused transaction means that another doctor has moved it back.
                    if !self.repair || self.operator.table().try_commit(back).await? {
                        let reason = format!("was set aside, because {}", quarantine::reason(&unreadable));
                        self.report(key, reason, self.repair);
                    }
                }
            }
        }
        Ok(())
    }
}
