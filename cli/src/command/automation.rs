//! `funil automation`: undelivered notifications (C-102).

use clap::{Args, Subcommand};
use operator::{FailedDelivery, Operator};
use serde_json::json;
use shared::instance::InstanceName;

use super::{Answer, Failure, Global, text};

pub const AFTER_HELP: &str = "\
Examples:
  funil automation deliveries --instance acme
  funil automation deliveries --instance acme --retry";

const DELIVERIES_AFTER_HELP: &str = "\
A notification is retried for 24 hours and then set aside, for 30 days. Each is a line: delivery ID, attempts, time and
outcome of the last attempt.

Examples:
  funil automation deliveries --instance acme
  funil automation deliveries --instance acme --retry
  funil automation deliveries --instance acme --json";

#[derive(Debug, Subcommand)]
pub enum AutomationCommand {
    /// List the notifications that could not be delivered, or send them again
    #[command(after_help = DELIVERIES_AFTER_HELP)]
    Deliveries(Deliveries),
}

#[derive(Debug, Args)]
pub struct Deliveries {
    /// Instance name
    #[arg(long, value_name = "NAME")]
    instance: InstanceName,
    /// A new attempt for all of them, within a minute
    #[arg(long)]
    retry: bool,
}

pub async fn run(command: AutomationCommand, global: &Global) -> Result<Answer, Failure> {
    let AutomationCommand::Deliveries(Deliveries { instance, retry }) = command;
    let operator = Operator::new(&global.store().await?, instance);
    let (found, note) = if retry {
        let found = operator.retry_deliveries().await?;
        let note = format!("{} sent again within a minute", notifications(found.len()));
        (found, note)
    } else {
        let found = operator.failed_deliveries().await?;
        let hint = if found.is_empty() {
            ""
        } else {
            "; send them again with --retry"
        };
        let note = format!("{} could not be delivered{hint}", notifications(found.len()));
        (found, note)
    };
    let rows: Vec<_> = found.iter().map(row).collect();
    let headings = ["DELIVERY", "ATTEMPTS", "LAST ATTEMPT", "OUTCOME"];
    Ok(Answer::new(text::table(headings, &rows), json!(found)).noting(note))
}

fn notifications(count: usize) -> String {
    match count {
        1 => "1 notification".to_owned(),
        _ => format!("{count} notifications"),
    }
}

fn row(failed: &FailedDelivery) -> [String; 4] {
    let FailedDelivery {
        delivery,
        tries,
        since,
        reason,
        ..
    } = failed;
    [
        delivery.clone(),
        tries.to_string(),
        since.to_string(),
        reason.clone(),
    ]
}
