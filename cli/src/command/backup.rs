//! `funil backup`.

use std::path::PathBuf;

use clap::Args;
use database::Database;
use serde_json::json;

use super::{Answer, Failure, Global, now};

pub const AFTER_HELP: &str = "\
Examples:
  funil backup --data /var/lib/funil /backup/funil-2027-01-31.db

The copy is that of one moment, and nothing waits for it. To restore it, move it as funil.db to an empty directory and start:
  funil serve --data DIR";

/// The options of `funil backup`.
#[derive(Debug, Args)]
pub struct Backup {
    /// The new file, readable by you alone
    file: PathBuf,
}

pub fn run(backup: &Backup, global: &Global) -> Result<Answer, Failure> {
    let Some(directory) = global.directory()? else {
        let reason =
            "name the directory of the database with --data DIR; a table in AWS has backups of its own";
        return Err(Failure::Usage(reason.to_owned()));
    };
    Database::open_directory(&directory, now())?.backup(&backup.file)?;
    let bytes = std::fs::metadata(&backup.file)?.len();
    let file = backup.file.display().to_string();
    let text = format!("{file} is a copy of the database: {bytes} bytes");
    Ok(Answer::new(text, json!({ "file": file, "bytes": bytes })))
}
