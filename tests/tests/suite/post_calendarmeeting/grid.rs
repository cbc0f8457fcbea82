//! Random calendars around clock changes: all listed starts can be booked, others cannot, and booked meetings
//! never overlap (C-52, C-53).
//!
//! `GRID_ROUNDS` and `GRID_SEED` change length and seed; a failure prints its seed.

use serde_json::{Value, json};
use shared::environment::Environment;
use shared::time::Timestamp;
use tests::bookings::{add_calendars, add_meetings, book, booking, calendar, made, meeting, slots};
use tests::world::at;
use tests::{NOW, World};

/// Zones, each with times shortly before its clock changes; Apia skipped a whole day.
const PLACES: [(&str, &str); 9] = [
    ("America/Sao_Paulo", "2018-11-04T03:00:00Z"),
    ("America/Sao_Paulo", "2018-02-18T02:00:00Z"),
    ("America/Sao_Paulo", "2026-11-23T12:00:00Z"),
    ("America/New_York", "2026-03-08T07:00:00Z"),
    ("America/New_York", "2026-11-01T06:00:00Z"),
    ("Europe/Lisbon", "2026-03-29T01:00:00Z"),
    ("Europe/Lisbon", "2026-10-25T01:00:00Z"),
    ("Asia/Kolkata", "2026-11-23T12:00:00Z"),
    ("Pacific/Apia", "2011-12-30T10:00:00Z"),
];
const ROUNDS: u64 = 27;
/// Bookings and imports of one round.
const STEPS: u64 = 7;
const MINUTE: i64 = 60_000;
const DAY: i64 = 1440 * MINUTE;

struct Dice(Environment);

impl Dice {
    fn below(&self, bound: u64) -> u64 {
        self.0.below(bound)
    }

    /// A whole minute within a range.
    fn minute(&self, from: i64, to: i64) -> i64 {
        let minutes = u64::try_from((to - from) / MINUTE).expect("a stretch of time");
        from + i64::try_from(self.below(minutes)).expect("minutes") * MINUTE
    }

    fn one<'a, T>(&self, of: &'a [T]) -> Option<&'a T> {
        let count = of.len() as u64;
        (count > 0).then(|| &of[usize::try_from(self.below(count)).expect("an index")])
    }

    /// The openings of a day: up to three, often at its ends.
    fn openings(&self) -> Value {
        let mut times: Vec<_> = (0..2 * self.below(4))
            .map(|_| match self.below(4) {
                0 => self.below(4) * 60,
                1 => 1440 - self.below(4) * 60,
                _ => self.below(1441),
            })
            .collect();
        times.sort_unstable();
        times.dedup();
        let pairs = times.chunks_exact(2);
        let text = |time: &u64| format!("{:02}:{:02}", time / 60, time % 60);
        pairs
            .map(|pair| json!([text(&pair[0]), text(&pair[1])]))
            .collect()
    }
}

/// An occupied time, and whether it was booked.
#[derive(Debug, Clone, Copy)]
struct Taken {
    start: i64,
    end: i64,
}

/// A calendar with its expected state.
struct Round<'w> {
    world: &'w World,
    dice: &'w Dice,
    id: u64,
    /// Duration and buffer in milliseconds.
    length: i64,
    buffer: i64,
    from: i64,
    to: i64,
    booked: Vec<Taken>,
    /// Context for the message of a failure.
    told: String,
}

impl<'w> Round<'w> {
    async fn begin(world: &'w World, dice: &'w Dice, id: u64) -> Self {
        let (zone, change) = *dice.one(&PLACES).expect("a place");
        let change = at(change).unix_millis();
        let (from, to) = (change - DAY, change + DAY + DAY / 2);
        let length = [5, 7, 20, 30, 45, 60, 90, 400, 1440];
        let (length, buffer) = (
            *dice.one(&length).expect("a length"),
            [0, 0, 1, 10, 25, 700][usize::try_from(dice.below(6)).expect("an index")],
        );
        let now = dice.minute(from - 2 * DAY, from + DAY);
        world.clock.set(time(now));
        let days = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
        let hours: serde_json::Map<_, _> = days
            .iter()
            .map(|day| ((*day).to_owned(), dice.openings()))
            .collect();
        let horizon = match dice.below(4) {
            0 => json!({ "type": "days", "days": dice.below(4) }),
            1 => json!({ "type": "businessDays", "days": dice.below(4) }),
            _ => json!({ "type": "unlimited" }),
        };
        let line = json!({
            "id": id, "keyName": format!("c{id}"), "publicId": format!("p{id}"), "timezone": zone, "hours": hours,
            "durationMinutes": length, "bufferMinutes": buffer, "horizon": horizon,
            "minimumNoticeMinutes": dice.below(3) * 200, "dates": { &text(change)[..10]: dice.openings() },
        });
        add_calendars(&world.operator("acme"), [calendar(&line)]).await;
        let (length, buffer) = (length * MINUTE, buffer * MINUTE);
        let told = format!("now {}: {line}", text(now));
        Self {
            world,
            dice,
            id,
            length,
            buffer,
            from,
            to,
            booked: Vec::new(),
            told,
        }
    }

