//! The single table: one method per access pattern, listed in docs/access-patterns.md.
//!
//! Records are the truth. A pure function derives all items that list, count or find a record; the record's transaction
//! writes them. A [`Reader`] or a [`Writer`] reaches only one instance. Handlers get them only from an `auth` scope.

#![cfg_attr(
    feature = "operator",
    expect(
        missing_docs,
        clippy::missing_errors_doc,
        clippy::must_use_candidate,
        clippy::return_self_not_must_use,
        reason = "records and keys are public to the operator's crate alone"
    )
)]
#![cfg_attr(
    not(feature = "operator"),
    expect(dead_code, unused_imports, reason = "the operator's crate uses the rest")
)]

pub(crate) mod automations;
pub(crate) mod board;
pub(crate) mod budget;
pub(crate) mod calendars;
pub(crate) mod caller;
pub(crate) mod calls;
pub(crate) mod companies;
pub(crate) mod credentials;
pub(crate) mod derived;
pub(crate) mod directory;
pub(crate) mod entity;
pub(crate) mod events;
pub(crate) mod facts;
pub(crate) mod format;
pub(crate) mod forms;
pub(crate) mod funnels;
pub(crate) mod idempotency;
pub(crate) mod key;
pub(crate) mod labels;
pub(crate) mod leads;
pub(crate) mod lists;
pub(crate) mod meetings;
pub(crate) mod opportunities;
pub(crate) mod people;
pub(crate) mod prefetch_cache;
pub(crate) mod quarantine;
pub(crate) mod rate;
pub(crate) mod referred;
pub(crate) mod reports;
pub(crate) mod sequence;
#[cfg(feature = "testing")]
pub mod testing;
pub(crate) mod tickets;
pub(crate) mod undelivered;

use std::sync::Arc;

use crate::directory::DirectoryHead;
use crate::environment::Environment;
use crate::instance::InstanceName;

pub use board::{BoardRequest, ColumnSnapshots, Found, PrefetchedBoard, PrefetchedTotals};
pub use calendars::{PrefetchedCalendars, PrefetchedSlots, SlotsRequest};
pub use caller::CallerId;
pub use calls::{CallParty, NewCall, PrefetchedCall, RecordedCall};
pub use companies::NamedCompany;
pub(crate) use credentials::{Credential, FoundCredentials};
pub use directory::{DepartmentList, DepartmentUsers};
pub(crate) use directory::{Members, StoredDirectory};
pub use idempotency::{Claimed, IdempotencyKey};
pub use key::{Cause, streamed};
pub use leads::WholeLead;
pub use leads::create::{CreatedLead, FormReceipt, PrefetchedLead};
pub use leads::delete::Deleted;
pub use leads::deleted_leads::PendingErasures;
pub use leads::form::{FormReceived, PrefetchedForm};
pub use leads::identity::{Identity, UniqueBy};
pub use leads::list::{LeadPage, LeadRequest, LeadSearch, PrefetchedLeads};
pub use leads::timeline::{PrefetchedTimeline, TimelinePage};
pub use leads::update::UpdatedLead;
pub use leads::{LeadEntry, LeadRecord, LeadState};
pub use lists::{List, ListRequest};
pub use meetings::{
    Attendee, Bookable, Booked, BookingReads, BookingRequest, BookingSubject, MeetingPage, MeetingRecord,
    MeetingRequest, NewMeeting, PrefetchedBooking, PrefetchedLeadMeetings, PrefetchedMeetings,
};
pub use opportunities::{
    Created, LeadOpportunities, OpportunityRecord, OpportunitySnapshot, PrefetchedCreation,
    PrefetchedLeadOpportunities, PrefetchedUpdate, SnapshotList, Updated,
};
pub use people::Names;
pub use rate::PublicRoute;
pub(crate) use rate::{Allowance, Budget, Spent};
pub use reports::{PrefetchedReport, Report, ReportRequest};
pub use table::meter::{Cost, Meter, TableCall};
pub use table::{Location, MAX_CALL, StoreError};
pub use tickets::{FilesOf, PrefetchedReassignment, Reassigned, TicketFiles};

use key::Keys;
use prefetch_cache::HintCache;
use rate::Leases;
use table::{DynamoDb, Engine, Gate, GateKeeper, Jitter, ReadTable, Table};

/// The table, of all instances.
#[derive(Debug, Clone)]
pub struct Store {
    pub(crate) table: Table,
    pub(crate) environment: Environment,
    pub(crate) hints: Arc<HintCache>,
    pub(crate) leases: Leases,
}

impl Store {
    /// Connects to the table with the default AWS configuration.
    pub async fn connect(location: Location, environment: Environment) -> Self {
        let engine = DynamoDb::connect(location, jitter(&environment)).await;
        Self::on(Arc::new(engine), environment)
    }

    /// Like [`Self::connect`], for bulk work.
    #[cfg(feature = "operator")]
    pub async fn connect_in_bulk(location: Location, environment: Environment) -> Self {
        let engine = DynamoDb::connect(location, jitter(&environment)).await;
        Self::on(Arc::new(engine.in_bulk()), environment)
    }

