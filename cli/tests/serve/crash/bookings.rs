//! kill -9 while people book and move meetings: whatever was acknowledged is there, no time has two meetings, nobody is a
//! lead without one, and who sends a request again gets the answer that was cut off (C-10, C-53 to C-55).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use super::{examine, export};
use crate::running::{Running, ask, funil};

const ROUNDS: usize = 3;
const CALLERS: usize = 5;
/// Each time is wanted by so many.
const RIVALS: usize = 2;
/// Every so many bookings one is moved.
const MOVED: usize = 3;

const CALENDAR: &str = r#"{"kind":"calendar","id":60,"name":"Balcão","keyName":"balcao","publicId":"pub_60","isPublished":true,
    "userId":7,"timezone":"UTC","durationMinutes":10,"hours":{"mon":[["00:00","24:00"]],"tue":[["00:00","24:00"]],
    "wed":[["00:00","24:00"]],"thu":[["00:00","24:00"]],"fri":[["00:00","24:00"]]}}"#;

/// A request under a key, and what became of it as far as its caller knows: nothing while it is under way or cut off.
#[derive(Debug, Clone)]
struct Told {
    body: Value,
    answer: Option<(u16, Value)>,
}

/// The callers, and what they were told.
struct Bookings {
    /// What is free at first. Bookings want those from the front, moves those from the back.
    times: Vec<String>,
    next: AtomicUsize,
    told: Mutex<BTreeMap<String, Told>>,
}

#[test]
fn no_booking_is_lost() {
    let home = tempfile::tempdir().unwrap();
    let mut bookings = None;
    for round in 0..ROUNDS {
        let mut running = Running::start(home.path(), &[]);
        let bookings = bookings.get_or_insert_with(|| Bookings::open(&running, home.path()));
        bookings.cut_off(&mut running, round);
    }
    let bookings = bookings.unwrap();
    let running = Running::start(home.path(), &[]);
    let cut_off = bookings.send_again(&running.url);
    bookings.check(&export(&running));
    println!("{} over {ROUNDS} rounds, {cut_off} cut off", bookings.summary());
    examine(&running);
}

impl Bookings {
    fn open(running: &Running, home: &std::path::Path) -> Self {
        let file = home.join("calendar.ndjson");
        std::fs::write(&file, CALENDAR.replace('\n', " ")).unwrap();
        let endpoint = running.after("DynamoDB API on ").trim_end_matches(',').to_owned();
        let imported = funil(&[
            "--endpoint",
            &endpoint,
            "import",
            "--instance",
            "demo",
            file.to_str().unwrap(),
        ]);
        assert!(imported.status.success(), "{imported:?}");
        let (status, body) = running.get("/calendarmeeting/slots?i=demo&keyName=balcao", &[]);
        assert_eq!(status, 200, "{body}");
        let body: Value = serde_json::from_str(&body).unwrap();
        // The first ones may pass while this runs.
        let times: Vec<String> = serde_json::from_value(body["data"]["slots"].clone()).unwrap();
        Self {
            times: times[20..].to_vec(),
            next: AtomicUsize::new(0),
            told: Mutex::default(),
        }
    }

