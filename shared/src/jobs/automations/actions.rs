//! The writes of each action of an automation.

use std::collections::BTreeSet;

use serde_json::Number;

use crate::automation::template::rendered;
use crate::automation::{Action, MAX_POINTS};
use crate::directory::DirectoryHead;
use crate::funnel::Funnel;
use crate::ids::{ColumnId, DepartmentId, FunnelId, UserId};
use crate::jobs::automations::{ActionContext, NextAction, deliveries};
use crate::lead::Lead;
use crate::lead_edit::is_storable;
use crate::money::Cents;
use crate::opportunity::Opportunity;
use crate::store::key::Counter;
use crate::store::leads::LeadRecord;
use crate::store::opportunities::OpportunitySnapshot;
use crate::store::sequence::Sequence;
use crate::store::{WholeLead, Writer};
use crate::text::cut;
use table::StoreError;
use table::Transaction;
use table::item;

/// Maximum characters of an opportunity's title.
const MAX_TITLE: usize = 255;
/// Counter of opportunities' ids.
const NUMBER: &str = "opportunity";

/// The writes of an action, or the reason why it can never be performed. Failures of the table are [`StoreError`].
type ActionWrites = Result<Transaction, &'static str>;

/// An opportunity to create.
struct OpportunityToCreate<'a> {
    /// Funnel and column.
    place: (FunnelId, ColumnId),
    title: &'a str,
    value: Option<Cents>,
}

impl Writer {
    /// The writes of an action; empty if they would change nothing. A new opportunity reserves its id if `reserves_id`,
    /// because another writer took the next one.
    pub(crate) async fn writes_of(
        &self,
        context: &ActionContext,
        next: &NextAction<'_>,
        reserves_id: bool,
    ) -> Result<ActionWrites, StoreError> {
        let action = next.action;
        // A notification needs no lead.
        if let Action::Notify(_) = action {
            let mut transaction = Transaction::default();
            let key = self
                .keys()
                .notification(context.cause, next.automation, next.index);
            deliveries::put(&mut transaction, key, context.fact.at, context.trace.as_ref());
            return Ok(Ok(transaction));
        }
        let Some(record) = &context.subject.lead else {
            return Ok(Err("the lead is gone"));
        };
        let lead = &record.lead;
        let changed = match action {
            Action::AddPoints { points } => with_points(lead, *points),
            Action::SetOwner { user } => {
                with_owner(lead, *user, &self.reader().existing_users([*user]).await?)
            }
            Action::AddAccess { users, departments } => {
                let existing = self.reader().existing_users(users.iter().copied()).await?;
                with_access(lead, (users, &existing), (departments, &context.directory))
            }
            Action::CreateOpportunity {
                funnel,
                column,
                title,
                value,
            } => {
                let values = self.reader().values(&context.subject, action).await?;
                let title = rendered(title, &values);
                let new = OpportunityToCreate {
                    place: (*funnel, *column),
                    title: cut(title.trim(), MAX_TITLE),
                    value: *value,
                };
                return self
                    .opportunity_writes((record, context.subject.user()), &new, reserves_id)
                    .await;
            }
            // Returned above.
            Action::Notify(_) => return Ok(Ok(Transaction::default())),
        };
        self.lead_writes(record, changed)
    }

    /// The writes of a changed lead; empty if it is unchanged. `changed` is the lead after the action, or the reason
    /// why the action cannot be performed.
    fn lead_writes(
        &self,
        record: &WholeLead,
        changed: Result<Lead, &'static str>,
    ) -> Result<ActionWrites, StoreError> {
        match changed {
            Err(reason) => Ok(Err(reason)),
            Ok(changed) if changed == record.lead => Ok(Ok(Transaction::default())),
            Ok(changed) if !is_storable(&changed) => Ok(Err("the lead would be larger than 100 KB")),
            // No user made the change, so the last editor is cleared.
            Ok(changed) => {
                let changed = Lead {
                    updated_by: None,
                    updated_by_name: None,
                    ..changed
                };
                self.lead_change(record, &changed).map(Ok)
            }
        }
    }

