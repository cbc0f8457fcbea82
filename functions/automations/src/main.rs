//! The Lambda function `automations`: wiring only.

use automations::EventBatch;
use lambda_runtime::{Error, LambdaEvent, service_fn};
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
    let run = async |event: LambdaEvent<EventBatch>| {
        Ok::<_, Error>(automations::run(&store, &webhook_client, event.payload).await)
    };
    lambda_runtime::run(service_fn(run)).await
}
