//! Concurrent creations, moves and changes of opportunities (endpoints 7 and 8) with concurrent reads of the
//! board (endpoint 10): a column's count equals its content, and finally the records.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::future::join_all;
use serde_json::{Value, json};
use shared::money::Cents;
use shared::opportunity::{Opportunity, total_value};
use tests::world::over_sdk;
use tests::{Wallet, World};

use super::{FAILED, bad_moments, has_failed, look, persist, post, put, records, shop};

const MADE_BY_EACH: u64 = 6;
const CHANGES_OF_EACH: u64 = 30;
/// Creators of opportunities, with lead and later owners. All remain allowed to change them.
const MAKERS: [(u64, u64, &[u64]); 5] = [
    (7, 1001, &[7, 8, 9, 10, 11, 14]),
    (8, 1004, &[8]),
    (9, 1002, &[9]),
    (10, 1001, &[8, 9, 10]),
    (14, 1006, &[14]),
];

/// The acknowledged fields of each opportunity, by id.
type Promised = BTreeMap<u64, BTreeMap<&'static str, Value>>;

/// A running storm.
struct Storm {
    world: World,
    wallets: BTreeMap<u64, Wallet>,
    promised: Mutex<Promised>,
    failures: Mutex<usize>,
    over: AtomicBool,
}

impl Storm {
    async fn gather(world: World) -> Self {
        let mut wallets = BTreeMap::new();
        for user in [7, 8, 9, 10, 11, 14] {
            wallets.insert(user, world.wallet(user).await);
        }
        Self {
            world,
            wallets,
            promised: Mutex::default(),
            failures: Mutex::default(),
            over: AtomicBool::new(false),
        }
    }

    /// Creators run to their end; movers and readers until then.
    async fn rage(&self) {
        let makers = async {
            join_all(MAKERS.map(|(user, lead, heirs)| self.make(user, lead, heirs))).await;
            self.over.store(true, Ordering::Relaxed);
        };
        let lookers = [(7, false), (7, true), (8, false), (10, false), (11, false)]
            .map(|(user, archived)| self.keep_looking(user, archived));
        let movers = [31, 32].map(|step| self.keep_moving(step));
        let ((), seen, moved) = tokio::join!(makers, join_all(lookers), join_all(movers));
        assert!(
            seen.iter().chain(&moved).all(|done| *done > 0),
            "{seen:?} {moved:?}"
        );
    }

    /// Repeats until there is a response, and counts the failures.
    async fn persist(&self, send: impl AsyncFn() -> tests::Answer, failed: &str) -> Value {
        let (answer, failures) = persist(send, failed).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        *self.failures.lock().expect("no panic") += failures;
        answer.body
    }

    async fn make(&self, user: u64, lead: u64, heirs: &[u64]) {
        let wallet = &self.wallets[&user];
        let mut own = Vec::new();
        for at in 0..MADE_BY_EACH {
            let body = json!({ "title": format!("{user}/{at}"), "crm_column": 31 + at % 3, "lead_id": lead,
                "value": user * 100 + at });
            let key = format!("{user}/{at}");
            let made = self
                .persist(
                    async || post(&self.world, wallet, Some(&key), &body).await,
                    FAILED[0],
                )
                .await;
            let id = made["id"].as_u64().expect("an id");
            own.push(id);
            let promised =
                BTreeMap::from([("title", body["title"].clone()), ("value", body["value"].clone())]);
            assert!(
                self.promised
                    .lock()
                    .expect("no panic")
                    .insert(id, promised)
                    .is_none(),
                "{id} twice"
            );
            self.change(user, &own, at, heirs).await;
        }
        for at in 0..CHANGES_OF_EACH {
            self.change(user, &own, at, heirs).await;
        }
    }

