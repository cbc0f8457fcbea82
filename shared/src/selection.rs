//! Reads the `query` parameter (C-22, C-50): a GraphQL selection set, checked against the fields an endpoint
//! offers, and cuts an answer down to it.
//!
//! What must stay true:
//! - A [`Selection`] holds only offered names, each once, in the order first selected. Nothing else of the
//!   caller's text survives, so an answer cut by it names no field outside the offer.
//! - The caller's text is hostile. Tokens and levels are limited while the tree is built, so its size and the
//!   stack depend on the limits and not on the text, and time is linear.
//! - An error names its culprit, but only through [`Excerpt`].

use apollo_parser::cst::{self, CstNode, Definition};
use apollo_parser::{Parser, SyntaxKind, SyntaxTree};
use serde_json::Value;
use std::fmt;

#[cfg(test)]
mod tests;

/// The most fields one query may select, repeats included (C-22). A root counts only when it is itself a value
/// (`total`), not when it wraps the fields below it.
pub const MAX_FIELDS: usize = 200;

/// The deepest nesting of braces (C-22): `{lead{owner{id}}}` has three levels.
pub const MAX_LEVELS: usize = 4;

/// The most tokens read of one query. API Gateway hands over no request line above 10,240 bytes, so no query it
/// lets through is refused for this.
pub const MAX_TOKENS: usize = 10_240;

/// How many characters of the caller's text an error repeats.
const MAX_EXCERPT: usize = 64;

/// One field on offer.
#[derive(Debug)]
pub struct Field {
    /// The name in the query and in the answer.
    pub name: &'static str,
    /// What may stand below the name.
    pub shape: Shape,
}

impl Field {
    /// A field with nothing to select below it.
    #[must_use]
    pub const fn leaf(name: &'static str) -> Self {
        Self {
            name,
            shape: Shape::Leaf,
        }
    }
}

/// What may be selected below a field.
#[derive(Debug, Clone, Copy)]
pub enum Shape {
    /// Nothing: `id`.
    Leaf,
    /// At least one of these fields: `lead{id}`.
    Object(&'static [Field]),
    /// Nothing or some of these fields: `owner` is the id, `owner{id,name}` an object.
    LeafOrObject(&'static [Field]),
}

/// Why a `query` is refused. The text goes into the `details` of a 400.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SelectionError {
    /// The text is not one selection set, or something stands beside the set.
    #[error("not a selection set: unexpected \"{0}\"")]
    Unexpected(Excerpt),
    /// The text ends before the selection set does, or holds none.
    #[error("not a selection set: unexpected end")]
    UnexpectedEnd,
    /// The endpoint offers no such root.
    #[error("unknown root \"{0}\"")]
    UnknownRoot(Excerpt),
    /// `parent` offers no such field. Custom fields and `__typename` are never on offer.
    #[error("unknown field \"{name}\" in \"{parent}\"")]
    UnknownField {
        /// The name as selected.
        name: Excerpt,
        /// The field it was selected in.
        parent: &'static str,
    },
    /// This field carries arguments.
    #[error("arguments on \"{0}\" are not allowed")]
    Arguments(Excerpt),
    /// A field is renamed to this.
    #[error("alias \"{0}\" is not allowed")]
    Alias(Excerpt),
    /// A fragment is defined, spread or written inline.
    #[error("fragment \"{0}\" is not allowed")]
    Fragment(Excerpt),
    /// A field carries directives.
    #[error("directive \"{0}\" is not allowed")]
    Directive(Excerpt),
    /// The set is written as an operation, perhaps with a name.
    #[error("operation \"{0}\" is not allowed")]
    Operation(Excerpt),
    /// This field is an object and no field of it is selected.
    #[error("\"{0}\" needs a selection of fields")]
    MissingFields(Excerpt),
    /// This field is no object, yet fields of it are selected.
    #[error("\"{0}\" has no fields to select")]
    NestedFields(&'static str),
    /// More than [`MAX_FIELDS`].
    #[error("more than {MAX_FIELDS} fields")]
    TooManyFields,
    /// More than [`MAX_LEVELS`].
    #[error("more than {MAX_LEVELS} levels")]
    TooDeep,
    /// More than [`MAX_TOKENS`].
    #[error("more than {MAX_TOKENS} tokens")]
    TooLong,
}

/// A piece of the caller's text that is safe to repeat: at most 64 characters of it, control and quote
/// characters escaped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt(String);

impl Excerpt {
    fn of(text: &str) -> Self {
        let mut chars = text.trim().chars();
        let mut kept: String = chars
            .by_ref()
            .take(MAX_EXCERPT)
            .flat_map(char::escape_debug)
            .collect();
        if chars.next().is_some() {
            kept.push('…');
        }
        Self(kept)
    }

    fn of_node(node: &impl CstNode) -> Self {
        Self::of(&node.syntax().text().to_string())
    }

    fn of_name(name: Option<cst::Name>) -> Self {
        name.map_or_else(|| Self::of(""), |name| Self::of_node(&name))
    }
}

impl fmt::Display for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The fields a caller selected, each with what was selected below it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    fields: Vec<(&'static str, Selection)>,
}

impl Selection {
    /// Reads a selection set out of `text`, allowing only what `roots` offers.
    ///
    /// Repeats are merged: `{lead{id} lead{email}}` is `{lead{id,email}}`, and `owner owner{name}` is
    /// `owner{name}`.
    ///
    /// # Errors
    ///
    /// The first breach of C-22. The limits are judged before the grammar, the grammar before the meaning.
    pub fn parse(text: &str, roots: &'static [Field]) -> Result<Self, SelectionError> {
        let tree = Parser::new(text)
            .recursion_limit(MAX_LEVELS)
            .token_limit(MAX_TOKENS)
            .parse();
        check_limits(&tree)?;
        check_grammar(&tree)?;
        let mut selection = Self::default();
        selection.read(&only_set(&tree.document())?, None, roots)?;
        Ok(selection)
    }

    /// What was selected below `name`, nothing for a leaf; `None` when `name` was not selected.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Self> {
        self.fields
            .iter()
            .find_map(|(field, nested)| (*field == name).then_some(nested))
    }

    /// Whether `name` was selected.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Whether nothing was selected here, as below a leaf.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// The selected names, in the order first selected.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.fields.iter().map(|(name, _)| *name)
    }

