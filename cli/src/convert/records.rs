//! Rows as records: companies, leads, and the references of rows to them (C-105).

use std::collections::BTreeMap;

use indicatif::ProgressBar;
use operator::progress;
use serde_json::json;
use shared::people::User;
use shared::time::Zone;

use super::cells::RowCells;
use super::columns::Product;
use super::contact;
use super::deals::Deals;
use super::ids::IdMap;
use super::kind::FileKind;
use super::mapping::{MapFile, MappedFile};
use super::people::{Owners, RecordFields, RecordIndex, RowReference};
use super::sheet::SheetRow;

/// Fields that contain the text of the cell.
const LEAD_TEXTS: [&str; 6] = [
    "address",
    "city",
    "state",
    "country",
    "zipcode",
    "acquisition_channel",
];
const COMPANY_TEXTS: [&str; 8] = [
    "cnpj",
    "companyaddress",
    "companycity",
    "companystate",
    "companycountry",
    "companyzipcode",
    "companyindustry",
    "companyannualrevenue",
];

/// The records of a conversion, which grow row by row.
pub struct RecordBuilder<'a> {
    /// The zone of local dates.
    pub zone: Zone,
    /// The map.
    pub map: &'a MapFile,
    /// The id map.
    pub ids: IdMap,
    /// The users.
    pub users: Owners,
    /// The owner of opportunities without one.
    pub admin: Option<u64>,
    /// Companies.
    pub companies: RecordIndex,
    /// Leads.
    pub leads: RecordIndex,
    /// Tags by name.
    pub tags: BTreeMap<String, u64>,
    /// Funnels and opportunities.
    pub deals: Deals,
    /// Omitted rows: file, line, reason.
    pub faults: Vec<(String, u64, String)>,
    /// Number of rows by remark about their values.
    pub notes: BTreeMap<String, u64>,
}

/// First and last name of a row's lead, and an address that its name contains. `name` is the cell of its whole name.
fn names(cells: &RowCells, name: &str) -> ([Option<String>; 2], Option<String>) {
    let part = FileKind::Lead;
    let (name, email) = contact::person(name);
    let email = email.filter(|email| contact::emails(email).is_ok());
    let (first, last) = name.as_deref().map(contact::halves).unzip();
    let own = |field| cells.text(part, field).map(str::to_owned);
    let names = [own("firstname").or(first), own("lastname").or(last.flatten())];
    (names, email)
}

/// The fields of a row's company, except its owner.
fn company_fields(cells: &mut RowCells, name: &str, zone: Zone) -> RecordFields {
    let part = FileKind::Company;
    let mut fields = RecordFields::from_iter([("companyname".to_owned(), json!(name))]);
    for field in COMPANY_TEXTS.iter().chain(&["companynemployees"]) {
        fields.extend(
            cells
                .text(part, field)
                .map(|text| ((*field).to_owned(), json!(text))),
        );
    }
    let emails = cells.several(part, "companyemail", contact::emails);
    fields.extend(
        emails
            .first()
            .map(|email| ("companyemail".to_owned(), json!(email))),
    );
    let phones = cells.several(part, "companyphone", contact::phones);
    fields.extend(
        phones
            .first()
            .map(|phone| ("companyphone".to_owned(), json!(phone))),
    );
    let created = cells.time(part, "createDate", None, zone);
    fields.extend(created.map(|time| ("createDate".to_owned(), json!(time))));
    fields
}

impl<'a> RecordBuilder<'a> {
    /// A builder without records.
    pub fn new(zone: Zone, map: &'a MapFile, ids: IdMap, known: &[User]) -> Self {
        Self {
            zone,
            map,
            ids,
            users: Owners::new(known),
            admin: None,
            companies: RecordIndex::new("company"),
            leads: RecordIndex::new("lead"),
            tags: BTreeMap::new(),
            deals: Deals::default(),
            faults: Vec::new(),
            notes: BTreeMap::new(),
        }
    }

    /// Reads all rows of the files: of companies, then of leads, then of opportunities.
    pub fn add_files(&mut self, files: &[MappedFile], bar: &ProgressBar) {
        let rows: usize = files.iter().map(|file| file.sheet.rows.len()).sum();
        progress::working(bar, rows as u64);
        for file in files {
            self.reserve_ids(file);
        }
        for main in FileKind::ALL {
            for file in files.iter().filter(|file| file.main == main) {
                for (line, reason) in &file.sheet.faults {
                    self.faults.push((file.sheet.name.clone(), *line, reason.clone()));
                }
                for row in &file.sheet.rows {
                    self.add_row(file, row);
                    progress::worked(bar, 1);
                }
            }
        }
        self.faults.sort();
    }