    /// Changes one of the user's own opportunities such that it stays visible. Without `wonLost` it stays
    /// open.
    async fn change(&self, user: u64, own: &[u64], at: u64, heirs: &[u64]) {
        let id = *one(own, at * 7);
        let (name, value) = match at % 4 {
            0 => ("value", json!(at * 1_000 + user)),
            1 if user == 9 => ("sequence", json!(at)),
            1 => ("status", json!(one(&["gain", "open", "lost"], at / 4))),
            2 => ("user", json!(one(heirs, at / 4))),
            _ => ("archived", json!(at % 8 == 3)),
        };
        self.world.clock.set(self.world.clock.get().plus_seconds(1));
        let wallet = &self.wallets[&user];
        let change = json!({ (name): value });
        let answer = self
            .persist(async || put(&self.world, wallet, id, &change).await, FAILED[1])
            .await;
        let shown = if name == "archived" {
            json!(u64::from(value == true))
        } else {
            value
        };
        assert_eq!(answer["data"][name], shown);
        let mut promised = self.promised.lock().expect("no panic");
        promised.entry(id).or_default().insert(name, shown);
    }

    /// Moves all opportunities between columns.
    async fn keep_moving(&self, step: u64) -> u64 {
        let mut moved = 0;
        while !self.over.load(Ordering::Relaxed) {
            let ids: Vec<_> = self.promised.lock().expect("no panic").keys().copied().collect();
            // Each mover has its own half, so that the last move of each opportunity is known.
            let ids: Vec<_> = ids.into_iter().filter(|id| id % 2 == step % 2).collect();
            let Some(id) = ids.get(usize::try_from(moved * step).expect("small") % ids.len().max(1)) else {
                tokio::task::yield_now().await;
                continue;
            };
            let column = 31 + (moved + id) % 3;
            let change = json!({ "crm_column": column });
            self.persist(
                async || put(&self.world, &self.wallets[&7], *id, &change).await,
                FAILED[1],
            )
            .await;
            let mut promised = self.promised.lock().expect("no panic");
            promised
                .entry(*id)
                .or_default()
                .insert("crm_column", json!(column));
            moved += 1;
        }
        moved
    }

    /// Reads the board and a column.
    async fn keep_looking(&self, user: u64, archived: bool) -> u64 {
        let (wallet, mut looks) = (&self.wallets[&user], 0);
        while !self.over.load(Ordering::Relaxed) {
            for mut more in [
                json!({}),
                json!({ "filterByStatus": ["open", "gain"] }),
                json!({ "search": "" }),
            ] {
                more["onlyArchived"] = json!(archived);
                let board = self
                    .persist(async || look(&self.world, wallet, &more).await, FAILED[1])
                    .await;
                let columns = board.as_array().expect("columns");
                columns.iter().for_each(is_even);
                more["columnId"] = json!(31 + looks % 3);
                let page = self
                    .persist(async || look(&self.world, wallet, &more).await, FAILED[1])
                    .await;
                in_order(&page);
                looks += 1;
            }
        }
        looks
    }

    /// Acknowledged records exist once, and the totals match the records.
    async fn settle(&self) {
        let records: Vec<_> = records(&self.world)
            .await
            .into_iter()
            .map(|record| record.value.opportunity)
            .collect();
        let promised = self.promised.lock().expect("no panic").clone();
        let ids: Vec<_> = records.iter().map(|record| record.id.get()).collect();
        assert_eq!(ids, promised.keys().copied().collect::<Vec<_>>());
        for record in &records {
            let shown = json!(record);
            for (name, value) in &promised[&record.id.get()] {
                let stored = if *name == "value" {
                    record.value.to_json()
                } else {
                    shown[name].clone()
                };
                assert_eq!(&stored, value, "{name} of {}", record.id);
            }
        }
        for archived in [false, true] {
            let more = json!({ "onlyArchived": archived });
            let board = look(&self.world, &self.wallets[&7], &more).await.body;
            for column in board.as_array().expect("columns") {
                is_even(column);
                let there = |record: &&Opportunity| {
                    record.archived == archived && record.crm_column.get() == column["id"]
                };
                let there: Vec<_> = records.iter().filter(there).collect();
                let cents = there.iter().map(|record| i128::from(record.value.get())).sum();
                let expected = (json!(there.len()), total_value(there.len() as u64, cents));
                assert_eq!(
                    (&column["total"], &column["totalValue"]),
                    (&expected.0, &expected.1)
                );
            }
        }
        self.world.is_sound().await;
    }
}

fn one<T>(list: &[T], at: u64) -> &T {
    &list[usize::try_from(at).expect("small") % list.len()]
}

