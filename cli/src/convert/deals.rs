//! Rows as opportunities, with their funnels, columns and reasons (C-105).

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::{Value, json};
use shared::opportunity::Status;
use shared::text::fold;

use super::cells::RowCells;
use super::columns::plain;
use super::kind::FileKind;
use super::mapping::MapFile;
use super::people::{RecordFields, distinct_key};
use super::records::RecordBuilder;

/// The funnel of files without one.
const FUNNEL: &str = "Funil";
/// The column of files without stages and statuses.
const COLUMN: &str = "Entrada";
/// Texts of statuses and closed stages.
const GAIN: &str = "won|gain|ganho|ganha|vendida|vendido|closed won|closedwon|fechado ganho|negocio fechado|fechada ganha|\
     faturado|faturada";
const LOST: &str = "lost|perdido|perdida|closed lost|closedlost|fechado perdido|negocio perdido|fechada perdida|\
     cancelado|cancelada|canceled|cancelled";
const OPEN: &str =
    "open|aberto|aberta|em andamento|em aberto|pausada|pausado|in progress|new|novo|pendente|pending";

/// Funnels and opportunities.
#[derive(Debug, Default)]
pub struct Deals {
    /// In the order of the rows.
    pub records: Vec<RecordFields>,
    funnels: Vec<NewFunnel>,
    /// Names of custom fields.
    fields: Vec<String>,
    /// Loss reasons by name.
    pub losses: BTreeMap<String, u64>,
    keys: HashMap<String, u64>,
    by_id: HashMap<String, u64>,
    /// Number of rows by the text of a status or stage and the status read from it.
    pub statuses: BTreeMap<(String, Status), u64>,
    /// Texts of statuses that are unknown.
    pub unknown: BTreeSet<String>,
}

#[derive(Debug)]
struct NewFunnel {
    id: u64,
    name: String,
    columns: Vec<(u64, String)>,
}

impl Deals {
    /// The lines of the funnels.
    pub fn funnels(&self, map: &MapFile) -> Vec<Value> {
        let fields: Vec<_> = self
            .fields
            .iter()
            .map(|name| json!({ "name": name, "type": "text" }))
            .collect();
        let line = |funnel: &NewFunnel| {
            let columns = funnel.ordered(map).into_iter().zip(1..);
            let columns = columns.map(|((id, name), at)| json!({ "id": id, "name": name, "sequence": at }));
            json!({ "id": funnel.id, "name": funnel.name, "columns": columns.collect::<Vec<_>>(), "fields": fields })
        };
        self.funnels.iter().map(line).collect()
    }

    /// The funnels by name, with the names of their columns.
    pub fn shown<'a>(&'a self, map: &MapFile) -> impl Iterator<Item = (&'a str, Vec<&'a str>)> {
        self.funnels.iter().map(|funnel| {
            let columns = funnel.ordered(map).into_iter().map(|(_, name)| name.as_str());
            (funnel.name.as_str(), columns.collect())
        })
    }

    fn add_field(&mut self, name: &str) {
        if !self.fields.iter().any(|known| known == name) {
            self.fields.push(name.to_owned());
        }
    }
}

impl NewFunnel {
    /// The columns in the order of the map, then of their first row, closed ones last.
    fn ordered(&self, map: &MapFile) -> Vec<&(u64, String)> {
        let wanted = map.funnels.get(&self.name).map(Vec::as_slice);
        let wanted = wanted.unwrap_or_default();
        let mut columns: Vec<_> = self.columns.iter().collect();
        columns.sort_by_key(|(_, name)| {
            let place = wanted.iter().position(|wanted| wanted == name);
            let closed = match status(map, name) {
                Some(Status::Gain) => 1,
                Some(Status::Lost) => 2,
                Some(Status::Open) | None => 0,
            };
            (place.unwrap_or(usize::MAX), closed)
        });
        columns
    }
}

/// The status of a text, if it is known.
fn status(map: &MapFile, text: &str) -> Option<Status> {
    let name = plain(text);
    let mapped = map
        .status
        .iter()
        .find(|(known, _)| plain(known) == name)
        .map(|(_, status)| *status);
    let known = |names: &str| names.split('|').any(|known| known == name);
    mapped
        .or_else(|| known(GAIN).then_some(Status::Gain))
        .or_else(|| known(LOST).then_some(Status::Lost))
        .or_else(|| known(OPEN).then_some(Status::Open))
}

