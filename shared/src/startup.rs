//! The start of a deployed function: required environment variables and the report of a failed start.
//!
//! A function with an incomplete environment exits before its first event and names the missing variables. Without
//! this check, the Lambda runtime's library would panic over its own variables, and requests would use a wrong table.

use std::fmt;
use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::json;

use crate::config::Config;
use crate::environment::Environment;
use crate::store::{Store, StoreError};
use crate::time::{BadDirectory, use_directory};

/// Timeout of the report to the Runtime API, which is on the same machine.
const TIMEOUT: Duration = Duration::from_secs(2);

/// Error of a failed start.
#[derive(thiserror::Error)]
pub enum StartError {
    /// These variables are not set, or empty.
    #[error("not set: {}; Lambda and `sam local invoke` set them, and `funil serve` does without", .0.join(", "))]
    Environment(Vec<&'static str>),
    /// The directory of time zones cannot be used.
    #[error("FUNIL_TZDATA: {0}")]
    TimeZones(#[from] BadDirectory),
    /// The table does not answer.
    #[error("the table cannot be read: {0}")]
    Table(#[from] StoreError),
}

/// `main` prints its error in this form, so it is made readable.
impl fmt::Debug for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The store of a deployed function, connected before the first request. A failure is reported to the log and to
/// Lambda.
///
/// # Errors
/// [`StartError`] if the environment is incomplete or the table cannot be reached.
pub async fn store(config: &Config, environment: Environment) -> Result<Store, StartError> {
    let connected = async {
        if let Some(directory) = &config.time_zones {
            use_directory(directory)?;
        }
        let location = config.location().map_err(StartError::Environment)?;
        Ok(Store::connect_function(location, environment).await?)
    };
    connected.await.inspect_err(|cause| report(config, cause))
}

/// Reports a failed start to the log and to Lambda. Blocking is fine, because the process is about to exit.
fn report(config: &Config, cause: &StartError) {
    tracing::error!(%cause, faults = 1_u8, "the function cannot start");
    let Some(api) = &config.runtime_api else {
        return;
    };
    if let Err(failed) = post_init_error(api, cause) {
        tracing::error!(cause = %failed, "the error was not reported to Lambda");
    }
}

/// `POST /runtime/init/error`: without it Lambda only sees that the process exited.
fn post_init_error(api: &str, cause: &StartError) -> io::Result<()> {
    let body = json!({
        "errorType": "Runtime.InitError", "errorMessage": cause.to_string(), "stackTrace": [],
    });
    let body = body.to_string();
    let mut stream = TcpStream::connect(api)?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    write!(
        stream,
        "POST /2018-06-01/runtime/init/error HTTP/1.1\r\nhost: {api}\r\ncontent-type: application/json\r\n\
         lambda-runtime-function-error-type: Runtime.InitError\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )?;
    // Reads the response before exiting, because an exit could discard the sent bytes.
    stream.read(&mut [0; 64]).map(drop)
}
