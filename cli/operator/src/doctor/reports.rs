//! Compares stored results of reports with their heads (C-61), because a missing or altered part makes a figure wrong.
//!
//! A result older than the records is no fault, because it contains its own time.

use super::check::{Check, Inconsistency};
use super::{Doctor, Result};
use shared::ids::ReportId;
use shared::store::unscoped::reports::Checked;
use table::key_of;

impl Doctor<'_> {
    /// Reports damaged results. After a repair, background work computes them again.
    pub(super) async fn check_reports(&mut self) -> Result<()> {
        let operator = self.operator;
        let mut pages = self.pages(operator.keys().reports());
        while let Some(page) = pages.next().await? {
            for item in page {
                let key = key_of(&item)?;
                let Some(id) = key.sk.parse().ok().and_then(ReportId::new) else {
                    continue;
                };
                self.repeat_check(&key, async || {
                    Ok(match operator.reader().check_result(id).await? {
                        Checked::Sound => Check::Fine,
                        Checked::Changing => Check::Changing,
                        Checked::Damaged { findings, fix } => Check::Inconsistency(Inconsistency {
                            findings,
                            fix: Some(fix),
                        }),
                    })
                })
                .await?;
            }
        }
        Ok(())
    }
}
