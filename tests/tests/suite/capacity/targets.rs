//! Every use of every endpoint compared with the targets, like `cargo bench -p tests --bench capacity`, at
//! sizes that are quick to set up.

use tests::bench::row::{Row, table};
use tests::bench::target::{BY_ITSELF, IN_TRANSACTION, LISTED, Target};
use tests::bench::uses::{Group, Scale};

/// The targets: endpoints, and maximum sequential round trips.
const ROUND_TRIPS: [(Target, &[&str], u32); 6] = [
    (
        Target::Thing,
        &["2", "3", "4", "9", "11", "14", "15", "16", "17", "18"],
        1,
    ),
    (Target::Page, &["10"], 2),
    (Target::Board, &["10"], 2),
    (
        Target::Write,
        &[
            "5",
            "6",
            "7",
            "8",
            "POST /leads",
            "PUT /leads",
            "POST /sac360/relaction",
            "POST /api/hook/{name}",
        ],
        2,
    ),
    (Target::Booking, &["13"], 2),
    (Target::Call, &["19"], 2),
];

/// Maximum units ÷ minimum: of listed items, of a transaction, of single writes.
const RATIOS: [f64; 3] = [1.15, 2.2, 1.1];

#[test]
fn the_targets_are_unchanged() {
    for (target, endpoints, round_trips) in ROUND_TRIPS {
        assert_eq!(
            (target.endpoints(), target.round_trips()),
            (endpoints, round_trips)
        );
    }
    assert_eq!(Target::ALL.len(), ROUND_TRIPS.len());
    let same = |(left, right): (f64, f64)| (left - right).abs() < f64::EPSILON;
    assert!(
        RATIOS
            .into_iter()
            .zip([LISTED, IN_TRANSACTION, BY_ITSELF])
            .all(same)
    );
}

/// Measures a group and requires that each use meets its targets, and that some use of each endpoint meets
/// them without an exception.
async fn hold(group: Group, endpoints: &[&str]) {
    let rows = group.measure(Scale::Quick).await;
    println!("{}", table(&rows));
    let misses: Vec<_> = rows.iter().flat_map(Row::misses).collect();
    assert!(misses.is_empty(), "{misses:#?}");
    for endpoint in endpoints {
        let plain = |row: &&Row| row.line.more_trips.is_none() && row.line.more_units.is_none();
        let mut rows = rows.iter().filter(|row| row.line.endpoint == *endpoint);
        let named = Target::ALL
            .iter()
            .any(|target| target.endpoints().contains(endpoint));
        let held = rows.find(|row| plain(row) && row.line.target.is_some() == named);
        assert!(
            held.is_some(),
            "no use of endpoint {endpoint} meets its targets as it is"
        );
    }
}

macro_rules! holds {
    ($($name:ident: $group:ident, $endpoints:expr;)*) => { $(
        #[tokio::test]
        async fn $name() {
            hold(Group::$group, &$endpoints).await;
        }
    )* };
}

holds! {
    credentials: Credentials, ["any"];
    leads: Leads, ["1"];
    people: People, ["2", "3", "4", "5", "6", "POST /leads", "PUT /leads", "POST /api/hook/{name}"];
    opportunities: Opportunities, ["7", "8", "9"];
    boards: Boards, ["10"];
    columns: Columns, ["10"];
    calendars: Calendars, ["11", "12", "slots"];
    bookings: Bookings, ["13"];
    reports: Reports, ["14", "15"];
    tickets: Tickets, ["16", "17", "18", "POST /sac360/relaction"];
    calls: Calls, ["19"];
}
