//! One use of a route with all faults: the response, the table, and the response to a repeated request
//! without faults.

use std::collections::BTreeSet;
use std::time::Duration;

use dynamodb::faults::Fault;
use http::{HeaderMap, StatusCode};
use serde_json::{Value, json};
use tests::world::Answer;
use tests::{ACME, World};

use super::ask::{Again, Ask};
use super::moment::{Length, Moment, Script};
use super::outcome::{Answered, Left};
use super::stage::{Cast, Items, Stage, without_counters};

/// Well below a function's timeout in template.yaml.
const MAX: Duration = Duration::from_secs(25);

/// Tries of a fault, because parallel calls may come in another order than they were counted in.
const ORDERS: usize = 5;

/// The header that counts the unreadable items of a list.
const UNREADABLE: &str = "x-items-unreadable";

const FAILURES: [(u16, &str, Answered); 2] = [
    (500, "Internal error", Answered::Failed),
    (503, "Service unavailable", Answered::Busy),
];

/// A use of a route without faults.
pub struct Trial<'a> {
    pub ask: &'a Ask,
    cast: &'a Cast,
    stage: Stage,
    expected: Answer,
    pub calls: Vec<String>,
    /// Effect without faults.
    after: Items,
    /// Tables that the doctor found consistent.
    sound: BTreeSet<Items>,
    pub tried: Vec<Moment>,
    /// Violations.
    pub breaches: Vec<String>,
}

impl<'a> Trial<'a> {
    /// Records response and effect without faults.
    pub async fn of(ask: &'a Ask, cast: &'a Cast, stage: Stage) -> Self {
        let script = Script::of(None);
        let world = process(&stage, &script, ask, cast).await;
        script.arm(true);
        let expected = ask.request(&world, cast).send().await;
        assert!(
            expected.status.is_success(),
            "{} {}: {}",
            ask.route,
            ask.what,
            expected.body
        );
        stage.world.is_sound().await;
        let after = stage.items();
        stage.restore();
        Self {
            ask,
            cast,
            expected,
            calls: script.calls(),
            sound: [Items::new(), after.clone()].into(),
            after,
            stage,
            tried: Vec::new(),
            breaches: Vec::new(),
        }
    }

    /// Runs all faults, and the errors of this turn.
    pub async fn run(&mut self, turn: usize) {
        for moment in Moment::all(&self.calls, turn) {
            self.live_through(moment).await;
        }
        for (at, operation) in self.calls.clone().iter().enumerate() {
            let mut place = 0;
            loop {
                let items = self.live_through(Moment::corrupt(at, operation, place)).await;
                place += 1;
                if place >= items {
                    break;
                }
            }
        }
        if !self.stage.is_restored() {
            self.breaches.push(format!(
                "{} {}: the table is another",
                self.ask.route, self.ask.what
            ));
        }
    }

    /// Runs one fault; returns the number of items in the response to a call with an undecodable item.
    async fn live_through(&mut self, moment: Moment) -> usize {
        for _ in 1..ORDERS {
            if let Some(items) = self.met(&moment, false).await {
                return items;
            }
        }
        self.met(&moment, true).await.unwrap_or_default()
    }

    /// Runs one fault; `None` if its call did not come in its place and that is no breach.
    async fn met(&mut self, moment: &Moment, must_come: bool) -> Option<usize> {
        let script = Script::of(Some(moment.clone()));
        let world = process(&self.stage, &script, self.ask, self.cast).await;
        script.arm(true);
        let answer = tokio::time::timeout(MAX, self.ask.request(&world, self.cast).send()).await;
        script.arm(false);
        let items = script.items();
        // A response may have no such item, also because parallel calls came in another order.
        let lacks_item = matches!(moment.fault, Fault::Corrupt(_)) && script.corrupt().is_none();
        if lacks_item || script.struck() == 0 && answer.is_ok() && !must_come {
            self.stage.restore();
            return lacks_item.then_some(items);
        }
        let judged = match answer {
            Err(_) => Err("no answer".to_owned()),
            Ok(_) if script.struck() == 0 => Err("the moment never came".to_owned()),
            Ok(answer) => {
                self.judge((moment, script.corrupt().as_deref()), &answer, &world)
                    .await
            }
        };
        match judged {
            Ok(()) => self.tried.push(moment.clone()),
            Err(breach) => {
                let (route, what) = (&self.ask.route, &self.ask.what);
                self.breaches.push(format!(
                    "{} {route} ({what}), {moment}: {breach}",
                    self.ask.method
                ));
            }
        }
        self.stage.restore();
        Some(items)
    }

