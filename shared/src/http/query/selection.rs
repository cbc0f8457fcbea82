//! Parses the `query` parameter (C-22, C-50), a GraphQL selection set, checks it against an endpoint's
//! fields, and projects responses to it.
//!
//! Invariants:
//! - A [`Selection`] contains only offered names, each once, in the order first selected, so a projected
//!   response contains no other field and no text of the caller.
//! - The caller's text is hostile. Tokens and levels are limited while the tree is built, so its size and the
//!   stack depth are bounded, and time is linear.
//! - An error quotes the caller's text only through [`Excerpt`].

use apollo_parser::cst::{self, CstNode, Definition};
use apollo_parser::{Parser, SyntaxKind, SyntaxTree};
use serde_json::Value;
use std::fmt;

#[cfg(test)]
mod tests;

/// Maximum number of selected fields, including repeats (C-22). A root counts only if it is a value (`total`), not if
/// fields are selected below it.
pub const MAX_FIELDS: usize = 200;

/// Maximum nesting of braces (C-22): `{lead{owner{id}}}` has three levels.
pub const MAX_LEVELS: usize = 4;

/// Maximum number of tokens. API Gateway limits the request line to 10,240 bytes, so no query that it
/// forwards reaches this.
pub const MAX_TOKENS: usize = 10_240;

/// Maximum characters of the caller's text in an error.
const MAX_EXCERPT: usize = 64;

/// An offered field.
#[derive(Debug)]
pub struct Field {
    /// Name in query and response.
    pub name: &'static str,
    /// Fields that can be selected below it.
    pub shape: FieldShape,
}

impl Field {
    /// A field without fields below it.
    #[must_use]
    pub const fn leaf(name: &'static str) -> Self {
        Self {
            name,
            shape: FieldShape::Leaf,
        }
    }
}

/// Fields that can be selected below a field.
#[derive(Debug, Clone, Copy)]
pub enum FieldShape {
    /// None: `id`.
    Leaf,
    /// At least one of these: `lead{id}`.
    Object(&'static [Field]),
    /// None or some of these: `owner` is the id, `owner{id,name}` an object.
    LeafOrObject(&'static [Field]),
}

/// An invalid `query`. The text is the `details` of a 400.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SelectionError {
    /// The text is not exactly one selection set.
    #[error("not a selection set: unexpected \"{0}\"")]
    Unexpected(Excerpt),
    /// The text ends within the selection set, or contains none.
    #[error("not a selection set: unexpected end")]
    UnexpectedEnd,
    /// Unknown root field.
    #[error("unknown root \"{0}\"")]
    UnknownRoot(Excerpt),
    /// Unknown field of `parent`. Custom fields and `__typename` are never offered.
    #[error("unknown field \"{name}\" in \"{parent}\"")]
    UnknownField {
        /// The name as selected.
        name: Excerpt,
        /// The field that contains it.
        parent: &'static str,
    },
    /// The field has arguments.
    #[error("arguments on \"{0}\" are not allowed")]
    Arguments(Excerpt),
    /// The field has this alias.
    #[error("alias \"{0}\" is not allowed")]
    Alias(Excerpt),
    /// A fragment definition, spread or inline fragment.
    #[error("fragment \"{0}\" is not allowed")]
    Fragment(Excerpt),
    /// The field has directives.
    #[error("directive \"{0}\" is not allowed")]
    Directive(Excerpt),
    /// The set is an operation, with or without a name.
    #[error("operation \"{0}\" is not allowed")]
    Operation(Excerpt),
    /// The field is an object, but no fields of it are selected.
    #[error("\"{0}\" needs a selection of fields")]
    MissingFields(Excerpt),
    /// The field is not an object, but fields of it are selected.
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

/// An excerpt of the caller's text: at most 64 characters, with control and quote characters escaped.
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

/// The selected fields, each with the selection below it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    fields: Vec<(&'static str, Selection)>,
}

impl Selection {
    /// Parses a selection set with the fields of `roots`.
    ///
    /// Repeats are merged: `{lead{id} lead{email}}` is `{lead{id,email}}`, and `owner owner{name}` is
    /// `owner{name}`.
    ///
    /// # Errors
    ///
    /// The first violation of C-22: limits first, then grammar, then names.
    pub fn parse(text: &str, roots: &'static [Field]) -> Result<Self, SelectionError> {
        let tree = Parser::new(text)
            .recursion_limit(MAX_LEVELS)
            .token_limit(MAX_TOKENS)
            .parse();
        check_limits(&tree)?;
        check_grammar(&tree)?;
        let mut selection = Self::default();
        selection.read(&only_selection_set(&tree.document())?, None, roots)?;
        Ok(selection)
    }

