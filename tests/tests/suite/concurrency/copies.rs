//! Calls for a lead (endpoint 19) during changes of its opportunities and refreshes of copies: acknowledged
//! changes are visible from then on (C-12), and finally every copy is current.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use serde_json::{Value, json};
use tests::people::lead;
use tests::sales::{add_opportunities, plain_opportunity};
use tests::world::{Answer, over_sdk};
use tests::{ACME, Wallet, World};

use super::{FAILED, bad_moments, look, persist, post, put, records, shop};

const LEADS: [u64; 2] = [1001, 1004];
/// One second apart, so that no marker outlives its copies by enough to be deleted while readers are slow.
const CALLS: u64 = 28;

/// Two leads with concurrent calls and sales.
struct Line {
    world: World,
    wallet: Wallet,
    /// The last acknowledged activity of each lead.
    active: [Mutex<String>; 2],
    looks: AtomicU64,
    over: AtomicBool,
}

impl Line {
    async fn open(of_hundred: u64) -> Self {
        let world = shop().await;
        let wallet = world.wallet(7).await;
        let stock = (1..=8).map(|id| {
            let mut opportunity = plain_opportunity(id, 8, u32::try_from(id).expect("small"));
            opportunity.lead_id = Some(lead(LEADS[usize::try_from(id % 2).expect("small")]));
            opportunity
        });
        add_opportunities(&world.operator(ACME), stock.collect()).await;
        Self {
            world: world.with_faults(bad_moments(of_hundred)),
            wallet,
            active: [Mutex::default(), Mutex::default()],
            looks: AtomicU64::new(0),
            over: AtomicBool::new(false),
        }
    }

    /// Runs all concurrently until the last call is acknowledged.
    async fn rage(&self) {
        let calls = async {
            tokio::join!(self.call(0), self.call(1));
            self.over.store(true, Ordering::Relaxed);
        };
        tokio::join!(
            calls,
            self.keep_looking(json!({})),
            self.keep_looking(json!({ "columnId": 31 })),
            self.keep_looking(json!({ "search": "a", "searchBy": "lead" })),
            self.keep_changing(),
            self.keep_making(),
            self.keep_refreshing(),
        );
        assert!(self.looks.load(Ordering::Relaxed) > 20, "somebody looked");
    }

    async fn call(&self, at: usize) {
        let body = json!({ "event": "call", "data": { "user": 8, "leadPhone": "", "lead": LEADS[at],
            "type": "OUTGOING", "status": "COMPLETE", "duration": 1, "record": false, "service": "x" } });
        for _ in 0..CALLS {
            let now = self.world.clock.get().plus_seconds(1);
            self.world.clock.set(now);
            let answer = self.world.webhook(&body).send().await;
            // If every attempt fails, the call is stored without its lead, or not at all (C-74).
            let linked = self.world.calls().await.into_iter();
            let linked = linked.filter(|call| call.lead == Some(lead(LEADS[at])));
            let last = linked.map(|call| call.create_date).max();
            if answer.status == 201 && last.is_some_and(|last| last >= now) {
                *self.active[at].lock().expect("no panic") = now.to_string();
            }
        }
    }

    /// The minimum that later responses must show.
    fn promised(&self) -> [String; 2] {
        [0, 1].map(|at| self.active[at].lock().expect("no panic").clone())
    }

    /// Sends a request, and requires that it shows everything acknowledged before.
    async fn shows(&self, send: impl AsyncFn() -> Answer, failed: &str, cards: fn(&Value) -> Vec<&Value>) {
        let promised = Mutex::default();
        let send = async || {
            *promised.lock().expect("no panic") = self.promised();
            send().await
        };
        let (answer, _) = persist(send, failed).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        let promised = promised.into_inner().expect("no panic");
        for card in cards(&answer.body) {
            let at = LEADS
                .iter()
                .position(|lead| card["lead_id"] == *lead)
                .expect("one of the two");
            let shown = card["dataLead"]["lastActive"].as_str().expect("a time");
            assert!(shown >= promised[at].as_str(), "{shown} before {}", promised[at]);
        }
        self.looks.fetch_add(1, Ordering::Relaxed);
    }

