//! Rows as records: companies, leads, and the references of rows to them (C-105).

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;

use domain::people::User;
use domain::settings::Settings;
use domain::time::Zone;
use serde_json::{Value, json};

use super::cells::RowCells;
use super::funnels::Deals;
use super::ids::IdMap;
use super::index::{CompanyRef, RecordIndex};
use super::kind::FileKind;
use super::map::MapFile;
use super::mapping::MappedFile;
use super::people::{Owners, RecordFields};
use super::persons::Persons;
use super::proof::Styles;
use super::reference::{CNPJ, RowReference};
use super::spool::{Spool, line};
use super::token::{is_rounded, people, without_fraction};
use super::totals::{RunningTotals, is_unused};

/// Fields that contain the text of the cell.
const COMPANY_TEXTS: [&str; 9] = [
    "cnpj",
    "companyaddress",
    "companycity",
    "companystate",
    "companycountry",
    "companyzipcode",
    "companyindustry",
    "companyannualrevenue",
    "companynemployees",
];
/// The fields with users.
const OWNERS: [(FileKind, &str); 3] = [
    (FileKind::Company, "owner"),
    (FileKind::Lead, "owner"),
    (FileKind::Opportunity, "user"),
];
/// Maximum characters of a text (C-30).
const MAX_TEXT: usize = 10_000;

/// A remark about a row: the index of its file, its line, the reason.
pub type RowRemark = (usize, u64, String);

/// The records of a conversion, which grow row by row.
pub struct RecordBuilder<'a> {
    /// The zone of local dates.
    pub zone: Zone,
    /// The map.
    pub map: &'a MapFile,
    /// The currency of all amounts, if it is decided.
    pub currency: Option<String>,
    /// The id map.
    pub ids: IdMap,
    /// The users.
    pub users: Owners,
    /// The owner of opportunities without one.
    pub admin: Option<u64>,
    /// Companies, and their lines.
    pub companies: RecordIndex,
    pub company_lines: Vec<String>,
    /// Leads, and their lines.
    pub leads: RecordIndex,
    pub lead_lines: Spool,
    /// The ids and names of tags, by name in lower case.
    pub tags: BTreeMap<String, (u64, String)>,
    /// Funnels and opportunities.
    pub deals: Deals,
    /// Omitted rows.
    pub faults: Vec<RowRemark>,
    /// Values that are left out, cut or kept in custom fields.
    pub losses: Vec<RowRemark>,
    /// Number of rows by remark about their values.
    pub notes: BTreeMap<String, u64>,
    /// Decisions that the operator has to judge, with the line of the map to write.
    pub doubts: Vec<String>,
    /// Places of omitted companies and leads by kind, product and id.
    omitted: HashMap<(FileKind, &'static str, String), String>,
    /// Number of rows that became records, by file.
    pub taken: HashMap<usize, u64>,
    /// The amounts of the file so far.
    pub totals: RunningTotals,
}

impl<'a> RecordBuilder<'a> {
    /// A builder without records.
    ///
    /// # Errors
    /// The system's error, if there is no temporary file.
    pub fn new(zone: Zone, map: &'a MapFile, ids: IdMap, known: &[User]) -> io::Result<Self> {
        Ok(Self {
            zone,
            map,
            currency: None,
            ids,
            users: Owners::new(known),
            admin: None,
            companies: RecordIndex::new("company"),
            company_lines: Vec::new(),
            leads: RecordIndex::new("lead"),
            lead_lines: Spool::new("lead")?,
            tags: BTreeMap::new(),
            deals: Deals::new()?,
            faults: Vec::new(),
            losses: Vec::new(),
            notes: BTreeMap::new(),
            doubts: Vec::new(),
            omitted: HashMap::new(),
            taken: HashMap::new(),
            totals: RunningTotals::default(),
        })
    }

    /// Gives a user all permissions, and the opportunities without an owner.
    pub fn set_admin(&mut self, admin: &str) {
        let id = self.users.of(admin, &mut self.ids);
        self.users.grant_all_permissions(id);
        self.admin = Some(id);
    }

