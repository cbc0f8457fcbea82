//! The Lambda function `maintenance`: wiring only.

use lambda_runtime::{Error, LambdaEvent, service_fn};
use serde_json::Value;
use shared::ambient::Ambient;
use shared::courier::Courier;
use shared::store::Store;
use shared::telemetry;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    telemetry::init();
    let (store, courier) = (Store::from_env(Ambient::system()).await?, Courier::system());
    // The event says only that it is time.
    let tend = async |_: LambdaEvent<Value>| maintenance::round(&store, &courier).await.map_err(Error::from);
    Box::pin(lambda_runtime::run(service_fn(tend))).await
}
