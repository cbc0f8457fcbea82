//! Random hours, in zones with all kinds of clock changes: listed and admitted starts equal those of the slow
//! reference.

use std::sync::LazyLock;

use proptest::prelude::*;
use proptest::sample::Index;
use proptest::strategy::Union;

use super::reference::{Asked, Clocks, OFFSETS};
use super::*;

/// Zones without clock changes, with changes at 01:00, 02:00 and midnight, and with a skipped day.
static YEARS: LazyLock<Vec<(Clocks, i32)>> = LazyLock::new(|| {
    OFFSETS
        .map(|(zone, year, offsets)| (Clocks::of(zone, year, offsets), year))
        .into()
});

fn minute(minutes: i64) -> Timestamp {
    Timestamp::from_unix_millis(minutes * 60_000).unwrap()
}

fn minutes(time: Timestamp) -> i64 {
    time.unix_millis() / 60_000
}

fn starts(calendar: &Calendar, asked: &Asked) -> Vec<i64> {
    let range = minute(asked.from)..minute(asked.until);
    let starts = calendar.starts(range, minute(asked.now), &meetings(calendar, &asked.meetings));
    starts.into_iter().map(minutes).collect()
}

fn meetings(calendar: &Calendar, meetings: &[(i64, i64)]) -> Vec<Busy> {
    let busy = |(start, end): &(i64, i64)| Busy::new(minute(*start), minute(*end));
    buffered(calendar, &meetings.iter().map(busy).collect::<Vec<_>>())
}

/// A time of the day, often near a clock change.
fn clock() -> impl Strategy<Value = u32> {
    prop_oneof![0..=1440_u32, 0..=200_u32, 1320..=1440_u32, Just(0), Just(1440)]
}

/// The openings of a day: pairs of any times, and often one that ends on the next day.
fn openings() -> impl Strategy<Value = Value> {
    let times = prop::collection::btree_set(clock(), 0..7);
    (times, 0..1440_u32, any::<bool>()).prop_map(|(times, next, wraps)| {
        let text = |time: u32| format!("{:02}:{:02}", time / 60, time % 60);
        let times: Vec<_> = times.into_iter().collect();
        let pairs = times.chunks_exact(2);
        let last = pairs
            .remainder()
            .first()
            .filter(|from| wraps && next < **from && **from < 1440);
        let last = last.map(|from| json!([text(*from), text(next)]));
        pairs
            .map(|pair| json!([text(pair[0]), text(pair[1])]))
            .chain(last)
            .collect()
    })
}

fn horizon(first: i64) -> impl Strategy<Value = Value> {
    let date = move |days: i64| minute(first + days * 1440).to_string()[..10].to_owned();
    prop_oneof![
        3 => Just(json!({ "type": "unlimited" })),
        1 => (0..6_u32).prop_map(|days| json!({ "type": "days", "days": days })),
        1 => (0..6_u32).prop_map(|days| json!({ "type": "businessDays", "days": days })),
        1 => (0..4_i64, 0..3_i64).prop_map(move |(start, days)| {
            json!({ "type": "between", "start": date(start), "end": date(start + days) })
        }),
    ]
}

/// A minute of a year: any, or one shortly before a clock change.
fn place(clocks: &Clocks, year: i32) -> impl Strategy<Value = i64> + use<> {
    let first = minutes(at(&format!("{year}-01-01T00:00:00Z")));
    let steady = |minute: &i64| (clocks.shown(minute + 1) - clocks.shown(*minute)).num_minutes() == 1;
    let year = first..first + 360 * 1440;
    let changes: Vec<_> = year.clone().filter(|minute| !steady(minute)).collect();
    (year, any::<Index>(), 0..3 * 1440_i64, any::<bool>()).prop_map(move |(any, at, before, near)| {
        if near && !changes.is_empty() {
            changes[at.index(changes.len())] - before
        } else {
            any
        }
    })
}

