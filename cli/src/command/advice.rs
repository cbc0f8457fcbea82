//! The table's errors in the operator's terms, each with the next step, and the commands of next steps.

use shared::store::StoreError;

use super::grammar;

/// Meanings of errors of DynamoDB and its SDK, each with the next step. The first match applies.
const MEANINGS: [(&[&str], &str); 13] = [
    (
        &["ResourceNotFoundException"],
        "there is no such table; deploy it first, or name another with --table or --endpoint",
    ),
    (
        &["does not match the schema", "missed key schema element"],
        "the table is not one of Funil's; name another with --table",
    ),
    (
        &["AccessDenied"],
        "AWS does not let you; use credentials that may read and write the table",
    ),
    (
        &["UnrecognizedClient"],
        "AWS does not know these credentials; check AWS_PROFILE or AWS_ACCESS_KEY_ID, and AWS_SESSION_TOKEN",
    ),
    (
        &["InvalidSignature", "RequestTimeTooSkewed"],
        "AWS does not accept these credentials; check AWS_SECRET_ACCESS_KEY and this machine's clock",
    ),
    (
        &["ExpiredToken"],
        "the AWS credentials have expired; sign in again, for example with: aws sso login",
    ),
    (
        &["InternalServerError", "ServiceUnavailable"],
        "DynamoDB failed; rerun the command in a minute",
    ),
    (
        &["Missing Region"],
        "no AWS region is set; set AWS_REGION, or name a directory with --data, or a DynamoDB API with --endpoint",
    ),
    (
        &["credential provider was not enabled"],
        "there are no AWS credentials; set AWS_PROFILE or AWS_ACCESS_KEY_ID, or name a directory with --data, or a DynamoDB API with --endpoint",
    ),
    (
        &["cargo feature"],
        "this AWS profile signs in by another program; hand its credentials over with: \
         eval \"$(aws configure export-credentials --format env)\"",
    ),
    (
        &["loading credentials", "not properly configured"],
        "the AWS credentials cannot be loaded; check AWS_PROFILE and ~/.aws/config, \
         or name a directory with --data, or a DynamoDB API with --endpoint",
    ),
    (
        &["not reached:", "no answer in time"],
        "DynamoDB cannot be reached; check the network and --endpoint",
    ),
    (
        &["the answer cannot be read", "unknown error"],
        "the endpoint is not a DynamoDB API; check --endpoint",
    ),
];

/// Maximum characters of the SDK's text that are shown.
const SDK_WORDS: usize = 300;

/// A text whose suggested commands, such as `funil instance show acme`, name the database that was typed.
pub fn with_place(text: &str, typed: &str) -> String {
    const NAME: &str = "funil ";
    if typed.is_empty() {
        return text.to_owned();
    }
    let grammar = grammar();
    let is_command = |rest: &str| {
        let name = rest
            .split(|c: char| !c.is_ascii_lowercase())
            .next()
            .unwrap_or_default();
        !["serve", "convert"].contains(&name) && grammar.find_subcommand(name).is_some()
    };
    let mut parts = text.split(NAME);
    let mut placed = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        placed += NAME;
        if is_command(part) {
            placed += typed;
        }
        placed += part;
    }
    placed
}

/// The meaning of an error, and the next step.
pub fn on(error: &StoreError) -> String {
    let text = error.to_string();
    let own = || shared::text::cut(&text, SDK_WORDS).to_owned();
    match error {
        StoreError::Unavailable { .. } | StoreError::Refused { .. } => {
            let mut meanings = MEANINGS.iter();
            let meaning = meanings.find(|(signs, _)| signs.iter().any(|sign| text.contains(sign)));
            meaning.map_or_else(own, |(_, meaning)| (*meaning).to_owned())
        }
        StoreError::Corrupt { .. } => format!("{}; funil doctor names the item", own()),
        StoreError::Unstorable { .. } | StoreError::Format(_) | StoreError::OverBudget => own(),
        StoreError::Busy(_) => format!(
            "{}; rerun the command in a minute, and raise the table's limit if it stays so",
            own()
        ),
        StoreError::Contention(_) => format!("{}; rerun the command", own()),
    }
}
