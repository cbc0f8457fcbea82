//! The parameter `query` (C-22, C-50).

use std::iter::Peekable;

use serde_json::{Value, json};
use shared::http::query::selection::{Field, FieldShape, MAX_FIELDS, MAX_LEVELS, Selection};

const OWNER: &[Field] = &[Field::leaf("id"), Field::leaf("name")];
const DEEP: &[Field] = &[Field {
    name: "c",
    shape: FieldShape::LeafOrObject(OWNER),
}];
const LEAD: &[Field] = &[
    Field::leaf("id"),
    Field::leaf("email"),
    Field {
        name: "owner",
        shape: FieldShape::LeafOrObject(OWNER),
    },
    Field {
        name: "b",
        shape: FieldShape::Object(DEEP),
    },
];
const ROOTS: &[Field] = &[
    Field::leaf("total"),
    Field {
        name: "lead",
        shape: FieldShape::Object(LEAD),
    },
];

/// A selection by the plain rules of GraphQL: names, each with its selection in braces.
#[derive(Debug, Default, PartialEq, Eq)]
struct Tree(Vec<(String, Tree)>);

type Tokens<'a> = Peekable<std::vec::IntoIter<&'a str>>;

impl Tree {
    fn of(selection: &Selection) -> Self {
        let fields = selection.names().map(|name| {
            let below = selection.get(name).map(Self::of).unwrap_or_default();
            (name.to_owned(), below)
        });
        Self(fields.collect())
    }

    fn written(&self) -> String {
        let fields = self.0.iter().map(|(name, below)| {
            if below.0.is_empty() {
                return name.clone();
            }
            format!("{name}{}", below.written())
        });
        format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
    }

    /// Parses a text that is one set of offered fields within the limits.
    fn read(text: &str) -> Option<Self> {
        let mut tokens = tokens(text)?.into_iter().peekable();
        let (mut tree, mut fields) = (Self::default(), 0);
        tokens.next_if_eq(&"{")?;
        tree.fill(&mut tokens, ROOTS, 1, &mut fields)?;
        (tokens.next().is_none() && fields <= MAX_FIELDS).then_some(tree)
    }

    /// Parses up to the closing brace into existing fields; a repeated name is the same field.
    fn fill(&mut self, tokens: &mut Tokens, offer: &[Field], level: usize, fields: &mut usize) -> Option<()> {
        let mut any = false;
        while tokens.next_if_eq(&"}").is_none() {
            let name = tokens.next()?;
            let shape = offer.iter().find(|field| field.name == name)?.shape;
            let at = self.0.iter().position(|(known, _)| known == name);
            let at = at.unwrap_or_else(|| {
                self.0.push((name.to_owned(), Self::default()));
                self.0.len() - 1
            });
            let set = tokens.next_if_eq(&"{").is_some();
            *fields += usize::from(level > 1 || !set);
            match (shape, set) {
                (FieldShape::Leaf | FieldShape::LeafOrObject(_), false) => {}
                (FieldShape::Object(below) | FieldShape::LeafOrObject(below), true) if level < MAX_LEVELS => {
                    self.0[at].1.fill(tokens, below, level + 1, fields)?;
                }
                _ => return None,
            }
            any = true;
        }
        any.then_some(())
    }
}

/// The names and braces of a text. Returns `None` if it contains anything else that GraphQL does not ignore.
fn tokens(text: &str) -> Option<Vec<&str>> {
    let (mut rest, mut tokens) = (text, Vec::new());
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '\u{feff}' | '\t' | ' ' | '\n' | '\r' | ',' => {
                rest = &rest[first.len_utf8()..];
                continue;
            }
            '#' => {
                let end = rest.find(['\n', '\r']).unwrap_or(rest.len());
                rest = &rest[end..];
                continue;
            }
            '{' | '}' => 1,
            '_' | 'a'..='z' | 'A'..='Z' => {
                let other = |c: char| c != '_' && !c.is_ascii_alphanumeric();
                rest.find(other).unwrap_or(rest.len())
            }
            _ => return None,
        };
        tokens.push(&rest[..length]);
        rest = &rest[length..];
    }
    Some(tokens)
}

/// A value with every field that can be selected, and one that cannot.
fn shown() -> Value {
    // A field that may be a leaf or an object is copied whole if selected as leaf.
    let owner = json!({"id": 7, "name": "Ana"});
    let lead = json!({"id": 1, "email": null, "owner": owner, "b": {"c": owner, "secret": 1}, "secret": 1});
    json!({"total": 2, "lead": [lead], "secret": 1})
}

/// A text is accepted exactly if it is a set of offered fields in plain GraphQL. The selection round-trips. A projected response
/// has only the selected names. An error is short and contains no control character.
///
/// # Panics
/// If any of this is violated.
pub fn selection(data: &[u8]) {
    // API Gateway forwards no longer request line.
    let Some(text) = crate::text(data).filter(|text| text.len() < 10_000) else {
        return;
    };
    let read = Selection::parse(text, ROOTS);
    let tree = read.as_ref().ok().map(Tree::of);
    assert_eq!(tree, Tree::read(text), "{text:?}");
    match read {
        Ok(read) => {
            let written = Tree::of(&read).written();
            assert_eq!(Selection::parse(&written, ROOTS).as_ref(), Ok(&read), "{written}");
            let cut = read.project(&shown());
            assert_eq!(read.project(&cut), cut);
            assert!(!cut.to_string().contains("secret"), "{cut}");
        }
        Err(error) => {
            let told = error.to_string();
            assert!(told.len() < 800 && !told.contains(char::is_control), "{told:?}");
        }
    }
}
