//! Rows as records: companies, leads, and the references of rows to them (C-105).

use std::collections::{BTreeMap, HashMap};
use std::io;

use indicatif::ProgressBar;
use operator::progress;
use serde_json::{Value, json};
use shared::money::Cents;
use shared::people::User;
use shared::time::Zone;

use super::cells::RowCells;
use super::columns::PERSON;
use super::deals::Deals;
use super::ids::IdMap;
use super::kind::FileKind;
use super::map::MapFile;
use super::mapping::{MappedFile, quoted};
use super::names;
use super::people::{Owners, RecordFields, RecordIndex, RowReference};
use super::proof::Styles;
use super::spool::{Spool, line};
use super::token::amount::Amount;
use super::token::people;
use super::token::without_fraction;

/// Fields that contain the text of the cell.
const LEAD_TEXTS: [&str; 6] = [
    "address",
    "city",
    "state",
    "country",
    "zipcode",
    "acquisition_channel",
];
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
    /// Tags by name.
    pub tags: BTreeMap<String, u64>,
    /// Funnels and opportunities.
    pub deals: Deals,
    /// Omitted rows.
    pub faults: Vec<RowRemark>,
    /// Values that are left out, cut or kept in custom fields.
    pub losses: Vec<RowRemark>,
    /// Number of rows by remark about their values.
    pub notes: BTreeMap<String, u64>,
    /// What the operator has to judge, with the line of the map to write.
    pub doubts: Vec<String>,
    /// Places of omitted companies and leads by kind, product and id.
    omitted: HashMap<(FileKind, &'static str, String), String>,
    /// Number of rows that became records, by file.
    pub taken: HashMap<usize, u64>,
    totals: RunningTotals,
}

/// The amounts of a file's rows so far, and since its last line of totals.
#[derive(Debug, Default)]
struct RunningTotals {
    all: u64,
    since: u64,
}

/// A company to which a row refers: its id, and its index if a file of this run contains it.
pub type CompanyRef = (u64, Option<usize>);

