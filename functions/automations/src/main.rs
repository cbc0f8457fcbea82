//! The Lambda function `automations`: wiring only.

use automations::Batch;
use lambda_runtime::{Error, LambdaEvent, service_fn};
use shared::ambient::Ambient;
use shared::courier::Courier;
use shared::store::Store;
use shared::telemetry;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    telemetry::init();
    let (store, courier) = (Store::from_env(Ambient::system()).await?, Courier::system());
    let run = async |event: LambdaEvent<Batch>| {
        Ok::<_, Error>(automations::run(&store, &courier, event.payload).await)
    };
    lambda_runtime::run(service_fn(run)).await
}
