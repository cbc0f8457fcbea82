//! The Lambda function `leads`: wiring only.

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), shared::lambda::Error> {
    shared::lambda::run([leads::group()]).await
}
