//! Funnels. Only imports change them.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use shared::funnel::{Column, CustomField, Funnel};
use shared::ids::{ColumnId, FunnelId};
use shared::store::unscoped::key;
use table::KeyRange;

use super::prelude::*;

/// The funnels.
#[derive(Debug)]
pub struct Funnels;

impl RecordKind for Funnels {
    type Record = Funnel;
    type Line = Funnel;
    const KIND: Kind = Kind::Funnels;
    const MERGES: bool = true;
    const FIELDS: &'static [Field] = &[
        ID,
        field(Shape::Text, "name").needed(),
        field(Shape::Objects, "columns")
            .needed()
            .such_as(r#"["Entrada", "Proposta"] or [{"id": 1, "name": "Entrada", "sequence": 1}]"#)
            .note("`{id, name, sequence}`, `sequence` [default: 0]"),
        field(Shape::Objects, "fields")
            .such_as(r#"[{"name": "Origem", "type": "text"}]"#)
            .note("`{name, type}`, `type` [default: `text`]"),
        field(Shape::Object, "access")
            .such_as(r#"{"users": [7], "groups": [1]}"#)
            .note("lists `users`, `departments`, `groups`"),
        field(Shape::Ids, "access.users").refers(Kind::Users),
        field(Shape::Ids, "access.departments").refers(Kind::Departments),
        field(Shape::Ids, "access.groups").refers(Kind::Groups),
    ];

    fn parse(mut fields: Fields) -> Result<Funnel, String> {
        if fields.get("columns").is_none_or(Value::is_null) {
            return Err("columns: is missing".to_owned());
        }
        read_columns(&mut fields);
        let funnel: Funnel = read(Self::FIELDS, fields)?;
        // Without one it takes no opportunities.
        if funnel.columns.is_empty() {
            return Err("columns: must be a list with at least one column".to_owned());
        }
        let mut columns = BTreeSet::new();
        for column in &funnel.columns {
            if !columns.insert(column.id) {
                return Err(format!("columns: column {} is there twice", column.id));
            }
        }
        let mut names = BTreeSet::new();
        for (at, field) in funnel.fields.iter().enumerate() {
            if field.name.is_empty() {
                return Err(format!("fields[{at}].name: must not be empty"));
            }
            if !names.insert(&field.name) {
                return Err(format!(
                    "fields[{at}].name: {} is there twice",
                    Value::from(field.name.as_str())
                ));
            }
        }
        Ok(funnel)
    }

    fn identity(funnel: &Funnel) -> u64 {
        funnel.id.get()
    }

    fn export(funnel: &Funnel) -> serde_json::Result<Fields> {
        let mut fields = sparse(funnel)?;
        // An import refuses a line without columns.
        fields.insert("columns".to_owned(), json!(funnel.columns));
        if funnel.access.is_open() {
            fields.shift_remove("access");
        }
        Ok(fields)
    }
}

/// Fields of a column in responses, which an import ignores.
const READ_ONLY: [&str; 3] = ["crm", "total", "totalValue"];

/// Columns written as texts alone get their place in the list as id and sequence.
fn read_columns(fields: &mut Fields) {
    let Some(columns) = fields.get_mut("columns").and_then(Value::as_array_mut) else {
        return;
    };
    let are_texts = columns.iter().all(Value::is_string);
    for (at, column) in (1_u64..).zip(columns) {
        match column {
            Value::Object(column) => column.retain(|name, _| !READ_ONLY.contains(&name.as_str())),
            _ if are_texts => *column = json!({ "id": at, "name": column, "sequence": at }),
            _ => {}
        }
    }
}

impl StoredKind for Funnels {
    const STORAGE: Storage = Storage {
        removal: Some(Removal::Linked),
        ..Storage::of(
            ["funnel", "funnels"],
            |keys| vec![keys.funnels()],
            |keys, id| Some(keys.funnel(FunnelId::parse(id)?)),
            |_, funnel| nothing(Self::DECODE(funnel.clone())),
        )
    };
    const DECODE: fn(Item) -> Result<Funnel, StoreError> = |item| item::decode("funnel", item);

    /// Adds columns and fields at the end of those that the funnel has.
    fn merged(line: Funnel, before: Funnel) -> Option<Funnel> {
        let mut funnel = before.clone();
        let last = before.columns.iter().map(|column| column.sequence).max();
        let columns = line
            .columns
            .into_iter()
            .filter(|column| !before.has_column(column.id));
        for (column, place) in columns.zip(1..) {
            let sequence = last.unwrap_or_default() + place;
            funnel.columns.push(Column { sequence, ..column });
        }
        let is_new = |field: &CustomField| before.fields.iter().all(|known| known.name != field.name);
        funnel.fields.extend(line.fields.into_iter().filter(is_new));
        (funnel != before).then_some(funnel)
    }

    async fn write(operator: &Operator, lines: &[&Funnel], mode: Mode) -> Written {
        let decide = async |lines: &[&Funnel], _| operator.decide_funnels(lines).await;
        operator.write_batches(lines, mode, decide).await
    }
}

impl Operator {
    /// Decides funnels. A funnel that would lose a column in use is refused.
    async fn decide_funnels(&self, funnels: &[&Funnel]) -> Result<Vec<Decision>, OperatorError> {
        let keys = funnels.iter().map(|funnel| self.keys().funnel(funnel.id));
        let found = FoundItems::from(self.reads().get_many(keys).await?);
        let mut decisions = Vec::with_capacity(funnels.len());
        for funnel in funnels {
            let decision = match self.lost_column(funnel, &found).await {
                Ok(None) => found.replace(Kind::Funnels, self.keys().funnel(funnel.id), *funnel),
                Ok(Some(reason)) => Err(Skip::Refused(format!("columns: column {reason}"))),
                Err(OperatorError::Store(error)) => Err(Skip::Failed(error)),
                Err(error) => return Err(error),
            };
            decisions.push(decision);
        }
        Ok(decisions)
    }

    /// A column in use that the funnel would lose, and its use. No response would show its opportunities, and a form or
    /// an automation would make none.
    async fn lost_column(
        &self,
        funnel: &Funnel,
        found: &FoundItems,
    ) -> Result<Option<String>, OperatorError> {
        let stored = found.get(&self.keys().funnel(funnel.id)).cloned();
        let stored = stored.map(Funnels::DECODE).transpose()?;
        let before = stored.iter().flat_map(|stored| &stored.columns);
        let lost: Vec<_> = before.filter(|column| !funnel.has_column(column.id)).collect();
        if lost.is_empty() {
            return Ok(None);
        }
        let others = self.reader().every_funnel().await?;
        for column in lost.into_iter().map(|column| column.id) {
            if self.has_opportunities(funnel.id, column).await? {
                return Ok(Some(format!("{column} still has opportunities; move them first")));
            }
            let mut others = others.iter().filter(|other| other.id != funnel.id);
            let is_last = !others.any(|other| other.has_column(column));
            if let Some(user) = self.setting_with_column(funnel.id, column, is_last).await? {
                let (kind, id, field) = (user.kind, user.id, user.field);
                return Ok(Some(format!(
                    "{column} is in {field} of {kind} {id}; change that first"
                )));
            }
        }
        Ok(None)
    }

    /// Whether a column has opportunities, archived ones included. Queries its totals.
    async fn has_opportunities(&self, funnel: FunnelId, column: ColumnId) -> Result<bool, StoreError> {
        // An item of a sharded total may be negative, but the sum is not.
        let mut count = 0;
        for archived in [false, true] {
            let totals = self.keys().board_totals(funnel, archived);
            let range = KeyRange::beginning(totals, key::column_begins(Some(column)));
            let items = self.reads().query_all(range).await?;
            let counts = items.iter().flatten().filter(|(name, _)| name.starts_with("n."));
            let counts = counts.filter_map(|(_, number)| number.as_n().ok()?.parse::<i64>().ok());
            count += counts.sum::<i64>();
        }
        Ok(count > 0)
    }
}
