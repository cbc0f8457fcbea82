//! Names of columns in the exports of products, and words of cells. Both are data: a file for each product and language
//! in `names`, and `common.toml` for every program (C-105).

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::LazyLock;

use domain::opportunity::Status;
use domain::text::fold;
use serde::Deserialize;

use super::kind::FileKind;
use super::product::Product;

/// The files of names. The first one has the names that every program may use.
const FILES: [&str; 17] = [
    include_str!("names/common.toml"),
    include_str!("names/hubspot.toml"),
    include_str!("names/pipedrive-en.toml"),
    include_str!("names/pipedrive-pt.toml"),
    include_str!("names/pipedrive-es.toml"),
    include_str!("names/pipedrive-de.toml"),
    include_str!("names/rdstation-crm.toml"),
    include_str!("names/rdstation-marketing.toml"),
    include_str!("names/kommo.toml"),
    include_str!("names/salesforce.toml"),
    include_str!("names/zoho.toml"),
    include_str!("names/bitrix24.toml"),
    include_str!("names/piperun.toml"),
    include_str!("names/agendor.toml"),
    include_str!("names/ploomes.toml"),
    include_str!("names/google.toml"),
    include_str!("names/outlook.toml"),
];

/// Fields by which a person is reached.
const CONTACT: [&str; 4] = ["email", "phone", "mobile", "chatapp"];

static NAMES: LazyLock<Vec<Names>> = LazyLock::new(|| FILES.iter().map(|text| Names::parse(text)).collect());

/// A field that a column fills.
pub type ColumnField = (FileKind, &'static str);
type Section = BTreeMap<String, Vec<String>>;

/// A file of names.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Names {
    product: String,
    /// Headings that tell the product, with the kind of such a file.
    sign: Vec<Sign>,
    /// The separators of several contacts of a deal.
    contacts: Vec<char>,
    company: Section,
    lead: Section,
    opportunity: Section,
    entities: BTreeMap<FileKind, Vec<String>>,
    status: StatusWords,
    totals: TotalsWords,
    dates: DateWords,
    tokens: TokenWords,
    /// Signs and names of currencies by ISO code.
    currencies: Section,
    /// ISO codes by sign and name.
    #[serde(skip)]
    codes: HashMap<String, String>,
    /// Beginnings of words by the name of a role.
    roles: BTreeMap<String, Vec<String>>,
    /// Fields by the kind of the file and the column's plain name.
    #[serde(skip)]
    fields: HashMap<(FileKind, String), (FileKind, String)>,
}

#[derive(Debug, Deserialize)]
struct Sign {
    kind: FileKind,
    heads: Vec<String>,
}

/// Words of statuses and of stages.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct StatusWords {
    gain: Vec<String>,
    lost: Vec<String>,
    open: Vec<String>,
    /// Beginnings of words in stages that look closed.
    closed: Vec<String>,
}

/// Words of lines of totals.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct TotalsWords {
    before: HashSet<String>,
    first: HashSet<String>,
    rest: HashSet<String>,
}

/// Words of headings of amounts, and of cells with numbers and addresses.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct TokenWords {
    scales: HashSet<String>,
    labels: HashSet<String>,
}

/// Words of dates.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct DateWords {
    months: Vec<Vec<String>>,
    weekdays: HashSet<String>,
    fillers: HashSet<String>,
}

impl Names {
    fn parse(text: &str) -> Self {
        // A test reads all files.
        let mut names: Self = toml::from_str(text).unwrap_or_default();
        for main in FileKind::ALL {
            let section = names.section(main).clone();
            for (field, headings) in section {
                let (part, field) = match field.split_once('.') {
                    Some((part, field)) => (FileKind::named(part).unwrap_or(main), field.to_owned()),
                    None => (main, field),
                };
                for heading in headings {
                    let key = (main, plain(&heading));
                    names.fields.entry(key).or_insert((part, field.clone()));
                }
            }
        }
        for (code, signs) in &names.currencies {
            for sign in signs {
                names
                    .codes
                    .entry(plain_sign(sign))
                    .or_insert_with(|| code.clone());
            }
        }
        names
    }

    fn section(&self, kind: FileKind) -> &Section {
        match kind {
            FileKind::Company => &self.company,
            FileKind::Lead => &self.lead,
            FileKind::Opportunity => &self.opportunity,
        }
    }

    /// The kind of a file with these columns by the sign with most headings, and their number.
    fn sign(&self, headings: &HashSet<String>) -> Option<(usize, FileKind)> {
        let is_whole = |sign: &&Sign| sign.heads.iter().all(|head| headings.contains(&plain(head)));
        let whole: Vec<_> = self.sign.iter().filter(is_whole).collect();
        let most = whole.iter().map(|sign| sign.heads.len()).max()?;
        // A file of deals has columns of persons too, and one of persons has columns of companies.
        let kind = whole.iter().map(|sign| sign.kind).max()?;
        Some((most, kind))
    }
}