/// First and last name of a row's lead, and an address that its name contains. `name` is the cell of its whole name.
fn names_of(cells: &RowCells, name: &str) -> ([Option<String>; 2], Option<String>) {
    let part = FileKind::Lead;
    let (name, email) = people::person(name);
    let email = email.filter(|email| people::emails(email).is_ok());
    let (first, last) = name.as_deref().map(people::halves).unzip();
    let own = |field| cells.text(part, field).map(str::to_owned);
    let last_names = [own("middlename"), own("lastname")];
    let own_last = last_names.into_iter().flatten().collect::<Vec<_>>().join(" ");
    let own_last = Some(own_last).filter(|name| !name.is_empty());
    let names = [own("firstname").or(first), own_last.or(last.flatten())];
    (names, email)
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

    /// Reads all rows of the files: of companies, then of leads, then of opportunities.
    ///
    /// # Errors
    /// The system's error, if a temporary file cannot be written.
    pub fn add_files(
        &mut self,
        files: &[MappedFile],
        styles: &[Styles],
        bar: &ProgressBar,
    ) -> io::Result<()> {
        let rows: usize = files.iter().map(|file| file.sheet.grid.len()).sum();
        progress::working(bar, rows as u64);
        files.iter().for_each(|file| self.reserve_ids(file));
        for main in FileKind::ALL {
            let with_styles = files.iter().zip(styles).enumerate();
            for (index, (file, styles)) in with_styles.filter(|(_, (file, _))| file.main == main) {
                let faults = file.sheet.faults.iter().cloned();
                self.faults
                    .extend(faults.map(|(line, reason)| (index, line, reason)));
                self.totals = RunningTotals::default();
                for row in file.sheet.grid.rows() {
                    let cells = RowCells {
                        file,
                        index,
                        row,
                        styles: *styles,
                        zone: self.zone,
                        faults: Vec::new(),
                        losses: Vec::new(),
                        unread: Vec::new(),
                        currency: None,
                    };
                    self.add_row(cells)?;
                    progress::worked(bar, 1);
                }
            }
        }
        self.faults.sort();
        self.losses.sort();
        Ok(())
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

    /// Adds the records of a row, or its faults.
    fn add_row(&mut self, mut cells: RowCells<'_>) -> io::Result<()> {
        if self.is_totals(&cells) {
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

    /// Whether a row is a line of totals: its first value says so, the others are amounts, and the amount is that of the
    /// rows before, or the row is the last one.
    fn is_totals(&mut self, cells: &RowCells<'_>) -> bool {
        let (file, row) = (cells.file, cells.row);
        let value = file.values(row, FileKind::Opportunity, "value").next();
        let value = value.and_then(|(_, cell)| {
            let amount = Amount::of(cell).ok()?;
            amount
                .cents(cells.styles.decimal, cells.styles.is_decimal_named)
                .ok()
                .map(Cents::get)
        });
        let mut filled = row.cells().enumerate().filter(|(_, cell)| !cell.text.is_empty());
        let first = filled.next().map_or("", |(_, cell)| cell.text);
        let is_number = |(column, cell): (usize, super::input::Cell<'_>)| {
            let field = file.columns.get(column).and_then(|column| column.target.field());
            matches!(field, None | Some((FileKind::Opportunity, "value" | "currency")))
                && Amount::of(cell).is_ok()
        };
        if !names::names_totals(first) || !filled.all(is_number) {
            self.totals.all += value.unwrap_or_default();
            self.totals.since += value.unwrap_or_default();
            return false;
        }
        let line = row.line();
        let is_row = self
            .map
            .rows
            .get(&file.sheet.name)
            .is_some_and(|lines| lines.contains(&line));
        let is_last = file
            .sheet
            .grid
            .rows()
            .next_back()
            .is_some_and(|last| last.line() == line);
        let is_sum = value.is_none_or(|value| value == self.totals.all || value == self.totals.since);
        let place = format!("{}:{line}: {first:?}", file.sheet.name);
        if is_row || !is_last && !is_sum {
            if !is_row {
                self.doubts.push(format!(
                    "{place} looks like a line of totals and is a row, because it is no sum"
                ));
            }
            return false;
        }
        self.totals.since = 0;
        let name = quoted(&file.sheet.name);
        let doubt = format!(
            "{place} is a line of totals and is left out; if it is a row:\n    rows.{name} = [{line}]"
        );
        self.doubts.push(doubt);
        true
    }

    /// Counts a row with this remark.
    pub fn remark(&mut self, remark: String) {
        *self.notes.entry(remark).or_default() += 1;
    }

    /// The first id of a cell that may contain several.
    fn id(&mut self, cells: &RowCells, part: FileKind) -> String {
        let (id, has_others) = people::first_id(cells.text(part, "id").unwrap_or_default());
        if has_others {
            self.remark(format!(
                "{}: the first one of several {} ids is used",
                cells.file.sheet.name,
                part.name()
            ));
        }
        without_fraction(id).to_owned()
    }

    fn owner(&mut self, cells: &RowCells, part: FileKind) -> Option<u64> {
        let cell = cells.text(part, "owner")?;
        Some(self.users.of(cell, &mut self.ids))
    }

    /// The reason why a row refers to no record.
    fn missing(&self, part: FileKind, reference: &RowReference) -> String {
        let key = (part, reference.product, reference.id.clone());
        let name = format!("{} {}", part.name(), reference.id);
        match self.omitted.get(&key) {
            Some(place) => format!("{name} is left out itself, see {place}"),
            None => format!("{name} is in no file; convert its file too"),
        }
    }

    /// The id of a record that an earlier run has converted.
    fn earlier(&self, part: FileKind, reference: &RowReference) -> Option<u64> {
        let key = format!("{}:id:{}", reference.product, reference.id);
        self.ids
            .known(part.name(), &key)
            .filter(|_| !reference.id.is_empty())
    }

    /// A row's company: in a file of companies the row itself, else the one to which it refers, which is added if no file
    /// contains it. `None` without a company or after a fault.
    pub fn company(&mut self, cells: &mut RowCells) -> Option<CompanyRef> {
        let part = FileKind::Company;
        let name = cells.text(part, "companyname").unwrap_or_default();
        let reference = RowReference {
            product: cells.file.names.product,
            id: self.id(cells, part),
            name: name.to_owned(),
            ..RowReference::default()
        };
        let is_main = cells.file.main == part;
        if !is_main {
            if reference.is_empty() {
                return None;
            }
            // Companies are found by name without an error.
            if let Some(at) = self.companies.find(&reference).ok().flatten() {
                return Some((self.companies.id(at), Some(at)));
            }
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
        let owner = self.owner(cells, part);
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

    /// The id of a row's lead: in a file of leads the row itself, which is added, else the lead to which the row refers. An
    /// unknown lead is added if the row has more than its id. It gets the row's times and, without an owner of its own, the
    /// row's owner. `None` without a lead or after a fault.
    ///
    /// # Errors
    /// The system's error, if the record cannot be written.
    pub fn lead(&mut self, cells: &mut RowCells) -> io::Result<Option<u64>> {
        let part = FileKind::Lead;
        let is_main = cells.file.main == part;
        let mut fields = RecordFields::new();
        let reference = self.contact(cells, &mut fields);
        if reference.is_empty() {
            if is_main {
                let mut reason = "has neither name nor e-mail address nor telephone number".to_owned();
                cells
                    .losses
                    .iter()
                    .for_each(|loss| reason = format!("{reason}; {loss}"));
                cells.faults.push(reason);
            }
            return Ok(None);
        }
        if !is_main {
            match self.leads.find(&reference) {
                Ok(Some(at)) => {
                    // A known lead takes from the row only a company that it lacks.
                    if let Some((company, _)) = self.company(cells) {
                        self.leads.add_company(at, company);
                    }
                    return Ok(Some(self.leads.id(at)));
                }
                Ok(None) if reference.has_only_id() => {
                    let earlier = self.earlier(part, &reference);
                    if earlier.is_none() {
                        cells.faults.push(self.missing(part, &reference));
                    }
                    return Ok(earlier);
                }
                Ok(None) => {}
                Err(reason) => {
                    cells.faults.push(reason);
                    return Ok(None);
                }
            }
        }
        let company = self.lead_fields(cells, &mut fields);
        if !cells.faults.is_empty() {
            return Ok(None);
        }
        let place = (cells.index, cells.row.line());
        let at = match self.leads.add(&reference, place, &mut self.ids) {
            Ok(at) => at,
            Err(reason) => {
                cells.faults.push(reason);
                return Ok(None);
            }
        };
        if company.is_some() {
            self.leads.set_has_company(at);
        }
        let id = self.leads.id(at);
        fields.insert("id".to_owned(), json!(id));
        self.lead_lines.add(fields)?;
        Ok(Some(id))
    }

    /// Adds the fields of a row's lead that do not identify it, and returns its company. In a file of opportunities, times
    /// are those of the opportunity.
    fn lead_fields(&mut self, cells: &mut RowCells, fields: &mut RecordFields) -> Option<CompanyRef> {
        let part = FileKind::Lead;
        let is_main = cells.file.main == part;
        for field in LEAD_TEXTS {
            let text = cells.text(part, field);
            fields.extend(text.map(|text| (field.to_owned(), json!(text))));
        }
        for (name, clock) in [("createDate", Some("createTime")), ("lastActive", None)] {
            let own = cells.instant(part, name, clock);
            let read = own.or_else(|| cells.instant(FileKind::Opportunity, name, clock));
            match read {
                Some(Ok(time)) => _ = fields.insert(name.to_owned(), json!(time)),
                Some(Err((column, text, reason))) if is_main => cells.lose(part, name, column, text, &reason),
                _ => {}
            }
        }
        let tags = cells.values(part, "tags").map(|(_, cell)| cell.text);
        let tags: Vec<_> = tags.flat_map(|tags| self.tags(tags)).collect();
        if !tags.is_empty() {
            fields.insert("tags".to_owned(), json!(tags));
        }
        let company = self.company(cells);
        fields.extend(company.map(|(id, _)| ("company".to_owned(), json!(id))));
        for (name, text) in custom_texts(cells, part) {
            fields.insert(name, json!(text));
        }
        let unread = std::mem::take(&mut cells.unread);
        fields.extend(unread.into_iter().map(|(name, text)| (name, json!(text))));
        let owner = self.owner(cells, part);
        let owner = owner.or_else(|| {
            Some(
                self.users
                    .of(cells.text(FileKind::Opportunity, "user")?, &mut self.ids),
            )
        });
        fields.extend(owner.map(|user| ("owner".to_owned(), json!(user))));
        company
    }

    /// The name of a row's first contact, and whether an opportunity has others.
    fn first_contact(&mut self, cells: &RowCells) -> (String, bool) {
        let cell = cells.text(FileKind::Lead, "name").unwrap_or_default();
        if cells.file.main != FileKind::Opportunity {
            return (cell.to_owned(), false);
        }
        let (name, has_others) = people::first_person(cell, &cells.file.names.contacts());
        if has_others {
            let file = &cells.file.sheet.name;
            self.remark(format!("{file}: the first one of several contacts is used"));
        }
        (name, has_others)
    }

    /// The reference to a row's lead. Adds its names, addresses and numbers to `fields`, further ones as custom fields.
    fn contact(&mut self, cells: &mut RowCells, fields: &mut RecordFields) -> RowReference {
        let part = FileKind::Lead;
        if !PERSON.iter().any(|field| cells.file.has(part, field)) {
            return RowReference::default();
        }
        let (name, has_others) = self.first_contact(cells);
        let ([first, last], in_name) = names_of(cells, &name);
        let mut emails = cells.several(part, "email", people::emails);
        if emails.is_empty() {
            emails.extend(in_name);
        }
        let [mut phone, mut mobile, chatapp] =
            ["phone", "mobile", "chatapp"].map(|field| cells.several(part, field, people::phones));
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
        for (field, values) in [
            ("email", &emails),
            ("phone", &phone),
            ("mobile", &mobile),
            ("chatapp", &chatapp),
        ] {
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
            product: cells.file.names.product,
            id: self.id(cells, part),
            emails,
            phones: [mobile, phone, chatapp].concat(),
            name: names.join(" "),
        }
    }

    /// The ids of the tags in a cell, which are added if they are new. Google's own groups are none.
    fn tags(&mut self, cell: &str) -> Vec<u64> {
        let separated = cell.replace(":::", ";");
        let names = separated.split([',', ';']).map(str::trim);
        let names = names.filter(|name| !name.is_empty() && !name.starts_with("* "));
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
        let cut = shared::text::cut(text, MAX_TEXT);
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
