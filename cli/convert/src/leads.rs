//! Rows as leads, and the leads to which rows refer (C-105).

use std::io;

use serde_json::json;

use super::cells::RowCells;
use super::columns::PERSON;
use super::index::CompanyRef;
use super::kind::FileKind;
use super::names::plain;
use super::people::RecordFields;
use super::persons::key_of;
use super::records::{RecordBuilder, custom_texts};
use super::reference::{CONTACT, EMAIL, PHONE, RowReference};
use super::token::{people, same_name};

/// Fields that contain the text of the cell.
const LEAD_TEXTS: [&str; 6] = [
    "address",
    "city",
    "state",
    "country",
    "zipcode",
    "acquisition_channel",
];

/// First and last name of a row's lead. `name` is the cell of its whole name; an address in it is that of a lead without
/// one, and part of the name of a lead with another one.
fn names_of(cells: &RowCells, name: &str, emails: &mut Vec<String>) -> [Option<String>; 2] {
    let part = FileKind::Lead;
    let (own, email) = people::person(name);
    let is_other = |email: &String| {
        !emails
            .iter()
            .all(|other| people::same(other) == people::same(email))
    };
    let name = if email.as_ref().is_some_and(is_other) {
        Some(name.to_owned())
    } else {
        emails.extend(email.filter(|_| emails.is_empty()));
        own
    };
    let own = |field| cells.text(part, field).map(str::to_owned);
    let last_names = [own("middlename"), own("lastname")];
    let last = last_names.into_iter().flatten().collect::<Vec<_>>().join(" ");
    joined(name, own("firstname"), Some(last).filter(|last| !last.is_empty()))
}

/// First and last name by a whole name and its parts. Parts of another name are left out.
fn joined(whole: Option<String>, first: Option<String>, last: Option<String>) -> [Option<String>; 2] {
    let [words, first_words, last_words] =
        [&whole, &first, &last].map(|name| words(name.as_deref().unwrap_or_default()));
    let mut parts = [&*first_words, &*last_words].concat();
    let is_shared = parts.iter().any(|word| words.contains(word));
    parts.sort();
    let mut sorted = words.clone();
    sorted.sort();
    let halves = |name: &str| {
        let (first, last) = people::halves(name);
        [Some(first), last]
    };
    match (whole, &first, &last) {
        // `Lia Prado` and `Prado`
        (None, Some(name), Some(_)) if first_words.len() > 1 && first_words.ends_with(&last_words) => {
            halves(name)
        }
        (Some(name), None, Some(last)) if !is_shared => halves(&format!("{name} {last}")),
        (Some(name), ..) if is_shared && parts != sorted || parts.is_empty() => halves(&name),
        _ => [first, last],
    }
}

