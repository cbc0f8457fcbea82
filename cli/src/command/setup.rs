//! `funil setup`: a new instance with a user, a funnel, a calendar and a form (C-111).

use clap::Args;
use operator::Operator;
use serde_json::{Value, json};
use shared::calendar::LinkName;
use shared::credential::CredentialKind;
use shared::environment::Environment;
use shared::ids::UserId;
use shared::instance::InstanceName;

use super::ask::{self, Asking};
use super::provision::{self, Fact, Hours};
use super::{Answer, Failure, Global, link};

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

/// The answers of the operator.
struct Answers {
    timezone: String,
    admin: String,
    email: Option<String>,
    stages: Vec<String>,
    hours: Hours,
    form: LinkName,
}

impl Setup {
    fn ask(&self) -> Result<Answers, Failure> {
        let asking = &self.asking;
        asking.begin()?;
        let zone = "America/Sao_Paulo";
        Ok(Answers {
            timezone: asking.answer(self.timezone.as_deref(), "Time zone", zone, provision::zone)?,
            admin: asking.answer(self.admin.as_deref(), "Administrator's name", "Admin", ask::name)?,
            email: asking.answer(self.email.as_deref(), "Administrator's e-mail", "", ask::email)?,
            stages: asking.answer(
                self.stages.as_deref(),
                "Stages of the funnel",
                provision::STAGES,
                ask::names,
            )?,
            hours: asking.answer(
                self.hours.as_deref(),
                "Hours of the calendar",
                provision::OPENINGS,
                provision::hours,
            )?,
            form: asking.answer(
                self.form.as_deref(),
                "Name of the form",
                "contato",
                provision::link_name,
            )?,
        })
    }
}

impl Answers {
    fn lines(&self, calendar: &LinkName, token: &str) -> Vec<Value> {
        let mut lines = vec![
            json!({ "kind": "setting", "name": "timezone", "value": self.timezone }),
            provision::group_line(FIRST),
            provision::user_line(FIRST, &self.admin, self.email.as_deref(), None),
            provision::funnel_line(FIRST, "Vendas", &self.stages),
        ];
        lines.extend(provision::loss_reason_lines());
        lines.push(provision::calendar_line(
            FIRST,
            "Reunião",
            calendar,
            FIRST,
            &self.timezone,
            &self.hours,
        ));
        lines.push(provision::hook_line(&self.form, token));
        lines
    }
}

pub async fn run(setup: Setup, global: &Global) -> Result<Answer, Failure> {
    let answers = setup.ask()?;
    let calendar = provision::link_name(CALENDAR).map_err(Failure::Refused)?;
    let token = Environment::system().token();
    let lines = answers.lines(&calendar, &token);
    let operator = Operator::new(&global.store_or_new().await?, setup.name);
    operator.create_instance().await?;
    let output = setup.asking.output.as_deref();
    let text = provision::bring(&operator, &lines, output).await?;
    let admin = UserId::new(FIRST).ok_or_else(|| Failure::Refused("no id".to_owned()))?;
    let label = Some("setup".to_owned());
    let key = operator
        .issue(CredentialKind::Key, admin, label.clone(), None)
        .await?;
    let access = operator
        .issue(CredentialKind::Token, admin, label, Some(90))
        .await?;
    let (instance, form) = (operator.instance(), &answers.form);
    let url = setup.link.base(global)?;
    let mut facts = vec![
        Fact::new("key", "API key", key.secret.reveal()),
        Fact::new("token", "access token", access.secret.reveal()),
    ];
    if let Some(panel) = setup.link.panel(&operator, admin, global).await? {
        facts.push(Fact::new("panel", "panel", panel));
    }
    let page = format!("{url}/book/{instance}/{calendar}");
    facts.push(Fact::new("bookingPage", "booking page", page));
    let form = format!("{url}/api/hook/{form}?i={instance}&access_token={token}");
    facts.push(Fact::new("form", "form", form));
    Ok(provision::answer(&lines, &text, output, &facts))
}
