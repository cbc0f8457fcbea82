//! Ranks of leads: checks that the numbers of counted blocks add up to the entries of their lists.

use std::collections::BTreeSet;

use super::{Doctor, Result};
use shared::store::unscoped::key;
use shared::store::unscoped::leads::ranks::RankedList;
use table::{Condition, Key, Policy, Transaction, key_of};

/// Attempts to count a list with leads that keep changing.
const COUNTS: Policy = Policy::CONFLICT.attempts(4);

impl Doctor<'_> {
    /// Compares all ranks with the lists, which the doctor has already compared with the leads. Reads the counted
    /// lists. A repair deletes a wrong count, and counts again.
    pub(super) async fn check_ranks(&mut self) -> Result<()> {
        let mut lists = BTreeSet::new();
        let mut pages = self.pages(self.operator.keys().lead_ranks());
        while let Some(page) = pages.next().await? {
            self.count_checked("lead ranks", page.len());
            for item in page {
                let key = key_of(&item)?;
                match key::ranked_list(&key.sk) {
                    Some((list, _)) => {
                        lists.insert(list);
                    }
                    None => self.report_unknown_rank(key).await?,
                }
            }
        }
        for list in lists {
            self.check_list_ranks(list).await?;
        }
        if self.repair {
            self.operator.count_lead_ranks().await?;
        }
        Ok(())
    }

    async fn report_unknown_rank(&mut self, key: Key) -> Result<()> {
        if self.repair {
            let mut fix = Transaction::default();
            fix.delete(key.clone(), Condition::Always);
            self.operator.table().try_commit(fix).await?;
        }
        self.report(key, "no list of leads can have such an item", self.repair);
        Ok(())
    }

    /// Compares the ranks of a list with its entries. A wrong rank is reported only if a second read returns the same.
    async fn check_list_ranks(&mut self, list: RankedList) -> Result<()> {
        let reader = self.operator.reader();
        let mut retry = self.operator.table().retry(COUNTS, "a count");
        loop {
            let ranks = reader.list_ranks(list).await?;
            let wrong = reader.wrong_ranks(list, &ranks).await?;
            let now = reader.list_ranks(list).await?;
            let is_unchanged = wrong.iter().all(|number| ranks.agree(&now, *number));
            if is_unchanged {
                for number in wrong {
                    let key = self.operator.keys().lead_rank(list, number);
                    let repaired =
                        self.repair && self.operator.writer.forget_rank((list, number), &ranks).await?;
                    self.report(key, "does not add up to the entries of its list", repaired);
                }
                return Ok(());
            }
            if retry.again().await.is_err() {
                let block = wrong.first().copied().unwrap_or(0);
                let key = self.operator.keys().lead_rank(list, block);
                self.report(
                    key,
                    "cannot be compared while so many leads change; run again",
                    false,
                );
                return Ok(());
            }
        }
    }
}
