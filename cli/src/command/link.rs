//! Sign-in links of the panel (C-107).

use clap::Args;
use operator::Operator;
use serde_json::json;
use shared::credential::CredentialKind;
use shared::ids::UserId;

use super::credential::{InstanceArg, user};
use super::{Answer, Failure, Global, Place};

pub const AFTER_HELP: &str = "\
Revokes the former link of the user. Whoever opens the link acts as the user, so send it like a password.

Examples:
  funil user link --instance acme --user 2
  funil user link --instance acme --user 2 --days 30 --url https://crm.example.com";

/// The label of a link's credentials.
const LABEL: &str = "panel";
/// Address of `funil serve` with its defaults.
const USUAL: &str = "http://127.0.0.1:3000";

/// The address of a deployment. Only the output of the stack with this name tells it.
const DEPLOYED: &str = "<BaseUrl>";

/// The address in links.
#[derive(Debug, Args)]
pub struct LinkUrl {
    /// Address of the service [default: that of the running `funil serve`, else `http://127.0.0.1:3000`; of a deployment
    /// `<BaseUrl>`, to be replaced by that output of the stack]
    #[arg(long, value_name = "URL", value_parser = address)]
    url: Option<String>,
    /// Days until a panel's link ends
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..=36500))]
    days: u32,
}

/// The options of `funil user link`.
#[derive(Debug, Args)]
pub struct LinkArgs {
    #[command(flatten)]
    place: InstanceArg,
    /// ID of the user that signs in
    #[arg(long, value_name = "ID", value_parser = user)]
    user: UserId,
    #[command(flatten)]
    link: LinkUrl,
}

impl LinkUrl {
    /// The address of the service.
    ///
    /// # Errors
    /// [`Failure::Usage`] if two databases are named.
    pub fn base(&self, global: &Global) -> Result<String, Failure> {
        if let Some(url) = &self.url {
            return Ok(url.clone());
        }
        Ok(usual(&global.place()?))
    }

    /// A link with a new key and a new token, after the former ones of the user were revoked. `None` for a deployed table,
    /// because the panel is not deployed.
    ///
    /// # Errors
    /// [`Failure`] if the user does not exist or the table fails.
    pub async fn panel(
        &self,
        operator: &Operator,
        user: UserId,
        global: &Global,
    ) -> Result<Option<String>, Failure> {
        if matches!(global.place()?, Place::Endpoint(None)) {
            return Ok(None);
        }
        let mut issued_before: Option<(CredentialKind, String)> = None;
        let mut secrets = Vec::new();
        for kind in [CredentialKind::Key, CredentialKind::Token] {
            let issued = operator.credentials(kind).await?.into_iter();
            let former = issued.filter(|entry| entry.user == user && entry.label.as_deref() == Some(LABEL));
            for entry in former.filter(|entry| entry.revoked.is_none()) {
                operator.revoke(kind, &entry.id).await?;
            }
            let new = operator
                .issue(kind, user, Some(LABEL.to_owned()), Some(self.days))
                .await;
            // Half of a pair is of no use.
            if let (Err(_), Some((kind, id))) = (&new, &issued_before) {
                operator.revoke(*kind, id).await?;
            }
            let new = new?;
            secrets.push(new.secret.reveal().to_owned());
            issued_before = Some((kind, new.entry.id));
        }
        let (base, instance) = (self.base(global)?, operator.instance());
        Ok(Some(format!(
            "{base}/panel#i={instance}&k={}",
            secrets.join("&t=")
        )))
    }
}

pub async fn run(link: LinkArgs, global: &Global) -> Result<Answer, Failure> {
    let operator = Operator::new(&global.store().await?, link.place.instance);
    let url = link.link.panel(&operator, link.user, global).await?;
    let url = url.ok_or_else(|| {
        let reason = "the panel is part of `funil serve` and not of a deployment; name its database with --data or --endpoint";
        Failure::Refused(reason.to_owned())
    })?;
    let (user, days) = (link.user, link.link.days);
    let note = format!("signs in as user {user} for {days} days; it is shown this once");
    let document = json!({ "url": url, "user": user, "days": days });
    Ok(Answer::new(url, document).noting(note))
}

fn address(text: &str) -> Result<String, &'static str> {
    let is_web = ["http://", "https://"]
        .iter()
        .any(|scheme| text.len() > scheme.len() && text.starts_with(scheme));
    let is_plain = !text.contains(|c: char| c.is_whitespace() || c == '#' || c == '?');
    // The panel's own address is often copied.
    let text = text.trim_end_matches('/');
    let text = text.strip_suffix("/panel").unwrap_or(text);
    (is_web && is_plain)
        .then(|| text.to_owned())
        .ok_or("an address is a URL such as https://crm.example.com")
}

/// The address of the service on a database, if none is given.
fn usual(place: &Place) -> String {
    let running = match place {
        Place::Endpoint(None) => return DEPLOYED.to_owned(),
        Place::Endpoint(Some(_)) => None,
        Place::Directory(directory) => crate::serve::running_url(directory),
    };
    running.unwrap_or_else(|| USUAL.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// C-111: a link never leads to this machine if the data is in AWS.
    #[test]
    fn the_address_of_a_deployment_is_that_of_its_stack() {
        assert_eq!(usual(&Place::Endpoint(None)), "<BaseUrl>");
        assert_eq!(
            usual(&Place::Endpoint(Some("http://127.0.0.1:4566".to_owned()))),
            USUAL
        );
        assert_eq!(usual(&Place::Directory("none".into())), USUAL);
        // The file of a killed `serve`.
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("serve.url"), "http://127.0.0.1:4000").unwrap();
        assert_eq!(usual(&Place::Directory(directory.path().to_owned())), USUAL);
    }
}
