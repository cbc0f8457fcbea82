//! Repeats a check until its outcome is certain, and repairs on condition of what was read.

use super::{Doctor, Result};
use table::item::Item;
use table::{Key, Policy, Transaction};

/// The key of an item, and what is wrong with it.
pub type Finding = (String, String);

/// The outcome of a check.
#[derive(Debug)]
pub enum Check {
    /// Everything is right.
    Fine,
    /// The compared items changed during the check.
    Changing,
    /// Something is wrong.
    Inconsistency(Inconsistency),
}

/// The fault.
#[derive(Debug)]
pub struct Inconsistency {
    pub findings: Vec<Finding>,
    /// The writes that correct them, on conditions that fail if the check is out of date. `None` if only a person can
    /// decide.
    pub fix: Option<Transaction>,
}

impl Check {
    /// One item is wrong; see [`Inconsistency`].
    pub fn wrong(item: &Key, reason: impl Into<String>, fix: impl Into<Option<Transaction>>) -> Self {
        Self::Inconsistency(Inconsistency {
            findings: vec![(item.to_string(), reason.into())],
            fix: fix.into(),
        })
    }
}

impl Doctor<'_> {
    /// Repeats a check of `what` that compares something with the item at `related`. The item is read before and after
    /// the check, and an unchanged item makes the comparison consistent. Without the item nothing is compared.
    pub(super) async fn recheck<F>(&mut self, what: &Key, related: &Key, check: F) -> Result<()>
    where
        F: AsyncFn(&Item) -> Result<Check>,
    {
        let table = self.operator.table();
        self.repeat_check(what, async || {
            let Some(before) = table.reads().get(related).await? else {
                return Ok(Check::Fine);
            };
            let outcome = check(&before).await?;
            let unchanged = table.reads().get(related).await?.as_ref() == Some(&before);
            Ok(if unchanged { outcome } else { Check::Changing })
        })
        .await
    }

    /// Repeats a check of `what` until its outcome is certain, and reports or repairs what is wrong. A refused repair
    /// means that the check is out of date. After the last attempt, reports the last findings as not repaired.
    pub(super) async fn repeat_check<F>(&mut self, what: &Key, check: F) -> Result<()>
    where
        F: AsyncFn() -> Result<Check>,
    {
        let table = self.operator.table();
        let mut retry = table.retry(Policy::CONFLICT, "a check");
        let mut last_findings = vec![(what.to_string(), "keeps changing; run again".to_owned())];
        loop {
            match check().await? {
                Check::Fine => return Ok(()),
                Check::Changing => {}
                Check::Inconsistency(Inconsistency { findings, fix }) => {
                    let Some(fix) = fix.filter(|_| self.repair) else {
                        self.report_all(findings, false);
                        return Ok(());
                    };
                    if table.try_commit(fix).await? {
                        self.report_all(findings, true);
                        return Ok(());
                    }
                    last_findings = findings;
                }
            }
            if retry.again().await.is_err() {
                self.report_all(last_findings, false);
                return Ok(());
            }
        }
    }

    fn report_all(&mut self, findings: Vec<Finding>, repaired: bool) {
        for (item, reason) in findings {
            self.report(item, reason, repaired);
        }
    }
}
