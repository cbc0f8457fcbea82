//! Looking again until what is seen is certain, and repairing on condition that it still is so.

use super::Doctor;
use crate::store::operator::OperatorError;
use crate::store::transaction::{CommitError, Transaction};

/// How often something that keeps changing is looked at.
const ATTEMPTS: u32 = 8;

/// What a careful look at something came to.
#[derive(Debug)]
pub enum Look {
    /// All is as it should be.
    Fine,
    /// It changed while it was looked at.
    Changing,
    /// It is wrong.
    Wrong(Wrong),
}

/// What is wrong.
#[derive(Debug, Default)]
pub struct Wrong {
    /// Items and what is wrong with each.
    pub wounds: Vec<(String, String)>,
    /// What makes them right, under conditions that hold only while the look is still true. `None` where nothing can.
    pub remedy: Option<Transaction>,
}

impl Wrong {
    /// Something that only a person can make right.
    pub fn beyond_repair(item: impl Into<String>, reason: impl Into<String>) -> Self {
        Self {
            wounds: vec![(item.into(), reason.into())],
            remedy: None,
        }
    }
}

impl Doctor<'_> {
    /// Looks until it is certain, and reports or repairs what is wrong. `look` compares under a record that it read
    /// before and after, so each look is a second one: the page on which something seemed wrong was the first.
    pub(super) async fn settle<F>(&mut self, what: &str, look: F) -> Result<(), OperatorError>
    where
        F: AsyncFn() -> Result<Look, OperatorError>,
    {
        let mut last = None;
        for attempt in 0..ATTEMPTS {
            match look().await? {
                Look::Fine => return Ok(()),
                Look::Changing => {}
                Look::Wrong(Wrong { wounds, remedy }) => {
                    let Some(remedy) = remedy.filter(|_| self.repair) else {
                        self.report_all(wounds, false);
                        return Ok(());
                    };
                    match self.operator.table().commit(remedy).await {
                        Ok(()) => {
                            self.report_all(wounds, true);
                            return Ok(());
                        }
                        Err(CommitError::Refused(_)) => last = Some(wounds),
                        Err(CommitError::Store(error)) => return Err(error.into()),
                    }
                }
            }
            self.operator.table().pause(attempt).await;
        }
        let changing = || vec![(what.to_owned(), "keeps changing; run again".to_owned())];
        self.report_all(last.unwrap_or_else(changing), false);
        Ok(())
    }

    fn report_all(&mut self, wounds: Vec<(String, String)>, repaired: bool) {
        for (item, reason) in wounds {
            self.report(item, reason, repaired);
        }
    }
}
