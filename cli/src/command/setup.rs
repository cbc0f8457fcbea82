//! `funil setup`: a new instance with a user, a funnel, a calendar and a form (C-111).

use clap::Args;
use operator::{Operator, OperatorError};
use serde_json::{Value, json};
use shared::calendar::LinkName;
use shared::credential::CredentialKind;
use shared::environment::Environment;
use shared::ids::UserId;
use shared::instance::InstanceName;

use super::ask::{self, Asking};
use super::{Answer, Failure, Global, link, provision};

pub const AFTER_HELP: &str = "\
Asks for what is not given. The printed lines are those of an import: keep them with --output, change them, and import them again.

Examples:
  funil --data .funil setup acme
  funil setup acme --yes --admin Ana --timezone America/Recife --stages Entrada,Proposta,Fechamento
  funil setup acme --output acme.ndjson";

/// The link of the calendar.
const CALENDAR: &str = "reuniao";
/// The id of the first record of each kind.
const FIRST: u64 = 1;

/// The options of `funil setup`. Values that are neither given nor answered are the defaults.
#[derive(Debug, Args)]
pub struct Setup {
    /// Name of the new instance: 1 to 63 of a-z, 0-9, - and _
    name: InstanceName,
    /// IANA time zone [default: `America/Sao_Paulo`]
    #[arg(long, value_name = "ZONE")]
    timezone: Option<String>,
    /// Name of the administrator [default: Admin]
    #[arg(long, value_name = "NAME")]
    admin: Option<String>,
    /// E-mail address of the administrator [default: none]
    #[arg(long, value_name = "ADDRESS")]
    email: Option<String>,
    /// Stages of the funnel, separated by commas [default: Entrada, Contato, Proposta, Fechamento]
    #[arg(long, value_name = "NAMES")]
    stages: Option<String>,
    /// Openings of the calendar from Monday to Friday [default: 09:00-12:00, 13:30-18:00]
    #[arg(long, value_name = "HOURS")]
    hours: Option<String>,
    /// Name of the form [default: contato]
    #[arg(long, value_name = "NAME")]
    form: Option<String>,
    #[command(flatten)]
    link: link::LinkUrl,
    #[command(flatten)]
    asking: Asking,
}

/// The link of the form, and the lines of a new instance, with the token of the form.
fn asked(setup: &Setup, calendar: &LinkName, token: &str) -> Result<(LinkName, Vec<Value>), Failure> {
    let asking = &setup.asking;
    let (zone, usual) = (setup.timezone.as_deref(), "America/Sao_Paulo");
    let zone = asking.answer(zone, "Time zone", usual, provision::zone)?;
    let admin = asking.answer(setup.admin.as_deref(), "Administrator's name", "Admin", ask::name)?;
    let email = asking.answer(setup.email.as_deref(), "Administrator's e-mail", "", ask::email)?;
    let (stages, usual) = (setup.stages.as_deref(), provision::STAGES);
    let stages = asking.answer(stages, "Stages of the funnel", usual, ask::names)?;
    let (hours, usual) = (setup.hours.as_deref(), provision::OPENINGS);
    let hours = asking.answer(hours, "Hours of the calendar", usual, provision::hours)?;
    let form = setup.form.as_deref();
    let form = asking.answer(form, "Name of the form", "contato", provision::link_name)?;
    let before = [
        json!({ "kind": "setting", "name": "timezone", "value": zone }),
        provision::group_line(FIRST),
        provision::user_line(FIRST, &admin, email.as_deref(), None),
        provision::funnel_line(FIRST, "Vendas", &stages),
    ];
    let after = [
        provision::calendar_line(FIRST, "Reunião", calendar, FIRST, &zone, &hours),
        provision::hook_line(&form, token),
    ];
    let lines = before
        .into_iter()
        .chain(provision::loss_reason_lines())
        .chain(after);
    Ok((form, lines.collect()))
}

/// A refused creation. An interrupted setup has shown none of its secrets.
fn exists(error: OperatorError) -> Failure {
    let advice = match &error {
        OperatorError::InstanceExists(name) => {
            format!(
                "; if an interrupted setup left it, delete it and begin again: funil instance delete {name}"
            )
        }
        _ => String::new(),
    };
    Failure::from(error).map(|reason| reason + &advice)
}

pub async fn run(setup: Setup, global: &Global) -> Result<Answer, Failure> {
    setup.asking.begin()?;
    // Before the questions.
    if let Ok(store) = global.store().await {
        let operator = Operator::new(&store, setup.name.clone());
        if operator.directory_head().await.is_ok() {
            return Err(exists(OperatorError::InstanceExists(setup.name)));
        }
    }
    let calendar = provision::link_name(CALENDAR).map_err(Failure::Refused)?;
    let token = Environment::system().token();
    let (form, lines) = asked(&setup, &calendar, &token)?;
    let operator = Operator::new(&global.store_or_new().await?, setup.name);
    operator.create_instance().await.map_err(exists)?;
    let output = setup.asking.output.as_deref();
    provision::bring(&operator, &lines, output).await?;
    let admin = UserId::new(FIRST).ok_or_else(|| Failure::Refused("no id".to_owned()))?;
    let (url, instance) = (setup.link.base(global)?, operator.instance());
    let mut facts = Vec::new();
    for (kind, key, name, days) in [
        (CredentialKind::Key, "key", "API key", None),
        (CredentialKind::Token, "token", "access token", Some(90)),
    ] {
        let issued = operator
            .issue(kind, admin, Some("setup".to_owned()), days)
            .await?;
        facts.push((key, name, issued.secret.reveal().to_owned()));
    }
    let panel = setup.link.panel(&operator, admin, global).await?;
    facts.extend(panel.map(|panel| ("panel", "panel", panel)));
    let page = format!("{url}/book/{instance}/{calendar}");
    let form = format!("{url}/api/hook/{form}?i={instance}&access_token={token}");
    facts.extend([("bookingPage", "booking page", page), ("form", "form", form)]);
    Ok(provision::answer(&lines, output, &facts))
}
