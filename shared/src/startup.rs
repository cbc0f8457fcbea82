//! The start of a deployed function: required environment variables and the report of a failed start.
//!
//! A function with an incomplete environment exits before its first event and names the missing variables. Without
//! this check, the Lambda runtime's library would panic over its own variables, and requests would use a wrong table.

use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;
use std::{env, fmt};

use serde_json::json;

use crate::environment::Environment;
use crate::store::{Location, Store, StoreError};

/// The address of the Lambda Runtime API.
const RUNTIME_API: &str = "AWS_LAMBDA_RUNTIME_API";
/// Required variables, set by template.yaml and Lambda.
const NEEDED: [&str; 8] = [
    "TABLE_NAME",
    RUNTIME_API,
    "AWS_LAMBDA_FUNCTION_NAME",
    "AWS_LAMBDA_FUNCTION_MEMORY_SIZE",
    "AWS_LAMBDA_FUNCTION_VERSION",
    "AWS_REGION",
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
];
/// Timeout of the report to the Runtime API, which is on the same machine.
const TIMEOUT: Duration = Duration::from_secs(2);

/// Error of a failed start.
#[derive(thiserror::Error)]
pub enum StartError {
    /// These variables are not set, or empty.
    #[error("not set: {}; Lambda and `sam local invoke` set them, and `funil serve` does without", .0.join(", "))]
    Environment(Vec<&'static str>),
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

/// The table named by `TABLE_NAME`. Another DynamoDB API is named by `AWS_ENDPOINT_URL_DYNAMODB`, else by `AWS_ENDPOINT_URL`,
/// as for every AWS SDK; empty is unset, because `sam local invoke` sets every variable of the template.
///
/// # Errors
/// [`StartError::Environment`] if the process was not started as a function.
pub fn location() -> Result<Location, StartError> {
    location_in(|name| env::var(name).ok())
}

fn location_in(variable: impl Fn(&str) -> Option<String>) -> Result<Location, StartError> {
    let filled = |name: &str| variable(name).filter(|value| !value.is_empty());
    let missing = NEEDED.into_iter().filter(|name| filled(name).is_none());
    match (filled("TABLE_NAME"), missing.collect::<Vec<_>>()) {
        (Some(table), missing) if missing.is_empty() => Ok(Location {
            table,
            endpoint: filled("AWS_ENDPOINT_URL_DYNAMODB").or_else(|| filled("AWS_ENDPOINT_URL")),
        }),
        (_, missing) => Err(StartError::Environment(missing)),
    }
}

/// The store of a deployed function, connected before the first request. A failure is reported to the log and to
/// Lambda.
///
/// # Errors
/// [`StartError`] if the environment is incomplete or the table cannot be reached.
pub async fn store(environment: Environment) -> Result<Store, StartError> {
    let connected = async { Ok(Store::connect_function(location()?, environment).await?) };
    connected.await.inspect_err(report)
}

/// Reports a failed start to the log and to Lambda. Blocking is fine, because the process is about to exit.
pub fn report(cause: &StartError) {
    tracing::error!(%cause, "the function cannot start");
    let Some(api) = env::var(RUNTIME_API).ok().filter(|api| !api.is_empty()) else {
        return;
    };
    if let Err(failed) = tell(&api, cause) {
        tracing::error!(cause = %failed, "Lambda was not told");
    }
}

/// `POST /runtime/init/error`: without it Lambda only sees that the process exited.
fn tell(api: &str, cause: &StartError) -> io::Result<()> {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn among(changes: &[(&str, Option<&str>)]) -> Result<(String, Option<String>), String> {
        let found = location_in(
            |name| match changes.iter().find(|(changed, _)| *changed == name) {
                Some((_, value)) => value.map(str::to_owned),
                None => NEEDED.contains(&name).then(|| "x".to_owned()),
            },
        );
        found
            .map(|location| (location.table, location.endpoint))
            .map_err(|error| format!("{error:?}"))
    }

    #[test]
    fn missing_and_empty_variables_are_named() {
        let told = |names: &str| {
            Err(format!(
                "not set: {names}; Lambda and `sam local invoke` set them, and `funil serve` does without"
            ))
        };
        assert_eq!(among(&[("TABLE_NAME", None)]), told("TABLE_NAME"));
        assert_eq!(
            among(&[("AWS_REGION", Some("")), (RUNTIME_API, None)]),
            told("AWS_LAMBDA_RUNTIME_API, AWS_REGION")
        );
        let none: Vec<_> = NEEDED.into_iter().map(|name| (name, None)).collect();
        assert_eq!(among(&none), told(&NEEDED.join(", ")));
    }

    #[test]
    fn the_services_endpoint_precedes_the_common_one() {
        let (one, all) = ("http://127.0.0.1:8000", "http://127.0.0.1:4566");
        for (of_service, of_all, expected) in [
            (None, None, None),
            (Some(""), Some(""), None),
            (Some(one), None, Some(one)),
            (Some(one), Some(all), Some(one)),
            (Some(""), Some(all), Some(all)),
        ] {
            let found = among(&[
                ("AWS_ENDPOINT_URL_DYNAMODB", of_service),
                ("AWS_ENDPOINT_URL", of_all),
            ]);
            assert_eq!(found, Ok(("x".to_owned(), expected.map(str::to_owned))));
        }
    }
}