/// A column's count equals its content.
#[track_caller]
fn is_even(column: &Value) {
    let items = &column["items"];
    in_order(items);
    let items = items.as_array().expect("items");
    assert!(items.len() < 100, "the test asks for all");
    assert!(items.iter().all(|item| item["crm_column"] == column["id"]));
    let cents = items.iter().map(|item| {
        let value = Cents::parse(item["value"].as_str().expect("text")).expect("an amount");
        i128::from(value.get())
    });
    let expected = (json!(items.len()), total_value(items.len() as u64, cents.sum()));
    assert_eq!(
        (&column["total"], &column["totalValue"]),
        (&expected.0, &expected.1)
    );
}

/// Newest first, without duplicates (C-42).
#[track_caller]
fn in_order(items: &Value) {
    let items = items.as_array().expect("items");
    let places = items.iter().map(|item| {
        (
            item["createDate"].as_str().expect("a time"),
            item["id"].as_u64().expect("an id"),
        )
    });
    let places: Vec<_> = places.collect();
    assert!(places.is_sorted_by(|a, b| a > b), "{places:?}");
    let ids: BTreeSet<_> = places.iter().map(|(_, id)| id).collect();
    assert_eq!(ids.len(), places.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn counts_match_during_concurrent_changes() {
    let storm = Storm::gather(shop().await).await;
    storm.rage().await;
    assert_eq!(
        *storm.failures.lock().expect("no panic"),
        0,
        "nobody saw a failure"
    );
    storm.settle().await;
}

/// A fourth of all attempts fails; callers repeat failed requests.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn counts_match_during_concurrent_changes_despite_faults() {
    let _sdk = over_sdk();
    let world = shop().await.with_faults(bad_moments(25));
    let mut storm = Storm::gather(world).await;
    storm.rage().await;
    println!("{} failures", storm.failures.lock().expect("no panic"));
    storm.world = storm.world.with_faults(crate::faults::none());
    storm.settle().await;
}

/// C-10: twenty equal requests with one `Idempotency-Key` create one record, and each returns it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn equal_requests_make_one_record() {
    let _sdk = over_sdk();
    for of_hundred in [0, 30] {
        let world = shop().await.with_faults(bad_moments(of_hundred));
        let wallet = world.wallet(7).await;
        let body = json!({ "title": "Um só", "crm_column": 31, "lead_id": 1001, "value": "10.00" });
        let calls = (0..20).map(async |_| {
            let (answer, failures) =
                persist(async || post(&world, &wallet, Some("k"), &body).await, FAILED[0]).await;
            (answer.status.as_u16(), answer.body, failures)
        });
        let answers = join_all(calls).await;
        let first = &answers[0].1;
        for (status, body, failures) in &answers {
            assert_eq!((*status, body), (200, first));
            assert!(of_hundred > 0 || *failures == 0);
        }
        assert_eq!(records(&world).await.len(), 1);
        world.is_sound().await;
    }
}

/// Each acknowledged request created one record, and each failed one at most one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_without_a_key_create_at_most_one_record_each() {
    let _sdk = over_sdk();
    let world = shop().await.with_faults(bad_moments(40));
    let wallet = world.wallet(7).await;
    let calls = (0..40).map(async |at| {
        let title = format!("Pedido {at}");
        let body = json!({ "title": title, "crm_column": 31 + at % 3, "lead_id": 1001 });
        let answer = post(&world, &wallet, None, &body).await;
        if answer.status != 200 {
            assert!(has_failed(&answer, FAILED[0]), "{answer:?}");
        }
        (title, answer.body["id"].as_u64())
    });
    let answers = join_all(calls).await;
    let records = records(&world).await;
    for (title, id) in &answers {
        let made: Vec<_> = records
            .iter()
            .map(|record| &record.value.opportunity)
            .filter(|made| made.title == *title)
            .collect();
        match id {
            Some(id) => assert_eq!(
                made.iter().map(|made| made.id.get()).collect::<Vec<_>>(),
                [*id],
                "{title}"
            ),
            None => assert!(made.len() < 2, "{title}"),
        }
    }
    println!(
        "{} of {} failed",
        answers.iter().filter(|(_, id)| id.is_none()).count(),
        answers.len()
    );
    world.is_sound().await;
}
