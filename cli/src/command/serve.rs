//! `funil serve`.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::net::IpAddr;
use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};
use tracing_subscriber::EnvFilter;

use super::{Answer, Failure, Global, interrupt};
use crate::demo::{Demo, DemoError};
use crate::serve::{self, Options, Ready, ServeError};

pub const AFTER_HELP: &str = "\
Examples:
  funil serve
  funil serve --port 8080 --data /var/lib/funil --empty
  funil --endpoint http://127.0.0.1:8000 serve

The log goes to standard error; FUNIL_LOG=debug shows more of it, FUNIL_LOG=warn less.";

/// The body of the call that can be tried: from a number that the demo knows.
const CALL: &str = r#"{"event":"call","data":{"user":8,"leadPhone":"+55 11 97326-3471","type":"INCOMING","status":"COMPLETE","duration":65,"record":false,"service":"demo"}}"#;

/// What `funil serve` takes.
#[derive(Debug, Args)]
pub struct Serve {
    /// Where the embedded engine keeps its file
    #[arg(long, value_name = "DIR", default_value = ".funil")]
    data: PathBuf,
    /// The service's port; 0 takes a free one
    #[arg(long, default_value_t = 3000)]
    port: u16,
    /// The port of the engine's DynamoDB API; 0 takes a free one
    #[arg(long, value_name = "PORT", default_value_t = 8000)]
    dynamodb_port: u16,
    /// The address both ports listen on; the engine asks nobody for credentials
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    bind: IpAddr,
    /// Do not load the demo instance into an empty table
    #[arg(long)]
    empty: bool,
}

pub async fn run(serve: Serve, global: &Global) -> Result<Answer, Failure> {
    let filter =
        EnvFilter::try_from_env("FUNIL_LOG").unwrap_or_else(|_| EnvFilter::new("info,dynoxide=error"));
    // A second subscriber in one process would be a test's own.
    let _ = tracing_subscriber::fmt()
        .json()
        .flatten_event(true)
        .with_writer(io::stderr)
        .with_env_filter(filter)
        .try_init();
    let options = Options {
        data: serve.data,
        bind: serve.bind,
        port: serve.port,
        dynamodb_port: serve.dynamodb_port,
        empty: serve.empty,
        endpoint: global.endpoint.clone(),
        table: global.table.clone(),
    };
    let as_json = global.json;
    let say = move |ready: &Ready| {
        let text = if as_json {
            document(ready).to_string()
        } else {
            text(ready)
        };
        let mut out = io::stdout().lock();
        let _ = writeln!(out, "{text}").and_then(|()| out.flush());
    };
    serve::serve(&options, say, interrupt::asked())
        .await
        .map_err(failure)?;
    Ok(Answer::default())
}

/// The table's own errors are told as every other command tells them.
fn failure(error: ServeError) -> Failure {
    match error {
        ServeError::Store(error) => error.into(),
        ServeError::Demo(DemoError::Operator(error)) => error.into(),
        other => Failure::Refused(other.to_string()),
    }
}

fn document(ready: &Ready) -> Value {
    let demo = match &ready.demo {
        Demo::Created { key, token } => json!({ "instance": "demo", "key": key, "token": token }),
        Demo::None | Demo::Known => Value::Null,
    };
    json!({ "url": ready.url, "dynamodb": ready.dynamodb, "demo": demo })
}

fn text(ready: &Ready) -> String {
    let mut text = String::new();
    let url = &ready.url;
    let issue = ready
        .dynamodb
        .as_deref()
        .map_or(String::new(), |endpoint| format!(" --endpoint {endpoint}"));
    match &ready.demo {
        Demo::None => {}
        Demo::Known => {
            let _ = write!(
                text,
                "The credentials of the instance demo were shown when it was created. Issue others with:\n\n  \
                 funil{issue} key issue --instance demo --user 7\n  \
                 funil{issue} token issue --instance demo --user 7\n\n"
            );
        }
        Demo::Created { key, token } => {
            let _ = write!(
                text,
                "The instance demo is loaded. Its administrator's credentials are shown this once:\n\n  \
                 API key       {key}\n  access token  {token}\n\n\
                 Try, while this runs:\n\n\
                 curl -sw '\\n' '{url}/leads?i=demo&limit=3' -H 'apitoken: {key}' -H 'Authorization: Bearer {token}'\n\n\
                 curl -sw '\\n' -g '{url}/leads/1001?i=demo&query={{lead{{fullname,email,owner{{name}}}}}}' \
                 -H 'apitoken: {key}' -H 'Authorization: Bearer {token}'\n\n\
                 curl -sw '\\n' '{url}/voip/webhook?i=demo' -H 'Content-Type: application/json' -d '{CALL}'\n\n\
                 Book a meeting in a browser: {url}/book/demo/demo\n\n"
            );
        }
    }
    if let Some(dynamodb) = &ready.dynamodb {
        let _ = writeln!(
            text,
            "DynamoDB API on {dynamodb}, for funil --endpoint {dynamodb} and sam local"
        );
    }
    let _ = writeln!(text, "The interface is described on {url}/docs");
    let _ = write!(text, "listening on {url}");
    text
}
