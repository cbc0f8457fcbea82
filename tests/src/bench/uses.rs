//! Every use of every endpoint with its own pattern of calls, at relevant sizes.

#![expect(
    clippy::expect_used,
    reason = "a measurement that meets what cannot be must stop"
)]

mod boards;
mod bookings;
mod calendars;
mod calls;
mod columns;
mod credentials;
mod leads;
mod opportunities;
mod people;
mod reports;
mod tickets;

use serde_json::Value;

use super::desk::Desk;
use super::row::Row;
use crate::world::{Request, Wallet};

/// Extent of the measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Every use, at sizes that are quick to set up.
    Quick,
    /// Every use at every size.
    Full,
}

impl Scale {
    /// The first `quick` sizes, or all.
    #[must_use]
    fn of<T>(self, quick: usize, sizes: &[T]) -> &[T] {
        match self {
            Self::Quick => &sizes[..quick],
            Self::Full => sizes,
        }
    }
}

/// Endpoints that are measured together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// Checking credentials and limits, on any endpoint.
    Credentials,
    /// Endpoint 1.
    Leads,
    /// Endpoints 2 to 6.
    People,
    /// Endpoints 7 to 9.
    Opportunities,
    /// Endpoint 10 without `columnId`.
    Boards,
    /// Endpoint 10 with `columnId`.
    Columns,
    /// Endpoints 11 and 12, and free times.
    Calendars,
    /// Endpoint 13.
    Bookings,
    /// Endpoints 14 and 15.
    Reports,
    /// Endpoints 16 to 18.
    Tickets,
    /// Endpoint 19.
    Calls,
}

impl Group {
    /// All groups, by endpoint.
    pub const ALL: [Self; 11] = [
        Self::Credentials,
        Self::Leads,
        Self::People,
        Self::Opportunities,
        Self::Boards,
        Self::Columns,
        Self::Calendars,
        Self::Bookings,
        Self::Reports,
        Self::Tickets,
        Self::Calls,
    ];

    /// Measures its uses.
    pub async fn measure(self, scale: Scale) -> Vec<Row> {
        match self {
            Self::Credentials => credentials::measure().await,
            Self::Leads => leads::measure(scale).await,
            Self::People => people::measure(scale).await,
            Self::Opportunities => opportunities::measure().await,
            Self::Boards => boards::measure(scale).await,
            Self::Columns => columns::measure().await,
            Self::Calendars => calendars::measure(scale).await,
            Self::Bookings => bookings::measure(scale).await,
            Self::Reports => reports::measure().await,
            Self::Tickets => tickets::measure(scale).await,
            Self::Calls => calls::measure().await,
        }
    }
}

impl Desk {
    /// A request with the key in the query.
    fn keyed(&self, wallet: &Wallet, method: &str, path: &str, body: &Value) -> Request<'_> {
        let sign = if path.contains('?') { '&' } else { '?' };
        let call = self.call(method, &format!("{path}{sign}i=acme&apitoken={}", wallet.key));
        if body.is_null() { call } else { call.json(body) }
    }
}