/// Reads the title and the amount of a row.
fn title_and_value(cells: &mut RowCells, fields: &mut RecordFields) {
    let part = FileKind::Opportunity;
    let company = cells.text(FileKind::Company, "companyname");
    let title = cells.text(part, "title").or(company);
    match title.or(cells.text(FileKind::Lead, "name")) {
        Some(title) if title.chars().count() <= 255 => _ = fields.insert("title".to_owned(), json!(title)),
        Some(_) => cells
            .faults
            .push("title: is longer than 255 characters".to_owned()),
        None => cells.faults.push("title: is missing".to_owned()),
    }
    if let Some((column, cell)) = cells.table.values(cells.row, part, "value").next()
        && let Some(amount) = cells.ok_or_fault("value", column.decimal.amount(cell))
    {
        fields.insert("value".to_owned(), json!(amount));
    }
}

impl RecordBuilder<'_> {
    /// Takes a row of a file of opportunities.
    pub fn opportunity(&mut self, cells: &mut RowCells) {
        let part = FileKind::Opportunity;
        let mut fields = RecordFields::new();
        title_and_value(cells, &mut fields);
        let stage = self.stage(cells);
        let status = self.status(cells, stage.unwrap_or_default());
        fields.insert("status".to_owned(), json!(status));
        self.set_times(cells, status, &mut fields);
        for field in ["loss_reason", "gain_reason", "sale_channel", "campaign"] {
            fields.extend(
                cells
                    .text(part, field)
                    .map(|text| (field.to_owned(), json!(text))),
            );
        }
        if cells.text(part, "user").is_none() && self.admin.is_none() {
            cells.faults.push(
                "user: there is no owner; name the user who gets such opportunities with --admin E-MAIL"
                    .to_owned(),
            );
        }
        let custom: RecordFields = cells
            .table
            .custom(cells.row, part)
            .map(|(name, text)| (name.to_owned(), json!(text)))
            .collect();
        // Returns before a row with faults creates a lead.
        if !cells.faults.is_empty() {
            return;
        }
        self.set_people(cells, &mut fields);
        if !cells.faults.is_empty() {
            return;
        }
        self.set_column(cells, stage.unwrap_or_default(), &mut fields);
        custom.keys().for_each(|name| self.deals.add_field(name));
        fields.insert("fields".to_owned(), Value::Object(custom));
        self.add_opportunity(cells, fields);
    }

    /// The stage of a row. In a file without stages it is the status.
    fn stage<'a>(&mut self, cells: &mut RowCells<'a>) -> Option<&'a str> {
        let part = FileKind::Opportunity;
        if cells.table.has(part, "column") {
            let stage = cells.text(part, "column");
            if stage.is_none() {
                cells.faults.push("column: the stage is missing".to_owned());
            }
            return stage;
        }
        let file = &cells.table.sheet.name;
        self.remark(format!(
            "{file} has no column of stages; the status is the stage, else {COLUMN:?}"
        ));
        Some(cells.text(part, "status").unwrap_or(COLUMN))
    }

    /// The status of a row: by its column, else by its stage. An unknown text in the column is a fault, and an unknown
    /// stage is open.
    fn status(&mut self, cells: &mut RowCells, stage: &str) -> Status {
        let part = FileKind::Opportunity;
        let (text, found) = match cells.text(part, "status") {
            Some(text) if cells.table.has(part, "column") => (text, status(self.map, text)),
            _ => (stage, Some(status(self.map, stage).unwrap_or_default())),
        };
        let Some(found) = found else {
            self.deals.unknown.insert(text.to_owned());
            cells.faults.push(format!("status: {text:?} is unknown; add it to the map: [status] {text:?} = \"open\", \"gain\" or \"lost\""));
            return Status::Open;
        };
        if !text.is_empty() {
            *self.deals.statuses.entry((text.to_owned(), found)).or_default() += 1;
        }
        found
    }

    /// Sets the times. The close date is the expected one of an open opportunity, and the day of a gain or loss. A
    /// value of that field's own column takes precedence.
    fn set_times(&self, cells: &mut RowCells, status: Status, fields: &mut RecordFields) {
        let part = FileKind::Opportunity;
        for (field, clock_field) in [
            ("createDate", Some("createTime")),
            ("updateDate", None),
            ("expectedCloseDate", None),
            ("last_column_change", None),
            ("gain_date", None),
            ("lost_date", None),
        ] {
            let time = cells.time(part, field, clock_field, self.zone);
            fields.extend(time.map(|time| (field.to_owned(), json!(time))));
        }
        let field = match status {
            Status::Open => "expectedCloseDate",
            Status::Gain => "gain_date",
            Status::Lost => "lost_date",
        };
        if let Some(time) = cells.time(part, "closeDate", Some("closeTime"), self.zone) {
            fields.entry(field).or_insert_with(|| json!(time));
        }
    }

    /// Sets owner, lead and company, and notes the loss reason. Without a lead, `dataCompanyExtra` contains the
    /// company.
    fn set_people(&mut self, cells: &mut RowCells, fields: &mut RecordFields) {
        let lead = self.lead(cells);
        let company = if lead.is_none() && cells.faults.is_empty() {
            self.company(cells)
        } else {
            None
        };
        let owner = cells
            .text(FileKind::Opportunity, "user")
            .map(|cell| self.users.of(cell, &mut self.ids));
        fields.insert("user".to_owned(), json!(owner.or(self.admin)));
        fields.insert("lead_id".to_owned(), json!(lead.map(|at| self.leads.id(at))));
        if let Some(at) = company {
            fields.insert("dataCompanyExtra".to_owned(), json!([self.companies.records[at]]));
        }
        let lost = fields
            .get("loss_reason")
            .and_then(Value::as_str)
            .map(str::to_owned);
        if let Some(reason) = lost {
            let id = self.ids.assign("lossReason", fold(&reason));
            self.deals.losses.entry(reason).or_insert(id);
        }
    }

    /// Sets funnel and column, and creates them if they are new.
    fn set_column(&mut self, cells: &RowCells, stage: &str, fields: &mut RecordFields) {
        let name = cells.text(FileKind::Opportunity, "funnel").unwrap_or(FUNNEL);
        let ids = &mut self.ids;
        let funnels = &mut self.deals.funnels;
        let at = funnels
            .iter()
            .position(|funnel| funnel.name == name)
            .unwrap_or_else(|| {
                let id = ids.assign("funnel", name.to_owned());
                funnels.push(NewFunnel {
                    id,
                    name: name.to_owned(),
                    columns: Vec::new(),
                });
                funnels.len() - 1
            });
        let funnel = &mut funnels[at];
        let column = funnel
            .columns
            .iter()
            .find(|(_, known)| known == stage)
            .map(|(id, _)| *id);
        let column = column.unwrap_or_else(|| {
            let id = ids.assign("column", format!("{name}/{stage}"));
            funnel.columns.push((id, stage.to_owned()));
            id
        });
        fields.insert("crm_id".to_owned(), json!(funnel.id));
        fields.insert("crm_column".to_owned(), json!(column));
    }

    /// Sets the id of an opportunity and adds it to the records.
    fn add_opportunity(&mut self, cells: &mut RowCells, mut fields: RecordFields) {
        let id_text = cells.text(FileKind::Opportunity, "id").unwrap_or_default();
        if !id_text.is_empty() && self.deals.by_id.contains_key(id_text) {
            cells
                .faults
                .push(format!("id: opportunity {id_text} occurs twice"));
            return;
        }
        let kept = self.ids.keep("opportunity", id_text);
        let Some(kept) = cells.ok_or_fault("id", kept) else {
            return;
        };
        let id = kept.unwrap_or_else(|| {
            let key = if id_text.is_empty() {
                let part = |name: &str| fields.get(name).map(ToString::to_string).unwrap_or_default();
                format!("{}|{}|{}", part("title"), part("lead_id"), part("createDate"))
            } else {
                format!("id:{id_text}")
            };
            let key = distinct_key(&mut self.deals.keys, key);
            self.ids.assign("opportunity", key)
        });
        self.deals.by_id.insert(id_text.to_owned(), id);
        fields.insert("id".to_owned(), json!(id));
        self.deals.records.push(fields);
    }
}