    /// Reads all rows of the files: of companies, then of leads, then of opportunities.
    ///
    /// # Errors
    /// The system's error, if a temporary file cannot be written.
    pub fn add_files(
        &mut self,
        files: &[MappedFile],
        styles: &[Styles],
        advanced: &dyn Fn(u64, u64),
    ) -> io::Result<()> {
        let rows: usize = files.iter().map(|file| file.sheet.grid.len()).sum();
        let mut done = 0;
        advanced(done, rows as u64);
        for file in files {
            self.reserve_ids(file);
            self.name_users(file);
        }
        self.find_persons(files, styles, rows);
        for (index, file, styles) in in_order(files, styles) {
            let faults = file.sheet.faults.iter().cloned();
            self.faults
                .extend(faults.map(|(line, reason)| (index, line, reason)));
            let right = file.sheet.right.iter().map(|(line, text)| {
                let reason = format!("{text:?} is at the right of the headings and is left out");
                (index, *line, reason)
            });
            self.losses.extend(right);
            self.totals = RunningTotals::default();
            let wanted = self.currency.clone();
            for row in file.sheet.grid.rows() {
                let mut cells = RowCells::new(file, index, row, styles, self.zone, wanted.as_deref());
                cells.number = u32::try_from(done).unwrap_or(u32::MAX);
                self.add_row(cells)?;
                done += 1;
                advanced(done, rows as u64);
            }
        }
        self.faults.sort();
        self.losses.sort();
        Ok(())
    }

    /// Finds the rows that are one person.
    fn find_persons(&mut self, files: &[MappedFile], styles: &[Styles], rows: usize) {
        // The rows are read again for their records.
        let notes = self.notes.clone();
        self.leads.persons = Persons::of_earlier(&self.ids, rows);
        for (index, file, styles) in in_order(files, styles) {
            for row in file.sheet.grid.rows() {
                let mut cells = RowCells::new(file, index, row, styles, self.zone, None);
                let reference = self.contact(&mut cells, &mut RecordFields::new());
                self.leads.persons.note(&reference, &self.ids);
            }
        }
        self.leads.persons.decide();
        self.notes = notes;
    }

    /// Reserves the ids of a file, so that none of them is assigned to another record.
    fn reserve_ids(&mut self, file: &MappedFile) {
        for row in file.sheet.grid.rows() {
            for part in FileKind::ALL {
                for (_, cell) in file.values(row, part, "id") {
                    self.ids.reserve(part.name(), people::first_id(cell.text).0);
                }
            }
        }
    }

    /// Adds the users of a file of which a cell has both name and address. Other cells may have one of them. Notes the other
    /// names.
    fn name_users(&mut self, file: &MappedFile) {
        let mut known = HashSet::new();
        for row in file.sheet.grid.rows() {
            let cells = OWNERS
                .iter()
                .flat_map(|(part, field)| file.values(row, *part, field));
            for (_, cell) in cells {
                if !known.insert(cell.text) {
                    continue;
                }
                if matches!(people::person(cell.text), (Some(_), Some(_))) {
                    self.users.of(cell.text, &mut self.ids);
                } else {
                    self.users.note_name(cell.text);
                }
            }
        }
    }

    /// Adds the records of a row, or its faults.
    fn add_row(&mut self, mut cells: RowCells<'_>) -> io::Result<()> {
        if is_unused(&cells) {
            self.remark(format!(
                "{}: rows without values are left out",
                cells.file.sheet.name
            ));
            return Ok(());
        }
        let (totals, map, doubts) = (&mut self.totals, self.map, &mut self.doubts);
        if totals.is_title(&cells, map, doubts) || totals.is_total(&cells, map, doubts) {
            return Ok(());
        }
        cells.note_bad_cells();
        match cells.file.main {
            FileKind::Company => {
                self.company(&mut cells);
            }
            FileKind::Lead => {
                self.lead(&mut cells)?;
            }
            FileKind::Opportunity => self.opportunity(&mut cells)?,
        }
        let (index, line) = (cells.index, cells.row.line());
        if cells.faults.is_empty() {
            *self.taken.entry(index).or_default() += 1;
            self.losses
                .extend(cells.losses.into_iter().map(|loss| (index, line, loss)));
            return Ok(());
        }
        let id = cells.text(cells.file.main, "id").unwrap_or_default();
        if !id.is_empty() {
            let key = (cells.file.main, cells.file.names.product, id.to_owned());
            self.omitted
                .insert(key, format!("{}:{line}", cells.file.sheet.name));
        }
        self.faults.push((index, line, cells.faults.join("; ")));
        Ok(())
    }

