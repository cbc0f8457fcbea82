//! The request of a notification, built from the current records.

use serde_json::{Value, json};

use super::deliveries::Delivery;
use super::subject::{self, Subject};
use crate::automation::{Action, Automation, Notify};
use crate::jobs::webhook_client::WebhookRequest;
use crate::store::Writer;
use crate::store::automations::{self, FoundAutomation};
use table::StoreError;
use table::item;

impl Writer {
    /// The request to send. `None` if the record or the action no longer exists.
    pub(super) async fn webhook_request(
        &self,
        delivery: &Delivery,
    ) -> Result<Option<WebhookRequest>, StoreError> {
        let record_key = subject::record_key(self.keys(), delivery.cause);
        let automation = self.keys().automation(delivery.automation);
        let wanted = [record_key.clone(), automation.clone()];
        let mut found = self.reader().table.get_many(wanted).await?;
        let record = found.remove(&record_key);
        let (Some(record), Some(item)) = (record, found.remove(&automation)) else {
            return Ok(None);
        };
        let FoundAutomation::Known(automation) = automations::decode(&item)? else {
            return Err(item::corrupt("automation", "a later version wrote it"));
        };
        let Some(notify) = notify(&automation, delivery.action) else {
            return Ok(None);
        };
        let subject = self.reader().subject(delivery.cause, Some(record)).await?;
        Ok(subject.map(|subject| WebhookRequest {
            delivery: self.delivery_id(delivery),
            url: notify.url.clone(),
            secret: notify.secret.clone(),
            method: notify.method,
            headers: notify.headers.clone(),
            trace: delivery.trace.clone(),
            at: self.reader().environment.now(),
            body: self.body(delivery, &automation, notify, &subject).to_string(),
        }))
    }

    /// The body of a notification: the action's own, else a description of the event.
    fn body(
        &self,
        delivery: &Delivery,
        automation: &Automation,
        notify: &Notify,
        subject: &Subject,
    ) -> Value {
        if let Some(template) = &notify.body {
            return template.render(&subject.values(self.reader()));
        }
        let mut body = json!({
            "event": automation.trigger_event().to_string(),
            "instance": self.reader().instance().as_str(),
            "automation": automation.id,
            "at": delivery.at,
        });
        if let Some(body) = body.as_object_mut() {
            body.extend(subject.describe(self.reader()));
        }
        body
    }
}

/// The action of an active automation, if it sends a notification.
fn notify(automation: &Automation, action: usize) -> Option<&Notify> {
    match automation.actions.get(action).filter(|_| automation.active)? {
        Action::Notify(notify) => Some(notify),
        _ => None,
    }
}
