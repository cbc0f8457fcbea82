//! The command line: grammar, output and exit of every command (C-80).

mod adding;
mod advice;
mod answer;
mod ask;
mod backup;
mod completions;
mod convert;
mod credential;
mod data;
mod doctor;
mod help;
mod human;
mod instance;
mod interrupt;
mod lifecycle;
mod link;
mod log;
mod provision;
mod queue;
mod remove;
mod serve;
mod setup;
mod text;
mod user;

use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::error::ErrorKind;
use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use database::Database;
use indicatif::ProgressBar;
use shared::environment::Environment;
use shared::store::{Location, Store};
use shared::time::use_directory;

use operator::progress;

pub use answer::{Answer, Failure};

const AFTER_HELP: &str = "\
Examples:
  funil serve
  funil setup acme
  funil import --instance acme data.ndjson
  funil key issue --instance acme --user 7 --label erp
  funil --data .funil instance list

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

/// The options of every command.
#[derive(Debug, Args)]
#[command(next_help_heading = "Global options")]
struct Global {
    /// URL of a DynamoDB API [default: `FUNIL_ENDPOINT`, else your AWS region's]
    #[arg(long, global = true, value_name = "URL", value_parser = endpoint)]
    endpoint: Option<String>,
    /// Directory of the database of `funil serve`, which may run [default: `FUNIL_DATA`; of `funil serve`: else .funil]
    #[arg(long, global = true, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Table name [default: `FUNIL_TABLE`, else `TABLE_NAME`, else funil]
    #[arg(long, global = true, value_name = "NAME")]
    table: Option<String>,
    /// Print one JSON document on standard output
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the whole service on this machine
    #[command(after_help = serve::AFTER_HELP)]
    Serve(serve::Serve),
    /// Create, list, show and configure instances
    #[command(subcommand, after_help = instance::AFTER_HELP)]
    Instance(instance::InstanceCommand),
    /// Issue, list and revoke API keys, sent as `apitoken`
    #[command(subcommand, after_help = credential::KEY_AFTER_HELP)]
    Key(credential::KeyCommand),
    /// Issue, list and revoke access tokens, sent as `Authorization: Bearer`
    #[command(subcommand, after_help = credential::TOKEN_AFTER_HELP)]
    Token(credential::TokenCommand),
    /// Import records, one JSON object per line
    #[command(after_help = data::IMPORT_AFTER_HELP)]
    Import(data::ImportArgs),
    /// Convert exports of other products to the lines of an import
    #[command(after_help = convert::AFTER_HELP)]
    Convert(convert::ConvertArgs),
    /// Export all records, one JSON object per line
    #[command(after_help = data::EXPORT_AFTER_HELP)]
    Export(data::ExportArgs),
    /// Remove a record on which no other depends
    #[command(after_help = remove::AFTER_HELP)]
    Remove(remove::RemoveArgs),
    /// Set up a new instance: user, funnel, calendar, form and their links
    #[command(after_help = setup::AFTER_HELP)]
    Setup(setup::Setup),
    /// List and add users, and issue their sign-in links
    #[command(subcommand, after_help = user::AFTER_HELP)]
    User(user::UserCommand),
    /// Add funnels
    #[command(subcommand, after_help = adding::FUNNEL_AFTER_HELP)]
    Funnel(adding::FunnelCommand),
    /// Add calendars
    #[command(subcommand, after_help = adding::CALENDAR_AFTER_HELP)]
    Calendar(adding::CalendarCommand),
    /// List background work that waits or was set aside, or do it now
    #[command(after_help = queue::AFTER_HELP)]
    Queue(queue::Queue),
    /// List and resend notifications of automations that could not be delivered
    #[command(subcommand, after_help = queue::DELIVERIES_AFTER_HELP)]
    Automation(queue::AutomationCommand),
    /// Copy the database of `funil serve`, which may run
    #[command(after_help = backup::AFTER_HELP)]
    Backup(backup::Backup),
    /// Compare all derived data with the records, and repair it
    #[command(after_help = doctor::AFTER_HELP)]
    Doctor(doctor::DoctorArgs),
    /// Print a shell completion script
    #[command(after_help = completions::AFTER_HELP)]
    Completions(completions::Completions),
}

/// The grammar of the command line, as `--help` and the completions show it.
#[must_use]
pub fn grammar() -> clap::Command {
    Funil::command()
}

