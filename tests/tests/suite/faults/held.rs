//! A process that is paused just before it writes, or reads records, while others proceed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use dynamodb::faults::{Fault, FaultPlan};
use futures_util::future::LocalBoxFuture;
use operator::Operator;
use shared::store::Store;
use tests::{ACME, World};
use tokio::sync::Notify;

/// A store whose transactions, except the first `spared`, wait for a concurrent action.
pub struct Held {
    pub store: Store,
    plan: FaultPlan,
    begun: Arc<Notify>,
    closed: Arc<AtomicBool>,
}

impl Held {
    pub fn behind(world: &World, spared: usize) -> Self {
        Self::at(world, ("TransactWriteItems", Fault::Conflict), spared)
    }

    /// A store whose batches of gets, except the first `spared`, wait. Queries do not.
    pub fn before_records(world: &World, spared: usize) -> Self {
        Self::at(world, ("BatchGetItem", Fault::Unprocessed), spared)
    }

    fn at(world: &World, (held, fault): (&'static str, Fault), spared: usize) -> Self {
        let (begun, closed) = (Arc::new(Notify::new()), Arc::new(AtomicBool::new(true)));
        let (tell, waits, met) = (begun.clone(), closed.clone(), AtomicUsize::new(0));
        let plan: FaultPlan = Arc::new(move |operation| {
            let hit = operation == held
                && met.fetch_add(1, Ordering::SeqCst) >= spared
                && waits.load(Ordering::SeqCst);
            hit.then(|| {
                tell.notify_one();
                fault
            })
        });
        Self {
            store: world.faulty(plan.clone()),
            plan,
            begun,
            closed,
        }
    }

    /// The service of that process.
    pub fn world(&self, world: &World) -> World {
        world.beside().with_faults(self.plan.clone())
    }

    pub fn operator(&self, world: &World) -> Operator {
        Operator::new(&self.store, world.operator(ACME).instance().clone())
    }

    /// Runs `work`, and `meanwhile` just before its first transaction that is not spared.
    pub fn during<'a>(
        &'a self,
        work: impl Future<Output = ()> + 'a,
        meanwhile: impl Future<Output = ()> + 'a,
    ) -> LocalBoxFuture<'a, ()> {
        let meanwhile = async {
            self.begun.notified().await;
            meanwhile.await;
            self.closed.store(false, Ordering::SeqCst);
        };
        Box::pin(async {
            tokio::join!(work, meanwhile);
        })
    }
}
