//! `funil completions`: a shell completion script.

use clap::{Arg, Args, Command};
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
    let mut grammar = super::grammar();
    clap_complete::generate(completions.shell, &mut grammar, "funil", &mut script);
    if completions.shell == Shell::Fish {
        arguments_for_fish(&grammar, "", &mut script);
    }
    let script = String::from_utf8(script)
        .map_err(|_| Failure::Refused("the script is not text; please report this".to_owned()))?;
    let document = json!({ "shell": completions.shell.to_string(), "script": script });
    Ok(Answer::new(script.trim_end(), document))
}

/// Adds the values of positional arguments, which the generator leaves out for fish.
fn arguments_for_fish(command: &Command, condition: &str, script: &mut Vec<u8>) {
    for inner in command.get_subcommands() {
        let name = inner.get_name();
        let condition = if condition.is_empty() {
            format!("__fish_funil_using_subcommand {name}")
        } else {
            format!("{condition}; and __fish_seen_subcommand_from {name}")
        };
        let values = inner.get_positionals().flat_map(Arg::get_possible_values);
        let names: Vec<_> = values.map(|value| value.get_name().to_owned()).collect();
        if !names.is_empty() {
            let line = format!(
                "complete -c funil -n \"{condition}\" -f -a \"{}\"\n",
                names.join(" ")
            );
            script.extend(line.into_bytes());
        }
        arguments_for_fish(inner, &condition, script);
    }
}
