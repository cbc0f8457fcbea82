//! Shell completions.

use std::process::{Command, Stdio};

use crate::support::Ended;

fn completions(shell: &str) -> Ended {
    let mut command = Command::new(env!("CARGO_BIN_EXE_funil"));
    command.args(["completions", shell]).stdin(Stdio::null());
    command.output().unwrap().into()
}

/// Completions need no table.
#[test]
fn completions_contain_every_command() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = completions(shell).done().out;
        for word in [
            "serve",
            "instance",
            "create",
            "revoke",
            "import",
            "overwrite",
            "repair",
            "completions",
            "suspend",
        ] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    // C-106: settings and kinds.
    for shell in ["bash", "fish", "zsh"] {
        let script = completions(shell).done().out;
        for value in ["public_requests_per_minute", "opportunity"] {
            assert!(script.contains(value), "{shell}: {value}");
        }
    }
    let unknown = completions("tcsh");
    assert_eq!(unknown.code, 2);
    assert!(
        unknown
            .err
            .contains("[possible values: bash, elvish, fish, powershell, zsh]"),
        "{unknown:?}"
    );
}

#[test]
fn bash_completes_with_the_script() {
    let script = completions("bash").done().out;
    let asks = "\ncomplete_words() { COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); \
                _funil funil \"${!#}\" \"${COMP_WORDS[$#-2]}\"; echo \"${COMPREPLY[*]}\"; }\n\
                complete_words funil inst\ncomplete_words funil key re\ncomplete_words funil doctor --rep\n";
    let Ok(bash) = Command::new("bash").args(["-c", &(script + asks)]).output() else {
        eprintln!("skipped: there is no bash here to try the script with");
        return;
    };
    let told = Ended::from(bash);
    assert_eq!(told.out, "instance\nrevoke\n--repair\n", "{}", told.err);
}
