//! Time arithmetic of the reference.

use shared::time::Timestamp;
use tests::world::at;

const DAY: i64 = 86_400;
/// São Paulo is three hours west of Greenwich, in summer too.
const WEST: i64 = 3 * 3600;

/// Seconds since 1970.
pub fn seconds(time: &str) -> i64 {
    at(time).unix_seconds()
}

/// Formats seconds since 1970.
pub fn time(seconds: i64) -> String {
    let time = Timestamp::from_unix_millis(seconds * 1000);
    time.expect("a point in time").to_string()
}

/// Days since 1970.
pub fn day(seconds: i64) -> i64 {
    seconds.div_euclid(DAY)
}

/// The day in the instance's time zone.
pub fn local_day(seconds: i64) -> i64 {
    day(seconds - WEST)
}

/// Start of a day in seconds.
pub fn start(day: i64) -> i64 {
    day * DAY
}

/// A day as `YYYY-MM-DD`.
pub fn date(day: i64) -> String {
    time(start(day))[..10].to_owned()
}

/// Weekday of a day.
pub fn weekday(day: i64) -> &'static str {
    // 1970 began on a Thursday.
    let names = ["thu", "fri", "sat", "sun", "mon", "tue", "wed"];
    names[usize::try_from(day.rem_euclid(7)).expect("an index")]
}