    /// The currency of all amounts, if a board can show it.
    pub fn one_currency(&self) -> Option<String> {
        let known: Vec<_> = self.deals.currencies.keys().collect();
        let only = known.first().copied().filter(|_| known.len() == 1);
        let code = self.currency.as_ref().or(only)?;
        let is_code = Settings::default().set("currency", &json!(code)).is_ok();
        is_code.then(|| code.clone())
    }

    /// Counts a row with this remark.
    pub fn remark(&mut self, remark: String) {
        *self.notes.entry(remark).or_default() += 1;
    }

    /// The first id of a cell that may contain several.
    pub fn id(&mut self, cells: &mut RowCells, part: FileKind) -> String {
        let (id, has_others) = people::first_id(cells.text(part, "id").unwrap_or_default());
        if is_rounded(id) {
            cells.losses.push(rounded_id(id));
            return String::new();
        }
        if has_others {
            self.remark(format!(
                "{}: the first one of several {} ids is used",
                cells.file.sheet.name,
                part.name()
            ));
        }
        without_fraction(id).to_owned()
    }

    /// The user of a field.
    pub fn user(&mut self, cells: &RowCells, part: FileKind, field: &'static str) -> Option<u64> {
        let cell = cells.text(part, field)?;
        Some(self.users.of(cell, &mut self.ids))
    }

    /// The reason why a row refers to no record.
    pub fn missing(&self, part: FileKind, reference: &RowReference) -> String {
        let key = (part, reference.product, reference.id.clone());
        let name = format!("{} {}", part.name(), reference.id);
        match self.omitted.get(&key) {
            Some(place) => format!("{name} is left out itself, see {place}"),
            None => format!("{name} is in no file; convert its file too"),
        }
    }

    /// The id of a record that an earlier run has converted.
    pub fn earlier(&self, part: FileKind, reference: &RowReference) -> Option<u64> {
        let key = format!("{}:id:{}", reference.product, reference.id);
        self.ids
            .known(part.name(), &key)
            .filter(|_| !reference.id.is_empty())
    }

    fn company_reference(&mut self, cells: &mut RowCells, name: &str) -> RowReference {
        let cnpj = cells.text(FileKind::Company, "cnpj").unwrap_or_default();
        let mut digits: String = cnpj.chars().filter(char::is_ascii_digit).collect();
        // A spreadsheet drops zeros at the beginning.
        if matches!(digits.len(), 12 | 13) {
            digits = format!("{digits:0>14}");
        }
        // `00.000.000/0000-00` is nobody's.
        let is_number = !digits
            .bytes()
            .all(|digit| digits.as_bytes().first() == Some(&digit));
        let cnpj = is_number.then_some((CNPJ, digits));
        RowReference {
            product: cells.file.names.product,
            id: self.id(cells, FileKind::Company),
            values: cnpj.into_iter().collect(),
            name: name.to_owned(),
            is_row: cells.file.main == FileKind::Company,
            row: 0,
        }
    }

    /// Notes that a company found by its CNPJ has another name.
    fn remark_name(&mut self, cells: &RowCells, reference: &RowReference, at: usize) {
        let name = &reference.name;
        if reference.id.is_empty() && !name.is_empty() && !self.companies.is_named(at, name) {
            let file = &cells.file.sheet.name;
            self.remark(format!(
                "{file}: company {name:?} has the CNPJ of another name, which is used"
            ));
        }
    }

