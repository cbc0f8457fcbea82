//! Definitions and results of reports (C-60, C-61). Only the operator changes definitions.
//!
//! A result contains sums for every day, so it covers every date range. `jobs::reports::refresh` writes it on
//! schedule. A report without a result, because it is new or changed, is computed on request; see [`walk`].

pub(crate) mod stored;
pub(crate) mod walk;

use std::collections::BTreeMap;

use super::key::Months;
use super::people::PrefetchedNames;
use super::{Reader, Writer};
use crate::funnel::Funnel;
use crate::ids::ReportId;
use crate::report::{Aspect, Cube, Definition, Known, Plot, Question, Range};
use crate::time::{Day, Timestamp, Zone};
use stored::{Head, StoredResult};
use table::KeyRange;
use table::StoreError;
use table::item::{self, Item, n, s};

pub use stored::Checked;

const KIND: &str = "report";
/// The definition as JSON.
const TEXT: &str = "report";

/// A requested report with its dates.
#[derive(Debug, Clone)]
pub struct ReportRequest {
    /// The report.
    pub id: ReportId,
    /// First day, if given.
    pub from: Option<Day>,
    /// Last day, if given.
    pub to: Option<Day>,
}

/// Prefetched reads of a report.
#[derive(Debug)]
pub struct PrefetchedReport {
    definition: Option<Definition>,
    head: Option<Head>,
    parts: Parts,
    names: PrefetchedNames,
    funnels: Vec<Funnel>,
}

/// The parts of the stored result, by sort key.
type Parts = BTreeMap<String, Item>;

/// The outcome of a request for a report.
#[derive(Debug)]
pub enum Report {
    /// The report has a result.
    Ready {
        /// Its definition.
        definition: Definition,
        /// Time of the result.
        generated_at: Timestamp,
        /// The plotted values.
        plot: Plot,
    },
    /// It has no result yet, and covers too many records for a computation within the request.
    Preparing,
    /// It has too many groups to be stored.
    TooLarge,
}

impl ReportRequest {
    /// The months that may contain the dates in any time zone: local dates differ from UTC by at most a day.
    fn months(&self, now: Timestamp) -> Months {
        let today = Zone::UTC.day_of(now);
        let to = self.to.unwrap_or(today);
        // A range that is too long is rejected only after authentication. Until then, at most the longest valid range
        // is read.
        let first = Range::first_of(self.from, to).max(to.minus_days(Range::MAX_DAYS));
        let first = first.minus_days(1);
        Months {
            first: first.month(),
            last: to.plus_days(1).month(),
        }
    }
}

impl Reader {
    /// The readable definitions of all reports, by id. One query per MB.
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be read.
    pub async fn reports(&self) -> Result<Vec<Definition>, StoreError> {
        let span = KeyRange::whole(self.keys().reports());
        let items = self.table.query_all(span).await?;
        let reports = items.into_iter();
        let reports = reports.filter_map(|item| table::readable(item, |item| definition(&item)));
        Ok(reports.collect())
    }

    /// Prefetches a report's definition and head, the requested months of its result, and the names of all funnels and
    /// of the first users. A batch of two gets and three queries, in parallel.
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be read.
    pub async fn begin_report(
        &self,
        request: &ReportRequest,
        now: Timestamp,
    ) -> Result<PrefetchedReport, StoreError> {
        let (key, head) = (
            self.keys().report(request.id),
            self.keys().report_head(request.id),
        );
        let months = request.months(now);
        let (mut items, parts, names, funnels) = tokio::try_join!(
            self.table.get_many([key.clone(), head.clone()]),
            self.report_parts(request.id, &months),
            self.begin_names(),
            self.funnels(),
        )?;
        Ok(PrefetchedReport {
            definition: items.remove(&key).as_ref().map(definition).transpose()?,
            head: items
                .remove(&head)
                .and_then(|item| self.readable_head(&head, &item)),
            parts,
            names,
            funnels,
        })
    }

    /// The names of all possible groups: funnels, and users if the report groups by user.
    async fn known(
        &self,
        names: PrefetchedNames,
        funnels: Vec<Funnel>,
        question: &Question,
    ) -> Result<Known, StoreError> {
        let mut users = Vec::new();
        if question.group_by() == Aspect::User {
            let names = self.finish_names(names).await?;
            users.extend(names.iter().map(|(id, name)| (id, name.to_owned())));
        }
        Ok(Known { users, funnels })
    }
}

impl Writer {
    /// The report over days in `zone`; `None` if it does not exist. No call if a matching result was prefetched.
    /// Without a result, queries of all records of its entity. A report by user also reads the names that were not
    /// prefetched.
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be read.
    pub async fn finish_report(
        &self,
        start: PrefetchedReport,
        range: Range,
        zone: Zone,
    ) -> Result<Option<Report>, StoreError> {
        let Some(definition) = start.definition else {
            return Ok(None);
        };
        let question = &definition.question;
        let months = Months {
            first: range.from.month(),
            last: range.to.month(),
        };
        let read = (start.head, start.parts);
        let (cube, known) = tokio::try_join!(
            self.cube(&definition, zone, (&months, read)),
            self.reader.known(start.names, start.funnels, question)
        )?;
        Ok(Some(match cube {
            Err(instead) => instead,
            Ok((generated_at, cube)) => Report::Ready {
                generated_at,
                plot: question.plot(&cube, range, &known),
                definition,
            },
        }))
    }

    /// The stored or computed result with its time. The inner error is the response if there is no result.
    async fn cube(
        &self,
        definition: &Definition,
        zone: Zone,
        (months, read): (&Months, (Option<Head>, Parts)),
    ) -> Result<Result<(Timestamp, Cube), Report>, StoreError> {
        let question = &definition.question;
        let asked = (definition.id, question.digest(zone));
        Ok(match self.reader.stored_cube(asked, months, read).await? {
            Some(StoredResult::Cube(generated_at, cube)) => Ok((generated_at, cube)),
            Some(StoredResult::TooLarge) => Err(Report::TooLarge),
            None => {
                let computed = self.reader.compute(question, zone, walk::MAX_TIME).await?;
                computed.ok_or(Report::Preparing)
            }
        })
    }
}

/// The item of a definition.
pub fn encode(definition: &Definition) -> Item {
    let text = serde_json::json!(definition).to_string();
    Item::from([("id".to_owned(), n(definition.id)), (TEXT.to_owned(), s(text))])
}

/// The definition in an item.
pub fn definition(item: &Item) -> Result<Definition, StoreError> {
    let text = item.get(TEXT).and_then(|text| text.as_s().ok());
    let text = text.ok_or_else(|| item::corrupt(KIND, "it has no text"))?;
    serde_json::from_str(text).map_err(|cause| item::corrupt(KIND, cause))
}
