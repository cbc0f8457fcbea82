//! The mapping of a file's columns to fields: guessed by their names, then changed by a map (C-105).

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use domain::text::{cut, fold};
use serde_json::Value;

use super::columns::{self, Layout};
use super::content::Content;
use super::ids::whole;
use super::input::{Cell, Row, Sheet};
use super::kind::FileKind;
use super::map::MapFile;
use super::names::{self, ColumnField, FileNames, plain};
use super::product::Product;
use super::target::{Closing, ColumnTarget, is_fixed};
use super::token::amount::{currency_of_heading, is_not_zero};
use super::token::{is_absent, without_fraction};

/// Fields of which all values of a row are read.
const LISTS: [&str; 6] = ["area", "email", "phone", "mobile", "chatapp", "tags"];
/// Fields that several columns may fill. Of those that are no lists the first value is read, and another one is kept as a
/// custom field.
const SHARED: [&str; 10] = [
    "area",
    "email",
    "phone",
    "mobile",
    "name",
    "companyname",
    "closeDate",
    "id",
    "sale_channel",
    "tags",
];

/// The id of an opportunity.
const DEAL_ID: ColumnField = (FileKind::Opportunity, "id");
/// Maximum characters of a custom field's guessed name. A lead's has at most 64, with its number.
const MAX_ALIAS: usize = 52;

/// A column with its use.
#[derive(Debug)]
pub struct MappedColumn {
    /// The use.
    pub target: ColumnTarget,
    /// Number of values.
    filled: usize,
    /// A field that it would fill if no other column did.
    pub alike: Option<ColumnField>,
    /// Whether the map does not name it.
    pub is_guessed: bool,
    /// The currency that its heading names.
    pub currency: Option<&'static str>,
    /// The kinds of its values, if it fills no field.
    pub contents: Vec<Content>,
    /// The way in which it states that an opportunity is closed.
    pub closing: Option<Closing>,
    /// The custom field of values that differ from those of an earlier column of its field, if any does.
    pub further: Option<ColumnTarget>,
}

impl MappedColumn {
    /// Whether it is a custom field with values of this kind.
    pub fn is_custom_of(&self, content: Content) -> bool {
        matches!(self.target, ColumnTarget::Custom(..)) && self.contents.contains(&content)
    }
}

/// A file with its mapping.
#[derive(Debug)]
pub struct MappedFile {
    /// The rows.
    pub sheet: Sheet,
    /// The names that apply.
    pub names: FileNames,
    /// The kind of which every row is one.
    pub main: FileKind,
    /// In the order of the file.
    pub columns: Vec<MappedColumn>,
    /// The columns of each field.
    fields: HashMap<ColumnField, Vec<usize>>,
}

impl MappedFile {
    /// Maps each column of a file to a field, by the map, else by its heading.
    ///
    /// # Errors
    /// A message, if the map names an unknown field.
    pub fn new(sheet: Sheet, product: Product, map: &MapFile) -> Result<Self, String> {
        let names = FileNames::of(product, &sheet.headings);
        let main = map.kinds.get(&sheet.name).copied();
        let main = main.unwrap_or_else(|| columns::main_kind(&names, &sheet.headings));
        let mut filled = vec![0; sheet.headings.len()];
        for row in sheet.grid.rows() {
            for (count, cell) in filled.iter_mut().zip(row.cells()) {
                *count += usize::from(!is_absent(cell.text));
            }
        }
        let mut file = Self {
            sheet,
            names,
            main,
            columns: Vec::new(),
            fields: HashMap::new(),
        };
        file.map_columns(&filled, map)?;
        file.index_fields();
        file.find_further();
        file.find_closings(map);
        Ok(file)
    }

    /// Sets the columns of each field. Of a field that is no list, those that the map names come first.
    fn index_fields(&mut self) {
        for (at, column) in self.columns.iter().enumerate() {
            if let Some(field) = column.target.field() {
                self.fields.entry(field).or_default().push(at);
            }
        }
        let columns = &self.columns;
        let is_guessed = |at: &usize| columns.get(*at).is_some_and(|column| column.is_guessed);
        for ((_, field), of) in &mut self.fields {
            if !LISTS.contains(field) {
                of.sort_by_key(is_guessed);
            }
        }
    }

    /// Sets the custom fields of columns that differ from an earlier column of their field in a row.
    fn find_further(&mut self) {
        let single = self
            .fields
            .iter()
            .filter(|((part, field), _)| !LISTS.contains(field) && (*field != "id" || *part == self.main));
        let single = single.filter(|(_, columns)| columns.len() > 1);
        let differs = |at: &usize| self.sheet.grid.rows().any(|row| self.is_further(row, *at));
        let columns = single.flat_map(|(_, columns)| columns).copied();
        let mut further: Vec<_> = columns.filter(differs).collect();
        further.sort_unstable();
        let mut aliases = self.aliases();
        for at in further {
            let target = self.custom_target(self.heading(at), &mut aliases);
            if let Some(column) = self.columns.get_mut(at) {
                column.further = Some(target);
            }
        }
    }