/// The database of a command.
enum Place {
    /// That of `funil serve` in this directory.
    Directory(PathBuf),
    /// A DynamoDB API; `None` for AWS.
    Endpoint(Option<String>),
}

/// A variable of the environment that is not empty.
fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

impl Global {
    /// The table, which must have the format of this build.
    async fn store(&self) -> Result<Store, Failure> {
        let store = match self.place()? {
            Place::Directory(directory) => over(Database::open_directory(&directory, now())?),
            Place::Endpoint(endpoint) => self.connect(endpoint).await,
        };
        store.check_format().await?;
        Ok(store)
    }

    /// Like [`Self::store`]. Creates the table if there is none, except on AWS, where the template creates it.
    async fn store_or_new(&self) -> Result<Store, Failure> {
        let store = match self.place()? {
            Place::Directory(directory) => over(Database::create_directory(&directory, now())?),
            Place::Endpoint(None) => return self.store().await,
            Place::Endpoint(endpoint) => self.connect(endpoint).await,
        };
        operator::ensure_table(&store).await?;
        store.check_format().await?;
        Ok(store)
    }

    /// The database that an option names, or else a variable (C-106).
    fn place(&self) -> Result<Place, Failure> {
        let usage = |reason: &str| Err(Failure::Usage(reason.to_owned()));
        match (&self.data, &self.endpoint) {
            (Some(_), Some(_)) => {
                return usage("--data and --endpoint name two databases; give one of them");
            }
            (Some(directory), None) => return Ok(Place::Directory(directory.clone())),
            (None, Some(url)) => return Ok(Place::Endpoint(Some(url.clone()))),
            (None, None) => {}
        }
        match (variable("FUNIL_DATA"), variable("FUNIL_ENDPOINT")) {
            (Some(_), Some(_)) => usage(
                "FUNIL_DATA and FUNIL_ENDPOINT name two databases; unset one, or give --data or --endpoint",
            ),
            (Some(directory), None) => Ok(Place::Directory(directory.into())),
            (None, Some(url)) => match url.to_str().map(endpoint) {
                Some(Ok(url)) => Ok(Place::Endpoint(Some(url))),
                Some(Err(reason)) => usage(&format!("FUNIL_ENDPOINT: {reason}")),
                None => usage("FUNIL_ENDPOINT is not text"),
            },
            (None, None) => Ok(Place::Endpoint(None)),
        }
    }

    /// The typed option that names the database, with a blank after it; empty if there is none.
    fn typed_place(&self) -> String {
        match (&self.data, &self.endpoint) {
            (Some(directory), None) => {
                let name = directory.display().to_string();
                let quote = if name.contains(char::is_whitespace) {
                    "'"
                } else {
                    ""
                };
                format!("--data {quote}{name}{quote} ")
            }
            (None, Some(url)) => format!("--endpoint {url} "),
            _ => String::new(),
        }
    }

    /// The directory of the embedded database, if one is named.
    fn directory(&self) -> Result<Option<PathBuf>, Failure> {
        Ok(match self.place()? {
            Place::Directory(directory) => Some(directory),
            Place::Endpoint(_) => None,
        })
    }

    /// The table's name without `FUNIL_TABLE`.
    fn table_of_functions(&self) -> String {
        let of_functions = || variable("TABLE_NAME")?.into_string().ok();
        let table = self.table.clone().or_else(of_functions);
        table.unwrap_or_else(|| "funil".to_owned())
    }

    async fn connect(&self, endpoint: Option<String>) -> Store {
        let of_commands = || variable("FUNIL_TABLE")?.into_string().ok();
        let table = self.table.clone().or_else(of_commands);
        let location = Location {
            table: table.unwrap_or_else(|| self.table_of_functions()),
            endpoint,
        };
        Store::connect_in_bulk(location, Environment::system()).await
    }

    /// A progress bar, hidden with `--json`.
    fn progress(&self) -> ProgressBar {
        if self.json {
            return ProgressBar::hidden();
        }
        progress::bar()
    }
}

/// The Unix second.
fn now() -> i64 {
    Environment::system().now().unix_seconds()
}

/// The store of a database of this process.
fn over(database: Database) -> Store {
    Store::on(Arc::new(database), Environment::system())
}

