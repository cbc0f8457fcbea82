//! How funnels, columns and opportunities are shown.

use serde::Serialize;
use serde_json::Value;
use shared::funnel::{Column, CustomField, Funnel};
use shared::id::{ColumnId, FunnelId};
use shared::instance::InstanceName;
use shared::opportunity::total_value;
use shared::scope::Scope;
use shared::store::{Card, CardList, ColumnCards};

/// A funnel in the list of endpoint 9 (C-34).
#[derive(Debug, Serialize)]
pub struct FunnelView<'a> {
    id: FunnelId,
    name: &'a str,
    columns: Vec<ColumnHead<'a>>,
    fields: &'a [CustomField],
}

#[derive(Debug, Serialize)]
struct ColumnHead<'a> {
    id: ColumnId,
    name: &'a str,
    sequence: u64,
    crm: FunnelId,
}

/// A column of the board (C-45).
#[derive(Debug, Serialize)]
pub struct ColumnView<'a> {
    id: ColumnId,
    name: &'a str,
    sequence: u64,
    crm: FunnelId,
    total: u64,
    #[serde(rename = "totalValue")]
    total_value: Value,
    items: CardList<'a>,
}

impl<'a> FunnelView<'a> {
    pub fn of(funnel: &'a Funnel) -> Self {
        let head = |column: &'a Column| ColumnHead {
            id: column.id,
            name: &column.name,
            sequence: column.sequence,
            crm: funnel.id,
        };
        Self {
            id: funnel.id,
            name: &funnel.name,
            columns: funnel.columns_in_order().into_iter().map(head).collect(),
            fields: &funnel.fields,
        }
    }
}

impl<'a> ColumnView<'a> {
    /// The column with at most so many of its cards.
    pub fn of(column: &'a ColumnCards, most: usize, funnel: FunnelId, instance: &'a InstanceName) -> Self {
        Self {
            id: column.column.id,
            name: &column.column.name,
            sequence: column.column.sequence,
            crm: funnel,
            total: column.count,
            total_value: total_value(column.count, column.cents),
            items: CardList::of(column.cards.get(..most).unwrap_or(&column.cards), instance),
        }
    }
}

/// Makes of cards what whoever asks may see: leads' secrets are for admins (C-21).
pub fn censor<'a>(cards: impl IntoIterator<Item = &'a mut Card>, scope: &Scope) {
    if !scope.viewer.is_admin() {
        cards.into_iter().for_each(Card::hide_secrets);
    }
}

/// The record that endpoints 7 and 8 answer (C-33).
pub fn record(mut card: Card, scope: &Scope) -> Value {
    censor([&mut card], scope);
    card.view(scope.instance()).with_number()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use shared::funnel::FunnelAccess;

    fn column(id: u64, name: &str, sequence: u64) -> Column {
        Column {
            id: ColumnId::new(id).unwrap(),
            name: name.to_owned(),
            sequence,
        }
    }

    #[test]
    fn a_funnel_shows_its_columns_in_order_and_its_fields() {
        let funnel = Funnel {
            id: FunnelId::new(3).unwrap(),
            name: "Vendas".to_owned(),
            columns: vec![column(32, "Fechado", 2), column(31, "Novo", 1)],
            fields: vec![CustomField {
                name: "Número do pedido".to_owned(),
                kind: "text".to_owned(),
            }],
            access: FunnelAccess::default(),
        };
        let expected = json!({
            "id": 3, "name": "Vendas",
            "columns": [
                { "id": 31, "name": "Novo", "sequence": 1, "crm": 3 },
                { "id": 32, "name": "Fechado", "sequence": 2, "crm": 3 },
            ],
            "fields": [{ "name": "Número do pedido", "type": "text" }],
        });
        assert_eq!(json!(FunnelView::of(&funnel)), expected);
    }

    #[test]
    fn a_column_shows_its_total_as_text_unless_it_is_empty() {
        let instance = InstanceName::parse("acme").unwrap();
        let shown = |count, cents| {
            let cards = ColumnCards {
                column: column(31, "Novo", 1),
                count,
                cents,
                cards: Vec::new(),
            };
            json!(ColumnView::of(&cards, 9, FunnelId::new(3).unwrap(), &instance))
        };
        for (count, cents, value) in [
            (0, 0, json!(0)),
            (2, 21320, json!("213.20")),
            (1, 0, json!("0.00")),
        ] {
            let expected = json!({
                "id": 31, "name": "Novo", "sequence": 1, "crm": 3, "total": count, "totalValue": value, "items": [],
            });
            assert_eq!(shown(count, cents), expected);
        }
    }
}
