//! The keys of automations, and of the outbox of what they are still to do.

use super::{Key, Keys};
use crate::ids::{AutomationId, CallId};
use crate::instance::InstanceName;
use table::KeyRange;

impl Keys<'_> {
    /// All automations by id.
    pub fn automations(self) -> String {
        self.pk("automation")
    }

    /// An automation.
    pub fn automation(self, id: AutomationId) -> Key {
        Key::new(self.automations(), id.padded())
    }

    /// Pending work of automations: calls that none or not all have processed, and notifications that are not
    /// delivered.
    pub fn outbox(self) -> String {
        self.pk("trigger")
    }

    /// That automations are to deal with a call.
    pub fn trigger(self, call: CallId) -> Key {
        Key::new(self.outbox(), format!("call#{}", call.padded()))
    }

    /// A call's notification by the action that tells of it: an automation's, counted from 0.
    pub fn notification(self, call: CallId, automation: AutomationId, action: usize) -> Key {
        let begins = notifications(call);
        Key::new(
            self.outbox(),
            format!("{begins}{}#{action:02}", automation.padded()),
        )
    }
}

/// The prefix of the sort keys of a call's notifications.
pub fn notifications(call: CallId) -> String {
    format!("notify#{}#", call.padded())
}

/// The triggers of the outbox.
pub fn outbox_triggers(keys: Keys<'_>) -> KeyRange {
    KeyRange::beginning(keys.outbox(), "call#".to_owned())
}

/// The notifications of the outbox.
pub fn outbox_notifications(keys: Keys<'_>) -> KeyRange {
    KeyRange::beginning(keys.outbox(), "notify#".to_owned())
}

/// The call of a trigger's sort key; `None` for every other one.
pub fn triggered(sk: &str) -> Option<CallId> {
    CallId::new(sk.strip_prefix("call#")?.parse().ok()?)
}

/// Call, automation and action of a notification's sort key; `None` for every other one.
pub fn notified(sk: &str) -> Option<(CallId, AutomationId, usize)> {
    let mut parts = sk.strip_prefix("notify#")?.split('#');
    let (call, automation, action) = (parts.next()?, parts.next()?, parts.next()?);
    let call = CallId::new(call.parse().ok()?)?;
    Some((
        call,
        AutomationId::new(automation.parse().ok()?)?,
        action.parse().ok()?,
    ))
}

/// Instance and call of a trigger by its key, as the table's stream has it; `None` for every other item.
#[must_use]
pub fn streamed(partition: &str, sk: &str) -> Option<(InstanceName, CallId)> {
    let instance = partition.strip_suffix("#trigger")?;
    Some((InstanceName::parse(instance)?, triggered(sk)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::key;

    #[test]
    fn outbox_keys_round_trip() {
        let instance = InstanceName::parse("acme").unwrap();
        let (keys, call) = (Keys(&instance), CallId::new(12).unwrap());
        let automation = AutomationId::new(3).unwrap();
        let trigger = keys.trigger(call);
        assert_eq!(trigger.to_string(), "acme#trigger call#000000000000012");
        assert_eq!(triggered(&trigger.sk), Some(call));
        assert_eq!(streamed(&trigger.pk, &trigger.sk), Some((instance.clone(), call)));
        let notification = keys.notification(call, automation, 4);
        assert_eq!(
            notification.to_string(),
            "acme#trigger notify#000000000000012#000000000000003#04"
        );
        assert_eq!(notified(&notification.sk), Some((call, automation, 4)));
        assert!(notification.sk.starts_with(&notifications(call)));
        assert_eq!(triggered(&notification.sk), None);
        assert_eq!(notified(&trigger.sk), None);
        let aside = key::aside(&trigger);
        assert_eq!(aside.to_string(), "acme#trigger-aside call#000000000000012");
        assert_eq!(key::put_back(&aside), trigger);
        assert!(keys.quarantine().contains(&aside.pk));
        for (pk, sk) in [
            ("acme#trigger", notification.sk.as_str()),
            ("acme#call", &trigger.sk),
            ("#trigger", &trigger.sk),
            ("acme#trigger", "call#0"),
            (&aside.pk, &trigger.sk),
        ] {
            assert_eq!(streamed(pk, sk), None, "{pk} {sk}");
        }
        assert_eq!(
            keys.automation(automation).to_string(),
            "acme#automation 000000000000003"
        );
    }
}
