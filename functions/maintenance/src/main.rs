//! The Lambda function `maintenance`: wiring only.

use lambda_runtime::{Error, LambdaEvent, service_fn, tracing};
use serde_json::Value;
use shared::ambient::Ambient;
use shared::courier::Courier;
use shared::store::Store;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    tracing::init_default_subscriber();
    let (store, courier) = (Store::from_env(Ambient::system()).await?, Courier::system());
    // The event says only that it is time.
    let tend = async |_: LambdaEvent<Value>| {
        let (tended, automated) =
            tokio::join!(maintenance::tend(&store), maintenance::automate(&store, &courier));
        tended.and(automated).map_err(Error::from)
    };
    Box::pin(lambda_runtime::run(service_fn(tend))).await
}
