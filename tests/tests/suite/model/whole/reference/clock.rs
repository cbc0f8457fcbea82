//! Time, as the reference counts it.

use shared::time::Timestamp;
use tests::world::at;

const DAY: i64 = 86_400;

/// Seconds since 1970.
pub fn seconds(time: &str) -> i64 {
    at(time).unix_seconds()
}

/// The same as text.
pub fn time(seconds: i64) -> String {
    let time = Timestamp::from_unix_millis(seconds * 1000);
    time.expect("a point in time").to_string()
}

/// Days since 1970.
pub fn day(seconds: i64) -> i64 {
    seconds.div_euclid(DAY)
}

/// When a day begins.
pub fn start(day: i64) -> i64 {
    day * DAY
}

/// A day as `YYYY-MM-DD`.
pub fn date(day: i64) -> String {
    time(start(day))[..10].to_owned()
}

/// Which day of the week a day is.
pub fn weekday(day: i64) -> &'static str {
    // 1970 began on a Thursday.
    let names = ["thu", "fri", "sat", "sun", "mon", "tue", "wed"];
    names[usize::try_from(day.rem_euclid(7)).expect("an index")]
}
