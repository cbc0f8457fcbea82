//! Funnels, and the counts of a run's opportunities (C-105).

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::io;

use domain::opportunity::Status;
use serde_json::json;

use super::ids::IdMap;
use super::keys::RunKeys;
use super::map::MapFile;
use super::names::{self, plain};
use super::people::RecordFields;
use super::spool::Spool;
use super::token::same_name;

/// Funnels and opportunities.
#[derive(Debug)]
pub struct Deals {
    /// In the order of the rows.
    pub lines: Spool,
    funnels: Vec<NewFunnel>,
    /// Indexes of funnels by name.
    by_name: HashMap<String, usize>,
    /// The first spelling of funnels, and of columns with their funnel, by kind and name in the form of `same_name`.
    spellings: HashMap<(&'static str, String), String>,
    known_columns: HashSet<u64>,
    /// Names of custom fields.
    fields: Vec<String>,
    known_fields: HashSet<String>,
    /// Loss reasons by name.
    pub losses: BTreeMap<String, u64>,
    /// Keys of opportunities without an id in the export.
    pub keys: RunKeys,
    /// Digests of the export's ids.
    pub by_id: HashSet<u64>,
    /// The title of the last row.
    pub last_title: Option<String>,
    /// Number of rows by the text of a status or stage and the status read from it.
    pub statuses: BTreeMap<(String, Status), u64>,
    /// Texts of statuses that are unknown.
    pub unknown: BTreeSet<String>,
    /// Stages that look closed and unknown statuses, both read as open, with their rows.
    pub doubtful: BTreeMap<String, u64>,
    /// Number of open rows that a column states as closed, by the indexes of file and column.
    pub closed_by: BTreeMap<(usize, usize), u64>,
    /// Number of closed rows without a date or reason, by the index of the file and the role of its column.
    pub lacking: BTreeMap<(usize, &'static str), u64>,
    /// Number of amounts by currency.
    pub currencies: BTreeMap<String, u64>,
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
            by_name: HashMap::new(),
            spellings: HashMap::new(),
            known_columns: HashSet::new(),
            fields: Vec::new(),
            known_fields: HashSet::new(),
            losses: BTreeMap::new(),
            keys: RunKeys::default(),
            by_id: HashSet::new(),
            last_title: None,
            statuses: BTreeMap::new(),
            unknown: BTreeSet::new(),
            doubtful: BTreeMap::new(),
            closed_by: BTreeMap::new(),
            lacking: BTreeMap::new(),
            currencies: BTreeMap::new(),
        })
    }

    /// The lines of the funnels. An import adds what is missing to a funnel that exists.
    pub fn funnels(&self, map: &MapFile) -> Vec<RecordFields> {
        let fields = self.fields.iter();
        let fields: Vec<_> = fields
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

    /// The number of funnels.
    pub fn funnel_count(&self) -> u64 {
        self.funnels.len() as u64
    }

    /// The funnels by name, with the names of their columns.
    pub fn shown<'a>(&'a self, map: &MapFile) -> impl Iterator<Item = (&'a str, Vec<&'a str>)> {
        self.funnels.iter().map(|funnel| {
            let columns = funnel.ordered(map).into_iter().map(|(_, name)| name.as_str());
            (funnel.name.as_str(), columns.collect())
        })
    }

    /// Adds a custom field.
    pub fn add_field(&mut self, name: &str) {
        if self.known_fields.insert(name.to_owned()) {
            self.fields.push(name.to_owned());
        }
    }

    /// The ids of a funnel and its column, which are added if they are new.
    pub fn place(&mut self, funnel: &str, stage: &str, ids: &mut IdMap) -> (u64, u64) {
        let funnel = &*self.spelled("funnel", funnel.to_owned(), ids);
        let place = self.spelled("column", format!("{funnel}/{stage}"), ids);
        let own = place.strip_prefix(funnel).and_then(|rest| rest.strip_prefix('/'));
        let stage = own.unwrap_or(stage);
        let at = self.by_name.get(funnel).copied().unwrap_or_else(|| {
            let (id, name) = (ids.assign("funnel", funnel.to_owned()), funnel.to_owned());
            self.by_name.insert(name.clone(), self.funnels.len());
            self.funnels.push(NewFunnel {
                id,
                name,
                columns: Vec::new(),
            });
            self.funnels.len() - 1
        });
        let column = ids.assign("column", place.clone());
        let Some(funnel) = self.funnels.get_mut(at) else {
            return (0, column);
        };
        if self.known_columns.insert(column) {
            funnel.columns.push((column, stage.to_owned()));
        }
        (funnel.id, column)
    }
}

impl Deals {
    /// A name in the spelling of the instance, of an earlier run, or of its first row.
    fn spelled(&mut self, kind: &'static str, name: String, ids: &IdMap) -> String {
        if ids.known(kind, &name).is_some() {
            return name;
        }
        if self.spellings.is_empty() {
            let keys = ["funnel", "column"].map(|kind| ids.records(kind).map(move |(name, _)| (kind, name)));
            let spellings = keys.into_iter().flatten();
            self.spellings = spellings
                .map(|(kind, name)| ((kind, same_name(name)), name.to_owned()))
                .collect();
        }
        self.spellings
            .entry((kind, same_name(&name)))
            .or_insert(name)
            .clone()
    }
}

impl NewFunnel {
    /// The columns in the order of the map, then of their first row, closed ones last.
    fn ordered(&self, map: &MapFile) -> Vec<&(u64, String)> {
        let wanted = map.funnels.get(&self.name).map(Vec::as_slice);
        let wanted: HashMap<_, _> = wanted.unwrap_or_default().iter().zip(0_usize..).collect();
        let mut columns: Vec<_> = self.columns.iter().collect();
        columns.sort_by_cached_key(|(_, name)| {
            let closed = match status(map, name, &self.name) {
                Some(Status::Gain) => 1,
                Some(Status::Lost) => 2,
                Some(Status::Open) | None => 0,
            };
            (wanted.get(name).copied().unwrap_or(usize::MAX), closed)
        });
        columns
    }
}

/// The status of a text, if it is known: by the map, else by its words without a number before and the funnel's name
/// after them, as in `5. Closed Won (Sales Pipeline)`.
pub fn status(map: &MapFile, text: &str, funnel: &str) -> Option<Status> {
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
