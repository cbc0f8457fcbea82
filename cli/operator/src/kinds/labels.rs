//! Tags of leads, and loss reasons of opportunities.

use shared::ids::{LossReasonId, TagId};
use shared::labels::{LossReason, Tag};

use super::prelude::*;

/// Maximum characters of a name.
const MAX_NAME: usize = 255;
/// Maximum characters of a color.
const MAX_COLOR: usize = 64;

/// The tags.
#[derive(Debug)]
pub struct Tags;

impl RecordKind for Tags {
    type Record = Tag;
    type Line = Tag;
    const KIND: Kind = Kind::Tags;
    const MERGES: bool = true;
    const FIELDS: &'static [Field] = &[
        ID,
        field(Shape::Text, "tag").needed().filled().up_to(MAX_NAME),
        field(Shape::Text, "color").up_to(MAX_COLOR),
    ];

    fn parse(fields: Fields) -> Result<Tag, String> {
        read(Self::FIELDS, fields)
    }

    fn identity(tag: &Tag) -> u64 {
        tag.id.get()
    }
}

impl StoredKind for Tags {
    const STORAGE: Storage = Storage {
        removal: Some(Removal::Linked),
        ..Storage::of(
            ["tag", "tags"],
            |keys| vec![keys.tags()],
            |keys, id| Some(keys.tag(TagId::parse(id)?)),
            |_, tag| nothing(Self::DECODE(tag.clone())),
        )
    };
    const DECODE: fn(Item) -> Result<Tag, StoreError> = |item| item::decode("tag", item);

    async fn write(operator: &Operator, lines: &[&Tag], mode: Mode) -> Written {
        operator.write_each::<Self>(lines, mode).await
    }
}

impl Decide for Tags {
    fn reads(keys: Keys<'_>, tag: &Tag, _mode: Mode) -> Vec<Key> {
        vec![keys.tag(tag.id)]
    }

    fn decide(operator: &Operator, tag: &Tag, found: &FoundItems, _mode: Mode) -> Decision {
        found.replace(Self::KIND, operator.keys().tag(tag.id), tag)
    }
}

/// The loss reasons.
#[derive(Debug)]
pub struct LossReasons;

impl RecordKind for LossReasons {
    type Record = LossReason;
    type Line = LossReason;
    const KIND: Kind = Kind::LossReasons;
    const MERGES: bool = true;
    const FIELDS: &'static [Field] = &[ID, field(Shape::Text, "name").needed().filled().up_to(MAX_NAME)];

    fn parse(fields: Fields) -> Result<LossReason, String> {
        read(Self::FIELDS, fields)
    }

    fn identity(reason: &LossReason) -> u64 {
        reason.id.get()
    }
}

impl StoredKind for LossReasons {
    const STORAGE: Storage = Storage::of(
        ["loss reason", "loss reasons"],
        |keys| vec![keys.loss_reasons()],
        |keys, id| Some(keys.loss_reason(LossReasonId::parse(id)?)),
        |_, reason| nothing(Self::DECODE(reason.clone())),
    );
    const DECODE: fn(Item) -> Result<LossReason, StoreError> = |item| item::decode("loss reason", item);

    async fn write(operator: &Operator, lines: &[&LossReason], mode: Mode) -> Written {
        operator.write_each::<Self>(lines, mode).await
    }
}

impl Decide for LossReasons {
    fn reads(keys: Keys<'_>, reason: &LossReason, _mode: Mode) -> Vec<Key> {
        vec![keys.loss_reason(reason.id)]
    }

    fn decide(operator: &Operator, reason: &LossReason, found: &FoundItems, _mode: Mode) -> Decision {
        found.replace(Self::KIND, operator.keys().loss_reason(reason.id), reason)
    }
}
