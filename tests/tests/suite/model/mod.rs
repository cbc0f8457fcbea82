//! Random operations on opportunities, compared with a simple model of them: every page, total and sum, for every kind of
//! permission and every combination of filters.
//!
//! `MODEL_OPERATIONS` and `MODEL_SEED` run it longer or elsewhere; a failure says its seed and what it did last.

mod ask;
mod change;
mod state;
mod whole;

use serde_json::Value;
use shared::ambient::Ambient;
use tests::people::{lead, leads};
use tests::sales::{add_opportunities, open_shop, plain_opportunity};
use tests::world::at;
use tests::{ACME, NOW, Wallet, World};

use state::{LEADS, Model, SELLERS};

/// Operations of one run; there are four runs.
const OPERATIONS: u64 = 1_500;
/// So many operations at most happen to one instance: what it holds grows, and with it what each operation costs.
const LIFE: u64 = 3_000;

/// Choices that a seed decides.
pub struct Dice(Ambient);

impl Dice {
    pub fn new(seed: u64) -> Self {
        let (ambient, _) = Ambient::held(at(NOW));
        Self(ambient.seeded(seed))
    }

    /// A number below `bound`.
    pub fn below(&self, bound: u64) -> u64 {
        self.0.below(bound)
    }

    /// Whether something happens that does so in `percent` of a hundred cases.
    pub fn chance(&self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// One of these.
    pub fn one<'a, T>(&self, of: &'a [T]) -> &'a T {
        &of[usize::try_from(self.below(of.len() as u64)).expect("an index")]
    }

    /// Some of these, perhaps none, perhaps one twice.
    pub fn some<T: Clone>(&self, of: &[T]) -> Vec<T> {
        (0..self.below(4)).map(|_| self.one(of).clone()).collect()
    }
}

/// The service, the model beside it, and who may ask.
struct Bench {
    world: World,
    model: Model,
    dice: Dice,
    wallets: Vec<(u64, Wallet)>,
    /// What was done last, for the message of a failure.
    log: Vec<String>,
}

impl Bench {
    async fn new(seed: u64) -> Self {
        let world = World::new().await;
        let operator = world.operator(ACME);
        open_shop(&operator).await;
        operator
            .set_setting("timezone", &Value::from("America/Sao_Paulo"))
            .await
            .expect("a setting");
        let mut bench = Self {
            world,
            model: Model::default(),
            dice: Dice::new(seed),
            wallets: Vec::new(),
            log: Vec::new(),
        };
        bench.import_narrowed().await;
        bench
    }

    /// Issues credentials anew: time passes, and they expire.
    async fn issue(&mut self) {
        self.wallets.clear();
        for user in SELLERS {
            self.wallets.push((user, self.world.wallet(user).await));
        }
    }

    /// What only an import brings: opportunities that their service permission narrows.
    async fn import_narrowed(&mut self) {
        let narrowed = (1..=24).map(|id| {
            let mut opportunity = plain_opportunity(
                id,
                SELLERS[usize::try_from(id).expect("small") % SELLERS.len()],
                86_400 * 9,
            );
            state::narrow(&mut opportunity, id);
            opportunity
        });
        let narrowed: Vec<_> = narrowed.collect();
        for opportunity in &narrowed {
            self.model.add(opportunity);
        }
        add_opportunities(&self.world.operator(ACME), narrowed).await;
    }

    fn wallet(&self, user: u64) -> &Wallet {
        let found = self.wallets.iter().find(|(owner, _)| *owner == user);
        &found.expect("a seller").1
    }

    async fn operate(&mut self) {
        let seconds = u32::try_from(*self.dice.one(&[0, 0, 1, 3_000, 40_000])).expect("small");
        let now = self.world.clock.get().plus_seconds(seconds);
        self.world.clock.set(now);
        self.model.now = now.to_string();
        match self.dice.below(100) {
            0..30 => self.create().await,
            30..60 => self.update().await,
            60..63 => self.call().await,
            63..64 => {
                self.world
                    .store
                    .refresh_copies()
                    .await
                    .expect("the copies are brought up to date");
            }
            64..82 => self.read_column().await,
            _ => self.read_board().await,
        }
    }

    /// A call changes its lead, which its opportunities show at once (C-12, C-73).
    async fn call(&mut self) {
        let lead = *self.dice.one(&LEADS);
        let body = serde_json::json!({ "event": "call", "data": { "user": 8, "leadPhone": "", "lead": lead,
            "type": "OUTGOING", "status": "COMPLETE", "duration": 1, "record": false, "service": "x" } });
        assert_eq!(self.world.webhook(&body).send().await.status, 201);
        self.model.last_active.insert(lead, self.model.now.clone());
    }
}

/// A number that the environment may give.
pub fn from_environment(name: &str, default: u64) -> u64 {
    match std::env::var(name) {
        Ok(text) => text.parse().expect("a whole number"),
        Err(_) => default,
    }
}

/// Each instance of a run has a seed of its own.
async fn run(run: u64) {
    let (first, mut left) = (
        from_environment("MODEL_SEED", 20_261_121) + run,
        from_environment("MODEL_OPERATIONS", OPERATIONS),
    );
    for seed in (first..).step_by(4) {
        live(seed, left.min(LIFE)).await;
        left = left.saturating_sub(LIFE);
        if left == 0 {
            return;
        }
    }
}

async fn live(seed: u64, operations: u64) {
    let mut bench = Bench::new(seed).await;
    for lead_id in LEADS {
        let found = leads()
            .into_iter()
            .find(|known| known.id == lead(lead_id))
            .expect("one of acme's leads");
        bench
            .model
            .last_active
            .insert(lead_id, found.last_active.to_string());
        bench.model.leads.insert(lead_id, found);
    }
    println!("seed {seed}: {operations} operations");
    for operation in 0..operations {
        if operation % 500 == 0 {
            bench.issue().await;
        }
        bench.operate().await;
    }
    bench.world.is_sound().await;
    println!(
        "seed {seed}: {} opportunities in the end",
        bench.model.opportunities.len()
    );
}

#[tokio::test]
async fn first_run() {
    run(0).await;
}

#[tokio::test]
async fn second_run() {
    run(1).await;
}

#[tokio::test]
async fn third_run() {
    run(2).await;
}

#[tokio::test]
async fn fourth_run() {
    run(3).await;
}
