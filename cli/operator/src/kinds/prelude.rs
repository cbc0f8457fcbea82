//! Imports that the kinds share.

pub(super) use shared::store::unscoped::key::{Counter, Key, Keys};
pub(super) use table::item::{self, Item};
pub(super) use table::{Condition, StoreError, Transaction};

pub(super) use super::Kind;
pub(super) use super::dated::Dated;
pub(super) use super::fields::{Field, ID, Shape, field, read};
pub(super) use super::kind::{
    Decide, FoundItems, LineOf, RecordKind, StoredKind, Written, digest, replaceable, same_record, sparse,
};
pub(super) use super::storage::{CopyRule, Removal, Storage, nothing, version};
pub(super) use crate::batch::{Decision, Mode, Skip};
pub(super) use crate::line::{self, Fields};
pub(super) use crate::{Operator, OperatorError, Outcome};
