//! Stored results of reports, compared with their heads (C-61): a part that is gone or altered is a wrong figure.
//!
//! That a result is behind the records is no fault: it tells of its own time.

use super::Doctor;
use super::settle::{Look, Wrong};
use crate::id::ReportId;
use crate::store::operator::{Operator, OperatorError};
use crate::store::reports::{self, Checked};
use crate::store::table::{PAGE, Span, key_of};

impl Doctor<'_> {
    /// Reports definitions that cannot be read, and damaged results. A repair has those made anew.
    pub(super) async fn reports(&mut self) -> Result<(), OperatorError> {
        let operator = self.operator;
        let span = Span::head(operator.keys().reports(), PAGE);
        let items = operator.table().query_all(span).await?;
        if !items.is_empty() {
            self.looked_at("reports", items.len());
        }
        for item in &items {
            let key = key_of(item)?;
            if let Err(cause) = reports::definition(item) {
                self.report(key.to_string(), cause.to_string(), false);
            }
            let Some(id) = key.sk.parse().ok().and_then(ReportId::new) else {
                continue;
            };
            let look = async || look(operator, id).await;
            self.settle(&key.to_string(), look).await?;
        }
        Ok(())
    }
}

async fn look(operator: &Operator, id: ReportId) -> Result<Look, OperatorError> {
    Ok(match operator.0.check_result(id).await? {
        Checked::Sound => Look::Fine,
        Checked::Changing => Look::Changing,
        Checked::Damaged { wounds, remedy } => {
            let remedy = Some(remedy);
            Look::Wrong(Wrong { wounds, remedy })
        }
    })
}
