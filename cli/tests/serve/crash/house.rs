//! A service on a persistent file, and the operator's commands.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use database::Database;
use serde_json::Value;
use tests::client::{Ask, Connection, Reply};
use tests::raw::RawTable;

use crate::running::Running;

/// The directory of a service's data. It is kept after a failure.
#[derive(Debug)]
pub struct Home(Option<tempfile::TempDir>);

/// A running service, with an admin's credentials.
pub struct House {
    running: Running,
    pub access: Access,
}

/// An admin's credentials.
#[derive(Debug, Clone)]
pub struct Access {
    pub key: String,
    pub bearer: String,
}

impl Home {
    pub fn new() -> Self {
        Self(Some(tempfile::tempdir().unwrap()))
    }

    pub fn path(&self) -> &Path {
        self.0.as_ref().unwrap().path()
    }

    /// Writes a file of lines.
    pub fn lines(&self, name: &str, lines: &[Value]) -> PathBuf {
        let file = self.path().join(name);
        let text: Vec<_> = lines.iter().map(Value::to_string).collect();
        std::fs::write(&file, text.join("\n") + "\n").unwrap();
        file
    }
}

impl Drop for Home {
    #[expect(clippy::print_stderr, reason = "of a failed test one wants to see the data")]
    fn drop(&mut self) {
        if std::thread::panicking()
            && let Some(home) = self.0.take()
        {
            eprintln!("the data is kept in {}", home.keep().display());
        }
    }
}

/// Starts a service and kills it, possibly before it is ready.
pub fn kill_at_start(home: &Home, after: Duration) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_funil"))
        .args(["serve", "--port", "0", "--data"])
        .arg(home.path().join("data"))
        .env_remove("TABLE_NAME")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(after);
    child.kill().unwrap();
    child.wait().unwrap();
}

impl House {
    /// Starts a service. Without `access`, issues credentials for the demo's admin.
    pub fn open(home: &Home, access: Option<&Access>) -> Self {
        let running = Running::start(home.path(), &[]);
        let access = access
            .cloned()
            .unwrap_or_else(|| Access::issued(&running, "demo"));
        Self::of(running, access)
    }

    /// Starts a service on a copy of the demo.
    pub fn with_demo(home: &Home) -> Self {
        let running = Running::with_demo(home.path());
        let access = Access {
            key: running.word("API key"),
            bearer: format!("Bearer {}", running.word("access token")),
        };
        Self::of(running, access)
    }

    fn of(running: Running, access: Access) -> Self {
        Self { running, access }
    }

    pub fn url(&self) -> &str {
        &self.running.url
    }

    /// kill -9.
    pub fn kill(mut self) {
        self.running.kill();
    }

    /// kill -9 after a delay. Another service continues with the file.
    pub fn kill_after(self, later: Duration, home: &Home) -> Self {
        std::thread::sleep(later);
        let access = self.access.clone();
        self.kill();
        Self::open(home, Some(&access))
    }

    /// Sends one request.
    pub fn ask(&self, ask: &Ask) -> Reply {
        let mut connection = Connection::to(self.url()).expect("it listens");
        connection.send(ask).expect("an answer")
    }

    /// The directory of its database.
    pub fn data(&self) -> &str {
        self.running.data()
    }

    /// The items of the database.
    pub fn table(&self) -> RawTable {
        RawTable::of(&Database::open_directory(self.running.data().as_ref(), 0).unwrap())
    }

    /// All items of all instances as text.
    pub fn items(&self) -> Vec<String> {
        self.table().items().iter().map(Value::to_string).collect()
    }

    /// Runs a command to its end.
    pub fn command(&self, arguments: &[&str]) -> std::process::Output {
        self.running.funil(arguments)
    }

    /// Starts a command that may be killed.
    pub fn begin(&self, arguments: &[&str]) -> Child {
        Command::new(env!("CARGO_BIN_EXE_funil"))
            .args(["--data", self.running.data()])
            .args(arguments)
            .env_remove("TABLE_NAME")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    }

    /// Imports lines, all of which must be valid.
    pub fn import(&self, instance: &str, file: &Path) {
        let file = file.to_str().unwrap();
        let done = self.command(&["import", "--instance", instance, file, "--overwrite"]);
        assert!(done.status.success(), "{done:?}");
    }

    /// An export.
    pub fn export(&self, instance: &str) -> String {
        let done = self.command(&["export", "--instance", instance]);
        assert!(done.status.success(), "{done:?}");
        String::from_utf8(done.stdout).unwrap()
    }

    /// Requires that the doctor finds no difference (C-84).
    pub fn examine(&self, instance: &str) {
        let found = self.diagnose(instance);
        assert!(found.is_empty(), "the doctor found {found:#?}");
    }

    /// The doctor's findings as text.
    pub fn diagnose(&self, instance: &str) -> Vec<String> {
        let done = self.command(&["doctor", "--instance", instance, "--json"]);
        let told: Value = serde_json::from_slice(&done.stdout).unwrap_or_default();
        let found = told["differences"].as_array();
        let found: Option<Vec<_>> = found.map(|found| found.iter().map(Value::to_string).collect());
        let clean = found.as_ref().map(Vec::is_empty);
        assert_eq!(clean, Some(done.status.success()), "{done:?}");
        found.unwrap_or_default()
    }
}

impl Access {
    /// Issues new credentials.
    fn issued(running: &Running, instance: &str) -> Self {
        let issue = |kind: &str| {
            let done = running.funil(&[kind, "issue", "--instance", instance, "--user", "7", "--json"]);
            assert!(done.status.success(), "{done:?}");
            let document: Value = serde_json::from_slice(&done.stdout).unwrap();
            document[kind].as_str().unwrap().to_owned()
        };
        Self {
            key: issue("key"),
            bearer: format!("Bearer {}", issue("token")),
        }
    }

    /// Adds both credentials as headers.
    pub fn signed(&self, ask: Ask) -> Ask {
        ask.with("apitoken", &*self.key)
            .with("authorization", &*self.bearer)
    }
}
