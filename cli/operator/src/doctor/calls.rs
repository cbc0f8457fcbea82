//! Calls with a lead and without an event. The event's id is in the call, so nothing can be derived from such a call.

use super::{Doctor, Result};
use crate::Operator;
use crate::kinds::Storage;
use shared::ids::{EventId, LeadId};
use shared::store::unscoped::calls::{self, CallRecord};
use table::item::{self, Item, n};
use table::{Condition, Key, Transaction};

/// A call that lacks an event.
struct FlawedCall {
    reason: &'static str,
    item: Item,
    stored: CallRecord,
    lead: LeadId,
}

impl Doctor<'_> {
    /// Checks a call that seems to have a lead and no event, and reports it. A repair links it with the event on its
    /// lead's timeline, or creates an event. The line of a running import may still bring the event (C-81); it then
    /// replaces the created one.
    pub(super) async fn check_flaw(&mut self, kind: &Storage, key: &Key) -> Result<()> {
        let operator = self.operator;
        let Some(call) = read_flawed(operator, kind, key).await? else {
            return Ok(());
        };
        let reason = call.reason;
        let mut repaired = self.repair;
        if repaired {
            if !self.relink(kind, key, &call).await? {
                operator.complete_calls(&[call.stored.call.id]).await?;
            }
            repaired = read_flawed(operator, kind, key).await?.is_none();
        }
        self.report(key, reason, repaired);
        Ok(())
    }

    /// Links a call with the event on its lead's timeline that names it. Returns whether the link was written.
    async fn relink(&self, kind: &Storage, key: &Key, call: &FlawedCall) -> Result<bool> {
        let Some(id) = self.event_of(call).await? else {
            return Ok(false);
        };
        let mut linked = call.item.clone();
        linked.insert("event".to_owned(), n(id));
        let mut transaction = Transaction::default();
        transaction.put(key.clone(), linked, (kind.unchanged)(&call.item)?);
        transaction.check(self.operator.keys().event(call.lead, id), Condition::Present);
        Ok(self.operator.table().try_commit(transaction).await?)
    }

    /// The event on the timeline of a call's lead that names the call; `None` if there is none.
    async fn event_of(&self, call: &FlawedCall) -> Result<Option<EventId>> {
        let mut pages = self.pages(self.operator.keys().timeline(call.lead));
        while let Some(page) = pages.next().await? {
            for event in page {
                let id = EventId::new(item::number("event", &event, "id")?);
                if id.is_some() && item::number("event", &event, "call")? == call.stored.call.id.get() {
                    return Ok(id);
                }
            }
        }
        Ok(None)
    }
}

/// The call at a key if it lacks its event. `None` during the deletion of its lead, which is no difference (C-84).
async fn read_flawed(operator: &Operator, kind: &Storage, key: &Key) -> Result<Option<FlawedCall>> {
    let Some(item) = operator.reads().get(key).await? else {
        return Ok(None);
    };
    let stored = calls::decode_record(item.clone())?;
    let (Some(reason), Some(lead)) = ((kind.flaw)(&item)?, stored.call.lead) else {
        return Ok(None);
    };
    let erased = operator.reads().get(&operator.keys().tombstone(lead)).await?;
    Ok(erased.is_none().then_some(FlawedCall {
        reason,
        item,
        stored,
        lead,
    }))
}
