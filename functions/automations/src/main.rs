//! The Lambda function `automations`: wiring only.

use automations::EventBatch;
use lambda_runtime::{Error, LambdaEvent, service_fn};
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
    let run = async |event: LambdaEvent<EventBatch>| {
        Ok::<_, Error>(automations::run(&store, &webhook_client, event.payload).await)
    };
    lambda_runtime::run(service_fn(run)).await
}
