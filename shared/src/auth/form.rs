//! The check of forms: the name in the path and a token that belongs to the form (C-101).
//!
//! The response is the same for an unknown instance, name or token, and for an inactive form. A wrong token finds no
//! item, so it costs the directory and an empty read, and is not counted against any limit (C-86).

use std::fmt;
use std::sync::Arc;

use super::{Guard, Unchecked, instance, rate_limit};
use crate::calendar::LinkName;
use crate::environment::Environment;
use crate::form::{Form, TokenHash};
use crate::http::{App, Params, RawRequest, RequestError};
use crate::store::{PublicRoute, Reader, Writer};
use crate::telemetry::request::{self, Refusal};
use crate::time::Timestamp;

/// A submission of a form that accepts it.
pub type FormRequest = Unchecked<FormGuard>;

/// An unchecked submission.
pub struct FormGuard {
    app: App,
    params: Params,
    /// Name and token in the request. `None` if no form can have them.
    claimed: Option<(LinkName, TokenHash)>,
}

// No log line may contain the token.
impl fmt::Debug for FormGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FormGuard")
    }
}

/// An accepted submission.
#[derive(Debug)]
pub struct FormScope {
    /// The form.
    pub form: Form,
    /// The instance's part of the table.
    pub store: Writer,
    environment: Environment,
}

impl FormScope {
    /// Current time.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.environment.now()
    }
}

impl Guard for FormGuard {
    type Scope = FormScope;

    fn of(request: RawRequest, app: &App) -> Self {
        Self {
            app: app.clone(),
            claimed: claimed_form(&request),
            params: request.params,
        }
    }

    async fn reader(&self) -> Result<Reader, RequestError> {
        let instance = instance(&self.params).map_err(not_found)?;
        // Reads nothing if no form can have this name and token.
        self.claimed.as_ref().ok_or(RequestError::NotFound)?;
        Ok(self.app.store().reader(instance))
    }

    fn is_known(&self, reader: &Reader) -> bool {
        self.app.store().recently_accepted(&self.callers(reader))
    }

    async fn check(&self, reader: &Reader) -> Result<FormScope, RequestError> {
        let (name, token) = self.claimed.as_ref().ok_or(RequestError::NotFound)?;
        let (directory, form) = tokio::try_join!(super::open_directory(reader), reader.form(name, token))?;
        let callers = self.callers(reader);
        let Some((directory, form)) = directory.zip(form) else {
            self.app.store().refuse(&callers);
            request::refuse_for(Refusal::Unknown);
            return Err(RequestError::NotFound);
        };
        request::set_caller(reader.instance().as_str(), "");
        let limit = rate_limit::of_public(PublicRoute::Form, &directory.settings);
        self.app.store().accept(&callers, reader.instance(), limit);
        rate_limit::count(&self.app, reader.instance(), limit).await?;
        Ok(FormScope {
            form,
            store: Writer::of_request(self.app.store(), reader.clone(), Arc::new(directory)),
            environment: self.app.environment().clone(),
        })
    }
}

impl FormGuard {
    /// Cache key of an accepted form.
    fn callers(&self, reader: &Reader) -> [String; 1] {
        let instance = reader.instance();
        let form = match &self.claimed {
            Some((name, token)) => format!("{name} {}", token.as_str()),
            None => String::new(),
        };
        [format!("{instance} form {form}")]
    }
}

/// Returns the name and the token of a submission, or `None` if no form can have them.
#[must_use]
pub fn claimed_form(request: &RawRequest) -> Option<(LinkName, TokenHash)> {
    let token = request.params.one("access_token").ok().flatten();
    let name = request.path.as_deref().and_then(LinkName::parse);
    name.zip(token.and_then(TokenHash::of))
}

/// Turns the error of [`instance`] for an invalid name, `Unauthorized`, into the response to an unknown form, as
/// [`FormGuard::check`] does for an unknown instance. Other errors stay.
fn not_found(refused: RequestError) -> RequestError {
    match refused {
        RequestError::Unauthorized => RequestError::NotFound,
        refused => refused,
    }
}
