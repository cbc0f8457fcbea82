//! The Lambda function `reports`: wiring only.

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), shared::lambda::Error> {
    shared::lambda::run([reports::group()]).await
}
