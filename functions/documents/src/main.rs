//! The Lambda function `documents`: wiring only.

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), shared::lambda::Error> {
    shared::lambda::run_without_table(documents::routes()).await
}