/// A heading in the form in which names are compared: without case, accents and punctuation, and `email` for `E-mail`.
#[must_use]
pub fn plain(heading: &str) -> String {
    let mut name = String::with_capacity(heading.len());
    let folded = fold(heading);
    for word in folded.split(|c: char| !c.is_alphanumeric()) {
        let is_email = word == "mail" && (name == "e" || name.ends_with(" e"));
        if !name.is_empty() && !word.is_empty() && !is_email {
            name.push(' ');
        }
        name.push_str(word);
    }
    name
}

/// The words of all programs.
fn common() -> &'static Names {
    static NONE: LazyLock<Names> = LazyLock::new(Names::default);
    NAMES.first().unwrap_or(&NONE)
}

/// Whether a file of any product has a column with this name.
pub fn is_known_heading(heading: &str) -> bool {
    static KNOWN: LazyLock<HashSet<&str>> = LazyLock::new(|| {
        let fields = NAMES.iter().flat_map(|names| names.fields.keys());
        fields.map(|(_, name)| name.as_str()).collect()
    });
    let name = plain(heading);
    KNOWN.contains(name.as_str())
        || entity(heading).is_some_and(|(_, name)| KNOWN.contains(plain(name).as_str()))
}

/// The kind of records that a heading names, and the rest of the heading: `Person - Email`, `Contact: Email`,
/// `Email (Person)`, `Record ID - Contact`.
pub fn entity(heading: &str) -> Option<(FileKind, &str)> {
    static KINDS: LazyLock<HashMap<&str, FileKind>> = LazyLock::new(|| {
        let kinds = common().entities.iter();
        let words = kinds.flat_map(|(kind, words)| words.iter().map(|word| (word.as_str(), *kind)));
        words.collect()
    });
    let kind = |word: &str| KINDS.get(plain(word).as_str()).copied();
    let before = [" - ", ": "].iter().find_map(|mark| {
        let (word, name) = heading.split_once(mark)?;
        Some((kind(word)?, name))
    });
    let after = || {
        let (name, word) = heading.strip_suffix(')').and_then(|text| text.rsplit_once('('))?;
        Some((kind(word)?, name))
    };
    let last = || {
        let (name, word) = heading.rsplit_once(" - ")?;
        Some((kind(word)?, name))
    };
    before.or_else(after).or_else(last)
}

/// The fields of records of a kind, which a map may name.
pub fn fields(kind: FileKind) -> impl Iterator<Item = &'static str> {
    let fields = common().section(kind).keys();
    fields.map(String::as_str).filter(|field| !field.contains('.'))
}

/// The field with a name such as `lead.email`, as maps contain it.
pub fn field(text: &str) -> Option<ColumnField> {
    let (part, field) = text.split_once('.')?;
    let part = FileKind::named(part)?;
    let known = fields(part).find(|known| *known == field)?;
    Some((part, known))
}

/// The names of a product that apply to a file.
#[derive(Debug, Clone)]
pub struct FileNames {
    /// The product's name.
    pub product: &'static str,
    /// The kind of the file, if its columns tell it.
    pub kind: Option<FileKind>,
    chain: Vec<&'static Names>,
}

impl FileNames {
    /// The names for a file with these columns.
    pub fn of(product: Product, headings: &[String]) -> Self {
        let headings: HashSet<_> = headings.iter().map(|heading| plain(heading)).collect();
        let wanted = clap::ValueEnum::to_possible_value(&product);
        let wanted = wanted.as_ref().map_or("", |value| value.get_name());
        let is_wanted =
            |names: &&Names| product == Product::Auto || (names.product == wanted && product != Product::Csv);
        let signs = NAMES.iter().skip(1).filter(is_wanted);
        let signs = signs.filter_map(|names| Some((names.sign(&headings)?, names)));
        let best = signs.reduce(|best, other| if other.0.0 > best.0.0 { other } else { best });
        let name = best.map_or(wanted, |(_, names)| names.product.as_str());
        // Files in other languages of the same product come after the best one.
        let of_product = NAMES.iter().skip(1).filter(|names| names.product == name);
        let chain = best.iter().map(|(_, names)| *names).chain(of_product);
        Self {
            product: NAMES
                .iter()
                .find(|names| names.product == name)
                .map_or("csv", |names| &names.product),
            kind: best.map(|((_, kind), _)| kind),
            chain: chain.collect(),
        }
    }

