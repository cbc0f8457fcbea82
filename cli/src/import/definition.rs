//! A report's line: what it asks fits its entity. Whether what its filters name is there is judged later.

use serde_json::{Map, Value};
use shared::report::{Aspect, Definition, Question};
use shared::store::operator::ReportLine;

use super::limits::{self, within};
use super::line::{self, take_dates};
use super::{Chunk, Error, Import};
use crate::import::record::Record;

/// The most characters of a name.
const MOST_NAME: usize = 255;

/// Reads a report's fields.
pub fn read(mut fields: Map<String, Value>) -> Result<ReportLine, String> {
    let (create_date, update_date) = take_dates(&mut fields)?;
    let definition: Definition = line::read(fields)?;
    if definition.name.is_empty() {
        return Err("name: must not be empty".to_owned());
    }
    within("name", Some(&definition.name), MOST_NAME)?;
    limits::size(&definition)?;
    Ok(ReportLine {
        definition,
        create_date,
        update_date,
    })
}

impl Import<'_> {
    pub(super) async fn reports(&mut self, chunk: Chunk) -> Result<(), Error> {
        let (lines, reports) = self.checked(chunk, Record::definition, |import, line| {
            import.question_refers(&line.definition.question)
        });
        let outcomes = self.operator.import_reports(&reports).await?;
        self.note(lines, outcomes);
        Ok(())
    }

    /// Checks the users, funnels and columns that filters name.
    fn question_refers(&self, question: &Question) -> Result<(), String> {
        for user in ids(question, Aspect::User) {
            if !self.users.iter().any(|known| known.get() == user) {
                return Err(format!("filters.user: user {user} does not exist"));
            }
        }
        for funnel in ids(question, Aspect::Funnel) {
            if !self.funnels.keys().any(|known| known.get() == funnel) {
                return Err(format!("filters.funnel: funnel {funnel} does not exist"));
            }
        }
        for column in ids(question, Aspect::Column) {
            let mut columns = self.funnels.values().flat_map(|funnel| &funnel.columns);
            if !columns.any(|known| known.id.get() == column) {
                return Err(format!("filters.column: column {column} does not exist"));
            }
        }
        Ok(())
    }
}

/// The ids that a filter lets through.
fn ids(question: &Question, aspect: Aspect) -> impl Iterator<Item = u64> {
    let texts = question.only(aspect).unwrap_or_default().iter();
    texts.filter_map(|text| text.parse().ok())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read_with(rest: &Value) -> Result<ReportLine, String> {
        let mut line =
            json!({ "id": 3, "name": "Ligações", "entity": "calls", "measure": "count", "groupBy": "day" });
        for (name, value) in rest.as_object().unwrap() {
            line[name] = value.clone();
        }
        match line {
            Value::Object(fields) => read(fields),
            _ => Err("no object".to_owned()),
        }
    }

    #[test]
    fn what_a_line_leaves_out_has_its_default() {
        let short = read_with(&json!({})).unwrap();
        let long =
            json!({ "type": "bar", "field": null, "filters": {}, "createDate": null, "updateDate": null });
        assert_eq!(read_with(&long).unwrap(), short);
        assert_eq!((short.create_date, short.update_date), (None, None));
        let dated = json!({ "createDate": "2026-01-01T00:00:00Z", "updateDate": "2026-01-02T00:00:00Z" });
        let dated = read_with(&dated).unwrap();
        assert_eq!(json!(dated.create_date), "2026-01-01T00:00:00.000Z");
        assert_eq!(json!(dated.update_date), "2026-01-02T00:00:00.000Z");
    }

    #[test]
    fn bad_fields_are_named() {
        for (fields, reason) in [
            (json!({ "id": null }), "id: is missing"),
            (json!({ "id": 0 }), "id: must be an id from 1 to 999999999999999"),
            (json!({ "name": null }), "name: is missing"),
            (json!({ "name": "" }), "name: must not be empty"),
            (
                json!({ "name": "é".repeat(256) }),
                "name: must have at most 255 characters",
            ),
            (json!({ "type": "area" }), "type: must be bar or line or pie"),
            (
                json!({ "entity": "people" }),
                "entity: must be leads or opportunities or tickets or meetings or calls",
            ),
            (
                json!({ "measure": "max" }),
                "measure: must be count or sum or average",
            ),
            (
                json!({ "measure": "sum", "field": "points" }),
                "field: must be value or duration",
            ),
            (json!({ "groupBy": null }), "groupBy: is missing"),
            (json!({ "filters": [] }), "filters: must be an object"),
            (json!({ "color": 1 }), "color: unknown field"),
            (
                json!({ "filters": { "status": "open" } }),
                "filters.status: must be COMPLETE or INCOMPLETE, or a list of such",
            ),
            (
                json!({ "groupBy": "column" }),
                "groupBy: must be day or week or month or status or user or service or type for calls",
            ),
            (
                json!({ "createDate": "today" }),
                "createDate: must be a date-time such as 2026-11-21T12:00:00.000Z",
            ),
        ] {
            assert_eq!(read_with(&fields).unwrap_err(), reason, "{fields}");
        }
    }
}
