//! The definitions of reports. Results are not exported, because they follow from the records.

use serde_json::{Value, json};
use shared::ids::ReportId;
use shared::report::{Definition, ReportEntity, must_group};
use shared::store::unscoped::reports;
use table::unknown::Raw;

use super::dated::Times as _;

use super::prelude::*;

/// Maximum characters of a name.
const MAX_NAME: usize = 255;

/// The definitions of reports.
#[derive(Debug)]
pub struct Reports;

impl RecordKind for Reports {
    type Record = Definition;
    /// A changed definition without a time of change in its line gets the current time.
    type Line = Dated<Definition>;
    const KIND: Kind = Kind::Reports;
    const FIELDS: &'static [Field] = &[
        ID,
        field(Shape::Text, "name").needed().filled().up_to(MAX_NAME),
        field(
            Shape::OneOf("leads opportunities tickets meetings calls"),
            "entity",
        )
        .needed()
        .note("see [reports](#reports)"),
        field(Shape::OneOf("count sum average"), "measure").needed(),
        field(Shape::OneOf(""), "groupBy").needed(),
        field(Shape::OneOf("value duration"), "field"),
        field(Shape::OneOf("bar line pie"), "type").or(r#""bar""#),
        field(Shape::Object, "filters").note("a value or a list of values by name"),
        field(Shape::Ids, "filters.user").refers(Kind::Users),
        field(Shape::Ids, "filters.funnel").refers(Kind::Funnels),
        field(Shape::Ids, "filters.column").column_of(""),
        field(Shape::Time, "createDate updateDate"),
    ];

    fn parse(fields: Fields) -> Result<Self::Line, String> {
        let (entity, lacks_field) = (fields.get("entity").cloned(), lacks_field(&fields));
        let line = Dated::<Definition>::read::<Self>(fields).map_err(|reason| of_entity(reason, entity))?;
        if let Some(amount) = line.record.question.amount().filter(|_| lacks_field) {
            return Err(format!("field: is missing; write {}", json!(amount)));
        }
        Ok(line)
    }

    fn identity(definition: &Definition) -> u64 {
        definition.id.get()
    }

    fn export(definition: &Definition) -> serde_json::Result<Fields> {
        Ok(definition.sparse())
    }
}

/// Whether the line has no field to sum or average.
fn lacks_field(fields: &Fields) -> bool {
    fields.get("field").is_none_or(Value::is_null)
}

/// The reason, with the groupings of the line's entity in place of those of all entities.
fn of_entity(reason: String, entity: Option<Value>) -> String {
    let entity = entity.and_then(|entity| serde_json::from_value::<ReportEntity>(entity).ok());
    match entity {
        Some(entity) if reason.starts_with("groupBy: must be ") => must_group(entity),
        _ => reason,
    }
}

impl StoredKind for Reports {
    const STORAGE: Storage = Storage {
        removal: Some(Removal::Unlinked),
        ..Storage::of(
            ["report", "reports"],
            |keys| vec![keys.reports()],
            |keys, id| Some(keys.report(ReportId::parse(id)?)),
            |_, report| nothing(reports::definition(report)),
        )
    };
    const DECODE: fn(Item) -> Result<Definition, StoreError> = |item| reports::definition(&item);

    async fn write(operator: &Operator, lines: &[&Self::Line], mode: Mode) -> Written {
        operator.write_each::<Self>(lines, mode).await
    }
}

impl Decide for Reports {
    fn reads(keys: Keys<'_>, definition: &Definition, _mode: Mode) -> Vec<Key> {
        vec![keys.report(definition.id)]
    }

    fn decide(operator: &Operator, line: &Self::Line, found: &FoundItems, _mode: Mode) -> Decision {
        let key = operator.keys().report(line.record.id);
        let item = found.get(&key);
        let stored = item.map(reports::definition).transpose()?;
        // Whether anything but the times differs.
        let is_changed = stored.as_ref().is_some_and(|stored| {
            let mut with_stored_times = line.record.clone();
            with_stored_times.set_times(stored.times());
            with_stored_times != *stored
        });
        let update_date = line.update_date.or(is_changed.then(|| operator.now()));
        let definition = line.changed_at(update_date, stored.as_ref(), operator.now());
        if stored.as_ref() == Some(&definition) {
            return Err(Skip::Unchanged);
        }
        let mut transaction = Transaction::default();
        let raw = item.map(Raw::of).unwrap_or_default();
        let recode = |raw: &Item| Some(reports::encode(&reports::definition(raw).ok()?));
        let item = raw.carry(reports::encode(&definition), recode);
        transaction.put(key, item, Condition::Always);
        Ok(transaction)
    }
}
