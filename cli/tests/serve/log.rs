//! The form of the log of `funil serve` (C-106).

use crate::running::{Running, serving};

#[test]
fn people_get_one_short_line_a_request_and_machines_json() {
    let home = tempfile::tempdir().unwrap();
    for (arguments, refusal) in [
        (&["--log", "human"][..], " 401 GET /leads "),
        (&[], r#""refused":"missing""#),
        (&["--log", "json"], r#""refused":"missing""#),
    ] {
        let running = Running::run(serving(home.path(), arguments), home.path());
        let (status, _) = running.get("/leads?i=demo&search=sigilo", &[]);
        assert_eq!(status, 401);
        let log = running.stop();
        let line = log.lines().find(|line| line.contains("GET /leads")).unwrap();
        let is_json = serde_json::from_str::<serde_json::Value>(line).is_ok();
        assert_eq!(is_json, !arguments.contains(&"human"), "{line}");
        assert!(line.contains(refusal) && line.contains("missing"), "{line}");
        assert!(!log.contains("sigilo") && !log.contains('\u{1b}'), "{log}");
    }
}