    /// A round: everybody books and moves, and in the middle of that kill -9.
    fn cut_off(&self, running: &mut Running, round: usize) {
        let url = running.url.clone();
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let callers: Vec<_> = (0..CALLERS)
                .map(|_| scope.spawn(|| self.keep_booking(&url, &stop)))
                .collect();
            // A caller who is gone has failed the test.
            while self.acknowledged() < (round + 1) * 100
                && !callers.iter().any(std::thread::ScopedJoinHandle::is_finished)
            {
                std::thread::sleep(Duration::from_millis(5));
            }
            // Somewhere in the middle of what follows.
            std::thread::sleep(Duration::from_millis(29 * round as u64));
            running.kill();
            stop.store(true, Ordering::Relaxed);
        });
    }

    fn acknowledged(&self) -> usize {
        self.told
            .lock()
            .unwrap()
            .values()
            .filter(|told| told.answer.is_some())
            .count()
    }

    fn keep_booking(&self, url: &str, stop: &AtomicBool) {
        while !stop.load(Ordering::Relaxed) {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let key = format!("b{number}");
            let body = json!({ "keyName": "balcao", "date": self.times[number / RIVALS], "leadId": null,
                "formData": { "firstname": "Ida", "email": format!("{key}@example.com"), "ref": key } });
            let Some((status, answer)) = self.send(url, &key, body) else {
                return;
            };
            if status == 200 && number.is_multiple_of(MOVED) {
                let back = self.times.len() - 1 - number / MOVED / RIVALS;
                let data = &answer["data"];
                let proof =
                    json!({ "rescheduleMeetingId": data["id"], "rescheduleKey": data["rescheduleKey"] });
                let body = json!({ "keyName": "balcao", "date": self.times[back], "leadId": data["leadId"],
                    "properties": proof });
                if self.send(url, &format!("m{number}"), body).is_none() {
                    return;
                }
            }
        }
    }

    /// Sends a request under a key, and notes what it is told.
    fn send(&self, url: &str, key: &str, body: Value) -> Option<(u16, Value)> {
        let text = body.to_string();
        self.note(
            key,
            Told {
                body: body.clone(),
                answer: None,
            },
        );
        let (status, answer) = ask(
            url,
            "POST",
            "/calendarmeeting?i=demo",
            &[("idempotency-key", key)],
            &text,
        )?;
        let answer = (status, serde_json::from_str(&answer).unwrap());
        assert!(matches!(status, 200 | 409), "{answer:?}");
        let noted = answer.clone();
        self.note(
            key,
            Told {
                body,
                answer: Some(noted),
            },
        );
        Some(answer)
    }

    fn note(&self, key: &str, told: Told) {
        self.told.lock().unwrap().insert(key.to_owned(), told);
    }

    /// Sends everything again: what was cut off gets an answer, what was booked gets the same one. Gives how many were cut
    /// off.
    fn send_again(&self, url: &str) -> usize {
        let told = self.told.lock().unwrap().clone();
        let mut cut_off = 0;
        for (key, told) in told {
            let again = self.send(url, &key, told.body).expect("an answer");
            match told.answer {
                None => cut_off += 1,
                Some((200, answer)) => {
                    // What was moved since is shown where it is now.
                    let same = ["id", "leadId", "rescheduleKey", "createDate"];
                    let same = same
                        .iter()
                        .all(|name| again.1["data"][name] == answer["data"][name]);
                    assert!(again.0 == 200 && same, "{key}: {again:?}, not {answer}");
                }
                Some((status, _)) => assert!(again.0 == status || again.0 == 200, "{key}: {again:?}"),
            }
        }
        cut_off
    }

    /// Every answer is true of what is there.
    fn check(&self, records: &[Value]) {
        let of = |kind: &'static str| records.iter().filter(move |record| record["kind"] == kind);
        let meetings: Vec<_> = of("meeting")
            .filter(|meeting| meeting["calendarId"] == 60)
            .collect();
        let dates: BTreeSet<_> = meetings
            .iter()
            .map(|meeting| meeting["date"].as_str().unwrap())
            .collect();
        assert_eq!(dates.len(), meetings.len(), "no time twice");
        let made = of("lead").filter(|lead| lead["createdByType"] == "booking");
        let made: BTreeSet<_> = made.map(|lead| lead["id"].as_u64().unwrap()).collect();
        let linked: BTreeSet<_> = meetings
            .iter()
            .map(|meeting| meeting["leadId"].as_u64().unwrap())
            .collect();
        assert_eq!(
            (&made, linked.len()),
            (&linked, meetings.len()),
            "a lead for each, and none without one"
        );
        let mut by_ref = BTreeMap::new();
        for meeting in meetings {
            let name = meeting["formData"]["ref"].as_str().unwrap();
            assert!(by_ref.insert(name.to_owned(), meeting).is_none(), "{name} twice");
        }
        let all = self.told.lock().unwrap();
        for (key, told) in all.iter().filter(|(key, _)| key.starts_with('b')) {
            let (status, answer) = told.answer.as_ref().unwrap();
            let meeting = by_ref.get(key);
            assert_eq!(*status == 200, meeting.is_some(), "{key}: {answer}");
            let Some(meeting) = meeting else { continue };
            assert_eq!(meeting["id"], answer["data"]["id"], "{key}");
            let moved = all
                .get(&key.replace('b', "m"))
                .filter(|told| matches!(told.answer, Some((200, _))));
            assert_eq!(meeting["date"], moved.unwrap_or(told).body["date"], "{key}");
        }
    }

    fn summary(&self) -> String {
        let told = self.told.lock().unwrap();
        let of = |first: char, status: u16| {
            let is = |(key, told): &(&String, &Told)| {
                key.starts_with(first) && told.answer.as_ref().is_some_and(|(told, _)| *told == status)
            };
            told.iter().filter(is).count()
        };
        format!(
            "{} booked, {} refused, {} moved, {} not",
            of('b', 200),
            of('b', 409),
            of('m', 200),
            of('m', 409)
        )
    }
}
