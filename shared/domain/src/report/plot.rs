//! The result of a report: labels and numbers (C-60, C-61).

use std::collections::BTreeMap;

use serde_json::Number;

use super::fact::group;
use super::rules::{fixed_values, name};
use super::{Amount, Aspect, Cube, Measure, Question, Range, Sums};
use crate::funnel::Funnel;
use crate::ids::UserId;
use crate::time::Day;

/// The label of records without a value, independent of language.
const NONE: &str = "-";

/// All users, if a query groups by user, and all funnels.
#[derive(Debug, Clone, Default)]
pub struct Known {
    /// Users with their names.
    pub users: Vec<(UserId, String)>,
    /// Funnels.
    pub funnels: Vec<Funnel>,
}

/// Labels and numbers of a chart.
#[derive(Debug, Clone, PartialEq)]
pub struct Plot {
    /// Labels of the groups, by sequence or time.
    pub labels: Vec<String>,
    /// One number for each label. 0 for a group without records.
    pub data: Vec<Number>,
    /// The measure over all records. For an average, this is the average of all records.
    pub total: Number,
}

/// A group: value as text, and label.
type PlotGroup = (String, String);

impl Question {
    /// The plot of a range of a cube, including all known groups without records.
    #[must_use]
    pub fn plot(&self, cube: &Cube, range: Range, known: &Known) -> Plot {
        let columns = match self.group_by {
            Aspect::Day => by_time(cube, range, |day| day.to_string()),
            Aspect::Week => by_time(cube, range, Day::week),
            Aspect::Month => by_time(cube, range, Day::month),
            _ => self.by_group(cube, range, known),
        };
        let mut all = Sums::default();
        for (_, sums) in &columns {
            all.add(*sums);
        }
        let (labels, sums): (_, Vec<_>) = columns.into_iter().unzip();
        Plot {
            labels,
            data: sums.into_iter().map(|sums| self.measured(sums)).collect(),
            total: self.measured(all),
        }
    }

    fn by_group(&self, cube: &Cube, range: Range, known: &Known) -> Vec<(String, Sums)> {
        let mut found: BTreeMap<&str, Sums> = BTreeMap::new();
        for (_, groups) in cube.within(range) {
            for (group, sums) in groups {
                found.entry(group).or_default().add(*sums);
            }
        }
        let nothing = found.remove("");
        let groups = self.groups(known).into_iter();
        let mut columns: Vec<_> = groups
            .map(|(group, label)| (label, found.remove(group.as_str()).unwrap_or_default()))
            .collect();
        // Unlisted values in order, then records of unknown ids.
        columns.extend(found.into_iter().map(|(group, sums)| (group.to_owned(), sums)));
        columns.extend(nothing.map(|sums| (NONE.to_owned(), sums)));
        columns
    }

    /// The groups shown even without records, as filtered.
    fn groups(&self, known: &Known) -> Vec<PlotGroup> {
        let mut groups = match self.group_by {
            Aspect::User => {
                let users = known.users.iter();
                users.map(|(id, name)| (id.to_string(), name.clone())).collect()
            }
            Aspect::Funnel => {
                let funnels = known.funnels.iter();
                funnels
                    .map(|funnel| (funnel.id.to_string(), funnel.name.clone()))
                    .collect()
            }
            Aspect::Column => return self.columns(known),
            aspect => self.values(aspect),
        };
        if let Some(only) = self.only(self.group_by) {
            let named = |value: &String, of: &str| group(value) == of;
            groups.retain(|(of, _)| only.iter().any(|value| named(value, of)));
        }
        groups
    }

    /// The columns of all funnels by sequence, as filtered by column and funnel.
    fn columns(&self, known: &Known) -> Vec<PlotGroup> {
        let passes = |aspect, id: String| self.only(aspect).is_none_or(|only| only.contains(&id));
        let funnels = known.funnels.iter();
        let funnels = funnels.filter(|funnel| passes(Aspect::Funnel, funnel.id.to_string()));
        let columns = funnels.flat_map(|funnel| {
            let columns = funnel.columns_in_order().into_iter();
            columns.map(move |column| (funnel.id, column))
        });
        columns
            .filter(|(_, column)| passes(Aspect::Column, column.id.to_string()))
            .map(|(funnel, column)| (format!("{funnel}/{}", column.id), column.name.clone()))
            .collect()
    }

    /// The values of an aspect that are fixed or named by its filter.
    fn values(&self, aspect: Aspect) -> Vec<PlotGroup> {
        let fixed = fixed_values(self.entity, aspect).map(|values| values.iter().map(name).collect());
        let named = || self.only(aspect).unwrap_or_default().to_vec();
        let values: Vec<String> = fixed.unwrap_or_else(named);
        let mut groups: Vec<_> = values.iter().map(|value| group(value).to_owned()).collect();
        groups.dedup();
        groups.into_iter().map(|group| (group.clone(), group)).collect()
    }

    /// The measure of sums.
    fn measured(&self, sums: Sums) -> Number {
        let scale = if self.amount == Some(Amount::Value) { 2 } else { 0 };
        match self.measure {
            Measure::Count => sums.count.into(),
            Measure::Sum => decimal(sums.amount, scale),
            Measure::Average if sums.count == 0 => 0.into(),
            Measure::Average => {
                let parts = u128::from(sums.count) * 10_u128.pow(scale);
                quotient(sums.amount, parts)
            }
        }
    }
}

/// The sums of each period that `label` names, in order.
fn by_time(cube: &Cube, range: Range, label: impl Fn(Day) -> String) -> Vec<(String, Sums)> {
    let days: BTreeMap<_, _> = cube.within(range).collect();
    let mut columns: Vec<(String, Sums)> = Vec::new();
    for day in range.days() {
        let label = label(day);
        if columns.last().is_none_or(|(last, _)| *last != label) {
            columns.push((label, Sums::default()));
        }
        if let Some((groups, (_, sums))) = days.get(&day).zip(columns.last_mut()) {
            groups.values().for_each(|group| sums.add(*group));
        }
    }
    columns
}

/// An integer with `scale` decimals as JSON: whole if the decimals are zeros, else the double parsed from the
/// decimal text.
fn decimal(number: u128, scale: u32) -> Number {
    let (whole, part) = (number / 10_u128.pow(scale), number % 10_u128.pow(scale));
    let small = u64::try_from(whole).ok().filter(|_| part == 0).map(Number::from);
    let width = usize::try_from(scale).unwrap_or_default();
    let text = format!("{whole}.{part:0width$}");
    let float = || text.parse().ok().and_then(Number::from_f64);
    small.or_else(float).unwrap_or_else(|| 0.into())
}

/// A quotient as JSON: whole if possible, else the nearest double.
fn quotient(of: u128, by: u128) -> Number {
    /// More decimals than a double distinguishes.
    const DIGITS: u32 = 30;
    if of.is_multiple_of(by) {
        return decimal(of / by, 0);
    }
    let (mut rest, mut digits) = (of % by, 0);
    for _ in 0..DIGITS {
        // The remainder is less than a count of records in hundredths, so ten times it does not overflow.
        digits = digits * 10 + rest * 10 / by;
        rest = rest * 10 % by;
    }
    let width = usize::try_from(DIGITS).unwrap_or_default();
    let text = format!("{}.{digits:0width$}", of / by);
    text.parse()
        .ok()
        .and_then(Number::from_f64)
        .unwrap_or_else(|| decimal(of / by, 0))
}