    /// Connects as a Lambda function and checks the table's format with one get, which also opens the connection.
    ///
    /// # Errors
    /// [`StoreError`] if the table cannot be reached, or has a format that this build does not read.
    pub async fn connect_function(location: Location, environment: Environment) -> Result<Self, StoreError> {
        let engine = DynamoDb::connect_function(location, jitter(&environment));
        let store = Self::on(Arc::new(engine), environment);
        store.check_format().await?;
        Ok(store)
    }

    /// The store on an engine.
    #[must_use]
    pub fn on(engine: Arc<dyn Engine>, environment: Environment) -> Self {
        let table = Table::of(engine, jitter(&environment));
        Self::over(table, environment)
    }

    fn over(table: Table, environment: Environment) -> Self {
        Self {
            table,
            environment,
            hints: Arc::default(),
            leases: Leases::default(),
        }
    }

    /// The table.
    #[cfg(feature = "operator")]
    #[must_use]
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// The clock and the randomness.
    #[cfg(feature = "operator")]
    #[must_use]
    pub fn environment(&self) -> &Environment {
        &self.environment
    }

    /// The writer of an instance for the operator, who needs no credential.
    #[cfg(feature = "operator")]
    #[must_use]
    pub fn unscoped(&self, instance: InstanceName) -> Writer {
        Writer::of_job(self, instance)
    }

    /// A reader without a caller, for jobs, the operator and public endpoints.
    pub(crate) fn reader(&self, instance: InstanceName) -> Reader {
        self.reader_for(instance, CallerId::default())
    }

    /// A reader for a caller.
    pub(crate) fn reader_for(&self, instance: InstanceName, caller: CallerId) -> Reader {
        Reader {
            table: self.table.reads().clone(),
            environment: self.environment.clone(),
            instance,
            caller: Arc::new(caller),
            hints: self.hints.clone(),
        }
    }
}

fn jitter(environment: &Environment) -> Jitter {
    let environment = environment.clone();
    Jitter::new(move |bound| environment.below(bound))
}

/// Reads of one instance.
#[derive(Debug, Clone)]
pub struct Reader {
    pub(crate) table: ReadTable,
    pub(crate) environment: Environment,
    pub(crate) instance: InstanceName,
    pub(crate) caller: Arc<CallerId>,
    pub(crate) hints: Arc<HintCache>,
}

impl Reader {
    /// The instance that is read.
    #[must_use]
    pub fn instance(&self) -> &InstanceName {
        &self.instance
    }

    /// The caller.
    #[must_use]
    pub fn caller(&self) -> &CallerId {
        &self.caller
    }

    /// The clock and the randomness.
    #[cfg(feature = "operator")]
    #[must_use]
    pub fn environment(&self) -> &Environment {
        &self.environment
    }

    /// Builds the instance's keys.
    #[cfg(feature = "operator")]
    #[must_use]
    pub fn unscoped_keys(&self) -> Keys<'_> {
        self.keys()
    }

    pub(crate) fn keys(&self) -> Keys<'_> {
        Keys::of(&self.instance)
    }

    /// This reader for use before its caller is checked. Its calls wait for the keeper's decision. For a `known`
    /// caller, at most one page is read before it (C-86).
    pub(crate) fn unchecked(&self, known: bool) -> (GateKeeper, Self) {
        let (keeper, gate) = Gate::new(known);
        let reader = Self {
            table: self.table.gated(gate),
            ..self.clone()
        };
        (keeper, reader)
    }
}

/// Reads and writes of one instance.
#[derive(Debug, Clone)]
pub struct Writer {
    reader: Reader,
    pub(crate) table: Table,
    /// The head of the directory with which the request was authorised; `None` in background work, which raises no
    /// [facts].
    directory: Option<Arc<DirectoryHead>>,
}

impl Writer {
    /// The table.
    #[cfg(feature = "operator")]
    #[must_use]
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// The reads.
    #[must_use]
    pub fn reader(&self) -> &Reader {
        &self.reader
    }

    pub(crate) fn keys(&self) -> Keys<'_> {
        self.reader.keys()
    }

    /// The writer of a request. Its writes raise [facts]. `directory` is the head with which the request was
    /// authorised.
    pub(crate) fn of_request(store: &Store, reader: Reader, directory: Arc<DirectoryHead>) -> Self {
        Self {
            reader,
            table: store.table.clone(),
            directory: Some(directory),
        }
    }

    /// The writer of background work and of the operator. Its writes raise no [facts], so automations do not trigger other automations
    /// (C-102).
    pub(crate) fn of_job(store: &Store, instance: InstanceName) -> Self {
        Self {
            reader: store.reader(instance),
            table: store.table.clone(),
            directory: None,
        }
    }
}

/// The store without a scope, for the operator's crate: records, keys and writes of any instance.
#[cfg(feature = "operator")]
pub mod unscoped;
