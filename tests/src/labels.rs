//! Tags and loss reasons.

#![expect(
    clippy::expect_used,
    clippy::missing_panics_doc,
    reason = "a test that cannot be set up must fail, and say where"
)]

use operator::Operator;
use operator::kinds::{LossReasons, Tags};
use shared::ids::{LossReasonId, TagId};
use shared::labels::{LossReason, Tag};

/// Tags with these ids; the odd ones have a color.
pub async fn add_tags(operator: &Operator, ids: impl IntoIterator<Item = u64>) {
    let tag = |id| Tag {
        id: TagId::new(id).expect("a tag id"),
        tag: format!("Etiqueta {id}"),
        color: (id % 2 == 1).then(|| "#e53935".to_owned()),
    };
    let tags: Vec<_> = ids.into_iter().map(tag).collect();
    operator
        .import::<Tags>(&tags, false)
        .await
        .expect("the tags can be written");
}

/// Loss reasons with these ids.
pub async fn add_loss_reasons(operator: &Operator, ids: impl IntoIterator<Item = u64>) {
    let reason = |id| LossReason {
        id: LossReasonId::new(id).expect("a loss reason id"),
        name: format!("Motivo {id}"),
    };
    let reasons: Vec<_> = ids.into_iter().map(reason).collect();
    operator
        .import::<LossReasons>(&reasons, false)
        .await
        .expect("the loss reasons can be written");
}
