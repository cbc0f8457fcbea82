//! Definitions and results of reports (C-60, C-61). Only the operator changes definitions.
//!
//! A result contains sums for every day, so it covers every date range. `jobs::reports::refresh` writes it on
//! schedule. A report without a result, because it is new or changed, is computed on request; see [`scan`].

pub(crate) mod scan;
pub(crate) mod stored;

use super::key::Months;
use super::people::PrefetchedNames;
use super::{Reader, Writer};
use crate::funnel::Funnel;
use crate::ids::ReportId;
use crate::report::{Aspect, Definition, Known, Plot, Question, Range};
use crate::time::{Day, Timestamp, Zone};
use stored::{Head, Parts, StoredResult};
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
    /// The months of the stored result that may contain the requested dates in any time zone: local dates differ from
    /// UTC by at most a day.
    fn months(&self, now: Timestamp) -> Months {
        let today = Zone::UTC.day_of(now);
        let to = self.to.unwrap_or(today);
        // A range that is too long is rejected only after authentication. Until then, at most the longest valid range
        // is read.
        let from = Range::first_of(self.from, to).max(to.minus_days(Range::MAX_DAYS));
        Months {
            first: from.minus_days(1).month(),
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
        let definition_key = self.keys().report(request.id);
        let head_key = self.keys().report_head(request.id);
        let months = request.months(now);
        let (mut items, parts, names, funnels) = tokio::try_join!(
            self.table.get_many([definition_key.clone(), head_key.clone()]),
            self.report_parts(request.id, &months),
            self.begin_names(),
            self.funnels(),
        )?;
        Ok(PrefetchedReport {
            definition: items
                .remove(&definition_key)
                .as_ref()
                .map(definition)
                .transpose()?,
            head: items
                .remove(&head_key)
                .and_then(|item| self.readable_head(&head_key, &item)),
            parts,
            names,
            funnels,
        })
    }

    /// The names of all possible groups: funnels, and users if the report groups by user. Completes the prefetched
    /// names of users only in the latter case.
    async fn group_names(
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
        let prefetched = (start.head, start.parts);
        let (result, group_names) = tokio::try_join!(
            self.stored_or_computed(&definition, zone, &months, prefetched),
            self.reader.group_names(start.names, start.funnels, question)
        )?;
        Ok(Some(match result {
            Some(StoredResult::Cube(generated_at, cube)) => Report::Ready {
                generated_at,
                plot: question.plot(&cube, range, &group_names),
                definition,
            },
            Some(StoredResult::TooLarge) => Report::TooLarge,
            None => Report::Preparing,
        }))
    }

    /// The stored result, or else the result computed now. `None` if there is neither, because the computation would
    /// take too long for a request.
    async fn stored_or_computed(
        &self,
        definition: &Definition,
        zone: Zone,
        months: &Months,
        prefetched: (Option<Head>, Parts),
    ) -> Result<Option<StoredResult>, StoreError> {
        let question = &definition.question;
        let digest = question.digest(zone);
        let stored = self
            .reader
            .stored_result(definition.id, &digest, months, prefetched);
        if let Some(stored) = stored.await? {
            return Ok(Some(stored));
        }
        let computed = self.reader.compute(question, zone, scan::MAX_TIME).await?;
        Ok(computed.map(|(generated_at, cube)| StoredResult::Cube(generated_at, cube)))
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
