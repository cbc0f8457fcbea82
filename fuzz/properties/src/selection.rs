//! The parameter `query` (C-22, C-50).

use std::iter::Peekable;

use serde_json::{Value, json};
use shared::selection::{Field, MAX_FIELDS, MAX_LEVELS, Selection, Shape};

const OWNER: &[Field] = &[Field::leaf("id"), Field::leaf("name")];
const DEEP: &[Field] = &[Field {
    name: "c",
    shape: Shape::LeafOrObject(OWNER),
}];
const LEAD: &[Field] = &[
    Field::leaf("id"),
    Field::leaf("email"),
    Field {
        name: "owner",
        shape: Shape::LeafOrObject(OWNER),
    },
    Field {
        name: "b",
        shape: Shape::Object(DEEP),
    },
];
const ROOTS: &[Field] = &[
    Field::leaf("total"),
    Field {
        name: "lead",
        shape: Shape::Object(LEAD),
    },
];

/// A selection as the plain words of GraphQL have it: names, and what stands in the braces behind each.
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

    /// Reads a text that is one set of fields on offer, within the limits.
    fn read(text: &str) -> Option<Self> {
        let mut tokens = tokens(text)?.into_iter().peekable();
        let (mut tree, mut fields) = (Self::default(), 0);
        tokens.next_if_eq(&"{")?;
        tree.fill(&mut tokens, ROOTS, 1, &mut fields)?;
        (tokens.next().is_none() && fields <= MAX_FIELDS).then_some(tree)
    }

    /// Reads up to the closing brace into what is there already: a name that came before is the same field.
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
                (Shape::Leaf | Shape::LeafOrObject(_), false) => {}
                (Shape::Object(below) | Shape::LeafOrObject(below), true) if level < MAX_LEVELS => {
                    self.0[at].1.fill(tokens, below, level + 1, fields)?;
                }
                _ => return None,
            }
            any = true;
        }
        any.then_some(())
    }
}

/// Names and braces; `None` where anything else stands between what GraphQL ignores.
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

/// Whatever a selection may show, and something that it may not.
fn shown() -> Value {
    // What may be a leaf or an object is shown whole where it is a leaf.
    let owner = json!({"id": 7, "name": "Ana"});
    let lead = json!({"id": 1, "email": null, "owner": owner, "b": {"c": owner, "secret": 1}, "secret": 1});
    json!({"total": 2, "lead": [lead], "secret": 1})
}

/// A text is accepted just where it is a set of fields on offer in plain GraphQL; what was read is written and reads the same;
/// an answer that is cut by it has its names alone; a refusal is short and holds no control character.
///
/// # Panics
/// Where any of that does not hold.
pub fn selection(data: &[u8]) {
    // API Gateway hands over no longer line.
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
