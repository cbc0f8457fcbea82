//! The command line: what can be asked, and how every command answers and ends (C-80).

mod answer;
mod credential;
mod data;
mod doctor;
mod instance;
mod serve;

use std::ffi::OsString;
use std::io::{IsTerminal as _, Write as _};
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use indicatif::{ProgressBar, ProgressStyle};
use shared::ambient::Ambient;
use shared::store::{Location, Store};

pub use answer::{Answer, Failure};

const AFTER_HELP: &str = "\
Examples:
  funil serve
  funil instance create acme
  funil import --instance acme data.ndjson
  funil key issue --instance acme --user 7 --label erp
  funil --endpoint http://127.0.0.1:8000 instance list

Exit codes: 0 done, 1 refused or partly done, 2 wrong usage.";

/// Runs and operates Funil: the service on one machine, instances, credentials, import, export and repair.
#[derive(Debug, Parser)]
#[command(name = "funil", version, after_help = AFTER_HELP)]
struct Funil {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

/// What every command takes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Global options")]
struct Global {
    /// Another DynamoDB API than that of your AWS region, such as the one `funil serve` opens
    #[arg(long, global = true, value_name = "URL")]
    endpoint: Option<String>,
    /// The table
    #[arg(
        long,
        global = true,
        value_name = "NAME",
        env = "TABLE_NAME",
        default_value = "funil"
    )]
    table: String,
    /// Answer with one JSON document on standard output
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the whole service on this machine
    #[command(after_help = serve::AFTER_HELP)]
    Serve(serve::Serve),
    /// Create, list, show and set up instances
    #[command(subcommand, after_help = instance::AFTER_HELP)]
    Instance(instance::Command),
    /// Issue, list and revoke API keys, sent as `apitoken`
    #[command(subcommand, after_help = credential::KEY_AFTER_HELP)]
    Key(credential::KeyCommand),
    /// Issue, list and revoke access tokens, sent as `Authorization: Bearer`
    #[command(subcommand, after_help = credential::TOKEN_AFTER_HELP)]
    Token(credential::TokenCommand),
    /// Bring records in, one JSON object a line
    #[command(after_help = data::IMPORT_AFTER_HELP)]
    Import(data::Import),
    /// Write all records out, one JSON object a line
    #[command(after_help = data::EXPORT_AFTER_HELP)]
    Export(data::Export),
    /// Compare everything that is derived from the records with them, and repair it
    #[command(after_help = doctor::AFTER_HELP)]
    Doctor(doctor::Doctor),
}

impl Global {
    async fn store(&self) -> Store {
        let location = Location {
            table: self.table.clone(),
            endpoint: self.endpoint.clone(),
        };
        Store::connect(location, Ambient::system()).await
    }

    /// A bar on a terminal, and nothing elsewhere.
    fn progress(&self, unit: &str) -> ProgressBar {
        if self.json || !std::io::stderr().is_terminal() {
            return ProgressBar::hidden();
        }
        let bar = ProgressBar::no_length();
        let style = format!("{{msg}} {{wide_bar}} {{human_pos}}/{{human_len}} {unit} {{eta}}");
        if let Ok(style) = ProgressStyle::with_template(&style) {
            bar.set_style(style);
        }
        bar
    }
}

/// Runs the command that the process was started with.
#[must_use]
pub fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().collect();
    let funil = match Funil::try_parse_from(&arguments) {
        Ok(funil) => funil,
        Err(error) => return not_understood(&error, &arguments),
    };
    let json = funil.global.json;
    let runtime = match tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(cause) => return answer::fail(&Failure::Refused(cause.to_string()), json),
    };
    match runtime.block_on(funil.run()) {
        Ok(answer) => answer.give(json),
        Err(failure) => answer::fail(&failure, json),
    }
}

impl Funil {
    async fn run(self) -> Result<Answer, Failure> {
        let global = &self.global;
        match self.command {
            Command::Serve(serve) => serve::run(serve, global).await,
            Command::Instance(command) => instance::run(command, global).await,
            Command::Key(command) => credential::run(command.into(), global).await,
            Command::Token(command) => credential::run(command.into(), global).await,
            Command::Import(import) => data::import(import, global).await,
            Command::Export(export) => data::export(export, global).await,
            Command::Doctor(doctor) => doctor::run(doctor, global).await,
        }
    }
}

/// Help and version are answers; everything else is wrong usage, which `--json` wants as a document too.
fn not_understood(error: &clap::Error, arguments: &[OsString]) -> ExitCode {
    let _ = error.print();
    if error.exit_code() == 0 {
        return ExitCode::SUCCESS;
    }
    if arguments.iter().any(|argument| argument == "--json") {
        let text = error.to_string();
        let first = text.lines().next().unwrap_or_default();
        let reason = first.strip_prefix("error: ").unwrap_or(first);
        let document = serde_json::json!({ "error": reason });
        let _ = writeln!(std::io::stdout(), "{document}");
    }
    ExitCode::from(2)
}
