//! Background work of an instance that waits or was set aside (C-87, C-102).

use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use serde::Serialize;
use shared::ids::{AutomationId, LeadId, ReportId};
use shared::jobs::copies;
use shared::store::unscoped::key;
use shared::store::unscoped::notices::{DELETED, MARKED_AT};
use shared::store::unscoped::quarantine;
use shared::store::unscoped::undelivered::{self, Undelivered};
use shared::time::Timestamp;
use table::item::{self, Item};
use table::{Key, KeyRange, StoreError, Transaction, key_of};

use crate::{Operator, OperatorError};

/// Maximum concurrent checks.
const CONCURRENCY: usize = 16;

/// A work item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Work {
    /// The refresh of the copies of a changed lead.
    Copies {
        /// The lead.
        lead: LeadId,
    },
    /// The erasure of a deleted lead from other records.
    Erasure {
        /// The lead.
        lead: LeadId,
    },
    /// The automations of a fact.
    Trigger {
        /// The fact.
        fact: String,
    },
    /// The delivery of a notification.
    Notification {
        /// Its id, as receivers see it.
        delivery: String,
        /// The automation.
        automation: AutomationId,
        /// Index of the automation's action.
        action: usize,
    },
    /// The refresh of a report.
    Report {
        /// The report.
        report: ReportId,
    },
    /// Work of an unknown kind that was set aside.
    Unknown {
        /// The key of its item.
        item: String,
    },
}

impl Work {
    /// The names of the kinds.
    pub const KINDS: [&str; 6] = [
        "copies",
        "erasure",
        "trigger",
        "notification",
        "report",
        "unknown",
    ];

    /// The name of its kind, and what it concerns.
    #[must_use]
    pub fn named(&self) -> (&'static str, String) {
        match self {
            Self::Copies { lead } => ("copies", format!("lead {lead}")),
            Self::Erasure { lead } => ("erasure", format!("lead {lead}")),
            Self::Trigger { fact } => ("trigger", fact.clone()),
            Self::Notification { delivery, .. } => ("notification", delivery.clone()),
            Self::Report { report } => ("report", format!("report {report}")),
            Self::Unknown { item } => ("unknown", item.clone()),
        }
    }
}

/// Work that waits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Waiting {
    /// The work.
    #[serde(flatten)]
    pub work: Work,
    /// Number of attempts; only notifications count them.
    pub tries: u64,
    /// Time of the last failure of a notification, of a lead's change, and of a report's stored result.
    pub since: Option<Timestamp>,
    /// Time of the next attempt; `None` if it was set aside.
    pub next: Option<Timestamp>,
    /// Outcome of the last attempt; empty before it.
    pub reason: String,
}

impl Waiting {
    /// Whether it is of the kind.
    #[must_use]
    pub fn is_of(&self, kind: Option<&str>) -> bool {
        kind.is_none_or(|kind| self.work.named().0 == kind)
    }
}

/// Work that waits, with its item; `None` for a report.
type Found = (Waiting, Option<Item>);

impl Operator {
    /// The work of a kind that waits, or all of it, by kind. Drops notifications whose record is gone. Queries of the stale
    /// markers, the outbox, the work set aside and the reports, and for each notification the gets of its records.
    ///
    /// # Errors
    /// [`OperatorError`] if there is no such instance, or the table fails.
    pub async fn queue(&self, kind: Option<&str>) -> Result<Vec<Waiting>, OperatorError> {
        let found = self.waiting(kind).await?;
        Ok(found.into_iter().map(|(waiting, _)| waiting).collect())
    }

    /// Makes the work due, also what was set aside, and does what needs no receiver. The next run of the background work sends
    /// the notifications, with no attempts yet. Skips those that are being sent. Returns the work as it was.
    ///
    /// # Errors
    /// As [`Self::queue`]. What was scheduled before the error remains so.
    pub async fn run_queue(&self, kind: Option<&str>) -> Result<Vec<Waiting>, OperatorError> {
        let mut scheduled = Vec::new();
        for (waiting, item) in self.waiting(kind).await? {
            let transaction = match item {
                Some(item) => self.again(&waiting, item)?,
                None => Some(Transaction::default()),
            };
            // A refused transaction means that it was done, or that another operator has scheduled it.
            if let Some(transaction) = transaction
                && self.table().try_commit(transaction).await?
            {
                scheduled.push(waiting);
            }
        }
        if scheduled
            .iter()
            .any(|waiting| !waiting.is_of(Some("notification")))
        {
            self.writer.do_due_work().await?;
        }
        Ok(scheduled)
    }

    /// The writes that make work due now; `None` if a process delivers the notification.
    fn again(&self, waiting: &Waiting, item: Item) -> Result<Option<Transaction>, StoreError> {
        let now = u64::try_from(self.now().unix_seconds()).unwrap_or(0);
        if quarantine::unreadable(&item).is_some() && key::original_key(&key_of(&item)?).is_some() {
            return quarantine::back(item).map(Some);
        }
        match waiting.work {
            // The next run sets an unreadable one aside.
            Work::Notification { .. } if Undelivered::decode(&item).is_err() => Ok(None),
            Work::Notification { .. } => undelivered::again(&item, now),
            Work::Copies { .. } | Work::Erasure { .. } if copies::stuck(&item).is_some() => {
                copies::unstick(&item).map(Some)
            }
            _ => Ok(Some(Transaction::default())),
        }
    }

