//! `funil serve`.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};

use super::instance::standard_input;
use super::log::LogFormat;
use super::{Answer, Failure, Global, interrupt, log};
use crate::demo::{Demo, DemoError};
use crate::engine::AccessKey;
use crate::serve::{self, Dynamodb, Options, Ready, ServeError};

pub const AFTER_HELP: &str = "\
Examples:
  funil serve
  funil serve --port 8080 --data /var/lib/funil --empty
  funil serve --bind 0.0.0.0 --dynamodb-port none
  funil serve --dynamodb-key local --dynamodb-secret - < secret
  funil --endpoint http://127.0.0.1:8000 serve

Ctrl-C loses nothing, and kill -9 nothing that was acknowledged. A power failure may lose the last writes, but does not
damage the data.

The log goes to standard error; FUNIL_LOG=debug shows more of it, FUNIL_LOG=warn less. On a terminal it has one short line
for each request, with the reason if it was refused; --log json prints the lines that machines get. NO_COLOR=1 prints it
without colours.";

/// Body of the example call, with the phone number of a lead of the demo.
const CALL: &str = r#"{"event":"call","data":{"user":8,"leadPhone":"+55 11 97326-3471","type":"INCOMING","status":"COMPLETE","duration":65,"record":false,"service":"demo"}}"#;

/// The options of `funil serve`.
#[derive(Debug, Args)]
pub struct Serve {
    /// Port of the service; 0 for any free one
    #[arg(long, default_value_t = 3000)]
    port: u16,
    /// Address of the service
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    bind: IpAddr,
    /// Port of the engine's DynamoDB API; 0 for any free one, `none` for no such API
    #[arg(long, value_name = "PORT", default_value = "8000", value_parser = dynamodb_port)]
    dynamodb_port: DynamodbPort,
    /// Address of the engine's DynamoDB API, which is unauthenticated without --dynamodb-key
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    dynamodb_bind: IpAddr,
    /// Access key ID with which requests to the DynamoDB API must be signed
    #[arg(long, value_name = "ID", requires = "dynamodb_secret", value_parser = key_id)]
    dynamodb_key: Option<String>,
    /// Secret access key of --dynamodb-key; `-` reads it from standard input
    #[arg(long, value_name = "-", requires = "dynamodb_key", value_parser = ["-"])]
    dynamodb_secret: Option<String>,
    /// Do not load the demo instance into an empty table
    #[arg(long)]
    empty: bool,
    /// Form of the log [default: human on a terminal, else json]
    #[arg(long, value_name = "FORM", value_enum)]
    log: Option<LogFormat>,
}

/// The port of the DynamoDB API, if any.
#[derive(Debug, Clone, Copy)]
struct DynamodbPort(Option<u16>);

fn dynamodb_port(text: &str) -> Result<DynamodbPort, &'static str> {
    if text == "none" {
        return Ok(DynamodbPort(None));
    }
    let port = text
        .parse()
        .map_err(|_| "a port is a number from 0 to 65535, or none")?;
    Ok(DynamodbPort(Some(port)))
}

fn key_id(text: &str) -> Result<String, &'static str> {
    let is_id = (1..=128).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_id
        .then(|| text.to_owned())
        .ok_or("an access key id has 1 to 128 letters and digits")
}

impl Serve {
    /// The address of the DynamoDB API, and its access key.
    fn dynamodb(&self) -> Result<Option<Dynamodb>, Failure> {
        let Some(port) = self.dynamodb_port.0 else {
            return Ok(None);
        };
        let key = match &self.dynamodb_key {
            Some(id) => {
                let secret = standard_input()?;
                if secret.is_empty() {
                    return Err(Failure::Refused("standard input has no secret".to_owned()));
                }
                Some(AccessKey {
                    id: id.clone(),
                    secret,
                })
            }
            None => None,
        };
        let address = SocketAddr::new(self.dynamodb_bind, port);
        let local = [IpAddr::from(Ipv4Addr::LOCALHOST), Ipv6Addr::LOCALHOST.into()];
        if key.is_none() && !local.contains(&self.dynamodb_bind) {
            tracing::warn!(
                %address,
                "the DynamoDB port requires no credentials: every client that reaches it can read and write everything; \
                 require a key with --dynamodb-key"
            );
        }
        Ok(Some(Dynamodb { address, key }))
    }
}

pub async fn run(serve: Serve, global: &Global) -> Result<Answer, Failure> {
    log::start(serve.log);
    let options = Options {
        dynamodb: serve.dynamodb()?,
        data: global.data.clone().unwrap_or_else(|| PathBuf::from(".funil")),
        bind: serve.bind,
        port: serve.port,
        empty: serve.empty,
        endpoint: global.endpoint.clone(),
        table: global.table(),
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
    serve::serve(&options, say, interrupt::asked)
        .await
        .map_err(failure)?;
    Ok(Answer::default())
}

/// Reports errors of the table like every other command.
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
    json!({ "url": ready.url(), "dynamodb": ready.dynamodb, "demo": demo })
}

fn text(ready: &Ready) -> String {
    let mut text = String::new();
    let url = ready.url();
    let issue = ready
        .dynamodb
        .as_deref()
        .map_or(String::new(), |endpoint| format!(" --endpoint {endpoint}"));
    let while_open = match ready.dynamodb {
        None if ready.is_embedded => ", once the DynamoDB port is open,",
        _ => "",
    };
    match &ready.demo {
        Demo::None => {}
        Demo::Known => {
            let _ = write!(
                text,
                "The credentials of the instance demo were shown when it was created. Issue others{while_open} with:\n\n  \
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
    let _ = writeln!(text, "Boards and reports are shown on {url}/panel");
    let _ = writeln!(text, "The interface is described on {url}/docs");
    let _ = write!(text, "listening on http://{}", ready.address);
    text
}
