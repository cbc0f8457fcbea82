//! `funil completions`: a shell completion script.

use clap::Args;
use clap_complete::Shell;
use serde_json::json;

use super::{Answer, Failure};

pub const AFTER_HELP: &str = "\
Examples:
  funil completions bash > ~/.local/share/bash-completion/completions/funil
  funil completions zsh > ~/.zfunc/_funil
  funil completions fish > ~/.config/fish/completions/funil.fish

Shells started afterwards complete commands and options. For zsh, add ~/.zfunc to fpath before compinit runs.";

#[derive(Debug, Args)]
pub struct Completions {
    /// Shell
    #[arg(value_enum)]
    shell: Shell,
}

/// The script for a shell, on standard output.
///
/// # Errors
/// [`Failure`] if it cannot be generated.
pub fn run(completions: &Completions) -> Result<Answer, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(completions.shell, &mut super::grammar(), "funil", &mut script);
    let script = String::from_utf8(script)
        .map_err(|_| Failure::Refused("the script is not text; please report this".to_owned()))?;
    let document = json!({ "shell": completions.shell.to_string(), "script": script });
    Ok(Answer::new(script.trim_end(), document))
}