    async fn judge(
        &mut self,
        (moment, corrupt): (&Moment, Option<&str>),
        answer: &Answer,
        world: &World,
    ) -> Result<(), String> {
        let answered = self.read(answer)?;
        self.may_be(moment, corrupt, answered)?;
        let there = self.stage.items();
        let left = self.look(answered, &there).await?;
        if left == Left::Reserved {
            return Ok(());
        }
        let again = tokio::time::timeout(MAX, self.send_again(world)).await;
        if let Some(again) = again.map_err(|_| "no answer, sent again")? {
            self.judge_again(&again, answered, left)
                .map_err(|breach| format!("{breach}, sent again: {} {}", again.status, again.body))?;
            let now = self.stage.items();
            let expected = match (self.ask.again, left) {
                // An effect remains.
                (Again::Replayed, Left::After | Left::Other) => &there,
                _ => &self.after,
            };
            // Setting a record to its current value may count as a change.
            if now != *expected && (self.ask.again != Again::Same || left == Left::Before) {
                return Err(format!("sent again: {}", difference(expected, &now)));
            }
            self.is_sound(now).await?;
        }
        Ok(())
    }

    /// The correct response or a failure, without additional headers.
    fn read(&self, answer: &Answer) -> Result<Answered, String> {
        let told = |headers: &HeaderMap| {
            let told = headers
                .iter()
                .map(|(name, value)| format!("{name}: {}", String::from_utf8_lossy(value.as_bytes())));
            // Random ids, running counters, and headers of the body.
            let of_each = ["x-request-id", "ratelimit-", "content-length", UNREADABLE];
            let told = told.filter(|told| !of_each.iter().any(|own| told.starts_with(own)));
            told.collect::<BTreeSet<_>>()
        };
        let (is, mut may_be) = (told(&answer.headers), told(&self.expected.headers));
        if answer.status == StatusCode::SERVICE_UNAVAILABLE {
            may_be.insert("retry-after: 1".to_owned());
        }
        if !is.is_subset(&may_be) {
            return Err(format!("told {is:?}"));
        }
        let id = answer
            .headers
            .get("x-request-id")
            .map(http::HeaderValue::as_bytes);
        if id.is_none_or(|id| id.len() != 32 || !id.iter().all(u8::is_ascii_hexdigit)) {
            return Err(format!("its id is {id:?}"));
        }
        if answer.status == self.expected.status && answer.headers.contains_key(UNREADABLE) {
            return Ok(Answered::Partial);
        }
        if (answer.status, &answer.body) == (self.expected.status, &self.expected.body) {
            return if is == may_be {
                Ok(Answered::Right)
            } else {
                Err(format!("told {is:?}"))
            };
        }
        for (status, text, answered) in FAILURES {
            let retries_later = is.contains("retry-after: 1") == (answered == Answered::Busy);
            if retries_later && (answer.status.as_u16(), &answer.body) == (status, &self.ask.failed(text)) {
                return Ok(answered);
            }
        }
        Err(format!("answered {} {}", answer.status, answer.body))
    }

    /// Whether a fault, possibly with this undecodable item, may give this response.
    fn may_be(&self, moment: &Moment, corrupt: Option<&str>, answered: Answered) -> Result<(), String> {
        // Calls that wait for an optional call are affected by the outage too.
        let is_last = moment.at + 1 == self.calls.len();
        let is_spare = self.ask.spares_counters
            && moment.operation == "UpdateItem"
            && (moment.length != Length::Outage || is_last);
        let of_spare = |key: &str| {
            self.ask
                .spare_items
                .iter()
                .any(|spare| key.starts_with(spare.as_str()))
        };
        let is_spare = is_spare || corrupt.is_some_and(of_spare);
        let expected = if moment.is_overcome() || is_spare {
            Answered::Right
        } else if self.ask.may_lack_lead {
            return Ok(());
        } else if moment.length == Length::Stays {
            Answered::Busy
        } else {
            Answered::Failed
        };
        let good = answered == expected || answered == Answered::Partial && corrupt.is_some();
        let of = corrupt.map(|key| format!(" of {key}")).unwrap_or_default();
        good.then_some(()).ok_or_else(|| format!("{answered:?}{of}"))
    }

