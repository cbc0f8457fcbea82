//! Views of tickets and files (spec.md, Customer-service ticket, File record of a ticket).

use serde::Serialize;
use shared::ticket::{Ticket, TicketFile};
use shared::time::Timestamp;

/// A ticket with the fields derived from its times (C-62).
#[derive(Debug, Serialize)]
pub struct TicketView {
    #[serde(flatten)]
    ticket: Ticket,
    #[serde(rename = "createDateUnix")]
    create_date_unix: i64,
    #[serde(rename = "updateDateUnix")]
    update_date_unix: i64,
    #[serde(rename = "lastMesssageUserUnix")]
    last_message_user_unix: Option<i64>,
}

impl From<Ticket> for TicketView {
    fn from(ticket: Ticket) -> Self {
        Self {
            create_date_unix: ticket.create_date.unix_seconds(),
            update_date_unix: ticket.update_date.unix_seconds(),
            last_message_user_unix: ticket.last_message_user.map(Timestamp::unix_seconds),
            ticket,
        }
    }
}

/// A file.
#[derive(Debug, Serialize)]
pub struct FileView {
    #[serde(rename = "type")]
    kind: Option<String>,
    url: Option<String>,
    mimetype: Option<String>,
    store_url: Option<String>,
    store_path: Option<String>,
    ext: Option<String>,
}

impl From<TicketFile> for FileView {
    fn from(file: TicketFile) -> Self {
        Self {
            kind: file.kind,
            url: file.url,
            mimetype: file.mimetype,
            store_url: file.store_url,
            store_path: file.store_path,
            ext: file.ext,
        }
    }
}
