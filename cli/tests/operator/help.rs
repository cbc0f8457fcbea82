//! Help and exit codes (C-80): every argument is described, and the examples of every command parse.

use std::process::Stdio;

use clap::Command;
use serde_json::json;

use crate::support::{Bench, Ended};

/// Every command and subcommand, by its command line.
fn commands() -> Vec<(String, Command)> {
    fn walk(words: &str, command: &Command, found: &mut Vec<(String, Command)>) {
        found.push((words.to_owned(), command.clone()));
        for part in command.get_subcommands() {
            walk(&format!("{words} {}", part.get_name()), part, found);
        }
    }
    let mut found = Vec::new();
    walk("funil", &funil::command::grammar(), &mut found);
    found
}

/// The example lines of a command's help.
fn examples(command: &Command) -> Vec<String> {
    let help = command.clone().render_long_help().to_string();
    let lines = help
        .lines()
        .skip_while(|line| !["Example:", "Examples:"].contains(line));
    let lines = lines.skip(1).take_while(|line| line.starts_with("  "));
    lines.map(|line| line.trim().to_owned()).collect()
}

/// The arguments of `funil` in a shell line, without pipes and redirections.
fn arguments(line: &str) -> Vec<&str> {
    let call = line.split('|').find(|part| part.trim().starts_with("funil"));
    let words = call.unwrap_or_default().split_whitespace();
    words.take_while(|word| ![">", "<"].contains(word)).collect()
}

#[test]
fn examples_of_every_command_parse() {
    let commands = commands();
    assert!(commands.iter().any(|(words, _)| words == "funil key issue"));
    for (words, command) in commands {
        let examples = examples(&command);
        assert!(!examples.is_empty(), "{words} has no example");
        let own = |line: &String| line.contains(&words);
        assert!(examples.iter().any(own), "{words}: {examples:?}");
        for example in &examples {
            let understood = funil::command::grammar().try_get_matches_from(arguments(example));
            assert!(understood.is_ok(), "{example}: {}", understood.unwrap_err());
        }
    }
}

#[test]
fn every_argument_is_described() {
    for (words, command) in commands() {
        for argument in command.get_arguments() {
            let described = argument.get_help().is_some();
            assert!(described, "{words}: {}", argument.get_id());
        }
    }
}

fn without_a_table(words: &[&str]) -> Ended {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_funil"));
    command.args(words).env_remove("TABLE_NAME").stdin(Stdio::null());
    command.output().unwrap().into()
}

const DONE: [&str; 9] = [
    "instance list",
    "instance show acme",
    "instance set acme page_base 1",
    "instance set acme page_base --unset",
    "key list --instance acme",
    "key issue --instance acme --user 7",
    "export --instance acme",
    "doctor --instance acme",
    "completions bash",
];
const REFUSED: [&str; 9] = [
    "instance create acme",
    "instance show other",
    "instance set acme colour red",
    "key issue --instance acme --user 404",
    "key revoke --instance acme 1f0c2b9a77de",
    "import --instance acme absent.ndjson",
    "import --instance other absent.ndjson",
    "export --instance other",
    "doctor --instance other",
];
const WRONG: [&str; 11] = [
    "",
    "instances",
    "instance",
    "instance create Acme",
    "instance set acme page_base",
    "key issue --instance acme --user 0",
    "token issue --instance acme --user 7 --days 0",
    "import --instance acme",
    "export --instance acme --yaml",
    "completions tcsh",
    "serve --port many",
];

/// 0 done, 1 rejected or partly done, 2 wrong usage.
#[test]
fn exit_codes() {
    let bench = Bench::with_sample();
    for (code, commands) in [(0, &DONE[..]), (1, &REFUSED), (2, &WRONG)] {
        for command in commands {
            let ended = bench.funil(command);
            assert_eq!(ended.code, code, "{command}: {ended:?}");
            assert_eq!(ended.err.starts_with("error: "), code > 0, "{command}: {ended:?}");
        }
    }
    let partly = bench.import("{");
    assert_eq!(partly.code, 1, "{partly:?}");
}

/// C-80: the output is one JSON document, after success and failure.
#[test]
fn with_json_the_output_is_one_document() {
    let bench = Bench::with_sample();
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy");
    let export = format!("export --instance acme --output {}", copy.display());
    let more = [
        export.as_str(),
        "token issue --instance acme --user 7",
        "token list --instance acme",
        "serve --bind 192.0.2.1 --data absent",
    ];
    let commands = DONE.iter().chain(&REFUSED).chain(&WRONG).chain(&more);
    for command in commands {
        let ended = bench.funil(&format!("{command} --json"));
        let document = ended.document();
        let refused = document.get("error").is_some();
        assert_eq!(refused, ended.code != 0, "{command}: {document}");
    }
}

#[test]
fn usage_errors_name_the_invalid_argument() {
    for (words, reason) in [
        (
            &["--json"][..],
            "'funil' requires a subcommand but one was not provided [subcommands: serve, instance, key, token, import, convert, \
             export, remove, setup, user, funnel, calendar, queue, automation, backup, doctor, completions, help]",
        ),
        (
            &["key", "issue", "--json"],
            "the following required arguments were not provided: --instance <NAME> --user <ID>",
        ),
        (
            &["key", "revoke", "--instance", "A", "1", "--json"],
            "invalid value 'A' for '--instance <NAME>': must be 1 to 63 of a-z, 0-9, - and _, beginning with a letter or digit",
        ),
        (
            &["instances", "--json"],
            "unrecognized subcommand 'instances' tip: a similar subcommand exists: 'instance'",
        ),
    ] {
        let ended = without_a_table(words);
        assert_eq!(
            (ended.code, ended.document()),
            (2, json!({ "error": reason })),
            "{words:?}"
        );
    }
}

#[test]
fn version_and_help_succeed() {
    let version = without_a_table(&["--version"]).done();
    assert_eq!(version.out, format!("funil {}\n", env!("CARGO_PKG_VERSION")));
    let help = without_a_table(&["help"]).done();
    assert_eq!(help.out, without_a_table(&["--help"]).done().out);
    assert!(
        help.out
            .contains("Exit codes: 0 done, 1 refused or partly done, 2 wrong usage.")
    );
    let nested = without_a_table(&["help", "key", "issue"]).done();
    assert!(nested.out.contains("funil key issue --instance acme"));
    let nothing = without_a_table(&[]);
    assert_eq!((nothing.code, nothing.err), (2, help.out));
}
