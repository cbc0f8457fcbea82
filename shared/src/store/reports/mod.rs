//! Reports: their definitions, which only the operator changes, and their results (C-60, C-61).
//!
//! A result holds what was added up for every day there is, so every range is answered from it. It is written by the
//! clock, see `jobs::reports::refresh`; a report without one, which is new or was changed, is computed when it is asked for, see
//! [`walk`].

pub(crate) mod stored;
pub(crate) mod walk;

use std::collections::BTreeMap;

use super::key::Months;
use super::people::PrefetchedNames;
use super::{InstanceStore, Reader};
use crate::funnel::Funnel;
use crate::ids::ReportId;
use crate::report::{Aspect, Cube, Definition, Known, Plot, Question, Range};
use crate::time::{Day, Timestamp, Zone};
use stored::{Found, Head};
use table::StoreError;
use table::item::{self, Item, n, s};
use table::{KeyRange, PAGE};

pub use stored::Checked;

const KIND: &str = "report";
/// The definition as text.
const TEXT: &str = "report";

/// The requested days of a report, as far as they are given, and all that they may turn out to be.
#[derive(Debug, Clone)]
pub struct ReportRequest {
    /// The report.
    pub id: ReportId,
    /// The first day, where one is given.
    pub from: Option<Day>,
    /// The last day, where one is given.
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

/// The parts of a stored result that were read, by sort key.
type Parts = BTreeMap<String, Item>;

/// A report that was found.
#[derive(Debug)]
pub enum Report {
    /// It is there.
    Ready {
        /// Its definition.
        definition: Definition,
        /// Of when it tells.
        generated_at: Timestamp,
        /// The plotted values.
        plot: Plot,
    },
    /// It has no result yet, and there are too many records to compute it concurrently.
    Preparing,
    /// It has more groups than can be stored.
    TooLarge,
}

impl ReportRequest {
    /// The months in which its days lie, whatever zone they are days of: no clock is a day ahead or behind.
    fn months(&self, now: Timestamp) -> Months {
        let today = Zone::UTC.day_of(now);
        let to = self.to.unwrap_or(today);
        // A first day that is too far back is refused, but only when today is known: until then not all is read for it.
        let first = Range::first_of(self.from, to).max(to.minus_days(Range::MAX_DAYS));
        let first = first.minus_days(1);
        Months {
            first: first.month(),
            last: to.plus_days(1).month(),
        }
    }
}

impl Reader {
    /// All readable reports' definitions by id. One query for each MB of them.
    ///
    /// # Errors
    /// [`StoreError`] where they cannot be read.
    pub async fn reports(&self) -> Result<Vec<Definition>, StoreError> {
        let span = KeyRange::head(self.keys().reports(), PAGE);
        let items = self.table.query_all(span).await?;
        let reports = items.into_iter();
        let reports = reports.filter_map(|item| table::readable(item, |item| definition(&item)));
        Ok(reports.collect())
    }

    /// Reads a report's definition and the months of its result that may be asked for, and the names of all groups there
    /// can be, of users the first. A batch of two gets and three queries, side by side.
    ///
    /// # Errors
    /// [`StoreError`] where they cannot be read.
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

    /// The groups there are: all users with their names where the question is grouped by user, and the funnels.
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

impl InstanceStore {
    /// The report, its days being those of `zone`; `None` where there is no such report. No call where it has a result and is
    /// what it was expected to be; without a result queries of all records that it is about.
    ///
    /// # Errors
    /// [`StoreError`] where they cannot be read.
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
            self.known(start.names, start.funnels, question)
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

    /// The result of a report, stored or computed; else the report without it.
    async fn cube(
        &self,
        definition: &Definition,
        zone: Zone,
        (months, read): (&Months, (Option<Head>, Parts)),
    ) -> Result<Result<(Timestamp, Cube), Report>, StoreError> {
        let question = &definition.question;
        let asked = (definition.id, question.digest(zone));
        Ok(match self.stored_cube(asked, months, read).await? {
            Some(Found::Cube(generated_at, cube)) => Ok((generated_at, cube)),
            Some(Found::TooLarge) => Err(Report::TooLarge),
            None => {
                let computed = self.compute(question, zone, walk::MAX_TIME).await?;
                computed.ok_or(Report::Preparing)
            }
        })
    }
}

/// A definition as an item.
pub fn encode(definition: &Definition) -> Item {
    let text = serde_json::json!(definition).to_string();
    Item::from([("id".to_owned(), n(definition.id)), (TEXT.to_owned(), s(text))])
}

/// The definition that an item holds.
pub fn definition(item: &Item) -> Result<Definition, StoreError> {
    let text = item.get(TEXT).and_then(|text| text.as_s().ok());
    let text = text.ok_or_else(|| item::corrupt(KIND, "it has no text"))?;
    serde_json::from_str(text).map_err(|cause| item::corrupt(KIND, cause))
}