    /// The part of `value` that was selected, in the order of the selection. Of an array, the part of each item.
    ///
    /// A leaf is taken whole, so a field that may be either (`owner`) has to stand in `value` in the form asked
    /// for. A field that `value` lacks is null, and so is a plain value where an object was asked for.
    #[must_use]
    pub fn project(&self, value: &Value) -> Value {
        match value {
            whole if self.is_empty() => whole.clone(),
            Value::Object(object) => self
                .fields
                .iter()
                .map(|(name, nested)| {
                    let part = object.get(*name).map(|value| nested.project(value));
                    ((*name).to_owned(), part.unwrap_or_default())
                })
                .collect(),
            Value::Array(items) => items.iter().map(|item| self.project(item)).collect(),
            _ => Value::Null,
        }
    }

    /// Adds `set` to what is selected so far; `parent` is the field it stands below, `None` for the roots.
    fn read(
        &mut self,
        set: &cst::SelectionSet,
        parent: Option<&'static str>,
        offer: &'static [Field],
    ) -> Result<(), SelectionError> {
        for selected in set.selections() {
            let selected = plain_field(selected)?;
            let name = selected.name();
            let Some(field) = offer
                .iter()
                .find(|field| name.as_ref().is_some_and(|name| name.text() == field.name))
            else {
                let name = Excerpt::of_name(name);
                return Err(match parent {
                    Some(parent) => SelectionError::UnknownField { name, parent },
                    None => SelectionError::UnknownRoot(name),
                });
            };
            let nested = self.entry(field.name);
            match (field.shape, selected.selection_set()) {
                (Shape::Leaf | Shape::LeafOrObject(_), None) => {}
                (Shape::Object(offer) | Shape::LeafOrObject(offer), Some(set)) => {
                    nested.read(&set, Some(field.name), offer)?;
                }
                (Shape::Object(_), None) => {
                    return Err(SelectionError::MissingFields(Excerpt::of(field.name)));
                }
                (Shape::Leaf, Some(_)) => return Err(SelectionError::NestedFields(field.name)),
            }
        }
        Ok(())
    }

    /// What is selected below `name`, which counts as selected from now on.
    fn entry(&mut self, name: &'static str) -> &mut Self {
        let known = self.fields.iter().position(|(field, _)| *field == name);
        let at = known.unwrap_or_else(|| {
            self.fields.push((name, Self::default()));
            self.fields.len() - 1
        });
        &mut self.fields[at].1
    }
}

