//! Budgets of requests, each with its own limit.

/// Requests that are counted together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Budget<'a> {
    /// Requests to an instance with keys that have no limit of their own.
    Keys,
    /// Requests with the key of this public id.
    Key(&'a str),
    /// Requests without credentials to one route.
    Public(PublicRoute),
    /// Calls with the webhook's secret.
    Webhook,
}

/// A route without credentials.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PublicRoute {
    /// `POST /calendarmeeting`.
    Booking,
    /// `GET /calendarmeeting/slots`.
    Slots,
    /// `POST /voip/webhook` of an instance without a secret.
    Webhook,
    /// `POST /api/hook/{name}`.
    Form,
}

impl PublicRoute {
    /// Name in keys.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Booking => "booking",
            Self::Slots => "slots",
            Self::Webhook => "webhook",
            Self::Form => "form",
        }
    }
}
