//! Every use of every endpoint that makes calls of its own, at the sizes that matter.

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

/// How much is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Every use, at the sizes that are made quickly.
    Quick,
    /// Every use at every size.
    Full,
}

impl Scale {
    /// Those of some sizes that are measured: all, or the first few.
    #[must_use]
    fn of<T>(self, quick: usize, sizes: &[T]) -> &[T] {
        match self {
            Self::Quick => &sizes[..quick],
            Self::Full => sizes,
        }
    }
}

/// A group of endpoints whose uses are measured together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// What credentials and limits cost, on any endpoint.
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
    /// Endpoints 11 and 12, and the free times.
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
    /// All there are, in the order of their endpoints.
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
    /// Begins a request with the key in the query.
    fn keyed(&self, wallet: &Wallet, method: &str, path: &str, body: &Value) -> Request<'_> {
        let sign = if path.contains('?') { '&' } else { '?' };
        let call = self.call(method, &format!("{path}{sign}i=acme&apitoken={}", wallet.key));
        if body.is_null() { call } else { call.json(body) }
    }
}
