//! Unpacks the corpora for cargo-fuzz, which wants a file for each input, and packs what it leaves:
//!
//! `cargo run -p properties --example corpus unpack`, and `pack`

#![expect(clippy::print_stderr, reason = "a tool of the command line")]

use std::path::Path;
use std::process::ExitCode;
use std::{fs, io};

use properties::corpus;

fn main() -> ExitCode {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus");
    let done = match std::env::args().nth(1).as_deref() {
        Some("unpack") => properties::ALL
            .iter()
            .try_for_each(|(name, _)| unpack(&directory, name)),
        Some("pack") => properties::ALL
            .iter()
            .try_for_each(|(name, _)| pack(&directory, name)),
        _ => Err(io::Error::other("usage: corpus unpack|pack")),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn unpack(directory: &Path, target: &str) -> io::Result<()> {
    let text = fs::read_to_string(directory.join(format!("{target}.txt")))?;
    let inputs = corpus::read(&text).ok_or_else(|| io::Error::other(format!("{target}.txt is no corpus")))?;
    let directory = directory.join(target);
    fs::create_dir_all(&directory)?;
    for (number, input) in inputs.iter().enumerate() {
        fs::write(directory.join(format!("{number:04}")), input)?;
    }
    Ok(())
}

/// Keeps the lines of inputs that are left, with their comments, and adds new inputs.
fn pack(directory: &Path, target: &str) -> io::Result<()> {
    let (file, inputs) = (directory.join(format!("{target}.txt")), directory.join(target));
    let mut left = Vec::new();
    for entry in fs::read_dir(&inputs)? {
        left.push(corpus::line(&fs::read(entry?.path())?));
    }
    left.sort_unstable();
    let (mut packed, mut comment) = (String::new(), String::new());
    for line in fs::read_to_string(&file)?.lines().map(|line| format!("{line}\n")) {
        if line.starts_with("//") {
            comment = line;
        } else if let Some(at) = left.iter().position(|input| *input == line) {
            left.remove(at);
            packed += &std::mem::take(&mut comment);
            packed += &line;
        }
    }
    fs::write(file, packed + &left.concat())?;
    fs::remove_dir_all(inputs)
}
