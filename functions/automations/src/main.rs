//! The Lambda function `automations`: wiring only.

use automations::Batch;
use lambda_runtime::{Error, LambdaEvent, service_fn, tracing};
use shared::ambient::Ambient;
use shared::courier::Courier;
use shared::store::Store;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    tracing::init_default_subscriber();
    let (store, courier) = (Store::from_env(Ambient::system()).await?, Courier::system());
    let run = async |event: LambdaEvent<Batch>| {
        Ok::<_, Error>(automations::run(&store, &courier, event.payload).await)
    };
    lambda_runtime::run(service_fn(run)).await
}
