//! `funil user add`, `funil funnel add`, `funil calendar add`: one record from a few answers (C-111).

use std::cell::Cell;

use clap::{Args, Subcommand};
use operator::{Operator, kinds};
use serde_json::Value;
use shared::ids::{GroupId, UserId};
use shared::lead::same_email;

use super::ask::{self, Asking};
use super::credential::InstanceArg;
use super::link::LinkUrl;
use super::provision::Fact;
use super::{Answer, Failure, Global, provision};

pub const USER_AFTER_HELP: &str = "\
Prints the user's sign-in link for the panel. Without --admin the user gets the permissions of a group; an instance without
groups gets one that may do all daily work.

Examples:
  funil user add --instance acme
  funil user add --instance acme --yes --name Bia --email bia@example.com --group 1";

pub const FUNNEL_AFTER_HELP: &str = "\
Examples:
  funil funnel add --instance acme
  funil funnel add --instance acme --yes --name Parcerias --stages Contato,Acordo";

pub const CALENDAR_AFTER_HELP: &str = "\
Examples:
  funil calendar add --instance acme
  funil calendar add --instance acme --yes --name Visita --link visita --user 2 --hours 08:00-12:00";

/// The options of `funil user add`.
#[derive(Debug, Args)]
pub struct UserAdd {
    #[command(flatten)]
    place: InstanceArg,
    /// Full name [default: User]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// E-mail address [default: none]
    #[arg(long, value_name = "ADDRESS")]
    email: Option<String>,
    /// Administrator, who sees and may do everything
    #[arg(long, conflicts_with = "group")]
    admin: bool,
    /// ID of the group [default: the lowest]
    #[arg(long, value_name = "ID")]
    group: Option<String>,
    #[command(flatten)]
    link: LinkUrl,
    #[command(flatten)]
    asking: Asking,
}

#[derive(Debug, Subcommand)]
pub enum FunnelCommand {
    /// Add a funnel
    #[command(after_help = FUNNEL_AFTER_HELP)]
    Add(FunnelAdd),
}

#[derive(Debug, Subcommand)]
pub enum CalendarCommand {
    /// Add a calendar with a booking page
    #[command(after_help = CALENDAR_AFTER_HELP)]
    Add(CalendarAdd),
}

/// The options of `funil funnel add`.
#[derive(Debug, Args)]
pub struct FunnelAdd {
    #[command(flatten)]
    place: InstanceArg,
    /// Name [default: Vendas]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Stages, separated by commas [default: Entrada, Contato, Proposta, Fechamento]
    #[arg(long, value_name = "NAMES")]
    stages: Option<String>,
    #[command(flatten)]
    asking: Asking,
}

/// The options of `funil calendar add`.
#[derive(Debug, Args)]
pub struct CalendarAdd {
    #[command(flatten)]
    place: InstanceArg,
    /// Name [default: Reunião]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Last part of the booking page's address [default: reuniao- and the calendar's id]
    #[arg(long, value_name = "LINK")]
    link: Option<String>,
    /// ID of the user whose time is booked [default: the lowest]
    #[arg(long, value_name = "ID")]
    user: Option<String>,
    /// IANA time zone [default: that of the instance]
    #[arg(long, value_name = "ZONE")]
    timezone: Option<String>,
    /// Openings from Monday to Friday [default: 09:00-12:00, 13:30-18:00]
    #[arg(long, value_name = "HOURS")]
    hours: Option<String>,
    #[command(flatten)]
    address: LinkUrl,
    #[command(flatten)]
    asking: Asking,
}

