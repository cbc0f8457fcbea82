//! Rows as opportunities, with their funnels, columns and reasons (C-105).

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io;

use serde_json::{Value, json};
use shared::opportunity::Status;
use shared::text::{cut, fold};

use super::cells::RowCells;
use super::kind::FileKind;
use super::map::MapFile;
use super::names::{self, plain};
use super::people::{KeyCounts, RecordFields, digest};
use super::records::{RecordBuilder, custom_texts};
use super::spool::Spool;

/// The funnel of files without one.
const FUNNEL: &str = "Funil";
/// The column of files without stages and statuses.
const COLUMN: &str = "Entrada";
/// Maximum characters of a title.
const MAX_TITLE: usize = 255;

/// Funnels and opportunities.
#[derive(Debug)]
pub struct Deals {
    /// In the order of the rows.
    pub lines: Spool,
    funnels: Vec<NewFunnel>,
    /// Names of custom fields.
    fields: Vec<String>,
    known_fields: BTreeSet<String>,
    /// Loss reasons by name.
    pub losses: BTreeMap<String, u64>,
    keys: KeyCounts,
    by_id: HashSet<u64>,
    /// Number of rows by the text of a status or stage and the status read from it.
    pub statuses: BTreeMap<(String, Status), u64>,
    /// Texts of statuses that are unknown.
    pub unknown: BTreeSet<String>,
    /// Stages that look closed and are read as open, with their rows.
    pub doubtful: BTreeMap<String, u64>,
    /// Number of amounts by currency.
    pub currencies: BTreeMap<&'static str, u64>,
}

#[derive(Debug)]
struct NewFunnel {
    id: u64,
    name: String,
    columns: Vec<(u64, String)>,
}

impl Deals {
    /// No deals.
    ///
    /// # Errors
    /// The system's error, if there is no temporary file.
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            lines: Spool::new("opportunity")?,
            funnels: Vec::new(),
            fields: Vec::new(),
            known_fields: BTreeSet::new(),
            losses: BTreeMap::new(),
            keys: KeyCounts::default(),
            by_id: HashSet::new(),
            statuses: BTreeMap::new(),
            unknown: BTreeSet::new(),
            doubtful: BTreeMap::new(),
            currencies: BTreeMap::new(),
        })
    }

    /// The lines of the funnels. An import adds what is missing to a funnel that exists.
    pub fn funnels(&self, map: &MapFile) -> Vec<RecordFields> {
        let fields: Vec<_> = self
            .fields
            .iter()
            .map(|name| json!({ "name": name, "type": "text" }))
            .collect();
        let line = |funnel: &NewFunnel| {
            let columns = funnel.ordered(map).into_iter().zip(1..);
            let columns = columns.map(|((id, name), at)| json!({ "id": id, "name": name, "sequence": at }));
            RecordFields::from_iter([
                ("id".to_owned(), json!(funnel.id)),
                ("name".to_owned(), json!(funnel.name)),
                ("columns".to_owned(), columns.collect()),
                ("fields".to_owned(), json!(fields)),
            ])
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
        if self.known_fields.insert(name.to_owned()) {
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
            let closed = match status(map, name, &self.name) {
                Some(Status::Gain) => 1,
                Some(Status::Lost) => 2,
                Some(Status::Open) | None => 0,
            };
            (place.unwrap_or(usize::MAX), closed)
        });
        columns
    }
}

/// The status of a text, if it is known: by the map, else by its words without a number before and the funnel's name
/// after them, as in `5. Closed Won (Sales Pipeline)`.
fn status(map: &MapFile, text: &str, funnel: &str) -> Option<Status> {
    let name = plain(text);
    let mapped = map.status.iter().find(|(known, _)| plain(known) == name);
    if let Some((_, status)) = mapped {
        return Some(*status);
    }
    let without_funnel = name
        .strip_suffix(plain(funnel).as_str())
        .filter(|_| text.ends_with(')'));
    let name = without_funnel.unwrap_or(&name).trim();
    let words = name.trim_start_matches(|c: char| c.is_ascii_digit()).trim();
    names::status(words)
}