/// Depth comes first: below the deepest level the parser reads on as if the fields stood side by side, so a deep
/// query seems to have many fields.
fn check_limits(tree: &SyntaxTree) -> Result<(), SelectionError> {
    if tree.recursion_limit().high > MAX_LEVELS {
        return Err(SelectionError::TooDeep);
    }
    if fields(tree).filter(counts).nth(MAX_FIELDS).is_some() {
        return Err(SelectionError::TooManyFields);
    }
    if tree.token_limit().high > MAX_TOKENS {
        return Err(SelectionError::TooLong);
    }
    Ok(())
}

fn check_grammar(tree: &SyntaxTree) -> Result<(), SelectionError> {
    let Some(error) = tree.errors().next() else {
        return Ok(());
    };
    // GraphQL has no empty braces, but C-22 wants the field they stand behind named.
    let closes_empty = |set: cst::SelectionSet| {
        let end = set
            .r_curly_token()
            .map(|brace| usize::from(brace.text_range().start()));
        set.selections().next().is_none() && end == Some(error.index())
    };
    let mut fields = fields(tree);
    if let Some(field) = fields.find(|field| field.selection_set().is_some_and(closes_empty)) {
        let name = Excerpt::of_name(field.name());
        return Err(SelectionError::MissingFields(name));
    }
    Err(if error.data().is_empty() {
        SelectionError::UnexpectedEnd
    } else {
        SelectionError::Unexpected(Excerpt::of(error.data()))
    })
}

/// Every field of the text, wherever it stands.
fn fields(tree: &SyntaxTree) -> impl Iterator<Item = cst::Field> {
    let nodes = tree.document().syntax().descendants();
    nodes.filter_map(cst::Field::cast)
}

/// Whether a field counts towards [`MAX_FIELDS`].
fn counts(field: &cst::Field) -> bool {
    let sets = field
        .syntax()
        .ancestors()
        .filter(|node| node.kind() == SyntaxKind::SELECTION_SET);
    sets.count() > 1 || field.selection_set().is_none()
}

/// The one selection set that the document is.
fn only_set(document: &cst::Document) -> Result<cst::SelectionSet, SelectionError> {
    let mut only = None;
    for definition in document.definitions() {
        match definition {
            Definition::FragmentDefinition(fragment) => {
                let name = fragment.fragment_name().and_then(|name| name.name());
                return Err(SelectionError::Fragment(Excerpt::of_name(name)));
            }
            Definition::OperationDefinition(operation) => {
                if let Some(keyword) = operation.operation_type() {
                    let mut culprit = keyword.syntax().text().to_string();
                    if let Some(name) = operation.name() {
                        culprit = format!("{} {}", culprit.trim(), name.text().as_str());
                    }
                    return Err(SelectionError::Operation(Excerpt::of(&culprit)));
                }
                if only.is_some() {
                    return Err(SelectionError::Unexpected(Excerpt::of_node(&operation)));
                }
                only = operation.selection_set();
            }
            other => return Err(SelectionError::Unexpected(Excerpt::of_node(&other))),
        }
    }
    only.ok_or(SelectionError::UnexpectedEnd)
}

/// Lets pass a field that is nothing but a name, perhaps with a selection below it.
fn plain_field(selected: cst::Selection) -> Result<cst::Field, SelectionError> {
    let field = match selected {
        cst::Selection::Field(field) => field,
        cst::Selection::FragmentSpread(spread) => {
            let name = spread.fragment_name().and_then(|name| name.name());
            return Err(SelectionError::Fragment(Excerpt::of_name(name)));
        }
        cst::Selection::InlineFragment(inline) => {
            return Err(SelectionError::Fragment(Excerpt::of_node(&inline)));
        }
    };
    if let Some(alias) = field.alias() {
        return Err(SelectionError::Alias(Excerpt::of_name(alias.name())));
    }
    if field.arguments().is_some() {
        return Err(SelectionError::Arguments(Excerpt::of_name(field.name())));
    }
    if let Some(directive) = field.directives().and_then(|list| list.directives().next()) {
        return Err(SelectionError::Directive(Excerpt::of_node(&directive)));
    }
    Ok(field)
}
