//! The demo instance of an empty table (C-85).

mod records;
mod words;

use indicatif::ProgressBar;
use operator::{Operator, OperatorError};
use shared::credential::CredentialKind;
use shared::ids::UserId;
use shared::instance::InstanceName;
use shared::store::{Store, StoreError};

use operator::import::{self, Source};

/// Id of the demo's administrator.
const ADMIN: u64 = 7;

/// The state of the demo instance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Demo {
    /// No demo was loaded, because `--empty` is given or the table has other instances.
    None,
    /// It existed; its credentials were shown when it was created.
    Known,
    /// It was created now, with these credentials.
    Created {
        /// The administrator's API key.
        key: String,
        /// The administrator's access token.
        token: String,
    },
}

/// Error of loading the demo.
#[derive(Debug, thiserror::Error)]
#[error("the demo instance cannot be loaded: {0}")]
pub enum DemoError {
    /// The table failed.
    Operator(#[from] OperatorError),
    /// The data could not be imported.
    Import(#[from] import::ImportError),
    /// A temporary file could not be created.
    Spool(#[from] std::io::Error),
    /// The built-in data is invalid.
    Data(String),
}

impl From<StoreError> for DemoError {
    fn from(error: StoreError) -> Self {
        Self::Operator(error.into())
    }
}

/// The demo's name.
#[must_use]
pub fn name() -> Option<InstanceName> {
    InstanceName::parse("demo")
}

/// Creates the demo instance in a table without instances. Completes an interrupted creation, in which the token is
/// missing because credentials are issued last.
///
/// # Errors
/// [`DemoError`] if it cannot be loaded.
pub async fn load(store: &Store) -> Result<Demo, DemoError> {
    let (Some(name), Some(admin)) = (name(), UserId::new(ADMIN)) else {
        return Err(DemoError::Data("its names are not valid".to_owned()));
    };
    let operator = Operator::new(store, name.clone());
    let instances = operator::instances(store).await?;
    let has_demo = instances.iter().any(|instance| instance.name == name);
    let has_others = instances.iter().any(|instance| instance.name != name);
    if has_others {
        return Ok(if has_demo { Demo::Known } else { Demo::None });
    }
    if !has_demo {
        operator.create_instance().await?;
    } else if !operator.credentials(CredentialKind::Token).await?.is_empty() {
        return Ok(Demo::Known);
    }
    let lines = records::lines(store.environment().now());
    let lines = lines.ok_or_else(|| DemoError::Data("its dates are not valid".to_owned()))?;
    import_lines(&operator, &lines).await?;
    let label = Some("demo".to_owned());
    let key = operator
        .issue(CredentialKind::Key, admin, label.clone(), None)
        .await?;
    let token = operator
        .issue(CredentialKind::Token, admin, label, Some(90))
        .await?;
    Ok(Demo::Created {
        key: key.secret.reveal().to_owned(),
        token: token.secret.reveal().to_owned(),
    })
}

async fn import_lines(operator: &Operator, lines: &str) -> Result<(), DemoError> {
    let source = Source::spool(lines.as_bytes())?;
    let report = import::import(operator, &source, false, &ProgressBar::hidden()).await?;
    match report.refused.first() {
        None => Ok(()),
        Some(refused) => Err(DemoError::Data(format!(
            "line {}: {}",
            refused.line, refused.reason
        ))),
    }
}
