//! The Lambda function `maintenance`: wiring only.

use lambda_runtime::{Error, LambdaEvent, service_fn};
use serde_json::Value;
use shared::environment::Environment;
use shared::jobs::webhook_client::WebhookClient;
use shared::startup;
use shared::telemetry;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    telemetry::init();
    let (store, webhook_client) = (
        startup::store(Environment::system()).await?,
        WebhookClient::system(),
    );
    // The event contains nothing of interest.
    let tend = async |_: LambdaEvent<Value>| {
        maintenance::round(&store, &webhook_client)
            .await
            .map_err(Error::from)
    };
    Box::pin(lambda_runtime::run(service_fn(tend))).await
}