    /// The names of the custom fields of leads.
    fn aliases(&self) -> HashMap<String, usize> {
        let names = self.columns.iter().filter_map(|column| match &column.target {
            ColumnTarget::Custom(FileKind::Lead, name) => Some((name.clone(), 0)),
            _ => None,
        });
        names.collect()
    }

    fn map_columns(&mut self, filled: &[usize], map: &MapFile) -> Result<(), String> {
        let layout = Layout::of(&self.names, self.main, &self.sheet.headings);
        let targets = self
            .sheet
            .headings
            .iter()
            .map(|heading| map.target(&self.sheet.name, heading).transpose());
        let targets = targets.collect::<Result<Vec<_>, _>>()?;
        // A guess does not repeat a field, unless several columns may fill it.
        let mut used: HashSet<_> = targets.iter().flatten().filter_map(ColumnTarget::field).collect();
        let known: HashSet<_> = self.sheet.headings.iter().map(String::as_str).collect();
        let mut aliases = HashMap::new();
        let mut columns = Vec::with_capacity(targets.len());
        let with_targets = self.sheet.headings.iter().zip(targets).zip(filled);
        for (at, ((heading, target), filled)) in with_targets.enumerate() {
            // A repeated heading has a number.
            let repeated = heading.strip_suffix(')').and_then(|text| text.rsplit_once(" ("));
            let own = repeated.filter(|(name, number)| known.contains(name) && whole(number).is_some());
            let guess = layout.field(own.map_or(heading, |(name, _)| name));
            let is_free = |field: &ColumnField| SHARED.contains(&field.1) || !used.contains(field);
            let guess = guess.filter(|field| self.may_fill(&layout, at, *field));
            let is_mapped = target.is_some();
            let target = match (target, guess.filter(is_free)) {
                (Some(target), _) => target,
                (None, Some((part, field))) => ColumnTarget::Field(part, field),
                (None, None) if *filled == 0 => ColumnTarget::LeftOut("empty"),
                (None, None) => self.custom_target(heading, &mut aliases),
            };
            used.extend(target.field());
            columns.push(MappedColumn {
                alike: guess.filter(|field| !is_mapped && *filled > 0 && target.field() != Some(*field)),
                is_guessed: !is_mapped,
                currency: currency_of_heading(heading),
                filled: *filled,
                contents: Vec::new(),
                closing: None,
                further: None,
                target,
            });
        }
        for (at, column) in columns.iter_mut().enumerate() {
            if column.target.field().is_none() {
                column.contents = Content::of(&self.sheet, at);
            }
        }
        self.columns = columns;
        Ok(())
    }

    /// Whether the values of a column may be those of a field by its name. An amount is no title, and `Código` is the id of
    /// deals if it alone may be and numbers the rows.
    fn may_fill(&self, layout: &Layout<'_>, at: usize, field: ColumnField) -> bool {
        if field == (FileKind::Opportunity, "title") {
            return !Content::of(&self.sheet, at).contains(&Content::Money);
        }
        if field == (FileKind::Lead, "area") {
            return layout.has(&["phone", "mobile", "chatapp"]);
        }
        if field != DEAL_ID || plain(self.heading(at)) != "codigo" {
            return true;
        }
        let mut headings = self.sheet.headings.iter().enumerate();
        let has_other =
            headings.any(|(other, heading)| other != at && layout.field(heading) == Some(DEAL_ID));
        let mut seen = HashSet::new();
        let mut ids = self.sheet.grid.rows().map(|row| whole(row.cell(at).text));
        !has_other && ids.all(|id| id.is_some_and(|id| seen.insert(id)))
    }

    /// The custom field of a column without a field.
    fn custom_target(&self, heading: &str, aliases: &mut HashMap<String, usize>) -> ColumnTarget {
        let entity = names::entity(heading).filter(|_| self.names.product != "csv");
        let (part, name) = entity.unwrap_or((self.main, heading));
        match part {
            FileKind::Company => ColumnTarget::LeftOut("a company has no custom fields"),
            FileKind::Opportunity => ColumnTarget::Custom(part, name.trim().to_owned()),
            FileKind::Lead => {
                let alias = cut(&plain(name), MAX_ALIAS).trim().replace(' ', "_");
                let is_free = !alias.is_empty() && !is_fixed(&alias);
                let alias = if is_free { alias } else { format!("field_{alias}") };
                ColumnTarget::Custom(part, distinct(alias, aliases))
            }
        }
    }

    /// Whether a column fills a field.
    #[must_use]
    pub fn has(&self, part: FileKind, field: &'static str) -> bool {
        self.fields.contains_key(&(part, field))
    }

