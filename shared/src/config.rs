//! The configuration of a deployed function: one struct, read once from its environment.

use std::env;
use std::path::PathBuf;

use crate::store::Location;

/// The address of the Lambda Runtime API.
const RUNTIME_API: &str = "AWS_LAMBDA_RUNTIME_API";
/// Required variables, set by template.yaml and Lambda. The AWS SDK reads region and credentials itself.
const REQUIRED: [&str; 8] = [
    "TABLE_NAME",
    RUNTIME_API,
    "AWS_LAMBDA_FUNCTION_NAME",
    "AWS_LAMBDA_FUNCTION_MEMORY_SIZE",
    "AWS_LAMBDA_FUNCTION_VERSION",
    "AWS_REGION",
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
];

/// The environment of a function.
#[derive(Debug)]
pub struct Config {
    table: String,
    endpoint: Option<String>,
    missing: Vec<&'static str>,
    /// Name of the function [default: `local`].
    pub function: String,
    /// `ApplicationLogLevel` of template.yaml; may be empty.
    pub log_level: String,
    /// The origins of C-5, separated by commas; may be empty.
    pub allowed_origins: String,
    /// Whether log lines have only the metrics that mean trouble: `Metrics=lean` of template.yaml.
    pub has_lean_metrics: bool,
    /// A directory of compiled time zones in place of those of the build (C-109).
    pub time_zones: Option<PathBuf>,
    /// Address of the Lambda Runtime API.
    pub runtime_api: Option<String>,
}

impl Config {
    /// Reads the environment. Empty variables count as unset, because `sam local invoke` sets every variable of the
    /// template.
    #[must_use]
    pub fn from_env() -> Self {
        Self::read(|name| env::var(name).ok())
    }

    fn read(variable: impl Fn(&str) -> Option<String>) -> Self {
        let filled = |name: &str| variable(name).filter(|value| !value.is_empty());
        let text = |name: &str| filled(name).unwrap_or_default();
        let missing = REQUIRED.into_iter().filter(|name| filled(name).is_none());
        Self {
            table: text("TABLE_NAME"),
            endpoint: filled("AWS_ENDPOINT_URL_DYNAMODB").or_else(|| filled("AWS_ENDPOINT_URL")),
            missing: missing.collect(),
            function: filled("AWS_LAMBDA_FUNCTION_NAME").unwrap_or_else(|| "local".to_owned()),
            log_level: text("AWS_LAMBDA_LOG_LEVEL"),
            allowed_origins: text("ALLOWED_ORIGINS"),
            has_lean_metrics: text("METRICS") == "lean",
            time_zones: filled("FUNIL_TZDATA").map(PathBuf::from),
            runtime_api: filled(RUNTIME_API),
        }
    }

    /// The table named by `TABLE_NAME`. Another DynamoDB API is named by `AWS_ENDPOINT_URL_DYNAMODB`, else by
    /// `AWS_ENDPOINT_URL`, as for every AWS SDK.
    ///
    /// # Errors
    /// The required variables that are not set.
    pub fn location(&self) -> Result<Location, Vec<&'static str>> {
        if !self.missing.is_empty() {
            return Err(self.missing.clone());
        }
        Ok(Location {
            table: self.table.clone(),
            endpoint: self.endpoint.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn location(changes: &[(&str, Option<&str>)]) -> Result<(String, Option<String>), Vec<&'static str>> {
        let config = Config::read(
            |name| match changes.iter().find(|(changed, _)| *changed == name) {
                Some((_, value)) => value.map(str::to_owned),
                None => REQUIRED.contains(&name).then(|| "x".to_owned()),
            },
        );
        config
            .location()
            .map(|location| (location.table, location.endpoint))
    }

    #[test]
    fn missing_and_empty_variables_are_named() {
        let none = REQUIRED.map(|name| (name, None));
        for (changes, missing) in [
            (&[("TABLE_NAME", None)][..], &["TABLE_NAME"][..]),
            (
                &[("AWS_REGION", Some("")), (RUNTIME_API, None)],
                &["AWS_LAMBDA_RUNTIME_API", "AWS_REGION"],
            ),
            (&none, &REQUIRED),
        ] {
            assert_eq!(location(changes), Err(missing.to_vec()));
        }
    }

    #[test]
    fn the_services_endpoint_precedes_the_common_one() {
        let (one, all) = ("http://127.0.0.1:8000", "http://127.0.0.1:4566");
        for (of_service, of_all, expected) in [
            (None, None, None),
            (Some(""), Some(""), None),
            (Some(one), None, Some(one)),
            (Some(one), Some(all), Some(one)),
            (Some(""), Some(all), Some(all)),
        ] {
            let found = location(&[
                ("AWS_ENDPOINT_URL_DYNAMODB", of_service),
                ("AWS_ENDPOINT_URL", of_all),
            ]);
            assert_eq!(found, Ok(("x".to_owned(), expected.map(str::to_owned))));
        }
    }
}
