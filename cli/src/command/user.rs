//! `funil user`: the users of an instance (C-104).

use clap::Subcommand;
use operator::{Operator, kinds};
use serde_json::{Value, json};
use shared::instance::InstanceName;
use shared::people::User;

use super::{Answer, Failure, Global, text};

pub const AFTER_HELP: &str = "\
Examples:
  funil user list --instance acme";

#[derive(Debug, Subcommand)]
pub enum UserCommand {
    /// List all users, with the roles that decide what they may do
    #[command(
        after_help = "Examples:\n  funil user list --instance acme\n  funil user list --instance acme --json"
    )]
    List {
        /// Instance name
        #[arg(long, value_name = "NAME")]
        instance: InstanceName,
    },
}

pub async fn run(command: UserCommand, global: &Global) -> Result<Answer, Failure> {
    let UserCommand::List { instance } = command;
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
    Ok(if users.is_empty() {
        let instance = operator.instance();
        answer.noting(format!(
            "there is no user; import some: funil import --instance {instance} FILE"
        ))
    } else {
        answer
    })
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