    /// The values of a field in a row, without absent ones, each with its column.
    pub fn values<'a>(
        &'a self,
        row: Row<'a>,
        part: FileKind,
        field: &'static str,
    ) -> impl Iterator<Item = (usize, Cell<'a>)> {
        let columns = self
            .fields
            .get(&(part, field))
            .map(Vec::as_slice)
            .unwrap_or_default();
        let cells = columns.iter().map(move |column| (*column, row.cell(*column)));
        let is_owner = matches!(field, "owner" | "user");
        let is_none = move |text| {
            // A guest's id is 0.
            let is_zero = (is_owner || field == "id") && without_fraction(text) == "0";
            is_absent(text) || is_zero || is_owner && names::is_nobody(text)
        };
        cells.filter(move |(_, cell)| !is_none(cell.text))
    }

    /// The value of a field in a row, with its column: the first one, and of amounts the first one that is not zero.
    #[must_use]
    pub fn first<'a>(&'a self, row: Row<'a>, field: ColumnField) -> Option<(usize, Cell<'a>)> {
        let mut values = self.values(row, field.0, field.1);
        let first = values.next()?;
        let is_amount = |(_, cell): &(usize, Cell<'_>)| is_not_zero(cell.text);
        if field.1 != "value" || is_amount(&first) {
            return Some(first);
        }
        values.find(is_amount).or(Some(first))
    }

    /// Whether a column has another value than the one that is read of its field.
    fn is_further(&self, row: Row<'_>, column: usize) -> bool {
        let field = self.columns.get(column).and_then(|column| column.target.field());
        let first = field.and_then(|field| self.first(row, field));
        let text = row.cell(column).text;
        first.is_some_and(|(at, first)| {
            at != column && !is_absent(text) && first.text != text && fold(first.text) != fold(text)
        })
    }

    /// The custom fields of a row, each with its column.
    pub fn custom<'a>(
        &'a self,
        row: Row<'a>,
        part: FileKind,
    ) -> impl Iterator<Item = (usize, &'a str, Cell<'a>)> {
        let columns = self.columns.iter().enumerate();
        columns.filter_map(move |(at, column)| match (&column.target, &column.further) {
            (ColumnTarget::Custom(of, name), _) if *of == part => {
                let cell = row.cell(at);
                (!is_absent(cell.text)).then_some((at, name.as_str(), cell))
            }
            (_, Some(ColumnTarget::Custom(of, name))) if *of == part && self.is_further(row, at) => {
                Some((at, name.as_str(), row.cell(at)))
            }
            _ => None,
        })
    }

    /// Number of values in all columns.
    #[must_use]
    pub fn filled(&self) -> usize {
        self.columns.iter().map(|column| column.filled).sum()
    }

    /// The name of a column.
    pub fn heading(&self, column: usize) -> &str {
        self.sheet
            .headings
            .get(column)
            .map(String::as_str)
            .unwrap_or_default()
    }

    /// The mapping as a table of text. `types` are those of the columns, as shown.
    #[must_use]
    pub fn shown(&self, types: &[String]) -> String {
        let mut text = format!(
            "{}: {} rows of kind {}, {}, columns of {}\n",
            self.sheet.name,
            self.sheet.grid.len() + self.sheet.faults.len(),
            self.main.name(),
            self.sheet.form,
            self.names.product,
        );
        let width = |names: &mut dyn Iterator<Item = usize>| names.max().unwrap_or_default().min(48);
        let first = width(&mut self.sheet.headings.iter().map(|name| name.chars().count()));
        let second = width(
            &mut self
                .columns
                .iter()
                .map(|column| column.target.shown().chars().count()),
        );
        let _ = writeln!(
            text,
            "  {:first$}  {:second$}  {:>7}  style",
            "column", "field", "filled"
        );
        for ((heading, column), shown_type) in self.sheet.headings.iter().zip(&self.columns).zip(types) {
            let heading = heading.escape_debug().to_string().replace("\\'", "'");
            let (field, filled) = (column.target.shown(), column.filled);
            let line = format!("  {heading:first$}  {field:second$}  {filled:>7}  {shown_type}");
            let _ = writeln!(text, "{}", line.trim_end());
        }
        for note in &self.sheet.notes {
            let _ = writeln!(text, "{}: {note}", self.sheet.name);
        }
        text
    }

    /// The mapping as lines of a map.
    #[must_use]
    pub fn written(&self) -> String {
        let name = quoted(&self.sheet.name);
        let mut lines = format!("kinds.{name} = \"{}\"\n", self.main.name());
        for (heading, column) in self.sheet.headings.iter().zip(&self.columns) {
            let (heading, field) = (quoted(heading), quoted(&column.target.written()));
            let _ = writeln!(lines, "files.{name}.{heading} = {field}");
        }
        lines
    }
}

/// A name that no other column has: a repeated one gets a number.
fn distinct(name: String, counts: &mut HashMap<String, usize>) -> String {
    let mut count = counts.get(&name).copied().unwrap_or_default();
    let mut free = name.clone();
    while counts.contains_key(&free) {
        count += 1;
        free = format!("{name}_{}", count + 1);
    }
    counts.insert(free.clone(), 0);
    counts.insert(name, count);
    free
}

/// A text as a map contains it.
pub fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// The mapping of the files as a map, for editing. Its lines have no section, so that others can be added after them.
#[must_use]
pub fn written_map(files: &[MappedFile]) -> String {
    files.iter().map(MappedFile::written).collect()
}
