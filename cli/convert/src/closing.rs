//! Columns that state, besides the status and the stage, that an opportunity is closed (C-105).

use domain::opportunity::Status;

use super::cells::is_bad;
use super::content::Content;
use super::funnels::status;
use super::input::Row;
use super::kind::FileKind;
use super::map::MapFile;
use super::mapping::{MappedFile, quoted};
use super::names::{self, plain};
use super::target::{Closing, ColumnTarget};
use super::token::is_absent;

impl MappedFile {
    /// Sets the columns of an opportunity that may state that it is closed.
    pub fn find_closings(&mut self, map: &MapFile) {
        if self.main != FileKind::Opportunity {
            return;
        }
        let answers: Vec<_> = (0..self.columns.len()).map(|at| self.closing(at, map)).collect();
        let has = |statuses: &'static [Status]| answers.contains(&Some(Closing::Value(statuses)));
        let has_gain = has(&[Status::Gain]);
        let is_loss = |at: usize| {
            let custom = self
                .columns
                .get(at)
                .filter(|_| has_gain && answers.get(at) == Some(&None));
            let is_text = custom.is_some_and(|column| {
                let others = [Content::Amounts, Content::Emails, Content::Phones];
                matches!(column.target, ColumnTarget::Custom(FileKind::Opportunity, _))
                    && !column.contents.iter().any(|content| others.contains(content))
            });
            is_text && names::closings(&plain(self.heading(at))).first() == Some(&Status::Lost)
        };
        let losses: Vec<_> = (0..self.columns.len()).map(is_loss).collect();
        let either = match (has(&[Status::Gain]), has(&[Status::Lost])) {
            (true, _) => &[Status::Lost][..],
            (false, true) => &[Status::Gain],
            (false, false) => &[Status::Gain, Status::Lost],
        };
        for ((column, closing), is_loss) in self.columns.iter_mut().zip(&answers).zip(losses) {
            column.closing = match closing {
                None if is_loss => Some(Closing::Value(&[Status::Lost])),
                Some(Closing::Value([_, _])) => Some(Closing::Value(either)),
                other => *other,
            };
        }
    }

    fn closing(&self, at: usize, map: &MapFile) -> Option<Closing> {
        let column = self.columns.get(at)?;
        let heading = self.heading(at);
        let mapped = map
            .closed
            .get(&self.sheet.name)
            .and_then(|columns| columns.get(heading));
        if let Some(status) = mapped {
            return Some(Closing::Map(*status));
        }
        match &column.target {
            ColumnTarget::Field(FileKind::Opportunity, "gain_date" | "gain_reason") => {
                Some(Closing::Value(&[Status::Gain]))
            }
            ColumnTarget::Field(FileKind::Opportunity, "lost_date" | "loss_reason") => {
                Some(Closing::Value(&[Status::Lost]))
            }
            ColumnTarget::Custom(FileKind::Opportunity, _) => {
                let statuses = names::closings(&plain(heading));
                if column.contents.contains(&Content::Answers) && !statuses.is_empty() {
                    return Some(Closing::Value(statuses));
                }
                column
                    .contents
                    .contains(&Content::Statuses)
                    .then_some(Closing::Word)
            }
            _ => None,
        }
    }

    /// The status of a row by a column that the map names for it.
    #[must_use]
    pub fn mapped_closing(&self, row: Row<'_>) -> Option<Status> {
        let statuses = self
            .columns
            .iter()
            .enumerate()
            .filter_map(|(at, column)| match column.closing {
                Some(Closing::Map(status)) if status != Status::Open && is_filled(row, at) => Some(status),
                _ => None,
            });
        // An opportunity that is closed and gained has both.
        statuses.min_by_key(|status| *status != Status::Gain)
    }

    /// The column that most clearly states that a row is closed.
    #[must_use]
    pub fn closed_by(&self, row: Row<'_>, map: &MapFile) -> Option<usize> {
        let states = |at: usize, closing: Closing| match closing {
            Closing::Word => {
                let status = status(map, row.cell(at).text, "");
                status.is_some_and(|status| status != Status::Open)
            }
            Closing::Value(_) => is_filled(row, at),
            Closing::Map(_) => false,
        };
        let columns = self.columns.iter().enumerate();
        let columns = columns.filter_map(|(at, column)| Some((column.closing?, at)));
        columns
            .filter(|(closing, at)| states(*at, *closing))
            .min()
            .map(|(_, at)| at)
    }
}

/// Whether a cell has a value that is no "no" and states no doubt, such as `Pendente`.
pub fn is_filled(row: Row<'_>, column: usize) -> bool {
    let cell = row.cell(column);
    !is_absent(cell.text)
        && !is_bad(cell)
        && names::answer(cell.text) != Some(false)
        && !names::is_undecided(cell.text)
        && !names::is_not_closed(cell.text)
}

/// The likely status as a map contains it, with the others as a remark.
pub fn either(statuses: &[Status]) -> String {
    let mut names = statuses.iter().map(|status| quoted(status.as_str()));
    let first = names.next().unwrap_or_default();
    let others = names.collect::<Vec<_>>().join(", ");
    if others.is_empty() {
        first
    } else {
        format!("{first}  # or {others}")
    }
}