/// An empty variable of the environment is the same as none.
fn without_empty_variables(command: clap::Command) -> clap::Command {
    let is_empty = |name: &OsStr| std::env::var_os(name).is_some_and(|value| value.is_empty());
    let command = command.mut_args(|arg| {
        let variable = arg.get_env().filter(|name| is_empty(name));
        if variable.is_some() { arg.env(None) } else { arg }
    });
    command.mut_subcommands(without_empty_variables)
}

/// Runs the command of the process's arguments.
#[must_use]
pub fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().collect();
    let matches = without_empty_variables(grammar()).try_get_matches_from(&arguments);
    let funil = match matches.and_then(|matches| Funil::from_arg_matches(&matches)) {
        Ok(funil) => funil,
        Err(error) => return report_usage_error(&error, &arguments),
    };
    let json = funil.global.json;
    // Read before any record names a zone.
    let time_zones = variable("FUNIL_TZDATA").map(PathBuf::from);
    if let Some(Err(error)) = time_zones.map(|directory| use_directory(&directory)) {
        return answer::fail(&Failure::Refused(format!("FUNIL_TZDATA: {error}")), json);
    }
    let runtime = match tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(cause) => return answer::fail(&Failure::Refused(cause.to_string()), json),
    };
    let typed = funil.global.typed_place();
    match runtime.block_on(funil.run()) {
        Ok(mut answer) => {
            answer.note = advice::with_place(&answer.note, &typed);
            answer.give(json)
        }
        Err(failure) => answer::fail(&failure.map(|reason| advice::with_place(&reason, &typed)), json),
    }
}

impl Funil {
    async fn run(self) -> Result<Answer, Failure> {
        let global = &self.global;
        match self.command {
            Command::Serve(serve) => serve::run(serve, global).await,
            Command::Instance(command) => instance::run(command, global).await,
            Command::Key(command) => credential::key(command, global).await,
            Command::Token(command) => credential::token(command, global).await,
            Command::Import(import) => data::import(import, global).await,
            Command::Convert(convert) => convert::run(convert, global).await,
            Command::Export(export) => data::export(export, global).await,
            Command::Remove(remove) => remove::run(remove, global).await,
            Command::Setup(setup) => setup::run(setup, global).await,
            Command::User(command) => user::run(command, global).await,
            Command::Queue(queue) => queue::run(queue, global).await,
            Command::Automation(command) => queue::run(command.into(), global).await,
            Command::Funnel(command) => adding::funnel(command, global).await,
            Command::Calendar(command) => adding::calendar(command, global).await,
            Command::Backup(backup) => backup::run(&backup, global),
            Command::Doctor(doctor) => doctor::run(doctor, global).await,
            Command::Completions(completions) => completions::run(&completions),
        }
    }
}

/// Help and version are answers. Other errors are wrong usage, which `--json` prints as a document.
fn report_usage_error(error: &clap::Error, arguments: &[OsString]) -> ExitCode {
    if matches!(error.kind(), ErrorKind::DisplayHelp) {
        let _ = write!(std::io::stdout(), "{}", help::wrapped(&error.to_string()));
        return ExitCode::SUCCESS;
    }
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        let _ = write!(std::io::stderr(), "{}", help::wrapped(&error.to_string()));
    } else {
        let _ = error.print();
    }
    if error.exit_code() == 0 {
        return ExitCode::SUCCESS;
    }
    if arguments.iter().any(|argument| argument == "--json") {
        let document = serde_json::json!({ "error": misunderstanding(error) });
        let _ = writeln!(std::io::stdout(), "{document}");
    }
    ExitCode::from(2)
}

/// The usage error in one line.
fn misunderstanding(error: &clap::Error) -> String {
    let text = error.to_string();
    let ended = |line: &&str| {
        ["Usage:", "For more information"]
            .iter()
            .any(|end| line.starts_with(end))
    };
    let lines = text.lines().take_while(|line| !ended(line));
    let lines: Vec<_> = lines.map(str::trim).filter(|line| !line.is_empty()).collect();
    let reason = lines.join(" ");
    reason.strip_prefix("error: ").unwrap_or(&reason).to_owned()
}

fn endpoint(text: &str) -> Result<String, &'static str> {
    let address = ["http://", "https://"]
        .iter()
        .find_map(|scheme| text.strip_prefix(scheme));
    let named = address
        .is_some_and(|address| address.starts_with(|first: char| first.is_alphanumeric() || first == '['));
    named
        .then(|| text.to_owned())
        .ok_or("an endpoint is a URL such as http://127.0.0.1:4566")
}
