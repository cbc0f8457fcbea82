//! The Lambda function `reports`: wiring only.

use shared::http::{App, service};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_http::Error> {
    lambda_http::tracing::init_default_subscriber();
    let app = App::from_env().await?;
    lambda_http::run(service(&app, [reports::group()])).await
}