/// A calendar's line and a query of about four days in one of the years.
fn any_case() -> impl Strategy<Value = (usize, Value, Asked)> {
    let years = YEARS.iter().enumerate();
    let placed = years.map(|(at, (clocks, year))| (Just(at), place(clocks, *year)));
    let placed = Union::new(placed);
    placed.prop_flat_map(|(at, from)| {
        let days = prop::collection::vec(openings(), 7);
        let lengths = (prop_oneof![1..=120_u32, 600..=1440_u32], prop_oneof![Just(0), 0..=90_u32], 0..3000_u32);
        let meetings = prop::collection::vec((-1440..5 * 1440_i64, 1..300_i64), 0..6);
        let asked = (-4320..1440_i64, 0..4 * 1440_i64, meetings);
        (days, openings(), lengths, horizon(from), asked).prop_map(move |(days, own, lengths, horizon, asked)| {
            let line = line(&json!({
                "timezone": YEARS[at].0.zone, "horizon": horizon,
                "durationMinutes": lengths.0, "bufferMinutes": lengths.1, "minimumNoticeMinutes": lengths.2,
                "dates": { &minute(from + 1440).to_string()[..10]: own },
                "hours": {
                    "mon": days[0], "tue": days[1], "wed": days[2], "thu": days[3], "fri": days[4],
                    "sat": days[5], "sun": days[6],
                },
            }));
            let (now, length, meetings) = asked;
            let meetings = meetings.into_iter().map(|(at, long)| (from + at, from + at + long));
            let asked = Asked { from, until: from + length, now: from + now, meetings: meetings.collect() };
            (at, line, asked)
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn listed_starts_equal_the_reference((at, line, asked) in any_case()) {
        let calendar: Calendar = serde_json::from_value(line.clone()).unwrap();
        prop_assert_eq!(starts(&calendar, &asked), YEARS[at].0.starts(&line, &asked));
    }

    #[test]
    fn admitted_starts_equal_listed_starts((_, line, asked) in any_case(), odd in 1..60_i64) {
        let calendar: Calendar = serde_json::from_value(line).unwrap();
        let (now, taken) = (minute(asked.now), meetings(&calendar, &asked.meetings));
        let range = minute(asked.from)..minute(asked.until);
        let listed = calendar.starts(range.clone(), now, &taken);
        let free = calendar.starts(range, minute(asked.from - 20 * 1440), &[]);
        let others = (asked.from..asked.until).step_by(7 * usize::try_from(odd).unwrap()).map(minute);
        for start in others.chain(free) {
            let admitted = calendar.check_start(start, now, &taken) == Ok(());
            prop_assert_eq!(admitted, listed.contains(&start), "{}", start);
        }
        for start in listed {
            prop_assert_eq!(calendar.check_start(start, now, &taken), Ok(()), "{}", start);
        }
    }

    #[test]
    fn starts_of_one_opening_never_overlap_and_fill_it((at, line, mut asked) in any_case()) {
        let clocks = &YEARS[at].0;
        let day = clocks.shown(asked.from + 2 * 1440).date();
        let mut line = line;
        let own = line["hours"]["mon"].as_array().unwrap().iter().take(1).cloned().collect();
        line["hours"] = json!({});
        line["horizon"] = json!({ "type": "unlimited" });
        line["dates"] = json!({ day.to_string(): Value::Array(own) });
        let calendar: Calendar = serde_json::from_value(line.clone()).unwrap();
        asked = Asked { until: asked.from + 5 * 1440, now: asked.from - 4320, meetings: Vec::new(), ..asked };
        let starts = starts(&calendar, &asked);
        let [duration, buffer] = ["durationMinutes", "bufferMinutes"].map(|name| line[name].as_i64().unwrap());
        prop_assert!(starts.windows(2).all(|pair| pair[1] - pair[0] == duration + buffer));
        line["hours"] = json!({ "mon": [], "tue": [], "wed": [], "thu": [], "fri": [], "sat": [], "sun": [] });
        for (opening, closing) in clocks.openings(&line, day) {
            prop_assert!(starts.iter().all(|start| opening <= *start && start + duration <= closing));
            // No further meeting fits.
            let next = starts.last().map_or(opening, |last| last + duration + buffer);
            prop_assert!(next + duration > closing);
        }
    }

    #[test]
    fn bookings_in_any_order_never_overlap(
        (_, line, asked) in any_case(),
        order in prop::collection::vec(any::<Index>(), 40),
    ) {
        let calendar: Calendar = serde_json::from_value(line.clone()).unwrap();
        let [duration, buffer] = ["durationMinutes", "bufferMinutes"].map(|name| line[name].as_i64().unwrap());
        let mut asked = asked;
        let before = asked.meetings.len();
        for index in order {
            let free = starts(&calendar, &asked);
            if !free.is_empty() {
                let start = free[index.index(free.len())];
                asked.meetings.push((start, start + duration));
            }
        }
        for (at, (start, end)) in asked.meetings.iter().enumerate().skip(before) {
            let apart = |(begins, ends): &(i64, i64)| end + buffer <= *begins || ends + buffer <= *start;
            prop_assert!(asked.meetings[..at].iter().all(apart));
        }
    }
}

#[test]
fn a_whole_year_equals_the_reference() {
    let hours = json!([["00:00", "01:30"], ["01:30", "02:30"], ["03:15", "24:00"]]);
    for (clocks, year) in YEARS.iter() {
        let line = line(&json!({
            "timezone": clocks.zone, "durationMinutes": 25, "bufferMinutes": 10,
            "hours": {
                "mon": hours, "tue": hours, "wed": hours, "thu": hours, "fri": hours, "sat": hours, "sun": hours,
            },
        }));
        let calendar: Calendar = serde_json::from_value(line.clone()).unwrap();
        let first = minutes(at(&format!("{year}-01-01T00:00:00Z")));
        let asked = |from: i64, days: i64| Asked {
            from,
            until: from + days * 1440,
            now: first,
            meetings: Vec::new(),
        };
        let listed: Vec<_> = (0..6)
            .flat_map(|part| starts(&calendar, &asked(first + part * 60 * 1440, 60)))
            .collect();
        let found = clocks.starts(&line, &asked(first, 360));
        assert!(found.len() > 350 * 39, "{}", clocks.zone);
        assert!(listed == found, "{} {year}", clocks.zone);
    }
}
