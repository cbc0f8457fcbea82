//! Random date ranges and conditions of endpoint 10.

use serde_json::{Value, json};
use tests::world::at;

use super::super::reference::filters::day_of;
use super::super::setup::FIELDS;
use super::Maker;

impl Maker<'_> {
    /// Days or times, in order; either end may be missing.
    pub fn range(&self) -> Value {
        let end = |earlier: u32| {
            let days = u32::try_from(self.dice.below(400)).expect("small");
            let day = at("2026-01-02T00:00:00Z").plus_days(days);
            match self.dice.below(4) {
                0 => Value::Null,
                1 => json!(day.plus_seconds(earlier).to_string()),
                _ => json!(&day.to_string()[..10]),
            }
        };
        if self.dice.chance(10) {
            return Value::Null;
        }
        let (start, end) = (end(0), end(12_345));
        let days = [&start, &end].map(|end| end.as_str().map(day_of));
        let in_order = matches!(&days, [Some(start), Some(end)] if start <= end) || days.contains(&None);
        json!({ "start": if in_order { start } else { Value::Null }, "end": end })
    }

    /// The time of a record's last change, or a moment after it.
    pub fn moment(&self) -> Value {
        let times = self.reference.changes();
        if times.is_empty() {
            return json!("2026-01-02T00:00:00Z");
        }
        let later = u32::try_from(self.dice.below(2)).expect("small");
        json!(
            at(self.dice.one::<String>(&times))
                .plus_seconds(later)
                .to_string()
        )
    }

    /// A condition, which may be one that is ignored.
    pub fn condition(&self) -> Value {
        let dice = self.dice;
        let names = [FIELDS[0], FIELDS[1], "Número do pedido", "nada"];
        let values = ["google", "Google", "GOO", "", "7", "true", "indica", "zzz"];
        let mut condition = json!({
            "filterType": dice.one(&["opField", "opField", "opField", "opField", "leadField"]),
            "properties": { "field": dice.one(&names), "value": dice.one(&values) },
        });
        if dice.chance(70) {
            condition["properties"]["operator"] =
                json!(dice.one(&["=", "!=", "contains", "like", "isNotNull"]));
        }
        if dice.chance(60) {
            condition["operator"] = json!(dice.one(&["AND", "OR", "or", "xor"]));
        }
        if dice.chance(30) {
            condition["category"] = json!(dice.one(&["opportunity", "opportunity", "lead"]));
        }
        condition
    }
}