    async fn keep_looking(&self, more: Value) {
        while !self.over.load(Ordering::Relaxed) {
            let send = async || look(&self.world, &self.wallet, &more).await;
            self.shows(send, FAILED[1], |body| {
                let list = body.as_array().expect("a list").iter();
                let of = |item| match Value::get(item, "items") {
                    Some(cards) => cards.as_array().expect("items").iter().collect(),
                    None => vec![item],
                };
                list.flat_map(of).collect()
            })
            .await;
        }
    }

    async fn keep_changing(&self) {
        let mut turn = 0;
        while !self.over.load(Ordering::Relaxed) {
            turn += 1;
            let change = if turn % 3 == 0 {
                json!({})
            } else {
                json!({ "value": turn })
            };
            let send = async || put(&self.world, &self.wallet, 1 + turn % 8, &change).await;
            self.shows(send, FAILED[1], |body| vec![&body["data"]]).await;
        }
    }

    async fn keep_making(&self) {
        for turn in 0..60 {
            if self.over.load(Ordering::Relaxed) {
                return;
            }
            let body = json!({ "title": "Mais um", "crm_column": 32, "lead_id": LEADS[turn % 2] });
            let key = (turn / 2).to_string();
            let send = async || {
                post(
                    &self.world,
                    &self.wallet,
                    Some(&format!("{key}/{}", turn % 2)),
                    &body,
                )
                .await
            };
            self.shows(send, FAILED[0], |body| vec![body]).await;
        }
    }

    async fn keep_refreshing(&self) {
        while !self.over.load(Ordering::Relaxed) {
            self.world
                .store
                .refresh_copies()
                .await
                .expect("the copies are brought up to date");
        }
    }

    /// Requires that every copy equals its lead.
    async fn settle(&self) {
        self.world.is_sound().await;
        self.world
            .store
            .refresh_copies()
            .await
            .expect("the copies are brought up to date");
        let leads = self.world.leads().await;
        for record in records(&self.world).await {
            let copy = record.value.lead.expect("a lead");
            let lead = leads.iter().find(|lead| lead.id == copy.id).expect("it exists");
            assert_eq!(
                copy.last_active, lead.last_active,
                "of {}",
                record.value.opportunity.id
            );
        }
        self.world.is_sound().await;
    }
}

/// After the copies are written and all earlier readers have ended, the lead is no longer read together with
/// them.
#[tokio::test]
async fn a_stale_marker_is_deleted_after_the_refresh() {
    let _sdk = over_sdk();
    let line = Line::open(0).await;
    line.world.meet(&line.wallet).await;
    let round_trips = async || look(&line.world, &line.wallet, &json!({})).await.cost.round_trips;
    let refresh = async || {
        line.world
            .store
            .refresh_copies()
            .await
            .expect("the copies are brought up to date")
    };
    assert_eq!(round_trips().await, 2);
    line.call(0).await;
    assert_eq!((round_trips().await, refresh().await), (3, 1));
    for (seconds, expected) in [(0, 3), (59, 3), (1, 2)] {
        line.world.clock.set(line.world.clock.get().plus_seconds(seconds));
        assert_eq!((refresh().await, round_trips().await), (0, expected), "{seconds}");
    }
    line.settle().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn copies_of_busy_leads_are_never_stale() {
    let _sdk = over_sdk();
    let line = Line::open(0).await;
    Box::pin(line.rage()).await;
    line.settle().await;
}

/// A fifth of all attempts fails.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn copies_of_busy_leads_are_never_stale_despite_faults() {
    let _sdk = over_sdk();
    let line = Line::open(20).await;
    Box::pin(line.rage()).await;
    line.settle().await;
}
