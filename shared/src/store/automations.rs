//! Stored automations. Only the operator changes them.

use serde::Deserialize;

use super::Reader;
use crate::automation::{Automation, Event, Moment, Trigger};
use crate::directory::DirectoryHead;
use crate::ids::AutomationId;
use table::KeyRange;
use table::StoreError;
use table::item::{self, Item, n, s};
use table::unknown::Raw;

const KIND: &str = "automation";
/// The attribute with the automation as JSON.
const TEXT: &str = "automation";

impl Reader {
    /// All automations that this build can run, by id. One query per MB. Fails if an automation is unreadable.
    pub(crate) async fn automations(&self) -> Result<Vec<Automation>, StoreError> {
        let mut known = Vec::new();
        for item in self.automation_items().await? {
            if let FoundAutomation::Known(automation) = decode(&item)? {
                known.push(automation);
            }
        }
        Ok(known)
    }

    /// The items of all automations by id.
    pub async fn automation_items(&self) -> Result<Vec<Item>, StoreError> {
        let span = KeyRange::whole(self.keys().automations());
        self.table.query_all(span).await
    }
}

/// A stored automation.
#[derive(Debug)]
pub enum FoundAutomation {
    /// An automation that this build can run.
    Known(Automation),
    /// An automation with a trigger, a filter or an action of a later build. Ignoring the unknown part could run
    /// unintended actions, so the automation does not run.
    Later {
        /// Its id.
        id: AutomationId,
        /// The event that triggers it; `None` if it is inactive.
        event: Option<String>,
    },
}

impl FoundAutomation {
    /// Its id.
    pub fn id(&self) -> AutomationId {
        match self {
            Self::Known(automation) => automation.id,
            Self::Later { id, .. } => *id,
        }
    }

    /// The event that triggers it; `None` if it is inactive.
    fn active_event(&self) -> Option<String> {
        match self {
            Self::Known(automation) => automation.active.then(|| automation.trigger_event().to_string()),
            Self::Later { event, .. } => event.clone(),
        }
    }
}

/// Updates the directory's summary of active automations: the events that trigger any, and in a flag of its own whether
/// received calls trigger one.
pub fn summarize<'f>(directory: &mut DirectoryHead, all: impl IntoIterator<Item = &'f FoundAutomation>) {
    let calls = Event {
        trigger: Trigger::LeadPhoneCall,
        moment: Moment::Received,
    };
    directory.events = all
        .into_iter()
        .filter_map(FoundAutomation::active_event)
        .collect();
    directory.triggers = directory.events.remove(&calls.to_string());
}

/// The fields that this build needs of an automation of a later build.
#[derive(Deserialize)]
struct Later {
    id: AutomationId,
    trigger: String,
    event: String,
    #[serde(default = "crate::json::default_true")]
    active: bool,
}

/// The item of an automation that replaces `stored`, with unknown attributes of `stored`.
pub fn rewritten(stored: Option<&Item>, automation: &Automation) -> Item {
    let raw = stored.map(Raw::of).unwrap_or_default();
    raw.carry(encode(automation), |raw| match decode(raw) {
        Ok(FoundAutomation::Known(known)) => Some(encode(&known)),
        _ => None,
    })
}

/// An automation as an item.
pub fn encode(automation: &Automation) -> Item {
    let text = serde_json::json!(automation).to_string();
    Item::from([("id".to_owned(), n(automation.id)), (TEXT.to_owned(), s(text))])
}

/// Decodes an automation, or the fields that this build needs of one from a later build. The error does not quote the
/// item, because its text contains secrets.
pub fn decode(item: &Item) -> Result<FoundAutomation, StoreError> {
    let text = item.get(TEXT).and_then(|text| text.as_s().ok());
    let text = text.ok_or_else(|| item::corrupt(KIND, "it has no text"))?;
    let cause = match serde_json::from_str(text) {
        Ok(automation) => return Ok(FoundAutomation::Known(automation)),
        Err(cause) => cause,
    };
    // serde's messages about undeclared variants and fields begin with this word. Only a later build writes these.
    if cause.to_string().starts_with("unknown ")
        && let Ok(later) = serde_json::from_str::<Later>(text)
    {
        let (id, event) = (later.id, format!("{}.{}", later.trigger, later.event));
        let event = later.active.then_some(event);
        return Ok(FoundAutomation::Later { id, event });
    }
    let place = format_args!(
        "its text is none of an automation from column {} on",
        cause.column()
    );
    Err(item::corrupt(KIND, place))
}
