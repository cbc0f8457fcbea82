//! The single table: one method per access pattern, listed in docs/access-patterns.md.
//!
//! Records are the truth; everything that lists, counts or finds them is derived from them by a pure function and
//! written in the same transaction. A [`Reader`] or an [`InstanceStore`] reaches one instance only, and handlers get
//! one from a [`Scope`](crate::scope::Scope) alone.

mod calls;
mod credentials;
mod directory;
mod error;
#[cfg(feature = "faults")]
pub mod fault;
mod item;
mod key;
mod lead_list;
mod leads;
mod meter;
pub mod operator;
mod people;
mod table;
mod transaction;

use std::ops::Deref;

use crate::ambient::Ambient;
use crate::instance::InstanceName;

pub use calls::{CallNumbers, Caller, Inserted, Link};
pub(crate) use credentials::{Credential, Found};
pub use error::StoreError;
pub use lead_list::{LeadEntry, LeadPage, LeadRequest, LeadSearch, LeadStart};
pub use meter::{Call as TableCall, Cost, Meter};
pub use people::Names;
pub use table::Location;

use key::Keys;
use lead_list::Guesses;
use table::Table;

/// The table, of all instances.
#[derive(Debug, Clone)]
pub struct Store {
    table: Table,
    guesses: Guesses,
}

impl Store {
    /// Connects to the table with the surroundings' AWS configuration.
    pub async fn connect(location: Location, ambient: Ambient) -> Self {
        Self {
            table: Table::connect(location, ambient).await,
            guesses: Guesses::default(),
        }
    }

    /// Reads one cheap item, so that the connection is up before the first request comes in.
    ///
    /// # Errors
    /// [`StoreError`] where the table cannot be reached.
    pub async fn warm_up(&self) -> Result<(), StoreError> {
        self.table.get(&key::nobody()).await.map(drop)
    }

    pub(crate) fn reader(&self, instance: InstanceName) -> Reader {
        Reader {
            table: self.table.clone(),
            instance,
            guesses: self.guesses.clone(),
        }
    }
}

/// Reads of one instance.
#[derive(Debug, Clone)]
pub struct Reader {
    table: Table,
    instance: InstanceName,
    guesses: Guesses,
}

impl Reader {
    /// The instance that is read.
    #[must_use]
    pub fn instance(&self) -> &InstanceName {
        &self.instance
    }

    fn keys(&self) -> Keys<'_> {
        Keys(&self.instance)
    }
}

/// Reads and writes of one instance.
#[derive(Debug, Clone)]
pub struct InstanceStore(Reader);

impl InstanceStore {
    pub(crate) fn new(reader: Reader) -> Self {
        Self(reader)
    }
}

impl Deref for InstanceStore {
    type Target = Reader;

    fn deref(&self) -> &Reader {
        &self.0
    }
}
