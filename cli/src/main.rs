//! The `funil` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    funil::command::main()
}