    /// Reserves the ids of a file, so that none of them is assigned to another record.
    fn reserve_ids(&mut self, table: &MappedFile) {
        for row in &table.sheet.rows {
            for part in FileKind::ALL {
                for (_, cell) in table.values(row, part, "id") {
                    // A conflict is reported with the row.
                    let _ = self.ids.keep(part.name(), contact::first_id(cell).0);
                }
            }
        }
    }

    /// Adds the records of a row, or its faults.
    fn add_row(&mut self, table: &MappedFile, row: &SheetRow) {
        if row.is_totals() {
            return self.remark(format!("{}: a line of totals is left out", table.sheet.name));
        }
        let mut cells = RowCells {
            table,
            row,
            faults: Vec::new(),
        };
        match table.main {
            FileKind::Company => {
                self.company(&mut cells);
            }
            FileKind::Lead => {
                self.lead(&mut cells);
            }
            FileKind::Opportunity => self.opportunity(&mut cells),
        }
        if !cells.faults.is_empty() {
            self.faults
                .push((table.sheet.name.clone(), row.line, cells.faults.join("; ")));
        }
    }

    /// Counts a row with this remark.
    pub fn remark(&mut self, remark: String) {
        *self.notes.entry(remark).or_default() += 1;
    }

    /// The first id of a cell that may contain several.
    fn id(&mut self, cells: &RowCells, part: FileKind) -> String {
        let (id, has_others) = contact::first_id(cells.text(part, "id").unwrap_or_default());
        if has_others {
            self.remark(format!(
                "{}: the first one of several {} ids is used",
                cells.table.sheet.name,
                part.name()
            ));
        }
        id.to_owned()
    }

    fn owner(&mut self, cells: &RowCells, part: FileKind) -> Option<u64> {
        let cell = cells.text(part, "owner")?;
        Some(self.users.of(cell, &mut self.ids))
    }

    /// The index of a row's company: in a file of companies the row itself, else the one to which it refers, which is
    /// added if no file contains it. `None` without a company or after a fault.
    pub fn company(&mut self, cells: &mut RowCells) -> Option<usize> {
        let part = FileKind::Company;
        let name = cells.text(part, "companyname").unwrap_or_default();
        let reference = RowReference {
            id: self.id(cells, part),
            name: name.to_owned(),
            ..RowReference::default()
        };
        let is_main = cells.table.main == part;
        if !is_main {
            if reference.is_empty() {
                return None;
            }
            let found = self.companies.find(&reference);
            if let Some(at) = cells.ok_or_fault("company", found)? {
                return Some(at);
            }
        }
        if name.is_empty() {
            let absent = "is missing".to_owned();
            let unknown = format!("company {} is in no file; convert its file too", reference.id);
            return cells.ok_or_fault("companyname", Err(if is_main { absent } else { unknown }));
        }
        let mut fields = company_fields(cells, name, self.zone);
        if !cells.faults.is_empty() {
            return None;
        }
        fields.extend(
            self.owner(cells, part)
                .map(|user| ("owner".to_owned(), json!(user))),
        );
        let added = self.companies.add(&reference, fields, &mut self.ids);
        cells.ok_or_fault("id", added)
    }

    /// The index in `leads` of a row's lead: in a file of leads the row itself, which is added, else the lead to which
    /// the row refers. An unknown lead is added if the row has more than its id. It gets the row's times and, without
    /// an owner of its own, the row's owner. `None` without a lead or after a fault.
    pub fn lead(&mut self, cells: &mut RowCells) -> Option<usize> {
        let part = FileKind::Lead;
        let is_main = cells.table.main == part;
        let mut fields = RecordFields::new();
        let reference = self.contact(cells, &mut fields);
        if reference.is_empty() {
            if is_main {
                cells
                    .faults
                    .push("has neither name nor e-mail address nor telephone number".to_owned());
            }
            return None;
        }
        if !is_main {
            let found = self.leads.find(&reference);
            if let Some(at) = cells.ok_or_fault("lead", found)? {
                // A known lead takes from the row only a company that it lacks.
                self.add_missing_company(cells, at);
                return Some(at);
            }
            if reference.name.is_empty() && reference.emails.is_empty() && reference.phones.is_empty() {
                let unknown = format!("lead {} is in no file; convert its file too", reference.id);
                return cells.ok_or_fault("lead", Err(unknown));
            }
        }
        // The kind of the columns with the lead's times and, without an owner of its own, its owner.
        let source = if is_main { part } else { FileKind::Opportunity };
        self.lead_fields(cells, source, &mut fields);
        if !cells.faults.is_empty() {
            return None;
        }
        let owner = self
            .owner(cells, part)
            .or_else(|| Some(self.users.of(cells.text(source, "user")?, &mut self.ids)));
        fields.extend(owner.map(|user| ("owner".to_owned(), json!(user))));
        let added = self.leads.add(&reference, fields, &mut self.ids);
        let at = cells.ok_or_fault("id", added)?;
        self.leads.note(
            &reference,
            &format!("{}:{}", cells.table.sheet.name, cells.row.line),
        );
        Some(at)
    }

