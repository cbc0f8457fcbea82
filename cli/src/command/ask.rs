//! Questions of a command, each with a default (C-111).

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use clap::Args;
use shared::text::fits;

use super::Failure;

/// The options of commands that ask.
#[derive(Debug, Args)]
pub struct Asking {
    /// Take the defaults of all options that are not given
    #[arg(long)]
    yes: bool,
    /// New file for the imported lines [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

impl Asking {
    /// Checks that questions can be answered.
    ///
    /// # Errors
    /// [`Failure::Usage`] if standard input is no terminal and `--yes` is absent; [`Failure::Refused`] if the output file
    /// exists, or its directory does not.
    pub fn begin(&self) -> Result<(), Failure> {
        if !self.yes && !io::stdin().is_terminal() {
            let reason = "nobody can be asked, because standard input is no terminal; add --yes to take the defaults, and give \
                          what differs as options";
            return Err(Failure::Usage(reason.to_owned()));
        }
        let refused = |reason: String| Err(Failure::Refused(reason));
        match &self.output {
            Some(path) if path.exists() => refused(format!(
                "{} exists; name another file with --output",
                path.display()
            )),
            Some(path) if !folder(path).is_dir() => refused(format!(
                "there is no directory {}; create it, or name another file with --output",
                folder(path).display()
            )),
            _ => Ok(()),
        }
    }

    /// The value of an option, else the answer to its question, else the default. `read` makes the value of the text; a
    /// question is repeated until it does.
    ///
    /// # Errors
    /// [`Failure::Usage`] if the option's value is invalid; [`Failure::Refused`] at the end of the input.
    pub fn answer<T>(
        &self,
        given: Option<&str>,
        question: &str,
        default: &str,
        read: impl Fn(&str) -> Result<T, String>,
    ) -> Result<T, Failure> {
        if let Some(text) = given.or(self.yes.then_some(default)) {
            return read(text.trim()).map_err(|reason| Failure::Usage(format!("{question}: {reason}")));
        }
        let mut lines = io::stdin().lock();
        loop {
            let shown = if default.is_empty() { "none" } else { default };
            write!(io::stderr(), "{question} [{shown}]: ")?;
            let mut line = String::new();
            if lines.read_line(&mut line)? == 0 {
                return Err(Failure::Refused("stopped; nothing is written".to_owned()));
            }
            let line = Some(line.trim()).filter(|line| !line.is_empty());
            match read(line.unwrap_or(default)) {
                Ok(value) => return Ok(value),
                Err(reason) => writeln!(io::stderr(), "  {reason}")?,
            }
        }
    }
}

/// The directory of a file.
pub fn folder(file: &Path) -> &Path {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

/// Text of 1 to 255 characters.
///
/// # Errors
/// The rule.
pub fn name(text: &str) -> Result<String, String> {
    let is_name = !text.is_empty() && fits(text, 255);
    is_name
        .then(|| text.to_owned())
        .ok_or_else(|| "must have 1 to 255 characters".to_owned())
}

/// Names separated by commas.
///
/// # Errors
/// The rule.
pub fn names(text: &str) -> Result<Vec<String>, String> {
    let names = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    let names = names.map(name).collect::<Result<Vec<_>, _>>()?;
    if names.is_empty() {
        return Err("must be names separated by commas, such as Entrada, Proposta".to_owned());
    }
    let mut others = names.iter().enumerate();
    if let Some((_, name)) = others.find(|(at, name)| names.iter().take(*at).any(|before| before == *name)) {
        return Err(format!("{name} is there twice"));
    }
    Ok(names)
}

/// An e-mail address, or nothing.
///
/// # Errors
/// The rule.
pub fn email(text: &str) -> Result<Option<String>, String> {
    let parts = text.split_once('@');
    let is_address = parts.is_some_and(|(name, host)| !name.is_empty() && !host.is_empty());
    if text.is_empty() || is_address && fits(text, 255) && !text.contains(char::is_whitespace) {
        return Ok(Some(text.to_owned()).filter(|text| !text.is_empty()));
    }
    Err("must be an e-mail address such as ana@example.com".to_owned())
}
