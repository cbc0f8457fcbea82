//! Names of columns in the exports of products, and words of cells. Both are data: a file for each product and language
//! in `names`, and `common.toml` for every program (C-105).

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::LazyLock;

use domain::text::fold;
use serde::Deserialize;

use super::kind::FileKind;
use super::product::Product;
use super::reference::CONTACT;

mod words;

pub use words::{
    answer, begins_totals, closings, currency, is_contact_label, is_count, is_date_filler, is_former,
    is_nobody, is_not_closed, is_scaled, is_undecided, month, names_totals, status,
};

/// The files of names. The first one has the names that every program may use.
const FILES: [&str; 18] = [
    include_str!("names/common.toml"),
    include_str!("names/hubspot.toml"),
    include_str!("names/pipedrive-en.toml"),
    include_str!("names/pipedrive-pt.toml"),
    include_str!("names/pipedrive-es.toml"),
    include_str!("names/pipedrive-de.toml"),
    include_str!("names/pipedrive-fr.toml"),
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
    answers: AnswerWords,
    owners: OwnerWords,
    totals: TotalsWords,
    dates: DateWords,
    tokens: TokenWords,
    /// Signs and names of currencies by ISO code.
    currencies: Section,
    /// ISO codes by sign and name.
    #[serde(skip)]
    codes: HashMap<String, String>,
    /// Parts of records that headings name after or before a known name: `Primary Contact Email`, `Moeda de Valor`.
    parts: Vec<Part>,
    /// Words between a part and a name.
    between: Vec<String>,
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
    /// Beginnings of words of gains.
    gains: Vec<String>,
    /// Beginnings of words of losses.
    losses: Vec<String>,
    /// Beginnings of words of gains or losses.
    closed: Vec<String>,
}

/// Words of answers.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct AnswerWords {
    yes: Vec<String>,
    no: Vec<String>,
    /// Texts of cells that state nothing.
    none: Vec<String>,
    /// Beginnings of texts that leave the answer open.
    open: Vec<String>,
}

/// Words of cells of owners.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct OwnerWords {
    nobody: HashSet<String>,
    former: HashSet<String>,
}

/// A part of records: its words, and its field by that of the name.
#[derive(Debug, Deserialize)]
struct Part {
    words: Vec<String>,
    fields: BTreeMap<String, String>,
}

impl Part {
    /// The name in a heading with this part; both are in plain form.
    fn name<'a>(&self, heading: &'a str) -> Option<&'a str> {
        self.words.iter().find_map(|word| {
            let after = heading.strip_suffix(word.as_str());
            if let Some(name) = after.and_then(|name| name.strip_suffix(' ')) {
                return Some(name);
            }
            let mut name = heading.strip_prefix(word.as_str())?.strip_prefix(' ')?;
            while let Some((_, rest)) = name.split_once(' ').filter(|(word, _)| is_between(word)) {
                name = rest;
            }
            Some(name)
        })
    }
}

fn is_between(word: &str) -> bool {
    common().between.iter().any(|between| between == word)
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
                    .entry(words::plain_sign(sign))
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

    /// The signs of which a file has all headings.
    fn whole_signs(&self, headings: &HashSet<String>) -> Vec<&Sign> {
        let is_whole = |sign: &&Sign| sign.heads.iter().all(|head| headings.contains(&plain(head)));
        self.sign.iter().filter(is_whole).collect()
    }

    /// The kind of a file with these columns by the sign with most headings, and their number.
    fn sign(&self, headings: &HashSet<String>) -> Option<(usize, FileKind)> {
        let whole = self.whole_signs(headings);
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
    /// The number of headings that tell the product.
    signs: usize,
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
            signs: best.map_or(0, |((signs, _), _)| signs),
            chain: chain.collect(),
        }
    }

    /// The products of the files of a run with these columns. The product with which most headings of all files agree is
    /// also that of a file of another product by headings that any program may use.
    pub fn products(files: &[&[String]]) -> Vec<Product> {
        let named = |names: &Self| {
            <Product as clap::ValueEnum>::from_str(names.product, false).unwrap_or(Product::Csv)
        };
        let own: Vec<_> = files.iter().map(|heads| Self::of(Product::Auto, heads)).collect();
        let mut scores = BTreeMap::<_, usize>::new();
        for names in own.iter().filter(|names| names.kind.is_some()) {
            *scores.entry(names.product).or_default() += names.signs;
        }
        let most = scores.iter().max_by_key(|(_, score)| **score);
        let best = own
            .iter()
            .find(|names| most.is_some_and(|(product, _)| names.product == *product));
        let product = |(names, heads): (&Self, &&[String])| match best {
            Some(best) if names.fits(best, heads) => named(best),
            _ => named(names),
        };
        own.iter().zip(files).map(product).collect()
    }

    /// Whether a file of these names may be one of the product of `best`.
    fn fits(&self, best: &Self, headings: &[String]) -> bool {
        let Some(kind) = self.kind else { return false };
        let known: HashSet<_> = headings.iter().map(|heading| plain(heading)).collect();
        let signs = self.chain.iter().flat_map(|names| names.whole_signs(&known));
        let mut heads = signs.flat_map(|sign| &sign.heads);
        heads.all(|head| best.field(kind, head).is_some())
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
        let compound = || {
            let heading = plain(heading);
            let of_part = |part: &Part| {
                let (kind, known) = lookup(&all, main, part.name(&heading)?)?;
                field(part.fields.get(&format!("{}.{known}", kind.name()))?)
            };
            common().parts.iter().find_map(of_part)
        };
        own(heading)
            .or_else(of_entity)
            .or_else(|| lookup(&[common()], main, &plain(heading)))
            .or_else(of_person)
            .or_else(compound)
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
            .any(|start| word == start || start.len() > 2 && word.starts_with(start))
    };
    name.split(' ').any(is_start)
}

#[cfg(test)]
mod tests;