    /// Adds the fields of a row's lead that do not identify it. Times come from the columns of kind `source`.
    fn lead_fields(&mut self, cells: &mut RowCells, source: FileKind, fields: &mut RecordFields) {
        let part = FileKind::Lead;
        for field in LEAD_TEXTS {
            let text = cells.text(part, field);
            fields.extend(text.map(|text| (field.to_owned(), json!(text))));
        }
        for (name, clock_field) in [("createDate", Some("createTime")), ("lastActive", None)] {
            let time = cells.time(source, name, clock_field, self.zone);
            fields.extend(time.map(|time| (name.to_owned(), json!(time))));
        }
        let tags = cells.text(part, "tags").map(|tags| self.tags(tags));
        fields.extend(tags.map(|tags| ("tags".to_owned(), json!(tags))));
        let company = self.company(cells);
        fields.extend(company.map(|at| ("company".to_owned(), json!(self.companies.id(at)))));
        for (alias, text) in cells.table.custom(cells.row, part) {
            fields.insert(alias.to_owned(), json!(text));
        }
    }

    /// Sets the company of a lead without one to that of the row.
    fn add_missing_company(&mut self, cells: &mut RowCells, at: usize) {
        if let Some(company) = self.company(cells) {
            let id = self.companies.id(company);
            self.leads.records[at]
                .entry("company")
                .or_insert_with(|| json!(id));
        }
    }

    /// The name of a row's first contact, and whether an opportunity has others.
    fn first_contact(&mut self, cells: &RowCells) -> (String, bool) {
        let cell = cells.text(FileKind::Lead, "name").unwrap_or_default();
        let separators: &[char] = match (cells.table.main, cells.table.product) {
            (FileKind::Opportunity, Product::Rdstation) => &[',', ';'],
            (FileKind::Opportunity, _) => &[';'],
            _ => return (cell.to_owned(), false),
        };
        let (name, has_others) = contact::first_person(cell, separators);
        if has_others {
            let file = &cells.table.sheet.name;
            self.remark(format!("{file}: the first one of several contacts is used"));
        }
        (name, has_others)
    }

    /// The reference to a row's lead. Adds its names, addresses and numbers to `fields`, further ones as custom fields.
    fn contact(&mut self, cells: &mut RowCells, fields: &mut RecordFields) -> RowReference {
        let part = FileKind::Lead;
        let (name, has_others) = self.first_contact(cells);
        let ([first, last], in_name) = names(cells, &name);
        let mut emails = cells.several(part, "email", contact::emails);
        if emails.is_empty() {
            emails.extend(in_name);
        }
        let [mut phone, mut mobile, chatapp] =
            ["phone", "mobile", "chatapp"].map(|field| cells.several(part, field, contact::phones));
        if has_others {
            // Further addresses and numbers may be those of the others.
            for values in [&mut emails, &mut phone, &mut mobile] {
                values.truncate(1);
            }
        }
        // A second telephone becomes the missing mobile, and further mobiles become telephones.
        if mobile.is_empty() && phone.len() > 1 {
            mobile.push(phone.remove(1));
        }
        phone.extend(mobile.split_off(mobile.len().min(1)));
        let values = [
            ("email", &emails),
            ("phone", &phone),
            ("mobile", &mobile),
            ("chatapp", &chatapp),
        ];
        for (field, values) in values {
            for (at, value) in values.iter().enumerate() {
                let mut name = field.to_owned();
                if at > 0 {
                    name = format!("{field}_{}", at + 1);
                    self.remark(format!("leads have a further {field}, now custom field {name}"));
                }
                fields.insert(name, json!(value));
            }
        }
        for (field, name) in [("firstname", &first), ("lastname", &last)] {
            fields.extend(name.as_ref().map(|name| (field.to_owned(), json!(name))));
        }
        let names = [first, last].into_iter().flatten().collect::<Vec<_>>();
        RowReference {
            id: self.id(cells, part),
            emails,
            phones: [mobile, phone, chatapp].concat(),
            name: names.join(" "),
        }
    }

    /// The ids of the tags in a cell, which are added if they are new.
    fn tags(&mut self, cell: &str) -> Vec<u64> {
        let names = cell
            .split([',', ';'])
            .map(str::trim)
            .filter(|name| !name.is_empty());
        let mut found = Vec::new();
        for name in names {
            let id = self.ids.assign("tag", name.to_lowercase());
            self.tags.entry(name.to_lowercase()).or_insert(id);
            if !found.contains(&id) {
                found.push(id);
            }
        }
        found
    }
}
