//! Automations as items. Only the operator changes them.

use super::Reader;
use super::error::StoreError;
use super::item::{self, Item, n, s};
use super::table::{PAGE, Span};
use crate::automation::Automation;

const KIND: &str = "automation";
/// The automation as text.
const TEXT: &str = "automation";

impl Reader {
    /// All automations by id. One query for each MB of them.
    pub(super) async fn automations(&self) -> Result<Vec<Automation>, StoreError> {
        let span = Span::head(self.keys().automations(), PAGE);
        let items = self.table.query_all(span).await?;
        items.iter().map(decode).collect()
    }
}

/// An automation as an item.
pub fn encode(automation: &Automation) -> Item {
    let text = serde_json::json!(automation).to_string();
    Item::from([("id".to_owned(), n(automation.id)), (TEXT.to_owned(), s(text))])
}

/// The automation that an item holds. What is wrong with one that cannot be read is told without quoting it: its text holds
/// secrets.
pub fn decode(item: &Item) -> Result<Automation, StoreError> {
    let text = item.get(TEXT).and_then(|text| text.as_s().ok());
    let text = text.ok_or_else(|| item::corrupt(KIND, "it has no text"))?;
    serde_json::from_str(text).map_err(|cause| {
        let place = format_args!(
            "its text is none of an automation from column {} on",
            cause.column()
        );
        item::corrupt(KIND, place)
    })
}
