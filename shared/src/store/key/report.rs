//! The keys of reports, their results, and the checkpoints and drafts of scans.

use table::KeyRange;

use super::{Key, Keys};
use crate::ids::ReportId;
use crate::report::ReportEntity;

/// A range of months of a stored result, each written `YYYY-MM`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Months {
    /// The first month.
    pub first: String,
    /// The last month.
    pub last: String,
}

impl Months {
    /// All months.
    pub fn all() -> Self {
        Self {
            first: "0001-01".to_owned(),
            last: "9999-12".to_owned(),
        }
    }

    /// The exclusive and the inclusive bound of the sort keys of the months' parts.
    pub fn bounds(&self) -> (String, String) {
        (self.first.clone(), format!("{}#~", self.last))
    }
}

/// The name of a month's part with this index.
pub fn report_part_name(month: &str, at: usize) -> String {
    format!("{month}#{at:04}")
}

/// The version of parts written by a refresh. Concurrent refreshes may have the same generation, so a token
/// distinguishes them.
pub fn report_version(generation: u64, token: &str) -> String {
    format!("{generation:012}#{token}")
}

/// The sort key of a version of a part.
pub fn report_part_sort(name: &str, version: &str) -> String {
    format!("{name}#{version}")
}

/// The name of a scan's slice, with which the sort keys of its drafts begin.
pub fn report_slice(token: &str, number: u64) -> String {
    format!("{token}#{number:012}")
}

/// The prefix of the sort keys of a slice's drafts.
pub fn report_slice_begins(slice: &str) -> String {
    format!("{slice}#")
}

/// The generation of the refresh that wrote the part with this sort key.
pub fn report_generation(part: &str) -> Option<u64> {
    part.split('#').nth(2)?.parse().ok()
}

impl Keys<'_> {
    /// All reports' definitions by id.
    pub fn reports(self) -> String {
        self.pk("report")
    }

    /// A report's definition.
    pub fn report(self, id: ReportId) -> Key {
        Key::new(self.reports(), id.padded())
    }

    /// The stored result of a report: its parts by month, and after them its head.
    pub fn report_data(self, id: ReportId) -> String {
        self.pk(&format!("report-data#{id}"))
    }

    /// The parts of some months in a stored result, without its head, which may be large.
    pub fn report_parts(self, id: ReportId, months: &Months) -> KeyRange {
        let (after, through) = months.bounds();
        KeyRange {
            after: Some(after),
            through: Some(through),
            ..KeyRange::whole(self.report_data(id))
        }
    }

    /// The head of a stored result, which lists its parts.
    pub fn report_head(self, id: ReportId) -> Key {
        Key::new(self.report_data(id), "head")
    }

    /// The checkpoint of the scan of an entity's records.
    pub fn report_walk(self, entity: ReportEntity) -> Key {
        Key::new(self.pk("report-walk"), entity.as_str())
    }

    /// The drafts of a report: partial sums that scans have saved.
    pub fn report_drafts(self, id: ReportId) -> String {
        self.pk(&format!("report-draft#{id}"))
    }

    /// A part of the draft that a slice of a scan saved for a report.
    pub fn report_draft(self, id: ReportId, slice: &str, at: usize) -> Key {
        Key::new(self.report_drafts(id), format!("{slice}#{at:04}"))
    }

    /// A version of a part of a stored result.
    pub fn report_part(self, id: ReportId, name: &str, version: &str) -> Key {
        Key::new(self.report_data(id), report_part_sort(name, version))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instance::InstanceName;
    use crate::store::key::Origin;

    #[test]
    fn the_text_of_reports_keys() {
        let acme = InstanceName::parse("acme").unwrap();
        let (keys, id) = (Keys::of(&acme), ReportId::new(2).unwrap());
        let (name, version) = (report_part_name("2026-05", 1), report_version(7, "ab"));
        let part = keys.report_part(id, &name, &version);
        for (key, pk, sk) in [
            (keys.report(id), "acme#report", "000000000000002"),
            (keys.report_head(id), "acme#report-data#2", "head"),
            (part.clone(), "acme#report-data#2", "2026-05#0001#000000000007#ab"),
            (keys.report_walk(ReportEntity::Calls), "acme#report-walk", "calls"),
            (
                keys.report_draft(id, "ab#1", 1),
                "acme#report-draft#2",
                "ab#1#0001",
            ),
        ] {
            assert_eq!((key.pk.as_str(), key.sk.as_str()), (pk, sk));
            assert_eq!(keys.origin(&key), Origin::None);
        }
        assert_eq!(report_generation(&part.sk), Some(7));
        assert_eq!(report_generation("head"), None);
    }

    #[test]
    fn parts_lie_within_their_months_and_the_head_behind_all() {
        let months = Months {
            first: "2026-05".to_owned(),
            last: "2026-06".to_owned(),
        };
        let within = |months: &Months, sk: &str| {
            let (after, through) = months.bounds();
            after.as_str() < sk && sk <= through.as_str()
        };
        for (sk, inside) in [
            ("2026-04#9999#000000000007#ab", false),
            ("2026-05#0000#000000000007#ab", true),
            ("2026-06#9999#999999999999#ff", true),
            ("2026-07#0000#000000000007#ab", false),
            ("head", false),
        ] {
            assert_eq!(within(&months, sk), inside, "{sk}");
            assert_eq!(within(&Months::all(), sk), sk != "head", "{sk}");
        }
    }
}
