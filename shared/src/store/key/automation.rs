//! The keys of automations and of the outbox with their pending work.

use super::{Key, Keys};
use crate::ids::{AutomationId, CallId, EventId, LeadId, MeetingId, OpportunityId};
use crate::instance::InstanceName;
use table::KeyRange;

/// The fact of an outbox entry: a call, or a write of a record with the record's version after the write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// An incoming call.
    Call(CallId),
    /// A write of a lead.
    Lead(LeadId, u64),
    /// A write of an opportunity.
    Opportunity(OpportunityId, u64),
    /// A write of a meeting.
    Meeting(MeetingId, u64),
    /// A submission of a form: its lead, and its event on the lead's timeline.
    Form(LeadId, EventId),
}

impl From<CallId> for Cause {
    fn from(call: CallId) -> Self {
        Self::Call(call)
    }
}

impl Cause {
    /// Its text in the ids of deliveries.
    #[must_use]
    pub fn label(self) -> String {
        match self {
            Self::Call(call) => call.to_string(),
            Self::Lead(id, version) => format!("lead-{id}-{version}"),
            Self::Opportunity(id, version) => format!("opportunity-{id}-{version}"),
            Self::Meeting(id, version) => format!("meeting-{id}-{version}"),
            Self::Form(lead, event) => format!("form-{lead}-{event}"),
        }
    }

    /// Its text in sort keys, which begins with `call` for a call and with `write` for a write. The keys of writes have
    /// another prefix, so that each range contains one sort.
    fn sort_key(self, call: &str, write: &str) -> String {
        let (kind, id, version) = match self {
            Self::Call(id) => return format!("{call}#{}", id.padded()),
            Self::Lead(id, version) => ("lead", id.padded(), version),
            Self::Opportunity(id, version) => ("opportunity", id.padded(), version),
            Self::Meeting(id, version) => ("meeting", id.padded(), version),
            Self::Form(lead, event) => ("form", lead.padded(), event.get()),
        };
        format!("{write}#{kind}#{id}#{version:015}")
    }

    /// Parses the parts of a write's sort key: kind and id of the record, and its version after the write.
    fn parse_write(kind: &str, id: &str, version: &str) -> Option<Self> {
        let (id, version) = (id.parse().ok()?, version.parse().ok()?);
        match kind {
            "lead" => Some(Self::Lead(LeadId::new(id)?, version)),
            "opportunity" => Some(Self::Opportunity(OpportunityId::new(id)?, version)),
            "meeting" => Some(Self::Meeting(MeetingId::new(id)?, version)),
            "form" => Some(Self::Form(LeadId::new(id)?, EventId::new(version)?)),
            _ => None,
        }
    }

    fn parse_call(id: &str) -> Option<Self> {
        CallId::new(id.parse().ok()?).map(Self::Call)
    }
}

impl Keys<'_> {
    /// All automations by id.
    pub fn automations(self) -> String {
        self.pk("automation")
    }

    /// An automation.
    pub fn automation(self, id: AutomationId) -> Key {
        Key::new(self.automations(), id.padded())
    }

    /// Pending work of automations: facts that not all automations have processed, and notifications to deliver.
    pub fn outbox(self) -> String {
        self.pk("trigger")
    }

    /// The outbox entry that makes automations process a fact.
    pub fn trigger(self, cause: Cause) -> Key {
        Key::new(self.outbox(), cause.sort_key("call", "fact"))
    }

    /// The notification that an automation's action sends for a fact. Actions are counted from 0.
    pub fn notification(self, cause: Cause, automation: AutomationId, action: usize) -> Key {
        let begins = notifications(cause);
        Key::new(
            self.outbox(),
            format!("{begins}{}#{action:02}", automation.padded()),
        )
    }
}

/// The prefix of the sort keys of a fact's notifications.
pub fn notifications(cause: Cause) -> String {
    cause.sort_key("notify", "send") + "#"
}