    /// The selection below `name`, empty for a leaf; `None` if `name` is not selected.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Self> {
        self.fields
            .iter()
            .find_map(|(field, nested)| (*field == name).then_some(nested))
    }

    /// Whether `name` is selected.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Whether nothing is selected, as below a leaf.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// The selected names in order.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.fields.iter().map(|(name, _)| *name)
    }

    /// The selected part of `value`, in the order of the selection; of an array, the part of each item.
    ///
    /// Leaves are copied whole, so a field that may be a leaf or an object (`owner`) must have the selected
    /// form in `value`. Fields that `value` lacks are null, as are plain values where an object was selected.
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

    /// Adds `set`, which may select the fields in `offered`, to the selection. `parent` is the field that contains it,
    /// `None` for the roots.
    fn read(
        &mut self,
        set: &cst::SelectionSet,
        parent: Option<&'static str>,
        offered: &'static [Field],
    ) -> Result<(), SelectionError> {
        for selected in set.selections() {
            let selected = plain_field(selected)?;
            let name = selected.name();
            let Some(field) = offered
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
                (FieldShape::Leaf | FieldShape::LeafOrObject(_), None) => {}
                (FieldShape::Object(below) | FieldShape::LeafOrObject(below), Some(set)) => {
                    nested.read(&set, Some(field.name), below)?;
                }
                (FieldShape::Object(_), None) => {
                    return Err(SelectionError::MissingFields(Excerpt::of(field.name)));
                }
                (FieldShape::Leaf, Some(_)) => return Err(SelectionError::NestedFields(field.name)),
            }
        }
        Ok(())
    }

    /// The selection below `name`, which is added if absent.
    fn entry(&mut self, name: &'static str) -> &mut Self {
        let known = self.fields.iter().position(|(field, _)| *field == name);
        let at = known.unwrap_or_else(|| {
            self.fields.push((name, Self::default()));
            self.fields.len() - 1
        });
        &mut self.fields[at].1
    }
}

/// Checks the limits. The depth is first, because the parser flattens deeper fields, so a deep query seems to have
/// many.
fn check_limits(tree: &SyntaxTree) -> Result<(), SelectionError> {
    if tree.recursion_limit().high > MAX_LEVELS {
        return Err(SelectionError::TooDeep);
    }
    if all_fields(tree)
        .filter(counts_towards_limit)
        .nth(MAX_FIELDS)
        .is_some()
    {
        return Err(SelectionError::TooManyFields);
    }
    if tree.token_limit().high > MAX_TOKENS {
        return Err(SelectionError::TooLong);
    }
    Ok(())
}

/// Rejects a text with a syntax error. Returns the first one.
fn check_grammar(tree: &SyntaxTree) -> Result<(), SelectionError> {
    let Some(error) = tree.errors().next() else {
        return Ok(());
    };
    // GraphQL forbids empty braces, but the error must name the field before them (C-22).
    let closes_empty = |set: cst::SelectionSet| {
        let end = set
            .r_curly_token()
            .map(|brace| usize::from(brace.text_range().start()));
        set.selections().next().is_none() && end == Some(error.index())
    };
    let mut fields = all_fields(tree);
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

/// Every field of the text at any depth.
fn all_fields(tree: &SyntaxTree) -> impl Iterator<Item = cst::Field> {
    let nodes = tree.document().syntax().descendants();
    nodes.filter_map(cst::Field::cast)
}

/// Whether a field counts towards [`MAX_FIELDS`]: it is below a root, or has no selection.
fn counts_towards_limit(field: &cst::Field) -> bool {
    let enclosing_sets = field
        .syntax()
        .ancestors()
        .filter(|node| node.kind() == SyntaxKind::SELECTION_SET);
    enclosing_sets.count() > 1 || field.selection_set().is_none()
}

/// The selection set of a document that contains nothing else.
fn only_selection_set(document: &cst::Document) -> Result<cst::SelectionSet, SelectionError> {
    let mut only = None;
    for definition in document.definitions() {
        match definition {
            Definition::FragmentDefinition(fragment) => {
                let name = fragment.fragment_name().and_then(|name| name.name());
                return Err(SelectionError::Fragment(Excerpt::of_name(name)));
            }
            Definition::OperationDefinition(operation) => {
                if let Some(keyword) = operation.operation_type() {
                    let mut excerpt = keyword.syntax().text().to_string();
                    if let Some(name) = operation.name() {
                        excerpt = format!("{} {}", excerpt.trim(), name.text().as_str());
                    }
                    return Err(SelectionError::Operation(Excerpt::of(&excerpt)));
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

/// Accepts only a plain field name, optionally with a selection below it.
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
