use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

const ZONES: [&str; 4] = [
    "UTC",
    "America/Sao_Paulo",
    "America/New_York",
    "Pacific/Kiritimati",
];
const STATUSES: [Status; 3] = [Status::Open, Status::Gain, Status::Lost];

/// An opportunity within two years, won or lost up to 40 days after its creation.
fn some_opportunity() -> impl Strategy<Value = Opportunity> {
    let when = 0..(2 * 365 * 24 * 3600_u32);
    (
        31..34_u64,
        7..10_u64,
        0..3_usize,
        0..1_000_000_u64,
        when,
        0..(40 * 24 * 3600_u32),
        any::<bool>(),
    )
        .prop_map(|(column, user, status, cents, created, later, archived)| {
            let created = at("2025-01-01T00:00:00Z").plus_seconds(created);
            let mut made = opportunity(column, STATUSES[status], cents, &created.to_string());
            made.user = UserId::new(user).unwrap();
            made.gain_date = made.gain_date.map(|time| time.plus_seconds(later));
            made.lost_date = made.lost_date.map(|time| time.plus_seconds(later));
            made.archived = archived && cents % 4 == 0;
            made
        })
}

/// Count and cents of each label, computed record by record; labels without records are omitted.
fn naive(
    records: &[Opportunity],
    (group_by, status): (&str, Option<Status>),
    zone: Zone,
    range: Range,
) -> BTreeMap<String, (u64, u64)> {
    let mut found: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for record in records.iter().filter(|record| !record.archived) {
        let time = match status {
            Some(status) if record.status != status => continue,
            Some(Status::Gain) => record.gain_date.unwrap(),
            Some(Status::Lost) => record.lost_date.unwrap(),
            _ => record.create_date,
        };
        // Finds the day by its ends, independently of `day_of`.
        let Some(day) = range.days().find(|day| {
            let end = day
                .next()
                .map_or(at("9999-12-31T23:59:59Z"), |next| zone.start_of(next));
            zone.start_of(*day) <= time && time < end
        }) else {
            continue;
        };
        let label = match group_by {
            "day" => day.to_string(),
            "week" => day.week(),
            "month" => day.to_string()[..7].to_owned(),
            "status" => record.status.as_str().to_owned(),
            _ => record.user.to_string(),
        };
        let sums = found.entry(label).or_default();
        *sums = (sums.0 + 1, sums.1 + record.value.get());
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// Any partition of the records gives the same plot as counting them.
    #[test]
    fn a_plot_equals_a_count_of_the_records(
        records in proptest::collection::vec(some_opportunity(), 0..60),
        group_by in proptest::sample::select(vec!["day", "week", "month", "status", "user"]),
        measure in proptest::sample::select(vec!["count", "sum", "average"]),
        status in proptest::option::of(proptest::sample::select(STATUSES.to_vec())),
        zone_name in proptest::sample::select(ZONES.to_vec()),
        first in 0..700_u64,
        days in 0..60_u64,
        cut in 0..60_usize,
        most in 1..20_usize,
    ) {
        let zone = zone(zone_name);
        let from = day("2025-01-01").plus_days(first);
        let range = Range::new(from, from.plus_days(days)).unwrap();
        let filters = status.map_or(json!({}), |status| json!({ "status": status }));
        let asked = question(&json!({
            "entity": "opportunities", "measure": measure, "groupBy": group_by, "filters": filters,
        }));
        let (one, other) = records.split_at(cut.min(records.len()));
        let mut cube = Cube::default();
        for records in [other, one] {
            let mut part = Cube::default();
            let facts = records.iter().filter_map(|record| asked.fact(Record::Opportunity(record), zone));
            facts.for_each(|fact| part.add(fact));
            part.parts(most).into_values().flatten().for_each(|part| cube.merge(part));
        }
        let plot = asked.plot(&cube, range, &Known::default());
        let expected = naive(&records, (group_by, status), zone, range);
        let number = |(count, cents): (u64, u64)| match measure {
            "count" => json!(count).as_f64().unwrap(),
            "sum" => format!("{}.{:02}", cents / 100, cents % 100).parse().unwrap(),
            _ if count == 0 => 0.0,
            _ => json!(cents).as_f64().unwrap() / json!(count * 100).as_f64().unwrap(),
        };
        let all = expected.values().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        prop_assert_eq!(plot.total.as_f64(), Some(number(all)));
        for (label, data) in plot.labels.iter().zip(&plot.data) {
            let sums = expected.get(label).copied().unwrap_or_default();
            prop_assert_eq!(data.as_f64(), Some(number(sums)), "{}", label);
        }
        prop_assert!(expected.keys().all(|label| plot.labels.contains(label)));
        let mut sorted = plot.labels.clone();
        sorted.sort();
        sorted.dedup();
        prop_assert_eq!(sorted.len(), plot.labels.len());
        if ["day", "week", "month"].contains(&group_by) {
            prop_assert_eq!(sorted, plot.labels);
        }
    }
}