    /// The writes of a new opportunity of a lead for a user, like those of endpoint 7 (C-30). A batch of gets of the
    /// funnel and the counter, and with `reserves_id` a write of the counter.
    async fn opportunity_writes(
        &self,
        (record, user): (&LeadRecord, Option<UserId>),
        new: &OpportunityToCreate<'_>,
        reserves_id: bool,
    ) -> Result<ActionWrites, StoreError> {
        let Some(user) = user else {
            return Ok(Err("the lead has no owner"));
        };
        if new.title.is_empty() {
            return Ok(Err("the title of the opportunity would be empty"));
        }
        let (funnel_id, column) = new.place;
        let funnel_key = self.keys().funnel(funnel_id);
        let counter = self.keys().counter(Counter::Opportunity);
        let wanted = [funnel_key.clone(), counter.clone()];
        let mut found = self.table.reads().get_many(wanted).await?;
        let funnel = found
            .remove(&funnel_key)
            .map(|item| item::decode::<Funnel>("funnel", item));
        let Some(funnel) = funnel.transpose()? else {
            return Ok(Err("the funnel does not exist"));
        };
        if !funnel.has_column(column) {
            return Ok(Err("the column is not one of the funnel"));
        }
        let number = if reserves_id {
            Sequence::reserve(&self.table, &counter, NUMBER).await?
        } else {
            Sequence::next(found.get(&counter), NUMBER)?
        };
        let (lead, now) = (record.lead.id, self.reader().environment.now());
        let opportunity = Opportunity {
            title: new.title.to_owned(),
            value: new.value.unwrap_or_default(),
            ..Opportunity::new(number.id()?, new.place, lead, user, now)
        };
        let snapshot = OpportunitySnapshot::of(opportunity, Some(record));
        let nonce = self.reader().environment.token();
        self.creation(&snapshot, record, number, None, &nonce).map(Ok)
    }
}

/// The lead with more, or fewer, points. The error is the reason if they cannot be stored.
fn with_points(lead: &Lead, points: i64) -> Result<Lead, &'static str> {
    let sum = sum(&lead.points, points).ok_or("the lead would have more points than can be stored")?;
    Ok(Lead {
        points: sum,
        ..lead.clone()
    })
}

/// `points` plus `more`; an integer stays an integer. `None` if the sum exceeds [`MAX_POINTS`] in either direction.
#[expect(
    clippy::cast_precision_loss,
    reason = "up to 1e15 every whole number is a float too"
)]
fn sum(points: &Number, more: i64) -> Option<Number> {
    if let Some(points) = points.as_i64() {
        let sum = points.checked_add(more)?;
        return (sum.unsigned_abs() <= MAX_POINTS.unsigned_abs()).then(|| Number::from(sum));
    }
    let sum = points.as_f64()? + more as f64;
    Number::from_f64(sum).filter(|_| sum.abs() <= MAX_POINTS as f64)
}

/// The lead with another owner. The error is the reason if that user does not exist. `existing` contains the user if it
/// exists.
fn with_owner(lead: &Lead, user: UserId, existing: &BTreeSet<UserId>) -> Result<Lead, &'static str> {
    if !existing.contains(&user) {
        return Err("the user does not exist");
    }
    Ok(Lead {
        owner: Some(user),
        ..lead.clone()
    })
}

/// Adds to a lead's access lists those of the users and departments that exist and are not in the lists yet. The error
/// is the reason if none exists. `existing` contains the existing ones of `users`.
fn with_access(
    lead: &Lead,
    (users, existing): (&[UserId], &BTreeSet<UserId>),
    (departments, directory): (&[DepartmentId], &DirectoryHead),
) -> Result<Lead, &'static str> {
    let mut users = users.iter().filter(|user| existing.contains(user)).peekable();
    let mut departments = departments
        .iter()
        .filter(|department| directory.departments.contains_key(department))
        .peekable();
    if users.peek().is_none() && departments.peek().is_none() {
        return Err("none of those to admit exists");
    }
    let mut lead = lead.clone();
    for user in users {
        if !lead.user_access.contains(user) {
            lead.user_access.push(*user);
        }
    }
    for department in departments {
        if !lead.department_access.contains(department) {
            lead.department_access.push(*department);
        }
    }
    Ok(lead)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn points_stay_whole_and_storable() {
        let sum = |points: Value, more| {
            let Value::Number(points) = points else {
                return None;
            };
            sum(&points, more).map(Value::Number)
        };
        assert_eq!(sum(json!(2), 5), Some(json!(7)));
        assert_eq!(sum(json!(2), -5), Some(json!(-3)));
        assert_eq!(sum(json!(2.5), 5), Some(json!(7.5)));
        assert_eq!(sum(json!(MAX_POINTS), 0), Some(json!(MAX_POINTS)));
        assert_eq!(sum(json!(MAX_POINTS), 1), None);
        assert_eq!(sum(json!(-0.5), -MAX_POINTS), None);
        assert_eq!(sum(json!(i64::MAX), 1), None);
    }
}
