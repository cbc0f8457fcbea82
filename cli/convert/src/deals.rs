//! Rows as opportunities (C-105).

use std::io;

use domain::opportunity::Status;
use domain::text::{cut, fold};
use serde_json::{Value, json};

use super::cells::RowCells;
use super::funnels::status;
use super::keys::digest;
use super::kind::FileKind;
use super::map::Role;
use super::names::{self, plain};
use super::people::RecordFields;
use super::records::{RecordBuilder, custom_texts, rounded_id};
use super::token;

/// The funnel of files without one.
const FUNNEL: &str = "Funil";
/// The column of files without stages and statuses.
const COLUMN: &str = "Entrada";
/// The kind of the records.
const OPPORTUNITY: &str = "opportunity";
/// Maximum characters of a title.
const MAX_TITLE: usize = 255;
/// Opportunities of a title that are compared with a new one.
const MAX_NAMESAKES: usize = 1000;

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
        let reason = (status == Status::Gain).then(|| fields.shift_remove("loss_reason"));
        if let Some(reason) = reason.flatten() {
            fields.entry("gain_reason").or_insert(reason);
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
        self.note_lacking(cells.index, status, &fields);
        let funnel = cells.text(part, "funnel").unwrap_or(FUNNEL);
        let (funnel, column) = self.deals.place(funnel, stage.unwrap_or_default(), &mut self.ids);
        fields.insert("crm_id".to_owned(), json!(funnel));
        fields.insert("crm_column".to_owned(), json!(column));
        let mut custom: RecordFields = custom_texts(cells, part).into_iter().collect();
        // Values of a person that has no record of its own, or an earlier one.
        let unread = std::mem::take(&mut cells.unread);
        let kept = unread.into_iter().chain(cells.foreign.take());
        custom.extend(kept.map(|(name, text)| (name, json!(text))));
        custom.keys().for_each(|name| self.deals.add_field(name));
        fields.insert("fields".to_owned(), Value::Object(custom));
        if let Some(currency) = cells.currency.take() {
            *self.deals.currencies.entry(currency).or_default() += 1;
        }
        self.add_opportunity(cells, fields)
    }

    /// Notes that a closed opportunity has no date or no reason.
    fn note_lacking(&mut self, file: usize, status: Status, fields: &RecordFields) {
        let wanted: &[_] = match status {
            Status::Open => &[],
            Status::Gain => &[("gain_date", "closing")],
            Status::Lost => &[("lost_date", "closing"), ("loss_reason", "reason")],
        };
        for (_, role) in wanted.iter().filter(|(field, _)| !fields.contains_key(*field)) {
            *self.deals.lacking.entry((file, role)).or_default() += 1;
        }
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
        let status = cells.text(part, "status");
        let title = cells.text(part, "title").map(str::to_owned);
        // A further row of an order repeats its number, not its amount.
        let has_value = cells.text(part, "value").is_some();
        let is_further = title.is_some() && !has_value && title == self.deals.last_title;
        self.deals.last_title = title;
        if status.is_none() && cells.file.has(part, "status") {
            if is_further {
                let reason = "status: is missing, as is the amount; the row before has the same title";
                cells.faults.push(reason.to_owned());
            } else if !self.map.status.contains_key("") {
                let reason = "status: is missing; add to the map: status.\"\" = \"open\"";
                cells.faults.push(reason.to_owned());
            }
        }
        let file = &cells.file.sheet.name;
        self.remark(format!(
            "{file} has no column of stages; the status is the stage, else {COLUMN:?}"
        ));
        Some(status.unwrap_or(COLUMN))
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
        let is_blank = cells.file.has(part, "status") && cells.text(part, "status").is_none();
        let blank = self.map.status.get("").filter(|_| is_blank).copied();
        let found = blank.or_else(|| status(self.map, text, funnel));
        if own.is_some() && found.is_none() {
            self.deals.unknown.insert(text.to_owned());
            cells.faults.push(format!(
                "status: {text:?} is unknown; add to the map: status.{text:?} = \"open\", \"gain\" or \"lost\""
            ));
            return Status::Open;
        }
        let is_status = !cells.file.has(part, "column") && cells.text(part, "status").is_some();
        if found.is_none() && (is_status || !names::closings(&plain(text)).is_empty()) {
            *self.deals.doubtful.entry(text.to_owned()).or_default() += 1;
        }
        let found = found.unwrap_or_default();
        let closing = cells.file.mapped_closing(cells.row);
        if let Some(status) = closing.filter(|_| found == Status::Open) {
            self.remark(format!(
                "status {text:?}: {} by a column under closed",
                status.as_str()
            ));
            return status;
        }
        if !text.is_empty() {
            *self.deals.statuses.entry((text.to_owned(), found)).or_default() += 1;
        }
        if found != Status::Open {
            return found;
        }
        if let Some(column) = cells.file.closed_by(cells.row, self.map) {
            *self.deals.closed_by.entry((cells.index, column)).or_default() += 1;
        }
        found
    }

    /// Sets owner, lead and company, and notes the loss reason. `dataCompanyExtra` contains a company that is not the
    /// lead's.
    fn set_people(&mut self, cells: &mut RowCells, fields: &mut RecordFields) -> io::Result<()> {
        let lead = self.lead(cells)?;
        if lead.is_none() && cells.faults.is_empty() && !self.map.lacks(&cells.file.sheet.name, Role::Person)
        {
            self.remark(format!(
                "{}: opportunities without a person",
                cells.file.sheet.name
            ));
        }
        let company = if lead.is_none() && cells.faults.is_empty() {
            self.company(cells)
        } else {
            cells.other_company.take()
        };
        let owner = self.user(cells, FileKind::Opportunity, "user");
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

    /// Sets the id of an opportunity and adds it to the records.
    fn add_opportunity(&mut self, cells: &mut RowCells, mut fields: RecordFields) -> io::Result<()> {
        let exported = cells.text(FileKind::Opportunity, "id").unwrap_or_default();
        let exported = if token::is_rounded(exported) {
            cells.losses.push(rounded_id(exported));
            ""
        } else {
            token::without_fraction(exported)
        };
        let product = cells.file.names.product;
        let key = if exported.is_empty() {
            let part = |name: &str| fields.get(name).map(ToString::to_string).unwrap_or_default();
            let base = format!("{}|{}|{}", part("title"), part("lead_id"), part("createDate"));
            if self.deals.keys.distinct(base.clone()) != base {
                let file = &cells.file.sheet.name;
                self.remark(format!(
                    "{file}: opportunities without an id have the title, person and creation date of another one; a newer \
                     export does not tell them apart"
                ));
            }
            let value = part("value");
            let end = format!("{}|{value}", part("createDate"));
            let key = self
                .deals
                .keys
                .variant(&self.ids, (OPPORTUNITY, &base, &value), |_| true);
            let is_new = self.ids.known(OPPORTUNITY, &key).is_none();
            let earlier = || self.of_namesake(&part("title"), &end, &cells.person);
            match is_new.then(earlier).flatten() {
                Some(earlier) => self.deals.keys.distinct(earlier),
                None => key,
            }
        } else {
            if !self.deals.by_id.insert(digest(product, exported)) {
                cells
                    .faults
                    .push(format!("id: opportunity {exported} occurs twice"));
                return Ok(());
            }
            format!("{product}:id:{exported}")
        };
        let id = self.ids.of_record(OPPORTUNITY, key, exported);
        fields.insert("id".to_owned(), json!(id));
        self.deals.lines.add(fields)
    }
}

impl RecordBuilder<'_> {
    /// The key of an opportunity of an earlier run of which another lead of this name had the title, date and value.
    fn of_namesake(&self, title: &str, end: &str, name: &str) -> Option<String> {
        let earlier = self.ids.variants(OPPORTUNITY, title).take(MAX_NAMESAKES);
        let mut earlier = earlier.filter(|(key, _)| !self.deals.keys.has(key));
        let earlier = earlier.find(|(_, variant)| {
            let parts = variant.split_once('|').filter(|(_, rest)| *rest == end);
            let lead = parts.and_then(|(lead, _)| lead.parse().ok());
            lead.is_some_and(|lead| self.leads.persons.was_named(lead, name, &self.ids))
        });
        earlier.map(|(key, _)| key.to_owned())
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