/// Reads the title and the amount of a row.
fn title_and_value(cells: &mut RowCells, fields: &mut RecordFields) {
    let part = FileKind::Opportunity;
    let company = cells.text(FileKind::Company, "companyname");
    let title = cells.text(part, "title").or(company);
    match title.or(cells.text(FileKind::Lead, "name")) {
        Some(title) => {
            let short = cut(title, MAX_TITLE);
            if short.len() < title.len() {
                let loss =
                    format!("the title {title:?} is longer than {MAX_TITLE} characters; the rest is cut");
                cells.losses.push(loss);
            }
            fields.insert("title".to_owned(), json!(short));
        }
        None => cells.faults.push("title: is missing".to_owned()),
    }
    let amount = cells.amount(part, "value");
    fields.extend(amount.map(|amount| ("value".to_owned(), json!(amount))));
}

impl RecordBuilder<'_> {
    /// Takes a row of a file of opportunities.
    ///
    /// # Errors
    /// The system's error, if the record cannot be written.
    pub fn opportunity(&mut self, cells: &mut RowCells) -> io::Result<()> {
        let part = FileKind::Opportunity;
        let mut fields = RecordFields::new();
        title_and_value(cells, &mut fields);
        let stage = self.stage(cells);
        let status = self.status(cells, stage.unwrap_or_default());
        fields.insert("status".to_owned(), json!(status));
        set_times(cells, status, &mut fields);
        for field in ["loss_reason", "gain_reason", "sale_channel", "campaign"] {
            fields.extend(
                cells
                    .text(part, field)
                    .map(|text| (field.to_owned(), json!(text))),
            );
        }
        if cells.text(part, "user").is_none() && self.admin.is_none() {
            let reason =
                "user: there is no owner; name the user who gets such opportunities with --admin E-MAIL";
            cells.faults.push(reason.to_owned());
        }
        // Returns before a row with faults creates a lead.
        if !cells.faults.is_empty() {
            return Ok(());
        }
        self.set_people(cells, &mut fields)?;
        if !cells.faults.is_empty() {
            return Ok(());
        }
        self.set_column(cells, stage.unwrap_or_default(), &mut fields);
        let mut custom: RecordFields = custom_texts(cells, part).into_iter().collect();
        // Values of a person that has no record of its own, or an earlier one.
        let unread = std::mem::take(&mut cells.unread);
        custom.extend(unread.into_iter().map(|(name, text)| (name, json!(text))));
        custom.keys().for_each(|name| self.deals.add_field(name));
        fields.insert("fields".to_owned(), Value::Object(custom));
        if let Some(currency) = cells.currency {
            *self.deals.currencies.entry(currency).or_default() += 1;
        }
        self.add_opportunity(cells, fields)
    }

    /// The stage of a row. In a file without stages it is the status.
    fn stage<'a>(&mut self, cells: &mut RowCells<'a>) -> Option<&'a str> {
        let part = FileKind::Opportunity;
        if cells.file.has(part, "column") {
            let stage = cells.text(part, "column");
            if stage.is_none() {
                cells.faults.push("column: the stage is missing".to_owned());
            }
            return stage;
        }
        let file = &cells.file.sheet.name;
        self.remark(format!(
            "{file} has no column of stages; the status is the stage, else {COLUMN:?}"
        ));
        Some(cells.text(part, "status").unwrap_or(COLUMN))
    }

    /// The status of a row: by its column, else by its stage. An unknown text in the column is a fault, and an unknown
    /// stage is open.
    fn status(&mut self, cells: &mut RowCells, stage: &str) -> Status {
        let part = FileKind::Opportunity;
        let funnel = cells.text(part, "funnel").unwrap_or(FUNNEL);
        let own = cells
            .text(part, "status")
            .filter(|_| cells.file.has(part, "column"));
        let text = own.unwrap_or(stage);
        let found = status(self.map, text, funnel);
        if own.is_some() && found.is_none() {
            self.deals.unknown.insert(text.to_owned());
            cells.faults.push(format!(
                "status: {text:?} is unknown; add to the map: status.{text:?} = \"open\", \"gain\" or \"lost\""
            ));
            return Status::Open;
        }
        if found.is_none() && names::looks_closed(&plain(text)) {
            *self.deals.doubtful.entry(text.to_owned()).or_default() += 1;
        }
        let found = found.unwrap_or_default();
        if !text.is_empty() {
            *self.deals.statuses.entry((text.to_owned(), found)).or_default() += 1;
        }
        found
    }

    /// Sets owner, lead and company, and notes the loss reason. Without a lead, `dataCompanyExtra` contains the
    /// company.
    fn set_people(&mut self, cells: &mut RowCells, fields: &mut RecordFields) -> io::Result<()> {
        let lead = self.lead(cells)?;
        let company = if lead.is_none() && cells.faults.is_empty() {
            self.company(cells)
        } else {
            None
        };
        let owner = cells
            .text(FileKind::Opportunity, "user")
            .map(|cell| self.users.of(cell, &mut self.ids));
        fields.insert("user".to_owned(), json!(owner.or(self.admin)));
        fields.insert("lead_id".to_owned(), json!(lead));
        let line = company.and_then(|(_, at)| self.company_lines.get(at?));
        if let Some(Ok(Value::Object(mut company))) = line.map(|line| serde_json::from_str(line)) {
            company.shift_remove("kind");
            fields.insert("dataCompanyExtra".to_owned(), json!([company]));
        }
        let lost = fields
            .get("loss_reason")
            .and_then(Value::as_str)
            .map(str::to_owned);
        if let Some(reason) = lost {
            let id = self.ids.assign("lossReason", fold(&reason));
            self.deals.losses.entry(reason).or_insert(id);
        }
        Ok(())
    }

    /// Sets funnel and column, and creates them if they are new.
    fn set_column(&mut self, cells: &RowCells, stage: &str, fields: &mut RecordFields) {
        let name = cells.text(FileKind::Opportunity, "funnel").unwrap_or(FUNNEL);
        let ids = &mut self.ids;
        let funnels = &mut self.deals.funnels;
        let at = funnels.iter().position(|funnel| funnel.name == name);
        let at = at.unwrap_or_else(|| {
            let id = ids.assign("funnel", name.to_owned());
            funnels.push(NewFunnel {
                id,
                name: name.to_owned(),
                columns: Vec::new(),
            });
            funnels.len() - 1
        });
        let Some(funnel) = funnels.get_mut(at) else { return };
        let column = funnel.columns.iter().find(|(_, known)| known == stage);
        let column = if let Some((id, _)) = column {
            *id
        } else {
            let id = ids.assign("column", format!("{name}/{stage}"));
            funnel.columns.push((id, stage.to_owned()));
            id
        };
        fields.insert("crm_id".to_owned(), json!(funnel.id));
        fields.insert("crm_column".to_owned(), json!(column));
    }

    /// Sets the id of an opportunity and adds it to the records.
    fn add_opportunity(&mut self, cells: &mut RowCells, mut fields: RecordFields) -> io::Result<()> {
        let exported = cells.text(FileKind::Opportunity, "id").unwrap_or_default();
        let exported = super::token::without_fraction(exported);
        let product = cells.file.names.product;
        let key = if exported.is_empty() {
            let part = |name: &str| fields.get(name).map(ToString::to_string).unwrap_or_default();
            let key = format!("{}|{}|{}", part("title"), part("lead_id"), part("createDate"));
            self.deals.keys.distinct(key)
        } else {
            if !self.deals.by_id.insert(digest(product, exported)) {
                cells
                    .faults
                    .push(format!("id: opportunity {exported} occurs twice"));
                return Ok(());
            }
            format!("{product}:id:{exported}")
        };
        let id = self.ids.of_record("opportunity", key, exported);
        fields.insert("id".to_owned(), json!(id));
        self.deals.lines.add(fields)
    }
}

/// Sets the times. The close date is the expected one of an open opportunity, and the day of a gain or loss. A value of
/// that field's own column takes precedence.
fn set_times(cells: &mut RowCells, status: Status, fields: &mut RecordFields) {
    let part = FileKind::Opportunity;
    for (field, clock_field) in [
        ("createDate", Some("createTime")),
        ("updateDate", None),
        ("expectedCloseDate", None),
        ("last_column_change", None),
        ("gain_date", None),
        ("lost_date", None),
    ] {
        let time = cells.time(part, field, clock_field);
        fields.extend(time.map(|time| (field.to_owned(), json!(time))));
    }
    let field = match status {
        Status::Open => "expectedCloseDate",
        Status::Gain => "gain_date",
        Status::Lost => "lost_date",
    };
    if let Some(time) = cells.time(part, "closeDate", Some("closeTime")) {
        fields.entry(field).or_insert_with(|| json!(time));
    }
}
