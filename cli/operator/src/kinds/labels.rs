//! Tags of leads, and loss reasons of opportunities.

use shared::labels::{LossReason, Tag};

use super::prelude::*;

/// Maximum characters of a name.
const MAX_NAME: usize = 255;
/// Maximum characters of a color.
const MAX_COLOR: usize = 64;

/// The tags.
#[derive(Debug)]
pub struct Tags;

/// The loss reasons.
#[derive(Debug)]
pub struct LossReasons;

/// Checks a name: not empty, and at most [`MAX_NAME`] characters.
fn check_name(field: &str, name: &str) -> Result<(), String> {
    if name.is_empty() {
        return Err(format!("{field}: must not be empty"));
    }
    within(field, Some(name), MAX_NAME)
}

impl RecordKind for Tags {
    type Record = Tag;
    type Line = Tag;
    const KIND: Kind = Kind::Tags;
    const MERGES: bool = true;

    fn parse(fields: Fields) -> Result<Tag, String> {
        let tag: Tag = line::read(fields)?;
        check_name("tag", &tag.tag)?;
        within("color", tag.color.as_deref(), MAX_COLOR)?;
        Ok(tag)
    }

    fn field_names() -> &'static [&'static str] {
        faults::names_of::<Tag>()
    }

    fn identity(tag: &Tag) -> u64 {
        tag.id.get()
    }

    fn export(tag: &Tag) -> serde_json::Result<Fields> {
        sparse(tag)
    }
}

impl ImportKind for Tags {
    async fn merged(operator: &Operator, line: Tag) -> Result<Option<Tag>, OperatorError> {
        operator.if_absent::<Self>(line).await
    }

    async fn write(operator: &Operator, lines: &[&Tag], mode: Mode) -> Written {
        operator.write_each::<Self>(lines, mode).await
    }
}

impl PlainKind for Tags {
    fn partition(keys: Keys<'_>) -> String {
        keys.tags()
    }

    fn key(keys: Keys<'_>, tag: &Tag) -> Key {
        keys.tag(tag.id)
    }
}

impl RecordKind for LossReasons {
    type Record = LossReason;
    type Line = LossReason;
    const KIND: Kind = Kind::LossReasons;
    const MERGES: bool = true;

    fn parse(fields: Fields) -> Result<LossReason, String> {
        let reason: LossReason = line::read(fields)?;
        check_name("name", &reason.name)?;
        Ok(reason)
    }

    fn field_names() -> &'static [&'static str] {
        faults::names_of::<LossReason>()
    }

    fn identity(reason: &LossReason) -> u64 {
        reason.id.get()
    }

    fn export(reason: &LossReason) -> serde_json::Result<Fields> {
        sparse(reason)
    }
}

impl ImportKind for LossReasons {
    async fn merged(operator: &Operator, line: LossReason) -> Result<Option<LossReason>, OperatorError> {
        operator.if_absent::<Self>(line).await
    }

    async fn write(operator: &Operator, lines: &[&LossReason], mode: Mode) -> Written {
        operator.write_each::<Self>(lines, mode).await
    }
}

impl PlainKind for LossReasons {
    fn partition(keys: Keys<'_>) -> String {
        keys.loss_reasons()
    }

    fn key(keys: Keys<'_>, reason: &LossReason) -> Key {
        keys.loss_reason(reason.id)
    }
}
