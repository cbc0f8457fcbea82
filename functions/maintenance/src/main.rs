//! The Lambda function `maintenance`: wiring only.

use lambda_runtime::{Error, LambdaEvent, service_fn, tracing};
use serde_json::Value;
use shared::ambient::Ambient;
use shared::store::Store;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    tracing::init_default_subscriber();
    let store = Store::from_env(Ambient::system()).await?;
    // The event says only that it is time.
    let tend = async |_: LambdaEvent<Value>| maintenance::tend(&store).await.map_err(Error::from);
    lambda_runtime::run(service_fn(tend)).await
}
