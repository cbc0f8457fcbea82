//! The Lambda function `maintenance`: wiring only.

use lambda_runtime::{Error, LambdaEvent, service_fn};
use serde_json::Value;
use shared::config::Config;
use shared::environment::Environment;
use shared::jobs::webhook_client::WebhookClient;
use shared::startup;
use shared::telemetry;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let config = Config::from_env();
    telemetry::init(&config);
    let store = startup::store(&config, Environment::system()).await?;
    let webhook_client = WebhookClient::system();
    // The event contains nothing of interest.
    let tend = async |_: LambdaEvent<Value>| {
        maintenance::round(&store, &webhook_client)
            .await
            .map_err(Error::from)
    };
    Box::pin(lambda_runtime::run(service_fn(tend))).await
}
