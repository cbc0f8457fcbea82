//! A running `funil serve`, and a minimal HTTP client.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, UNIX_EPOCH};

use shared::environment::Environment;

/// A running service. It is killed on drop, which loses no data.
pub struct Running {
    child: Child,
    /// The output until the service was ready. With a copied demo it includes the demo's credentials.
    pub said: String,
    /// Its URL.
    pub url: String,
    data: String,
    log: Option<JoinHandle<String>>,
}

/// Runs a command to its end.
pub fn funil(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_funil"))
        .args(arguments)
        .env_remove("TABLE_NAME")
        .output()
        .unwrap()
}

/// The command of a service on free ports with its data below `home`.
pub fn serving(home: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_funil"));
    command.args(["serve", "--port", "0"]);
    if !arguments.contains(&"--endpoint") {
        command.arg("--data").arg(home.join("data"));
    }
    command.args(arguments);
    // An empty variable is the same as none.
    command.env("TABLE_NAME", "").env("FUNIL_LOG", "");
    command
}

/// The output of a shell line.
pub fn shell(line: &str) -> String {
    let output = Command::new("sh").args(["-c", line]).output().unwrap();
    assert!(output.status.success(), "{line}");
    String::from_utf8(output.stdout).unwrap()
}

/// The directory of a service that has loaded the demo: its data, and its output in `said`. One directory is made for
/// each build of the command and each day, because the demo's times depend on the day.
fn demo() -> PathBuf {
    let built = fs::metadata(env!("CARGO_BIN_EXE_funil")).and_then(|command| command.modified());
    let built = built.unwrap().duration_since(UNIX_EPOCH).unwrap().as_nanos();
    let day = Environment::system().now().unix_millis() / 86_400_000;
    let all = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let made = all.join(format!("demo-{built}-{day}"));
    if !made.exists() {
        let home = tempfile::tempdir_in(all).unwrap();
        let running = Running::start(home.path(), &[]);
        fs::write(home.path().join("said"), &running.said).unwrap();
        running.stop();
        // Fails if another test has made the directory concurrently.
        let _ = fs::rename(home.path(), &made);
    }
    made
}

impl Running {
    /// Starts a service on a copy of the demo, which is faster than loading it.
    pub fn with_demo(home: &Path) -> Self {
        let demo = demo();
        fs::create_dir(home.join("data")).unwrap();
        for file in fs::read_dir(demo.join("data")).unwrap() {
            let file = file.unwrap();
            fs::copy(file.path(), home.join("data").join(file.file_name())).unwrap();
        }
        let mut running = Self::start(home, &[]);
        let said = fs::read_to_string(demo.join("said")).unwrap();
        let is_credential = |line: &&str| {
            let line = line.trim_start();
            line.starts_with("API key") || line.starts_with("access token")
        };
        for line in said.lines().filter(is_credential) {
            running.said.extend([line, "\n"]);
        }
        running
    }

    /// Starts a service on free ports with its data below `home`, and waits until it is ready.
    pub fn start(home: &Path, arguments: &[&str]) -> Self {
        Self::run(serving(home, arguments), home)
    }

    /// Runs a command that serves, and waits until the service is ready.
    pub fn run(mut command: Command, home: &Path) -> Self {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stderr = child.stderr.take().unwrap();
        let log = std::thread::spawn(move || {
            let mut log = String::new();
            stderr.read_to_string(&mut log).unwrap();
            log
        });
        let mut said = String::new();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let url = loop {
            let line = lines.next().expect("it says when it is ready").unwrap();
            said.push_str(&line);
            said.push('\n');
            if let Some(url) = line.strip_prefix("listening on ") {
                break url.to_owned();
            }
            if let Ok(document) = serde_json::from_str::<serde_json::Value>(&line) {
                break document["url"].as_str().unwrap().to_owned();
            }
        };
        Self {
            child,
            said,
            url,
            data: home.join("data").to_str().unwrap().to_owned(),
            log: Some(log),
        }
    }

    /// The last word of the line that begins with `name`.
    pub fn word(&self, name: &str) -> String {
        let line = self.said.lines().find(|line| line.trim_start().starts_with(name));
        line.and_then(|line| line.split_whitespace().last())
            .expect(name)
            .to_owned()
    }

    /// The word after a text.
    pub fn after(&self, text: &str) -> &str {
        let (_, rest) = self.said.split_once(text).expect(text);
        rest.split_whitespace().next().unwrap()
    }

    /// The directory of its database.
    pub fn data(&self) -> &str {
        &self.data
    }

    /// Runs a command on its database.
    pub fn funil(&self, arguments: &[&str]) -> Output {
        funil(&[&["--data", self.data()], arguments].concat())
    }

    /// Requests a path.
    pub fn get(&self, path: &str, headers: &[(&str, &str)]) -> (u16, String) {
        ask(&self.url, "GET", path, headers, "").expect("an answer")
    }

    /// Stops the service with a signal, if the system supports signals, and returns its log. It has 10 s to stop.
    pub fn stop(mut self) -> String {
        let pid = self.child.id().to_string();
        if !Command::new("kill")
            .args(["-INT", &pid])
            .status()
            .is_ok_and(|status| status.success())
        {
            self.child.kill().unwrap();
        }
        let mut polls = 0..2000;
        while self.child.try_wait().unwrap().is_none() {
            assert!(polls.next().is_some(), "the service does not stop");
            std::thread::sleep(Duration::from_millis(10));
        }
        self.log.take().unwrap().join().unwrap()
    }

    /// Process id.
    pub fn process(&self) -> u32 {
        self.child.id()
    }

    /// kill -9.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have been stopped already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The bytes received after sending these bytes, until the connection is closed.
pub fn raw(url: &str, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(url.strip_prefix("http://").unwrap()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    // The service may reject the bytes before the last one.
    let _ = stream.write_all(bytes);
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).expect("the connection is closed");
    String::from_utf8(answer).unwrap()
}

/// One request on a new connection; `None` if the service died before the response was complete.
pub fn ask(
    url: &str,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Option<(u16, String)> {
    let mut stream = TcpStream::connect(url.strip_prefix("http://").unwrap()).ok()?;
    let mut head = format!(
        "{method} {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\ncontent-length: {}\r\n",
        body.len()
    );
    for (name, value) in headers {
        head.extend([name, ": ", value, "\r\n"]);
    }
    stream.write_all(format!("{head}\r\n{body}").as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "))?;
    (length.parse() == Ok(body.len())).then(|| (status, body.to_owned()))
}
