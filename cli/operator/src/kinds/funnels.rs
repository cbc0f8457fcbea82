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

    fn parse(mut fields: Fields) -> Result<Funnel, String> {
        if fields.get("columns").is_none_or(Value::is_null) {
            return Err("columns: is missing".to_owned());
        }
        name_columns(&mut fields);
        let funnel: Funnel = line::read(fields)?;
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
        limits::size(&funnel)?;
        Ok(funnel)
    }

    fn field_names() -> &'static [&'static str] {
        faults::names_of::<Funnel>()
    }

    fn identity(funnel: &Funnel) -> u64 {
        funnel.id.get()
    }

    fn references(funnel: &Funnel, to: &mut References) {
        let access = &funnel.access;
        to.add("access.users", Referent::User, access.users.iter().copied());
        let departments = access.departments.iter().copied();
        to.add("access.departments", Referent::Department, departments);
        to.add("access.groups", Referent::Group, access.groups.iter().copied());
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

/// Columns written as texts alone get their place in the list as id and sequence.
fn name_columns(fields: &mut Fields) {
    let columns = fields.get_mut("columns").and_then(Value::as_array_mut);
    let columns = columns.filter(|columns| columns.iter().all(Value::is_string));
    for (at, column) in (1_u64..).zip(columns.into_iter().flatten()) {
        *column = json!({ "id": at, "name": column, "sequence": at });
    }
}

impl ImportKind for Funnels {
    fn replaced(keys: Keys<'_>, funnel: &Funnel) -> Option<Replaced<Funnel>> {
        Some((keys.funnel(funnel.id), <Self as ExportKind>::decode))
    }

    /// Adds columns and fields at the end of those that the funnel has.
    async fn merged(operator: &Operator, line: Funnel) -> Result<Option<Funnel>, OperatorError> {
        let stored = operator.reads().get(&operator.keys().funnel(line.id)).await?;
        let Some(before) = stored.map(Self::decode).transpose()? else {
            return Ok(Some(line));
        };
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
        Ok((funnel != before).then_some(funnel))
    }

    async fn write(operator: &Operator, lines: &[&Funnel], mode: Mode) -> Written {
        let decide = async |lines: &[&Funnel], _| operator.decide_funnels(lines).await;
        operator.write_batches(lines, mode, decide).await
    }
}

impl Operator {
    /// Decides funnels. A funnel that would lose a column with opportunities is refused.
    async fn decide_funnels(&self, funnels: &[&Funnel]) -> Result<Vec<Decision>, OperatorError> {
        let keys = funnels.iter().map(|funnel| self.keys().funnel(funnel.id));
        let found = FoundItems::from(self.reads().get_many(keys).await?);
        let mut decisions = Vec::with_capacity(funnels.len());
        for funnel in funnels {
            let decision = match self.lost_column(funnel, &found).await {
                Ok(None) => found.replace(Kind::Funnels, self.keys().funnel(funnel.id), *funnel),
                Ok(Some(column)) => Err(Skip::Refused(format!(
                    "columns: column {column} still has opportunities; move them first"
                ))),
                Err(error) => Err(Skip::Failed(error)),
            };
            decisions.push(decision);
        }
        Ok(decisions)
    }

    /// A column with opportunities that the funnel would lose. No response would show these opportunities.
    async fn lost_column(&self, funnel: &Funnel, found: &FoundItems) -> Result<Option<ColumnId>, StoreError> {
        let stored = found.get(&self.keys().funnel(funnel.id)).cloned();
        let stored = stored.map(Funnels::decode).transpose()?;
        let before = stored.iter().flat_map(|stored| &stored.columns);
        for column in before.filter(|column| !funnel.has_column(column.id)) {
            if self.has_opportunities(funnel.id, column.id).await? {
                return Ok(Some(column.id));
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

impl ExportKind for Funnels {
    fn partitions(keys: Keys<'_>) -> Vec<String> {
        vec![keys.funnels()]
    }

    fn decode(item: Item) -> Result<Funnel, StoreError> {
        item::decode("funnel", item)
    }
}
