//! `funil serve`.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::net::IpAddr;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use database::Sync;
use serde_json::{Value, json};
use shared::automation::NotifyHost;
use shared::time::zone_version;

use super::log::LogFormat;
use super::{Answer, Failure, Global, interrupt, log, variable};
use crate::demo::{Demo, DemoError};
use crate::serve::{self, Options, Ready, ServeError};

pub const AFTER_HELP: &str = "\
Examples:
  funil serve
  funil serve --port 8080 --data /var/lib/funil --empty
  funil serve --bind 0.0.0.0 --sync full
  funil --endpoint http://127.0.0.1:4566 serve

Ctrl-C loses nothing, and kill -9 nothing that was acknowledged. A power failure may lose the last writes, but does not
damage the data; with --sync full it loses nothing either.

Every other command works on the same directory while this runs: funil --data .funil instance list

The log goes to standard error; FUNIL_LOG=debug shows more of it, FUNIL_LOG=warn less. On a terminal it has one short line
for each request, with the reason if it was refused; --log json prints the lines that machines get. NO_COLOR=1 prints it
without colours.";

/// Body of the example call, with the phone number of a lead of the demo.
const CALL: &str = r#"{"event":"call","data":{"user":8,"leadPhone":"+55 11 97326-3471","type":"INCOMING","status":"COMPLETE","duration":65,"record":false,"service":"demo"}}"#;

/// The options of `funil serve`.
#[derive(Debug, Args)]
pub struct Serve {
    /// Port of the service; 0 for any free one
    #[arg(long, default_value_t = 3000, value_parser = port)]
    port: u16,
    /// Address of the service
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    bind: IpAddr,
    /// When a commit is on disk: `normal` soon after its answer, `full` before it
    #[arg(long, value_name = "WHEN", default_value = "normal")]
    sync: SyncMode,
    /// Do not load the demo instance into an empty table
    #[arg(long)]
    empty: bool,
    /// Receiver of notifications that may be http or have a private address, on ports 80 and 443 or on PORT; repeatable
    #[arg(long, value_name = "HOST[:PORT]")]
    notify_host: Vec<NotifyHost>,
    /// Form of the log [default: human on a terminal, else json]
    #[arg(long, value_name = "FORM", value_enum)]
    log: Option<LogFormat>,
}

/// The values of `--sync`.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum SyncMode {
    Normal,
    Full,
}

pub async fn run(serve: Serve, global: &Global) -> Result<Answer, Failure> {
    log::start(serve.log);
    if global.data.is_some() && global.endpoint.is_some() {
        let reason = "--data and --endpoint name two databases; give one of them";
        return Err(Failure::Usage(reason.to_owned()));
    }
    let named = global.data.clone();
    let options = Options {
        data: named
            .or_else(|| variable("FUNIL_DATA").map(PathBuf::from))
            .unwrap_or_else(|| PathBuf::from(".funil")),
        sync: match serve.sync {
            SyncMode::Normal => Sync::Normal,
            SyncMode::Full => Sync::Full,
        },
        bind: serve.bind,
        port: serve.port,
        empty: serve.empty,
        endpoint: global.endpoint.clone(),
        table: global.table_of_functions(),
        notify_hosts: serve.notify_host,
    };
    let as_json = global.json;
    let hosts: Vec<_> = options.notify_hosts.iter().map(ToString::to_string).collect();
    let say = move |ready: &Ready| {
        let text = if as_json {
            document(ready, &hosts).to_string()
        } else {
            text(ready, &hosts)
        };
        let mut out = io::stdout().lock();
        let _ = writeln!(out, "{text}").and_then(|()| out.flush());
    };
    serve::serve(&options, say, interrupt::asked)
        .await
        .map_err(failure)?;
    Ok(Answer::default())
}

fn port(text: &str) -> Result<u16, &'static str> {
    text.parse()
        .map_err(|_| "a port is a whole number from 0 to 65535, such as 3000")
}

/// Reports errors of the table like every other command.
fn failure(error: ServeError) -> Failure {
    match error {
        ServeError::Store(error) => error.into(),
        ServeError::Demo(DemoError::Operator(error)) => error.into(),
        other => Failure::Refused(other.to_string()),
    }
}

fn document(ready: &Ready, hosts: &[String]) -> Value {
    let demo = match &ready.demo {
        Demo::Created { key, token } => {
            let panel = format!("{}/panel#i=demo&k={key}&t={token}", ready.url());
            json!({ "instance": "demo", "key": key, "token": token, "panel": panel })
        }
        Demo::None | Demo::Known => Value::Null,
    };
    let mut document = json!({ "url": ready.url(), "demo": demo });
    if !hosts.is_empty() {
        document["notifyHosts"] = json!(hosts);
    }
    document
}

/// The first steps: with the demo, or without an instance.
fn first_steps(ready: &Ready) -> String {
    let (mut text, url, place) = (String::new(), ready.url(), &ready.place);
    match &ready.demo {
        Demo::None => {
            let _ = write!(
                text,
                "Set up an instance, while this runs or not, with:\n\n  funil {place} setup NAME\n\n"
            );
        }
        Demo::Known => {
            let _ = write!(
                text,
                "The credentials of the instance demo were shown when it was created. Issue others, while this runs or not, with:\n\n  \
                 funil {place} key issue --instance demo --user 7\n  \
                 funil {place} token issue --instance demo --user 7\n\n"
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
                 Book a meeting in a browser: {url}/book/demo/demo\n\n\
                 Open the panel in a browser: {url}/panel#i=demo&k={key}&t={token}\n\n"
            );
        }
    }
    text
}

fn text(ready: &Ready, hosts: &[String]) -> String {
    let (mut text, url, place) = (first_steps(ready), ready.url(), &ready.place);
    let _ = writeln!(text, "Boards, leads and reports are on {url}/panel");
    let _ = writeln!(
        text,
        "Sign somebody in there with: funil {place} user link --instance NAME --user ID"
    );
    let _ = writeln!(text, "The interface is described on {url}/docs");
    let _ = writeln!(text, "Time zones are those of tzdata {}", zone_version());
    if !hosts.is_empty() {
        let hosts = hosts.join(", ");
        let _ = writeln!(
            text,
            "Notifications of every instance may be http or private at {hosts} (--notify-host)"
        );
    }
    let _ = write!(text, "listening on http://{}", ready.address);
    text
}