    async fn listed(&self) -> Vec<i64> {
        let (from, to) = (text(self.from), text(self.to));
        let answer = slots(self.world, &format!("keyName=c{}&from={from}&to={to}", self.id)).await;
        let listed = answer.body["data"]["slots"].as_array().expect("slots").iter();
        let listed: Vec<_> = listed
            .map(|slot| at(slot.as_str().expect("a time")).unix_millis())
            .collect();
        assert!(listed.is_sorted_by(|one, next| one < next), "{}", self.told);
        assert!(
            listed.iter().all(|slot| (self.from..self.to).contains(slot)),
            "{}",
            self.told
        );
        listed
    }

    async fn try_book(&self, start: i64) -> (u16, Value) {
        let changes = json!({ "keyName": format!("c{}", self.id), "leadId": 1001, "formData": null });
        let answer = book(self.world, &booking(&text(start), &changes)).await;
        if answer.status == 200 {
            assert_eq!(
                made(&answer).0["endDate"],
                text(start + self.length),
                "{}",
                self.told
            );
        }
        (answer.status.as_u16(), answer.body)
    }

    /// Minutes near listed starts, and others.
    fn others(&self, listed: &[i64]) -> Vec<i64> {
        let step = self.length + self.buffer;
        let mut others = Vec::new();
        if let Some(slot) = self.dice.one(listed) {
            let near = [-MINUTE, MINUTE, -step, step, -self.length, self.length, 1];
            others.extend(near.map(|by| slot + by));
        }
        let taken = self.dice.one(&self.booked);
        others.extend(
            taken
                .iter()
                .flat_map(|taken| [taken.start, taken.end, taken.start - step, taken.start + step]),
        );
        others.extend((0..3).map(|_| self.dice.minute(self.from, self.to)));
        others.retain(|other| (self.from..self.to).contains(other) && !listed.contains(other));
        others
    }

    /// Whether a meeting with buffer would overlap another one with buffer (C-52).
    fn overlaps(&self, start: i64, taken: Taken) -> bool {
        start < taken.end + self.buffer && taken.start < start + self.length + self.buffer
    }

    async fn book_one(&mut self, listed: &[i64]) {
        let Some(start) = self.dice.one(listed).copied() else {
            return;
        };
        let (status, body) = self.try_book(start).await;
        assert_eq!(status, 200, "{}: {} {body}", text(start), self.told);
        let new = Taken {
            start,
            end: start + self.length,
        };
        for taken in &self.booked {
            assert!(
                !self.overlaps(start, *taken),
                "{} {taken:?} {}",
                text(start),
                self.told
            );
        }
        self.booked.push(new);
        // Exactly the starts that it takes are no longer listed.
        let left: Vec<_> = listed
            .iter()
            .copied()
            .filter(|slot| !self.overlaps(*slot, new))
            .collect();
        assert_eq!(self.listed().await, left, "{}", self.told);
    }

    async fn import_one(&self, number: u64, listed: &[i64]) {
        let start = self.dice.minute(self.from - DAY, self.to);
        let length = i64::try_from(self.dice.below(200)).expect("minutes") * MINUTE;
        let canceled = self.dice.below(3) == 0;
        let line = json!({
            "id": self.id * 100 + number, "calendarId": self.id, "date": text(start), "endDate": text(start + length),
            "status": if canceled { "canceled" } else { "scheduled" },
        });
        add_meetings(&self.world.operator("acme"), [meeting(&line)]).await;
        let taken = Taken {
            start,
            end: (start + length).max(start + 1),
        };
        let left = listed
            .iter()
            .copied()
            .filter(|slot| canceled || !self.overlaps(*slot, taken));
        assert_eq!(
            self.listed().await,
            left.collect::<Vec<_>>(),
            "{line} {}",
            self.told
        );
    }

    async fn play(&mut self) {
        for step in 0..STEPS {
            let listed = self.listed().await;
            for other in self.others(&listed) {
                let (status, body) = self.try_book(other).await;
                let error = (status, &body["error"]);
                assert_eq!(
                    error,
                    (409, &json!("slot_unavailable")),
                    "{} {}",
                    text(other),
                    self.told
                );
            }
            if self.dice.below(4) == 0 {
                self.import_one(step, &listed).await;
            } else {
                self.book_one(&listed).await;
            }
        }
        let mut booked = self.booked.clone();
        booked.sort_unstable_by_key(|taken| taken.start);
        assert!(
            booked.is_sorted_by(|one, next| one.end + self.buffer <= next.start),
            "{}",
            self.told
        );
    }
}

fn time(millis: i64) -> Timestamp {
    Timestamp::from_unix_millis(millis).expect("a time")
}

fn text(millis: i64) -> String {
    time(millis).to_string()
}

fn variable(name: &str, default: u64) -> u64 {
    let value = std::env::var(name).ok();
    value.map_or(default, |value| value.parse().expect("a number"))
}

#[tokio::test]
async fn exactly_the_listed_starts_can_be_booked() {
    let world = World::new().await;
    let seed = variable("GRID_SEED", 20_261_121);
    println!("GRID_SEED={seed}");
    let dice = Dice(Environment::frozen(at(NOW)).0.seeded(seed));
    let mut booked = 0;
    for id in 1..=variable("GRID_ROUNDS", ROUNDS) {
        let mut round = Round::begin(&world, &dice, id).await;
        round.play().await;
        booked += round.booked.len();
    }
    assert!(booked > 30, "only {booked} meetings were booked");
    world.is_sound().await;
}