    /// The final state, which must match the response and be consistent.
    async fn look(&mut self, answered: Answered, there: &Items) -> Result<Left, String> {
        let left = if there.is_empty() {
            Left::Before
        } else if *there == self.after {
            Left::After
        } else if answered == Answered::Busy && without_counters(there).is_empty() {
            Left::Reserved
        } else {
            Left::Other
        };
        let may_be_other = match answered {
            Answered::Right => self.ask.may_lack_lead,
            // Its page may end elsewhere.
            Answered::Partial => true,
            Answered::Failed | Answered::Busy => self.ask.again == Again::Each,
        };
        let is_lost = answered == Answered::Right && left == Left::Before && self.writes();
        if is_lost || left == Left::Other && !may_be_other {
            let unchanged = Items::new();
            let expected = if answered == Answered::Right {
                &self.after
            } else {
                &unchanged
            };
            return Err(format!("{answered:?}, but {}", difference(expected, there)));
        }
        self.is_sound(there.clone()).await?;
        Ok(left)
    }

    async fn send_again(&self, world: &World) -> Option<Answer> {
        if self.ask.again == Again::Another {
            return None;
        }
        Some(self.ask.request(world, self.cast).send().await)
    }

    fn judge_again(&self, again: &Answer, answered: Answered, left: Left) -> Result<(), String> {
        let is_done = self.writes() && (answered == Answered::Right || left == Left::After);
        let is_expected = (again.status, &again.body) == (self.expected.status, &self.expected.body);
        let is_replayed = again.headers.contains_key("idempotent-replayed");
        let good = match self.ask.again {
            Again::Replayed => is_expected && is_replayed == (is_done || left == Left::Other),
            Again::Gone if is_done => {
                (again.status.as_u16(), &again.body) == (404, &json!({ "error": "Not found" }))
            }
            Again::Each => again.status == 200 && all_ids(&again.body) == all_ids(&self.expected.body),
            Again::Same | Again::Gone | Again::Another => is_expected && !is_replayed,
        };
        good.then_some(())
            .ok_or_else(|| format!("{answered:?}, {left:?}"))
    }

    async fn is_sound(&mut self, items: Items) -> Result<(), String> {
        if self.sound.contains(&items) {
            return Ok(());
        }
        let diagnosis = self.stage.world.operator(ACME).doctor(false, &|_| {}).await;
        let differences = diagnosis
            .map_err(|cause| format!("no diagnosis: {cause}"))?
            .differences;
        if differences.is_empty() {
            self.sound.insert(items);
            return Ok(());
        }
        Err(format!("the doctor finds {differences:?}"))
    }

    fn writes(&self) -> bool {
        !self.after.is_empty()
    }
}

/// A new process with these faults and with filled caches.
async fn process(stage: &Stage, script: &std::sync::Arc<Script>, ask: &Ask, cast: &Cast) -> World {
    let store = stage.world.faulty_in_calls(script.plan(), script.found());
    let world = stage.world.through(store.elsewhere());
    if !ask.before.is_empty() {
        let call = world.get(&ask.before).header("apitoken", &cast.seller.key);
        let status = call.send().await.status;
        assert_eq!(status, 200, "{}", ask.before);
    }
    world
}

/// The ids in the response to a bulk request, found or not.
fn all_ids(body: &Value) -> BTreeSet<u64> {
    let lists = body["data"].as_object().into_iter().flatten();
    let values = lists.filter_map(|(_, list)| list.as_array()).flatten();
    values
        .filter_map(|value| value.as_u64().or_else(|| value["id"].as_u64()))
        .collect()
}

/// Changes of one table only.
fn difference(expected: &Items, there: &Items) -> String {
    let of = |some: &Items, others: &Items| {
        let own = some.iter().filter(|(key, item)| others.get(*key) != Some(item));
        own.map(|(key, item)| format!("{key} {item:?}"))
            .collect::<Vec<_>>()
    };
    format!("lacks {:?}, has {:?}", of(expected, there), of(there, expected))
}