/// The words of a name in the form in which they are compared.
fn words(name: &str) -> Vec<String> {
    plain(name)
        .split(' ')
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

impl RecordBuilder<'_> {
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
        cells.person = same_name(&reference.name);
        if reference.is_empty() {
            if is_main {
                let reason = "has neither name nor e-mail address nor telephone number".to_owned();
                let losses = std::mem::take(&mut cells.losses);
                cells.faults.extend([reason].into_iter().chain(losses));
            }
            return Ok(None);
        }
        let known = if is_main {
            Ok(None)
        } else {
            self.known_lead(cells, &reference, &fields)
        };
        match known {
            Ok(None) => {}
            Ok(known) => return Ok(known),
            Err(reason) => {
                cells.faults.push(reason);
                return Ok(None);
            }
        }
        let company = self.lead_fields(cells, &mut fields);
        if !cells.faults.is_empty() {
            return Ok(None);
        }
        let place = (cells.index, cells.row.line());
        let added = self.leads.add(&reference, place, &mut self.ids);
        let Some(at) = added.map_err(|reason| cells.faults.push(reason)).ok() else {
            return Ok(None);
        };
        if let Some((company, _)) = company {
            self.leads.set_company(at, company);
        }
        let id = self.leads.id(at);
        fields.insert("id".to_owned(), json!(id));
        self.lead_lines.add(fields)?;
        Ok(Some(id))
    }

    /// The id of the lead to which a row refers; `None` if the row has a new lead. `fields` are its names, addresses and
    /// numbers. An error is the fault of the row.
    fn known_lead(
        &mut self,
        cells: &mut RowCells,
        reference: &RowReference,
        fields: &RecordFields,
    ) -> Result<Option<u64>, String> {
        let Some(at) = self.leads.find(reference)? else {
            if !reference.has_only_id() {
                return Ok(None);
            }
            let earlier = self.earlier(FileKind::Lead, reference);
            return earlier
                .map(Some)
                .ok_or_else(|| self.missing(FileKind::Lead, reference));
        };
        let has_other_name = reference.id.is_empty() && !self.leads.may_be_named(at, &reference.name);
        if has_other_name {
            let file = &cells.file.sheet.name;
            self.remark(format!(
                "{file}: the e-mail address is that of a lead with another name; custom fields keep the row's name and number"
            ));
            cells.keep("name", &reference.name);
        }
        // A known lead takes from the row what it lacks.
        if let Some((company, line)) = self.company(cells)
            && !self.leads.add_company(at, company)
        {
            cells.other_company = Some((company, line));
        }
        let name = same_name(&reference.name);
        let is_one = reference.id.is_empty() && !has_other_name && !name.is_empty();
        for value in reference.values.iter().filter(|_| is_one) {
            if !self.leads.has_value(at, (value.0, &value.1)) {
                self.ids.adopt("lead", key_of(value, &name), self.leads.id(at));
            }
        }
        self.add_contacts(cells, at, fields, has_other_name);
        let parts = ["firstname", "lastname"].into_iter();
        let parts = parts.filter_map(|part| Some((part, fields.get(part)?.as_str()?.to_owned())));
        self.leads.add_name(at, &reference.name, parts);
        Ok(Some(self.leads.id(at)))
    }

    /// Gives a known lead the addresses and numbers that it lacks. The deal keeps those of a row with another name.
    fn add_contacts(&mut self, cells: &mut RowCells, at: usize, fields: &RecordFields, has_other_name: bool) {
        let place = (cells.index, cells.row.line());
        for (name, text) in fields {
            let Some(text) = text.as_str() else { continue };
            let field = CONTACT.iter().find(|field| name.starts_with(**field));
            let value = match field {
                Some(&EMAIL) => (EMAIL, &*people::same(text)),
                Some(_) => (PHONE, text),
                None => continue,
            };
            let Some(field) = field.filter(|_| !self.leads.has_value(at, value)) else {
                continue;
            };
            if has_other_name {
                cells.keep(field, text);
            } else {
                self.leads.add_value(at, (field, text), value, place);
                self.remark(format!("leads get a further {field} of another row"));
            }
        }
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
        let own = self.user(cells, part, "owner");
        let owner = own.or_else(|| self.user(cells, FileKind::Opportunity, "user"));
        fields.extend(owner.map(|user| ("owner".to_owned(), json!(user))));
        company
    }

    /// The name of a row's first contact, and whether an opportunity has others.
    fn first_contact(&mut self, cells: &RowCells) -> (String, bool) {
        let cell = cells.text(FileKind::Lead, "name").unwrap_or_default();
        if cells.file.main != FileKind::Opportunity {
            return (cell.to_owned(), false);
        }
        let mut separators = cells.file.names.contacts();
        // `Prado, Lia` is one person. Whole names are those of several, and as many addresses as names.
        let (names, emails) = (
            cell.split(',').count(),
            cells.text(FileKind::Lead, "email").unwrap_or_default(),
        );
        let are_whole = cell.split(',').all(|name| name.trim().contains(' '));
        let are_as_many = || people::emails(emails).is_ok_and(|emails| emails.len() == names);
        if names > 1 && (are_whole || are_as_many()) {
            separators.push(',');
        }
        let (name, has_others) = people::first_person(cell, &separators);
        if has_others {
            let file = &cells.file.sheet.name;
            self.remark(format!("{file}: the first one of several contacts is used"));
        }
        (name, has_others)
    }

    /// The reference to a row's lead. Adds its names, addresses and numbers to `fields`, further ones as custom fields.
    pub fn contact(&mut self, cells: &mut RowCells, fields: &mut RecordFields) -> RowReference {
        let part = FileKind::Lead;
        if !PERSON.iter().any(|field| cells.file.has(part, field)) {
            return RowReference::default();
        }
        let (name, has_others) = self.first_contact(cells);
        let mut emails = cells.several(part, "email", people::emails);
        let [first, last] = names_of(cells, &name, &mut emails);
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
        let lists = [
            ("email", &emails),
            ("phone", &phone),
            ("mobile", &mobile),
            ("chatapp", &chatapp),
        ];
        for (field, values) in lists {
            self.set_values(field, values, fields);
        }
        for (field, name) in [("firstname", &first), ("lastname", &last)] {
            fields.extend(name.as_ref().map(|name| (field.to_owned(), json!(name))));
        }
        let names = [first, last].into_iter().flatten().collect::<Vec<_>>();
        let emails = emails.iter().map(|email| (EMAIL, people::same(email)));
        let phones = [mobile, phone, chatapp].concat().into_iter();
        RowReference {
            product: cells.file.names.product,
            id: self.id(cells, part),
            values: emails.chain(phones.map(|phone| (PHONE, phone))).collect(),
            name: names.join(" "),
            is_row: cells.file.main == part,
            row: cells.number,
        }
    }

    /// Sets a field to the first value, and custom fields to further ones.
    fn set_values(&mut self, field: &str, values: &[String], fields: &mut RecordFields) {
        for (at, value) in values.iter().enumerate() {
            let mut name = field.to_owned();
            if at > 0 {
                name = format!("{field}_{}", at + 1);
                self.remark(format!("leads have a further {field}, now custom field {name}"));
            }
            fields.insert(name, json!(value));
        }
    }

    /// The ids of the tags in a cell, which are added if they are new. Google's own groups are none.
    fn tags(&mut self, cell: &str) -> Vec<u64> {
        let separated = cell.replace(":::", ";");
        let names = separated.split([',', ';']).map(str::trim);
        let names = names.map(|name| name.trim_matches('"'));
        let names = names.filter(|name| !name.is_empty() && !name.starts_with("* "));
        let mut found = Vec::new();
        for name in names {
            let id = self.ids.assign("tag", name.to_lowercase());
            self.tags
                .entry(name.to_lowercase())
                .or_insert_with(|| (id, name.to_owned()));
            if !found.contains(&id) {
                found.push(id);
            }
        }
        found
    }
}
