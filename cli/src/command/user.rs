//! `funil user`: the users of an instance (C-104, C-107, C-111).

use clap::Subcommand;
use operator::{Operator, kinds};
use serde_json::{Value, json};
use shared::instance::InstanceName;
use shared::people::User;

use super::credential::InstanceArg;
use super::{Answer, Failure, Global, adding, link, text};

pub const AFTER_HELP: &str = "\
Examples:
  funil user list --instance acme
  funil user add --instance acme
  funil user link --instance acme --user 2";

#[derive(Debug, Subcommand)]
pub enum UserCommand {
    /// List all users, with the roles that decide what they may do
    #[command(
        after_help = "Examples:\n  funil user list --instance acme\n  funil user list --instance acme --json"
    )]
    List {
        #[command(flatten)]
        place: InstanceArg,
    },
    /// Add a user
    #[command(after_help = adding::USER_AFTER_HELP)]
    Add(adding::UserAdd),
    /// Issue a link that signs a user in to the panel
    #[command(after_help = link::AFTER_HELP)]
    Link(link::LinkArgs),
}

pub async fn run(command: UserCommand, global: &Global) -> Result<Answer, Failure> {
    match command {
        UserCommand::List { place } => list(place.instance, global).await,
        UserCommand::Add(add) => adding::user(add, global).await,
        UserCommand::Link(link) => link::run(link, global).await,
    }
}

async fn list(instance: InstanceName, global: &Global) -> Result<Answer, Failure> {
    let operator = Operator::new(&global.store().await?, instance);
    operator.directory_head().await?;
    let mut users = Vec::new();
    let mut pages = operator.records::<kinds::Users>();
    while let Some(page) = pages.next().await? {
        users.extend(page);
    }
    let rows = users.iter().map(row).collect::<Vec<_>>();
    let document: Vec<_> = users.iter().map(entry).collect();
    let answer = Answer::new(
        text::table(["ID", "NAME", "ROLE", "DEPARTMENT", "GROUP", "E-MAIL"], &rows),
        json!(document),
    );
    let instance = operator.instance();
    Ok(
        answer
            .noting_none(|| format!("there is no user; add one with: funil user add --instance {instance}")),
    )
}

fn row(user: &User) -> [String; 6] {
    let role = match (user.active, user.admin) {
        (false, _) => "inactive",
        (true, true) => "admin",
        (true, false) => "user",
    };
    let number = |id: Option<u64>| id.map_or_else(|| "-".to_owned(), |id| id.to_string());
    [
        user.id.to_string(),
        user.full_name(),
        role.to_owned(),
        number(user.department.map(u64::from)),
        number(user.group.map(u64::from)),
        user.email.clone().unwrap_or_default(),
    ]
}

fn entry(user: &User) -> Value {
    json!({
        "id": user.id,
        "name": user.full_name(),
        "email": user.email,
        "admin": user.admin,
        "active": user.active,
        "department": user.department,
        "group": user.group,
    })
}
