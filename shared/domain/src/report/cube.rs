//! Contributions of records, summed by day and group.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Fact, Range};
use crate::time::Day;

/// Sums of a group on a day. Serialized as a pair with the amount as text, because it may exceed the numbers
/// of JSON readers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(into = "(u64, String)", try_from = "(u64, String)")]
pub struct Sums {
    /// Number of records.
    pub count: u64,
    /// Total in cents or seconds.
    pub amount: u128,
}

impl Sums {
    /// Adds other sums.
    pub fn add(&mut self, other: Self) {
        self.count += other.count;
        self.amount += other.amount;
    }
}

impl From<Sums> for (u64, String) {
    fn from(sums: Sums) -> Self {
        (sums.count, sums.amount.to_string())
    }
}

impl TryFrom<(u64, String)> for Sums {
    type Error = &'static str;

    fn try_from((count, amount): (u64, String)) -> Result<Self, Self::Error> {
        let amount = amount.parse().map_err(|_| "an amount is not a number")?;
        Ok(Self { count, amount })
    }
}

/// Sums of the groups on each day, without days and groups that have no records.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Cube(BTreeMap<Day, BTreeMap<String, Sums>>);

/// Memory of a day without its sums, in bytes: one map.
const DAY_WEIGHT: usize = 640;
/// Memory of a sum without the text of its group, in bytes.
const SUM_WEIGHT: usize = 64;

impl Cube {
    /// Adds the fact of one record.
    pub fn add(&mut self, fact: Fact) {
        let sums = Sums {
            count: 1,
            amount: fact.amount.into(),
        };
        let day = self.0.entry(fact.day).or_default();
        day.entry(fact.group).or_default().add(sums);
    }

    /// Adds another cube.
    pub fn merge(&mut self, other: Self) {
        for (day, groups) in other.0 {
            let own_groups = self.0.entry(day).or_default();
            for (group, sums) in groups {
                own_groups.entry(group).or_default().add(sums);
            }
        }
    }

    /// The days of a range that have records, each with its groups.
    pub fn within(&self, range: Range) -> impl Iterator<Item = (Day, &BTreeMap<String, Sums>)> {
        self.0
            .range(range.from..=range.to)
            .map(|(day, groups)| (*day, groups))
    }

    /// Number of sums.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.values().map(BTreeMap::len).sum()
    }

    /// Approximate memory in bytes.
    #[must_use]
    pub fn weight(&self) -> usize {
        let of_day = |groups: &BTreeMap<String, Sums>| -> usize {
            groups.keys().map(|group| SUM_WEIGHT + group.len()).sum()
        };
        self.0.values().map(|groups| DAY_WEIGHT + of_day(groups)).sum()
    }

    /// Whether the cube is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Splits the cube by month, `YYYY-MM`, and each month into parts with at most `max_sums` sums each. The groups of
    /// one day may be in several parts.
    #[must_use]
    pub fn parts(self, max_sums: usize) -> BTreeMap<String, Vec<Self>> {
        let mut months: BTreeMap<String, Vec<Self>> = BTreeMap::new();
        for (day, groups) in self.0 {
            let parts = months.entry(day.month()).or_default();
            // The last part of the month may have room.
            let mut part = parts.pop().unwrap_or_default();
            let mut part_sums = part.len();
            for (group, sums) in groups {
                if part_sums >= max_sums {
                    parts.push(std::mem::take(&mut part));
                    part_sums = 0;
                }
                part.0.entry(day).or_default().insert(group, sums);
                part_sums += 1;
            }
            parts.push(part);
        }
        months
    }
}

impl FromIterator<Cube> for Cube {
    fn from_iter<I: IntoIterator<Item = Self>>(cubes: I) -> Self {
        let mut all = Self::default();
        cubes.into_iter().for_each(|cube| all.merge(cube));
        all
    }
}