    /// The separators of several contacts of a deal.
    pub fn contacts(&self) -> Vec<char> {
        let own = self.chain.iter().find(|names| !names.contacts.is_empty());
        own.map_or_else(|| vec![';'], |names| names.contacts.clone())
    }

    /// The field of a column in a file of a kind, by its name alone.
    pub fn field(&self, main: FileKind, heading: &str) -> Option<ColumnField> {
        let own = |heading: &str| lookup(&self.chain, main, &plain(heading));
        let all: Vec<_> = self.chain.iter().copied().chain([common()]).collect();
        let of_entity = || {
            let (part, name) = entity(heading)?;
            let found = lookup(&all, part, &plain(name))?;
            // A reference of another kind's record is not one of this row.
            (part == main || found.0 == part).then_some(found)
        };
        // Addresses and numbers in a row of a deal are its person's.
        let of_person = || {
            let found = lookup(&all, FileKind::Lead, &plain(heading));
            let is_contact = |(part, field): &ColumnField| *part == FileKind::Lead && CONTACT.contains(field);
            found.filter(|found| main == FileKind::Opportunity && is_contact(found))
        };
        own(heading)
            .or_else(of_entity)
            .or_else(|| lookup(&[common()], main, &plain(heading)))
            .or_else(of_person)
    }
}

/// The field of a column with this plain name, by the first names that have it.
fn lookup(chain: &[&'static Names], main: FileKind, name: &str) -> Option<ColumnField> {
    let key = (main, name.to_owned());
    let (part, field) = chain.iter().find_map(|names| names.fields.get(&key))?;
    let known = fields(*part).find(|known| known == field)?;
    Some((*part, known))
}

/// Whether a heading may name a column of a role.
pub fn resembles(role: &str, heading: &str) -> bool {
    let starts = common().roles.get(role).map(Vec::as_slice).unwrap_or_default();
    let name = plain(heading);
    let is_start = |word: &str| {
        starts
            .iter()
            .any(|start| word == start || start.len() > 1 && word.starts_with(start))
    };
    name.split(' ').any(is_start)
}

/// The status of a text, which is in plain form.
pub fn status(text: &str) -> Option<Status> {
    static KNOWN: LazyLock<HashMap<String, Status>> = LazyLock::new(|| {
        let words = &common().status;
        let lists = [
            (&words.gain, Status::Gain),
            (&words.lost, Status::Lost),
            (&words.open, Status::Open),
        ];
        let pairs = lists
            .iter()
            .flat_map(|(words, status)| words.iter().map(|word| (plain(word), *status)));
        pairs.collect()
    });
    KNOWN.get(text).copied()
}

/// Whether a stage in plain form looks closed.
pub fn looks_closed(stage: &str) -> bool {
    let closed = &common().status.closed;
    stage
        .split(' ')
        .any(|word| closed.iter().any(|start| word.starts_with(start.as_str())))
}

/// Whether a text can be the name of a line of totals, or the foot of a page: `Total geral:`, `Total (2 pedidos)`,
/// `Página 1 de 3`.
pub fn names_totals(text: &str) -> bool {
    let words = &common().totals;
    let name = plain(text);
    let mut parts = name.split(' ').skip_while(|word| words.before.contains(*word));
    let is_rest = |word: &str| words.rest.contains(word) || word.bytes().all(|byte| byte.is_ascii_digit());
    let first = parts.next().unwrap_or_default();
    words.first.contains(first) && parts.all(is_rest)
}

/// The ISO code of a currency by its sign, name or code; `$` for that sign alone.
pub fn currency(word: &str) -> Option<&'static str> {
    common().codes.get(&plain_sign(word)).map(String::as_str)
}

fn plain_sign(sign: &str) -> String {
    sign.trim().trim_end_matches('.').to_lowercase()
}

/// The number of a month by its name.
pub fn month(word: &str) -> Option<u32> {
    let months = &common().dates.months;
    let at = months
        .iter()
        .position(|names| names.iter().any(|name| name == word))?;
    u32::try_from(at + 1).ok()
}

/// Whether a word of a date has no meaning for it: a weekday, or `de`.
pub fn is_date_filler(word: &str) -> bool {
    let words = &common().dates;
    words.weekdays.contains(word) || words.fillers.contains(word)
}

/// Whether a heading says that its amounts are thousands, millions or cents: `Valor (R$ mil)`.
pub fn is_scaled(heading: &str) -> bool {
    let scales = &common().tokens.scales;
    plain(heading).split(' ').any(|word| scales.contains(word))
}

/// Whether a folded word of a cell with numbers or addresses names their use or joins them: `cel`, `trabalho`, `ou`.
pub fn is_contact_label(word: &str) -> bool {
    common().tokens.labels.contains(word)
}

#[cfg(test)]
mod tests;
