//! The parts of the store, re-exported for the operator's crate.
#![expect(missing_docs, reason = "each module is documented where it is defined")]

pub use super::{Reader, Writer};

pub mod automations {
    pub use crate::store::automations::*;
}

pub mod calendars {
    pub use crate::store::calendars::*;
}

pub mod calls {
    pub use crate::store::calls::*;
}

pub mod companies {
    pub use crate::store::companies::*;
}

pub mod credentials {
    pub use crate::store::credentials::*;
}

pub mod derived {
    pub use crate::store::derived::*;
}

pub mod directory {
    pub use crate::store::directory::*;
}

pub mod entity {
    pub use crate::store::entity::*;
}

pub mod erasure {
    pub use crate::store::leads::deleted_leads::*;
}

pub mod events {
    pub use crate::store::events::*;
}

pub mod format {
    pub use crate::store::format::*;
}

pub mod forms {
    pub use crate::store::forms::*;
}

pub mod idempotency {
    pub use crate::store::idempotency::*;
}

pub mod key {
    pub use crate::store::key::*;
}

pub mod lead_list {
    pub use crate::store::leads::{known, list::*};
}

pub mod leads {
    pub use crate::store::leads::*;
}

pub mod meetings {
    pub use crate::store::meetings::*;
}

pub mod notices {
    pub use crate::store::leads::stale_markers::*;
}

pub mod opportunities {
    pub use crate::store::opportunities::*;
}

pub mod people {
    pub use crate::store::people::*;
}

pub mod quarantine {
    pub use crate::store::quarantine::*;
}

pub mod reports {
    pub use crate::store::reports::*;
}

pub mod tickets {
    pub use crate::store::tickets::*;
}

pub mod undelivered {
    pub use crate::store::undelivered::*;
}
