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

/// A group that is shown even without records.
struct PlotGroup {
    /// The value, as in [`Fact::group`](super::Fact::group).
    value: String,
    label: String,
}

/// A label of the plot with the sums of its records.
struct LabelledSums {
    label: String,
    sums: Sums,
}

impl Question {
    /// The plot of a range of a cube, including all known groups without records.
    #[must_use]
    pub fn plot(&self, cube: &Cube, range: Range, known: &Known) -> Plot {
        let points = match self.group_by {
            Aspect::Day => by_time(cube, range, |day| day.to_string()),
            Aspect::Week => by_time(cube, range, Day::week),
            Aspect::Month => by_time(cube, range, Day::month),
            _ => self.by_group(cube, range, known),
        };
        let mut all = Sums::default();
        for point in &points {
            all.add(point.sums);
        }
        Plot {
            data: points.iter().map(|point| self.measured(point.sums)).collect(),
            labels: points.into_iter().map(|point| point.label).collect(),
            total: self.measured(all),
        }
    }

    /// The sums of each group over the range: first the known groups, then other values in order, then the records
    /// without a value.
    fn by_group(&self, cube: &Cube, range: Range, known: &Known) -> Vec<LabelledSums> {
        let mut found: BTreeMap<&str, Sums> = BTreeMap::new();
        for (_, groups) in cube.within(range) {
            for (group, sums) in groups {
                found.entry(group).or_default().add(*sums);
            }
        }
        let without_value = found.remove("");
        let mut points = Vec::new();
        for PlotGroup { value, label } in self.groups(known) {
            let sums = found.remove(value.as_str()).unwrap_or_default();
            points.push(LabelledSums { label, sums });
        }
        // Values that no known group has, such as ids of deleted records.
        for (value, sums) in found {
            let label = value.to_owned();
            points.push(LabelledSums { label, sums });
        }
        if let Some(sums) = without_value {
            let label = NONE.to_owned();
            points.push(LabelledSums { label, sums });
        }
        points
    }

    /// The groups shown even without records, as filtered.
    fn groups(&self, known: &Known) -> Vec<PlotGroup> {
        let mut groups = match self.group_by {
            Aspect::User => {
                let users = known.users.iter();
                users
                    .map(|(id, name)| PlotGroup::new(id.to_string(), name))
                    .collect()
            }
            Aspect::Funnel => {
                let funnels = known.funnels.iter();
                funnels
                    .map(|funnel| PlotGroup::new(funnel.id.to_string(), &funnel.name))
                    .collect()
            }
            Aspect::Column => return self.columns(known),
            aspect => self.values(aspect),
        };
        if let Some(accepted) = self.only(self.group_by) {
            groups.retain(|shown| accepted.iter().any(|value| group(value) == shown.value));
        }
        groups
    }

    /// The columns of all funnels by sequence, as filtered by column and funnel.
    fn columns(&self, known: &Known) -> Vec<PlotGroup> {
        let passes = |aspect, id: String| self.only(aspect).is_none_or(|accepted| accepted.contains(&id));
        let mut groups = Vec::new();
        for funnel in &known.funnels {
            if !passes(Aspect::Funnel, funnel.id.to_string()) {
                continue;
            }
            for column in funnel.columns_in_order() {
                if passes(Aspect::Column, column.id.to_string()) {
                    let value = format!("{}/{}", funnel.id, column.id);
                    groups.push(PlotGroup::new(value, &column.name));
                }
            }
        }
        groups
    }

    /// The values of an aspect that are fixed or named by its filter.
    fn values(&self, aspect: Aspect) -> Vec<PlotGroup> {
        let values: Vec<String> = match fixed_values(self.entity, aspect) {
            Some(fixed) => fixed.iter().map(name).collect(),
            None => self.only(aspect).unwrap_or_default().to_vec(),
        };
        let mut groups: Vec<_> = values.iter().map(|value| group(value)).collect();
        // Values with the same long beginning are one group.
        groups.dedup();
        groups
            .into_iter()
            .map(|value| PlotGroup::new(value.to_owned(), value))
            .collect()
    }

    /// The number to show for sums: their count, total or average. Cents become whole units.
    fn measured(&self, sums: Sums) -> Number {
        let scale = if self.amount == Some(Amount::Value) { 2 } else { 0 };
        match self.measure {
            Measure::Count => sums.count.into(),
            Measure::Sum => decimal(sums.amount, scale),
            Measure::Average if sums.count == 0 => 0.into(),
            Measure::Average => {
                let divisor = u128::from(sums.count) * 10_u128.pow(scale);
                quotient(sums.amount, divisor)
            }
        }
    }
}

impl PlotGroup {
    fn new(value: String, label: &str) -> Self {
        let label = label.to_owned();
        Self { value, label }
    }
}

/// The sums of each period of the range, in order. `period` returns the label of a day's period.
fn by_time(cube: &Cube, range: Range, period: impl Fn(Day) -> String) -> Vec<LabelledSums> {
    let days: BTreeMap<_, _> = cube.within(range).collect();
    let mut points: Vec<LabelledSums> = Vec::new();
    for day in range.days() {
        let label = period(day);
        if points.last().is_none_or(|last| last.label != label) {
            let sums = Sums::default();
            points.push(LabelledSums { label, sums });
        }
        if let Some((groups, point)) = days.get(&day).zip(points.last_mut()) {
            groups.values().for_each(|group| point.sums.add(*group));
        }
    }
    points
}

/// An integer with `scale` decimals as JSON: whole if the decimals are zeros, else the double parsed from the
/// decimal text.
fn decimal(number: u128, scale: u32) -> Number {
    let (whole, decimals) = (number / 10_u128.pow(scale), number % 10_u128.pow(scale));
    if decimals == 0
        && let Ok(integer) = u64::try_from(whole)
    {
        return integer.into();
    }
    let width = usize::try_from(scale).unwrap_or_default();
    let text = format!("{whole}.{decimals:0width$}");
    let double = text.parse().ok().and_then(Number::from_f64);
    double.unwrap_or_else(|| 0.into())
}

/// A quotient as JSON: whole if possible, else the nearest double.
fn quotient(dividend: u128, divisor: u128) -> Number {
    /// More decimals than a double distinguishes.
    const DECIMALS: u32 = 30;
    let whole = dividend / divisor;
    if dividend.is_multiple_of(divisor) {
        return decimal(whole, 0);
    }
    // Long division: each round appends one decimal.
    let (mut remainder, mut decimals) = (dividend % divisor, 0);
    for _ in 0..DECIMALS {
        // The remainder is less than a count of records in hundredths, so ten times it does not overflow.
        decimals = decimals * 10 + remainder * 10 / divisor;
        remainder = remainder * 10 % divisor;
    }
    let width = usize::try_from(DECIMALS).unwrap_or_default();
    let text = format!("{whole}.{decimals:0width$}");
    let double = text.parse().ok().and_then(Number::from_f64);
    double.unwrap_or_else(|| decimal(whole, 0))
}