    /// A row's company: in a file of companies the row itself, else the one to which it refers, which is added if no file
    /// contains it. `None` without a company or after a fault.
    pub fn company(&mut self, cells: &mut RowCells) -> Option<CompanyRef> {
        let part = FileKind::Company;
        let name = cells.text(part, "companyname").unwrap_or_default();
        let reference = self.company_reference(cells, name);
        let is_main = cells.file.main == part;
        if !is_main {
            if reference.is_empty() {
                return None;
            }
            // Companies are found by name without an error.
            if let Some(at) = self.companies.find(&reference).ok().flatten() {
                self.remark_name(cells, &reference, at);
                return Some((self.companies.id(at), Some(at)));
            }
        }
        if name.is_empty() && reference.id.is_empty() && !is_main {
            // No company has only a number.
            let cnpj = cells.text(part, "cnpj").unwrap_or_default();
            cells.unread.push(("cnpj".to_owned(), cnpj.to_owned()));
            return None;
        }
        if name.is_empty() {
            if is_main {
                cells.faults.push("companyname: is missing".to_owned());
                return None;
            }
            if let Some(id) = self.earlier(part, &reference) {
                return Some((id, None));
            }
            cells.losses.push(self.missing(part, &reference));
            return None;
        }
        let mut fields = company_fields(cells, name);
        let owner = self.user(cells, part, "owner");
        fields.extend(owner.map(|user| ("owner".to_owned(), json!(user))));
        let place = (cells.index, cells.row.line());
        match self.companies.add(&reference, place, &mut self.ids) {
            Ok(at) => {
                fields.insert("id".to_owned(), json!(self.companies.id(at)));
                self.company_lines.push(line("company", fields));
                Some((self.companies.id(at), Some(at)))
            }
            Err(reason) => {
                cells.faults.push(reason);
                None
            }
        }
    }
}

/// The files with their indexes and styles, in the order of their kinds.
fn in_order<'f>(files: &'f [MappedFile], styles: &[Styles]) -> Vec<(usize, &'f MappedFile, Styles)> {
    let files = files.iter().zip(styles).enumerate();
    let mut files: Vec<_> = files
        .map(|(index, (file, styles))| (index, file, *styles))
        .collect();
    files.sort_by_key(|(_, file, _)| file.main);
    files
}

/// The reason why an id identifies nothing.
pub fn rounded_id(id: &str) -> String {
    format!("id: {id:?} is a number that a spreadsheet has rounded; export the column as text")
}

/// The fields of a row's company, except its owner.
fn company_fields(cells: &mut RowCells, name: &str) -> RecordFields {
    let part = FileKind::Company;
    let mut fields = RecordFields::from_iter([("companyname".to_owned(), json!(name))]);
    for field in COMPANY_TEXTS {
        let text = cells.text(part, field).map(without_fraction);
        fields.extend(text.map(|text| (field.to_owned(), json!(text))));
    }
    let emails = cells.several(part, "companyemail", people::emails);
    let phones = cells.several(part, "companyphone", people::phones);
    for (field, values) in [("companyemail", emails), ("companyphone", phones)] {
        fields.extend(values.first().map(|value| (field.to_owned(), json!(value))));
    }
    match cells.instant(part, "createDate", None) {
        Some(Ok(time)) => _ = fields.insert("createDate".to_owned(), json!(time)),
        Some(Err((column, text, reason))) => cells.lose(part, "createDate", column, text, &reason),
        None => {}
    }
    fields
}

/// The custom fields of a row. Longer texts than a record can have are cut.
pub fn custom_texts(cells: &mut RowCells, part: FileKind) -> Vec<(String, Value)> {
    let mut texts = Vec::new();
    let custom: Vec<_> = cells.file.custom(cells.row, part).collect();
    for (column, name, cell) in custom {
        if super::cells::is_bad(cell) {
            continue;
        }
        let long_number = without_fraction(cell.text);
        let text = if long_number.len() >= 8 {
            long_number
        } else {
            cell.text
        };
        let cut = domain::text::cut(text, MAX_TEXT);
        if cut.len() < text.len() {
            let heading = cells.file.heading(column);
            cells.losses.push(format!(
                "{heading:?}: the text is longer than {MAX_TEXT} characters; the rest is cut"
            ));
        }
        texts.push((name.to_owned(), json!(cut)));
    }
    texts
}