/// The triggers of the outbox: the sort keys that begin with `call#` and `fact#`, between which there are no others.
pub fn outbox_triggers(keys: Keys<'_>) -> KeyRange {
    between(keys, "call#", "fact#")
}

/// The notifications of the outbox, with `notify#` and `send#`.
pub fn outbox_notifications(keys: Keys<'_>) -> KeyRange {
    between(keys, "notify#", "send#")
}

fn between(keys: Keys<'_>, first: &str, last: &str) -> KeyRange {
    KeyRange {
        through: Some(format!("{last}~")),
        ..KeyRange::beginning(keys.outbox(), first.to_owned())
    }
}

/// The cause in a trigger's sort key; `None` for other sort keys.
pub fn triggered(sk: &str) -> Option<Cause> {
    let parts: Vec<_> = sk.split('#').collect();
    match parts[..] {
        ["call", id] => Cause::parse_call(id),
        ["fact", kind, id, version] => Cause::parse_write(kind, id, version),
        _ => None,
    }
}

/// Cause, automation and action in a notification's sort key; `None` for other sort keys.
pub fn notified(sk: &str) -> Option<(Cause, AutomationId, usize)> {
    let parts: Vec<_> = sk.split('#').collect();
    let (cause, automation, action) = match parts[..] {
        ["notify", id, automation, action] => (Cause::parse_call(id)?, automation, action),
        ["send", kind, id, version, automation, action] => {
            (Cause::parse_write(kind, id, version)?, automation, action)
        }
        _ => return None,
    };
    Some((
        cause,
        AutomationId::new(automation.parse().ok()?)?,
        action.parse().ok()?,
    ))
}

/// Instance and cause of a trigger, by its key in the table's stream; `None` for other items.
#[must_use]
pub fn streamed(partition: &str, sk: &str) -> Option<(InstanceName, Cause)> {
    let instance = partition.strip_suffix("#trigger")?;
    Some((InstanceName::parse(instance)?, triggered(sk)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::key;

    #[test]
    fn keys_of_writes_round_trip_and_do_not_begin_like_those_of_calls() {
        let instance = InstanceName::parse("acme").unwrap();
        let (keys, automation) = (Keys::of(&instance), AutomationId::new(3).unwrap());
        for (cause, kind) in [
            (Cause::Lead(LeadId::new(12).unwrap(), 7), "lead"),
            (
                Cause::Opportunity(OpportunityId::new(12).unwrap(), 7),
                "opportunity",
            ),
            (Cause::Meeting(MeetingId::new(12).unwrap(), 7), "meeting"),
        ] {
            let (trigger, notification) = (keys.trigger(cause), keys.notification(cause, automation, 4));
            let place = format!("{kind}#000000000000012#000000000000007");
            assert_eq!(trigger.sk, format!("fact#{place}"));
            assert_eq!(notification.sk, format!("send#{place}#000000000000003#04"));
            assert_eq!(triggered(&trigger.sk), Some(cause));
            assert_eq!(notified(&notification.sk), Some((cause, automation, 4)));
            assert_eq!(
                streamed(&trigger.pk, &trigger.sk),
                Some((instance.clone(), cause))
            );
            assert_eq!((triggered(&notification.sk), notified(&trigger.sk)), (None, None));
            assert_eq!(cause.label(), format!("{kind}-12-7"));
            for (range, key) in [
                (outbox_triggers(keys), trigger),
                (outbox_notifications(keys), notification),
            ] {
                assert!(range.after < Some(key.sk.clone()) && Some(key.sk) <= range.through);
            }
        }
    }

    #[test]
    fn outbox_keys_round_trip() {
        let instance = InstanceName::parse("acme").unwrap();
        let (keys, call) = (Keys::of(&instance), Cause::Call(CallId::new(12).unwrap()));
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
        let aside = key::aside_key(&trigger);
        assert_eq!(aside.to_string(), "acme#aside trigger#call#000000000000012");
        assert_eq!(key::original_key(&aside), Some(trigger.clone()));
        assert_eq!(keys.set_aside(), aside.pk);
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
