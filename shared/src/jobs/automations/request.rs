//! The request of a notification, built from the current records.

use serde_json::{Value, json};

use super::deliveries::Delivery;
use super::subject::{self, Subject};
use crate::automation::template::{self, Values};
use crate::automation::{Action, Automation, Method, Notify, SecretText};
use crate::jobs::webhook_client::WebhookRequest;
use crate::store::Writer;
use crate::store::automations::{self, FoundAutomation};
use table::StoreError;
use table::item;

impl Writer {
    /// The request to send, or the reason why it can never be sent. `None` if the record or the action no longer exists.
    pub(super) async fn webhook_request(
        &self,
        delivery: &Delivery,
    ) -> Result<Option<Result<WebhookRequest, &'static str>>, StoreError> {
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
        let Some(subject) = self.reader().subject(delivery.cause, Some(record)).await? else {
            return Ok(None);
        };
        let action = &automation.actions[delivery.action];
        let values = self.reader().values(&subject, action).await?;
        let path = match template::rendered_path(notify.url.path(), &values) {
            Ok(path) => path,
            Err(reason) => return Ok(Some(Err(reason))),
        };
        let headers = notify.headers.iter().map(|(name, value)| {
            let value = template::rendered_header(value.reveal(), &values);
            (name.clone(), SecretText::new(value))
        });
        let body = (notify.method != Method::Get).then(|| {
            self.body(delivery, &automation, (notify, &values), &subject)
                .to_string()
        });
        Ok(Some(Ok(WebhookRequest {
            delivery: self.delivery_id(delivery),
            url: notify.url.with_path(path),
            secret: notify.secret.clone(),
            method: notify.method,
            headers: headers.collect(),
            trace: delivery.trace.clone(),
            at: self.reader().environment.now(),
            body: body.unwrap_or_default(),
        })))
    }

    /// The body of a notification: the action's own, else a description of the event.
    fn body(
        &self,
        delivery: &Delivery,
        automation: &Automation,
        (notify, values): (&Notify, &Values),
        subject: &Subject,
    ) -> Value {
        if let Some(template) = &notify.body {
            return template.render(values);
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
