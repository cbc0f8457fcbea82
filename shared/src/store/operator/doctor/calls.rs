//! A call with a lead and without an event: the one record that should derive more than it can by itself, because the
//! event's number is in it.

use super::Doctor;
use super::kind::Kind;
use crate::id::EventId;
use crate::store::error::StoreError;
use crate::store::item::{self, Item, n};
use crate::store::key::Key;
use crate::store::operator::calls::record;
use crate::store::operator::export::Pages;
use crate::store::operator::{Operator, OperatorError};
use crate::store::table::{PAGE, Span};
use crate::store::transaction::{CommitError, Condition, Transaction};

impl Doctor<'_> {
    /// Reports such a call, and gives it the event that its lead's timeline has for it, or a new one. An import that is
    /// still running brings the event later (C-81), and replaces this one then.
    pub(super) async fn flawed(&mut self, kind: &Kind, key: &Key) -> Result<(), OperatorError> {
        let operator = self.operator;
        let Some((reason, call)) = flaw(operator, kind, key).await? else {
            return Ok(());
        };
        if !self.repair {
            self.report(key.to_string(), reason, false);
            return Ok(());
        }
        if !relink(operator, kind, key, &call).await?
            && let Some(stored) = record(Some(call))?
        {
            operator.complete_calls(&[stored.call.id]).await?;
        }
        let repaired = flaw(operator, kind, key).await?.is_none();
        self.report(key.to_string(), reason, repaired);
        Ok(())
    }
}

async fn flaw(
    operator: &Operator,
    kind: &Kind,
    key: &Key,
) -> Result<Option<(&'static str, Item)>, OperatorError> {
    let call = operator.table().get(key).await?;
    let Some((reason, call)) = call.as_ref().map(kind.flaw).transpose()?.flatten().zip(call) else {
        return Ok(None);
    };
    // What an unfinished deletion still takes out of its records is no difference (C-84).
    let lead = record(Some(call.clone()))?.and_then(|stored| stored.call.lead);
    let erased = match lead {
        Some(lead) => operator
            .table()
            .get(&operator.keys().erasure(lead))
            .await?
            .is_some(),
        None => false,
    };
    Ok((!erased).then_some((reason, call)))
}

/// Links a call with the event on its lead's timeline that names it; whether there was one and the link holds.
async fn relink(operator: &Operator, kind: &Kind, key: &Key, call: &Item) -> Result<bool, OperatorError> {
    let Some((event, id)) = event_of(operator, call).await? else {
        return Ok(false);
    };
    let mut linked = call.clone();
    linked.insert("event".to_owned(), n(id));
    let mut transaction = Transaction::default();
    transaction.put(key.clone(), linked, (kind.unchanged)(call)?);
    transaction.check(event, Condition::Present);
    match operator.table().commit(transaction).await {
        Ok(()) => Ok(true),
        Err(CommitError::Refused(_)) => Ok(false),
        Err(CommitError::Store(error)) => Err(error.into()),
    }
}

async fn event_of(operator: &Operator, call: &Item) -> Result<Option<(Key, EventId)>, StoreError> {
    let Some(stored) = record(Some(call.clone()))? else {
        return Ok(None);
    };
    let Some(lead) = stored.call.lead else {
        return Ok(None);
    };
    let timeline = Span::head(operator.keys().timeline(lead), PAGE);
    let mut pages = Pages::new(operator, timeline, Ok);
    while let Some(page) = pages.next().await? {
        for event in page {
            let id = EventId::new(item::number("event", &event, "id")?);
            let call = item::number("event", &event, "call")?;
            if let Some(id) = id.filter(|_| call == stored.call.id.get()) {
                return Ok(Some((operator.keys().event(lead, id), id)));
            }
        }
    }
    Ok(None)
}
