//! The Lambda function `opportunities`: wiring only.

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), shared::lambda::Error> {
    shared::lambda::run(opportunities::groups()).await
}
