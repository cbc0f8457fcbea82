//! `funil automation`: notifications that are not delivered yet (C-102).

use clap::{Args, Subcommand};
use operator::{Operator, PendingDelivery};
use serde_json::json;
use shared::instance::InstanceName;
use shared::time::Timestamp;

use super::{Answer, Failure, Global, text};

pub const AFTER_HELP: &str = "\
Examples:
  funil automation deliveries --instance acme
  funil automation deliveries --instance acme --retry";

const DELIVERIES_AFTER_HELP: &str = "\
A failed notification waits for its next attempt, for 24 hours, and is then set aside, for 30 days. Each is a line:
delivery ID, attempts, time of the last failure, time of the next attempt (`set aside` if there is none), reason of the
last failure. Those whose record was deleted are dropped.

Examples:
  funil automation deliveries --instance acme
  funil automation deliveries --instance acme --retry
  funil automation deliveries --instance acme --json";

#[derive(Debug, Subcommand)]
pub enum AutomationCommand {
    /// List the notifications that wait or were set aside, or send them now
    #[command(after_help = DELIVERIES_AFTER_HELP)]
    Deliveries(Deliveries),
}

#[derive(Debug, Args)]
pub struct Deliveries {
    /// Instance name
    #[arg(long, value_name = "NAME")]
    instance: InstanceName,
    /// A new attempt for all of them, within a minute; their 24 hours begin again
    #[arg(long)]
    retry: bool,
}

pub async fn run(command: AutomationCommand, global: &Global) -> Result<Answer, Failure> {
    let AutomationCommand::Deliveries(Deliveries { instance, retry }) = command;
    let operator = Operator::new(&global.store().await?, instance);
    let (found, note) = if retry {
        let found = operator.retry_deliveries().await?;
        let note = format!("{} sent within a minute", notifications(found.len()));
        (found, note)
    } else {
        let found = operator.deliveries().await?;
        let hint = if found.is_empty() {
            ""
        } else {
            "; send them now with --retry"
        };
        let waiting = found.iter().filter(|pending| pending.next.is_some()).count();
        let aside = found.len() - waiting;
        let note = format!(
            "{} not delivered: {waiting} waiting, {aside} set aside{hint}",
            notifications(found.len())
        );
        (found, note)
    };
    let rows: Vec<_> = found.iter().map(row).collect();
    let headings = ["DELIVERY", "ATTEMPTS", "LAST FAILURE", "NEXT ATTEMPT", "REASON"];
    Ok(Answer::new(text::table(headings, &rows), json!(found)).noting(note))
}

fn notifications(count: usize) -> String {
    match count {
        1 => "1 notification".to_owned(),
        _ => format!("{count} notifications"),
    }
}

fn row(pending: &PendingDelivery) -> [String; 5] {
    let PendingDelivery {
        delivery,
        tries,
        since,
        next,
        reason,
        ..
    } = pending;
    let time_or =
        |time: &Option<Timestamp>, absent: &str| time.map_or(absent.to_owned(), |time| time.to_string());
    [
        delivery.clone(),
        tries.to_string(),
        time_or(since, "-"),
        time_or(next, "set aside"),
        reason.clone(),
    ]
}