pub async fn user(add: UserAdd, global: &Global) -> Result<Answer, Failure> {
    let asking = &add.asking;
    asking.begin()?;
    let operator = Operator::new(&global.store().await?, add.place.instance);
    let groups = operator.directory_head().await?.groups;
    let name = asking.answer(add.name.as_deref(), "Full name", "User", ask::name)?;
    let email = asking.answer(add.email.as_deref(), "E-mail", "", ask::email)?;
    let ids: Vec<_> = groups.keys().map(ToString::to_string).collect();
    let known = |text: &str| {
        let group = GroupId::parse(text).filter(|group| groups.is_empty() || groups.contains_key(group));
        group.ok_or_else(|| format!("must be the id of a group: {}", ids.join(", ")))
    };
    let lowest = ids.first().map_or("1", String::as_str);
    let asked = || asking.answer(add.group.as_deref(), "Group", lowest, known);
    let group = if add.admin { None } else { Some(asked()?.get()) };
    let (address, other) = (email.as_deref().and_then(same_email), Cell::new(None));
    let id = provision::next_id::<kinds::Users>(&operator, |user| {
        if address.is_some() && user.email.as_deref().and_then(same_email) == address {
            other.set(Some(user.id));
        }
        user.id.get()
    });
    let id = id.await?;
    if let (Some(other), Some(email)) = (other.get(), &email) {
        return Err(Failure::Refused(format!(
            "user {other} has the e-mail address {email} already"
        )));
    }
    let new_group = group.filter(|_| groups.is_empty()).map(provision::group_line);
    let user = provision::user_line(id, &name, email.as_deref(), group);
    let lines: Vec<_> = new_group.into_iter().chain([user]).collect();
    provision::bring(&operator, &lines, asking.output.as_deref()).await?;
    let user = UserId::new(id).ok_or_else(|| Failure::Refused("there is no further id".to_owned()))?;
    let link = add.link.panel(&operator, user, global).await?;
    let facts: Vec<_> = link.map(|link| ("panel", "panel", link)).into_iter().collect();
    Ok(provision::answer(&lines, asking.output.as_deref(), &facts))
}

pub async fn funnel(FunnelCommand::Add(add): FunnelCommand, global: &Global) -> Result<Answer, Failure> {
    let asking = &add.asking;
    asking.begin()?;
    let operator = Operator::new(&global.store().await?, add.place.instance);
    operator.directory_head().await?;
    let name = asking.answer(add.name.as_deref(), "Name", "Vendas", ask::name)?;
    let stages = asking.answer(add.stages.as_deref(), "Stages", provision::STAGES, ask::names)?;
    let id = provision::next_id::<kinds::Funnels>(&operator, |funnel| funnel.id.get()).await?;
    brought(&operator, provision::funnel_line(id, &name, &stages), asking, &[]).await
}

pub async fn calendar(
    CalendarCommand::Add(add): CalendarCommand,
    global: &Global,
) -> Result<Answer, Failure> {
    let asking = &add.asking;
    asking.begin()?;
    let operator = Operator::new(&global.store().await?, add.place.instance);
    let settings = operator.directory_head().await?.settings;
    let users = operator.user_ids().await?;
    let id = provision::next_id::<kinds::Calendars>(&operator, |calendar| calendar.id.get()).await?;
    let name = asking.answer(add.name.as_deref(), "Name", "Reunião", ask::name)?;
    let usual = format!("reuniao-{id}");
    let link = asking.answer(add.link.as_deref(), "Link", &usual, provision::link_name)?;
    let known = |text: &str| {
        let user = UserId::parse(text).filter(|user| users.contains(user));
        user.ok_or_else(|| "must be the id of a user; funil user list shows them".to_owned())
    };
    let lowest = users.iter().min().map_or("1".to_owned(), ToString::to_string);
    let user = asking.answer(add.user.as_deref(), "User", &lowest, known)?.get();
    let zone = settings.timezone().unwrap_or("UTC");
    let zone = asking.answer(add.timezone.as_deref(), "Time zone", zone, provision::zone)?;
    let (given, usual) = (add.hours.as_deref(), provision::OPENINGS);
    let hours = asking.answer(given, "Hours", usual, provision::hours)?;
    let (base, instance) = (add.address.base(global)?, operator.instance());
    let page = (
        "bookingPage",
        "booking page",
        format!("{base}/book/{instance}/{link}"),
    );
    let record = provision::calendar_line(id, &name, &link, user, &zone, &hours);
    brought(&operator, record, asking, &[page]).await
}

async fn brought(
    operator: &Operator,
    line: Value,
    asking: &Asking,
    facts: &[Fact],
) -> Result<Answer, Failure> {
    let (lines, output) = ([line], asking.output.as_deref());
    provision::bring(operator, &lines, output).await?;
    Ok(provision::answer(&lines, output, facts))
}
