//! The Lambda function `call-webhook`: wiring only.

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), shared::lambda::Error> {
    shared::lambda::run(call_webhook::groups()).await
}
