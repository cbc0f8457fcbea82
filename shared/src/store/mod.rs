//! The single table: one method per access pattern, listed in docs/access-patterns.md.
//!
//! Records are the truth; everything that lists, counts or finds them is derived from them by a pure function and
//! written in the same transaction. A [`Reader`] or an [`InstanceStore`] reaches one instance only, and handlers get
//! one from a [`Scope`](crate::scope::Scope) alone.

mod automations;
mod background;
mod board;
mod bookmarks;
mod budget;
mod calendars;
mod calls;
mod connection;
mod copies;
mod credentials;
mod derived;
mod directory;
#[cfg(feature = "embedded")]
pub mod embedded;
mod erasure;
mod error;
#[cfg(feature = "faults")]
pub mod fault;
mod format;
mod funnels;
mod gate;
mod guess;
mod idempotency;
mod item;
mod key;
mod lead_changes;
mod lead_list;
mod leads;
mod links;
mod meetings;
mod meter;
mod notices;
mod number;
pub mod operator;
mod opportunities;
mod people;
mod quarantine;
mod rate;
#[cfg(feature = "faults")]
pub mod replay;
mod reports;
mod table;
mod tickets;
mod transaction;
mod triggers;
mod unknown;

use std::ops::Deref;

use crate::ambient::Ambient;
use crate::instance::InstanceName;
use crate::start::{self, StartError};

pub use board::{BoardRequest, BoardStart, ColumnCards};
pub use calendars::{CalendarsStart, SlotsStart};
pub use calls::{CallNumbers, Caller, Inserted, Link};
pub use connection::{Location, MAX_CALL};
pub(crate) use credentials::{Credential, Found};
pub(crate) use directory::Members;
pub use erasure::{Deleted, Erasures};
pub use error::StoreError;
pub use format::Format;
pub(crate) use gate::GateKeeper;
pub use idempotency::{Claim, Claimed};
pub use key::streamed;
pub use lead_list::{LeadEntry, LeadPage, LeadRequest, LeadSearch, LeadStart};
pub use leads::LeadRecord;
pub use meetings::{
    Agenda, Booked, BookingRequest, BookingStart, Guest, MeetingPage, MeetingRecord, MeetingRequest,
    MeetingStart, NewMeeting,
};
pub use meter::{Call as TableCall, Cost, Deeds, Meter};
pub use opportunities::{Card, CardList, Created, CreationStart, OpportunityRecord, UpdateStart, Updated};
pub use people::Names;
pub use rate::PublicRoute;
pub(crate) use rate::{Allowance, Budget};
pub use reports::{Report, ReportRequest, ReportStart};
pub use tickets::{ListRequest, ListStart, TicketFiles};

use gate::Gate;
use guess::Guesses;
use key::Keys;
use rate::Leases;
use table::Table;

/// The table, of all instances.
#[derive(Debug, Clone)]
pub struct Store {
    table: Table,
    guesses: Guesses,
    leases: Leases,
}

impl Store {
    /// Connects to the table with the surroundings' AWS configuration.
    pub async fn connect(location: Location, ambient: Ambient) -> Self {
        Self::over(Table::connect(location, ambient).await)
    }

    fn over(table: Table) -> Self {
        Self {
            table,
            guesses: Guesses::default(),
            leases: Leases::default(),
        }
    }

    /// The store of a deployed function, where its environment says ([`start::location`]), with a connection that is up
    /// before the first request. Where it cannot be had, the log and Lambda are told.
    ///
    /// # Errors
    /// [`StartError`] where the environment lacks something or the table cannot be reached.
    pub async fn from_env(ambient: Ambient) -> Result<Self, StartError> {
        let connected = async {
            let store = Self::over(Table::connect_function(start::location()?, ambient));
            store.check_start().await?;
            Ok(store)
        };
        connected.await.inspect_err(start::report)
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

    /// The same reader before its caller is checked: it reads a page ahead where the caller is `known`, else nothing,
    /// until the keeper has judged (C-86).
    pub(crate) fn unchecked(&self, known: bool) -> (GateKeeper, Self) {
        let (keeper, gate) = Gate::new(known);
        let mut reader = self.clone();
        reader.table.gate = Some(gate);
        (keeper, reader)
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