    async fn waiting(&self, kind: Option<&str>) -> Result<Vec<Found>, OperatorError> {
        self.directory_head().await?;
        let (keys, table) = (self.keys(), self.reads());
        let (markers, outbox, aside, reports) = tokio::try_join!(
            table.query_all(KeyRange::whole(keys.stale_markers())),
            table.query_all(KeyRange::whole(keys.outbox())),
            table.query_all(KeyRange::whole(keys.set_aside())),
            self.writer.due_reports(),
        )?;
        let now = self.now();
        let mut found = Vec::new();
        for marker in markers.into_iter().filter(|marker| !copies::is_written(marker)) {
            found.push((of_marker(&marker, now)?, Some(marker)));
        }
        for item in outbox.into_iter().chain(aside) {
            found.push((self.of_outbox(&item, now)?, Some(item)));
        }
        found.extend(reports.into_iter().map(|(report, since)| {
            let reason = if since.is_some() {
                "its result is out of date"
            } else {
                "it has no result"
            };
            (waiting(Work::Report { report }, since, Some(now), reason), None)
        }));
        found.retain(|(waiting, _)| waiting.is_of(kind));
        let position = |(waiting, _): &Found| {
            let name = waiting.work.named().0;
            (
                Work::KINDS.iter().position(|kind| *kind == name),
                waiting.next.is_none(),
            )
        };
        found.sort_by_key(position);
        self.without_dropped(found).await
    }

    /// Work in the outbox, or that was set aside.
    fn of_outbox(&self, item: &Item, now: Timestamp) -> Result<Waiting, StoreError> {
        let key = key_of(item)?;
        let original = key::original_key(&key);
        let next = original.is_none().then_some(now);
        let place = original.as_ref().unwrap_or(&key);
        let unreadable = quarantine::unreadable(item).map(quarantine::reason);
        let reason = unreadable.clone().unwrap_or_default();
        if let Some(fact) = key::triggered(&place.sk) {
            let fact = fact.label();
            return Ok(waiting(Work::Trigger { fact }, None, next, &reason));
        }
        let Some((cause, automation, action)) = key::notified(&place.sk) else {
            let item = place.to_string();
            return Ok(waiting(Work::Unknown { item }, None, next, &reason));
        };
        let delivery = format!("{}-{}-{automation}-{action}", self.instance(), cause.label());
        let work = Work::Notification {
            delivery,
            automation,
            action,
        };
        if unreadable.is_some() {
            return Ok(waiting(work, None, None, &reason));
        }
        Ok(match Undelivered::decode(item) {
            Ok(stored) => Waiting {
                tries: stored.tries,
                ..waiting(work, stored.since, stored.next, &stored.reason)
            },
            Err(_) => waiting(work, None, next, &quarantine::reason("notification")),
        })
    }

    /// The work without notifications whose record is gone, which are deleted.
    async fn without_dropped(&self, found: Vec<Found>) -> Result<Vec<Found>, OperatorError> {
        let checks = found.into_iter().map(async |(waiting, item)| {
            let notification = item.as_ref().filter(|_| waiting.is_of(Some("notification")));
            let cause = notification.and_then(|item| Some(Undelivered::decode(item).ok()?.cause));
            if let (Some(stored), Some(cause)) = (notification, cause)
                && self.reader().is_without_record(cause).await?
            {
                self.table().try_commit(undelivered::dropped(stored)?).await?;
                return Ok(None);
            }
            Ok::<_, StoreError>(Some((waiting, item)))
        });
        let checked = stream::iter(checks).buffered(CONCURRENCY);
        let found: Vec<_> = checked.try_collect().await?;
        Ok(found.into_iter().flatten().collect())
    }
}

/// The work of a stale marker.
fn of_marker(marker: &Item, now: Timestamp) -> Result<Waiting, StoreError> {
    let key: Key = key_of(marker)?;
    let work = match key::stale_marker_lead(&key) {
        Some(lead) if marker.contains_key(DELETED) => Work::Erasure { lead },
        Some(lead) => Work::Copies { lead },
        None => Work::Unknown {
            item: key.to_string(),
        },
    };
    let raised = item::number("notice", marker, MARKED_AT)
        .ok()
        .filter(|at| *at > 0);
    let raised = raised.and_then(|at| i64::try_from(at).ok()?.checked_mul(1000));
    let since = raised.and_then(Timestamp::from_unix_millis);
    Ok(match copies::stuck(marker) {
        Some(kind) => waiting(work, since, None, &quarantine::reason(kind)),
        None => waiting(work, since, Some(now), ""),
    })
}

fn waiting(work: Work, since: Option<Timestamp>, next: Option<Timestamp>, reason: &str) -> Waiting {
    Waiting {
        work,
        tries: 0,
        since,
        next,
        reason: reason.to_owned(),
    }
}
