//! The Lambda function `calendars`: wiring only.

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), shared::lambda::Error> {
    shared::lambda::run([calendars::group()]).await
}
