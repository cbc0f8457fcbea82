//! Imports that the kinds share.

pub(super) use shared::store::unscoped::key::{Counter, Key, Keys};
pub(super) use table::item::{self, Item};
pub(super) use table::{Condition, StoreError, Transaction};

pub(super) use super::dated::Dated;
pub(super) use super::faults;
pub(super) use super::kind::{
    Decide, ExportKind, FoundItems, ImportKind, Kind, LineOf, PlainKind, RecordKind, Replaced, Written,
    digest, replaceable, same_record, sparse,
};
pub(super) use super::references::{References, Referent};
pub(super) use crate::batch::{Decision, Mode, Skip};
pub(super) use crate::line::limits::{self, within};
pub(super) use crate::line::{self, Fields, number};
pub(super) use crate::{Operator, OperatorError, Outcome};
