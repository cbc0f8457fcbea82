//! The measured programs, their paths, and the resources of a process.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;
use tests::runtime::{Function, Outcome};
use tests::template;

use super::ground::Ground;
use super::work::Work;

/// Output of `tests/cold-start.sh`, from the command line.
#[derive(Debug)]
pub struct Made {
    /// Directory of the built functions.
    pub functions: PathBuf,
    /// The certificate of the table's host with its key, and the trusted roots for functions.
    pub certificates: PathBuf,
    /// Node.js, and the directory that has those of its bundles by client.
    pub node: Option<(PathBuf, PathBuf)>,
}

/// Clients of the table on Node.js: AWS's SDK, and a signer of a hundred lines.
pub const CLIENTS: [&str; 2] = ["sdk", "signer"];

impl Made {
    /// Parses `functions=…`, `certificates=…`, and optionally `node=…` and `bundles=…`.
    pub fn named() -> Option<Self> {
        let named = |name: &str| {
            let prefix = format!("{name}=");
            std::env::args().find_map(|given| given.strip_prefix(&prefix).map(PathBuf::from))
        };
        Some(Self {
            functions: named("functions")?,
            certificates: named("certificates")?,
            node: named("node").zip(named("bundles")),
        })
    }
}

/// The measured program.
#[derive(Debug, Clone)]
pub enum Program {
    Function(PathBuf),
    /// Node.js and the bundle of the endpoint.
    Node(PathBuf, PathBuf),
}

impl Program {
    pub fn function(made: &Made, work: &Work) -> Self {
        Self::Function(made.functions.join(template::binary(work.function)))
    }

    /// The same endpoint on Node.js with each client; none without Node.js or where the work is not compared.
    pub fn on_node(made: &Made, work: &Work) -> Vec<Self> {
        let compared = made.node.as_ref().zip(work.node);
        let programs = compared.into_iter().flat_map(|((node, bundles), name)| {
            let bundle = |client| bundles.join(client).join(format!("{name}.js"));
            CLIENTS.map(|client| Self::Node(node.clone(), bundle(client)))
        });
        programs.collect()
    }

    fn command(&self) -> Command {
        match self {
            Self::Function(program) => Command::new(program),
            Self::Node(node, bundle) => {
                let mut command = Command::new(node);
                command.arg(bundle);
                command
            }
        }
    }

    /// Additional environment: trusted roots. A function reads the system's certificates from a file, so it
    /// gets one with them and the test's; Node.js has its own and gets the test's in addition, and a compile cache, which
    /// the first start writes.
    fn variables(&self, made: &Made, is_first: bool) -> Vec<(&'static str, OsString)> {
        let of = |name| made.certificates.join(name).into_os_string();
        match self {
            Self::Function(_) => vec![("SSL_CERT_FILE", of("all-roots.pem"))],
            Self::Node(_, bundle) => {
                let mut variables = vec![
                    ("NODE_EXTRA_CA_CERTS", of("root.pem")),
                    (
                        "NODE_COMPILE_CACHE",
                        bundle.with_extension("cache").into_os_string(),
                    ),
                ];
                variables.extend(is_first.then(|| ("WRITE_COMPILE_CACHE", "1".into())));
                variables
            }
        }
    }

    /// Bytes of the deployed program, plain and zipped.
    pub fn size(&self) -> (u64, u64) {
        let (Self::Function(file) | Self::Node(_, file)) = self;
        let whole = fs::metadata(file).expect("it was built").len();
        let compressed = Command::new("gzip").arg("-c").arg(file).output();
        let compressed = compressed.expect("gzip is installed").stdout.len();
        (whole, compressed as u64)
    }

    /// Starts it and waits for the first response.
    pub async fn start(&self, made: &Made, work: &Work, ground: &Ground, is_first: bool) -> Started {
        let event = work.first(&ground.stage).await;
        let (table, variables) = (ground.table(), self.variables(made, is_first));
        let began = Instant::now();
        let mut process = Function::launch(work.function, self.command(), &table, &variables).await;
        let answer = answered(process.invoke(&event).await, &process);
        let wall = began.elapsed();
        Started {
            start: Start {
                wall,
                used: Used::by(process.process()),
            },
            answer,
            process,
        }
    }
}

/// A process after its first response.
pub struct Started {
    pub start: Start,
    pub answer: Value,
    process: Function,
}

impl Started {
    /// Sends further events and returns the peak memory in bytes.
    pub async fn go_on(mut self, work: &Work, ground: &Ground, events: u64) -> u64 {
        for number in 0..events {
            let event = work.further(&ground.stage, number).await;
            let answer = answered(self.process.invoke(&event).await, &self.process);
            let status = answer.get("statusCode").and_then(Value::as_u64).unwrap_or(200);
            assert!(matches!(status, 200 | 201), "{}: {answer}", work.what);
            assert!(
                answer["batchItemFailures"].as_array().is_none_or(Vec::is_empty),
                "{answer}"
            );
        }
        Used::by(self.process.process()).memory
    }
}

#[track_caller]
fn answered(outcome: Outcome, process: &Function) -> Value {
    match outcome {
        Outcome::Answered(answer) => answer,
        Outcome::Failed(told) => panic!("{told}\n{}", process.log()),
    }
}

/// Resources of a start until the first response.
#[derive(Debug, Clone, Copy)]
pub struct Start {
    /// Time since before the process was created.
    pub wall: Duration,
    pub used: Used,
}

/// Resources of a process, from `/proc` (Linux).
#[derive(Debug, Clone, Copy)]
pub struct Used {
    /// Processor time of all threads, user and system.
    pub processor: Duration,
    /// Peak memory in bytes.
    pub memory: u64,
}

impl Used {
    fn by(process: u32) -> Self {
        let books = PathBuf::from(format!("/proc/{process}"));
        Self {
            processor: processor(&books),
            memory: memory(&books),
        }
    }
}

/// Excludes ended threads; no program ends any before its first response.
fn processor(books: &Path) -> Duration {
    let threads = fs::read_dir(books.join("task")).expect("a process has threads");
    let spent = threads.map(|thread| {
        let path = thread.expect("a thread").path().join("schedstat");
        let text = fs::read_to_string(path).expect("the system counts");
        let nanoseconds = text.split(' ').next().and_then(|first| first.parse().ok());
        Duration::from_nanos(nanoseconds.expect("nanoseconds"))
    });
    spent.sum()
}

fn memory(books: &Path) -> u64 {
    let text = fs::read_to_string(books.join("status")).expect("a process has a status");
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kilobytes.expect("the most memory in kB") * 1024
}
