//! Parsers of callers' input: JSON Schema for bodies, GraphQL for selections of fields.

pub mod json_schema;
pub mod selection;
