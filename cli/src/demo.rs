//! The demo instance that an empty table gets (C-85).

use indicatif::ProgressBar;
use operator::{Operator, OperatorError};
use shared::credential::Kind;
use shared::ids::UserId;
use shared::instance::InstanceName;
use shared::store::{Store, StoreError};

use operator::import::{self, Source};

const DATA: &str = include_str!("../demo/demo.ndjson");
/// The demo's administrator.
const ADMIN: u64 = 7;

/// The demo instance, as far as the table has one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Demo {
    /// There is none.
    None,
    /// It was created earlier, and its credentials were shown then.
    Known,
    /// It was created now; these are its credentials.
    Created {
        /// The administrator's API key.
        key: String,
        /// The administrator's access token.
        token: String,
    },
}

/// Why the demo could not be loaded.
#[derive(Debug, thiserror::Error)]
#[error("the demo instance cannot be loaded: {0}")]
pub enum DemoError {
    /// The table failed.
    Operator(#[from] OperatorError),
    /// The data could not be imported.
    Import(#[from] import::Error),
    /// No temporary file could be had.
    Spool(#[from] std::io::Error),
    /// The data of this program is bad.
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

/// Creates the demo instance in a table without any. One whose creation was interrupted is finished: its credentials are
/// issued last.
///
/// # Errors
/// [`DemoError`] where it cannot be loaded.
pub async fn load(store: &Store) -> Result<Demo, DemoError> {
    let (Some(name), Some(admin)) = (name(), UserId::new(ADMIN)) else {
        return Err(DemoError::Data("its names are not valid".to_owned()));
    };
    let operator = Operator::new(store, name.clone());
    let instances = operator::instances(store).await?;
    if !instances.iter().all(|instance| instance.name == name) {
        return Ok(if instances.iter().any(|instance| instance.name == name) {
            Demo::Known
        } else {
            Demo::None
        });
    }
    if instances.is_empty() {
        operator.create_instance().await?;
    } else if !operator.credentials(Kind::Token).await?.is_empty() {
        return Ok(Demo::Known);
    }
    fill(&operator).await?;
    let label = Some("demo".to_owned());
    let key = operator.issue(Kind::Key, admin, label.clone(), None).await?;
    let token = operator.issue(Kind::Token, admin, label, Some(90)).await?;
    Ok(Demo::Created {
        key: key.secret.reveal().to_owned(),
        token: token.secret.reveal().to_owned(),
    })
}

async fn fill(operator: &Operator) -> Result<(), DemoError> {
    let source = Source::spool(DATA.as_bytes())?;
    let report = import::import(operator, &source, false, &ProgressBar::hidden()).await?;
    match report.refused.first() {
        None => Ok(()),
        Some(refused) => Err(DemoError::Data(format!(
            "line {}: {}",
            refused.line, refused.reason
        ))),
    }
}
