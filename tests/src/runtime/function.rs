//! A built function in a process, under a Runtime API.

use std::ffi::OsString;
use std::io::{BufRead as _, BufReader, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::sync::watch;

use super::api::{Outcome, RuntimeApi};
use super::binary::binary;
use crate::template;

pub use shared::store::Location;

/// A function's process, killed on drop.
#[derive(Debug)]
pub struct Function {
    name: String,
    child: Child,
    api: RuntimeApi,
    log: Arc<Mutex<String>>,
    /// How many of its two output streams have ended.
    ended: watch::Receiver<usize>,
}

impl Function {
    /// Starts the function with exactly the environment of Lambda and the template.
    pub async fn start(function: &str, table: &Location) -> Self {
        let program = binary(&template::binary(function));
        Self::launch(function, Command::new(program), table, &[]).await
    }

    /// Starts a program as this function, with that environment and these additional variables.
    pub async fn launch(
        function: &str,
        mut command: Command,
        table: &Location,
        variables: &[(&str, OsString)],
    ) -> Self {
        let api = RuntimeApi::start().await;
        command
            .env_clear()
            .env("AWS_LAMBDA_RUNTIME_API", api.address.to_string())
            .env("AWS_LAMBDA_FUNCTION_NAME", function)
            .env("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "256")
            .env("AWS_LAMBDA_FUNCTION_VERSION", "$LATEST")
            .env("AWS_LAMBDA_INITIALIZATION_TYPE", "on-demand")
            .env("AWS_LAMBDA_LOG_FORMAT", "JSON")
            .env("AWS_LAMBDA_LOG_LEVEL", "INFO")
            .env("AWS_REGION", "sa-east-1")
            .env("AWS_ACCESS_KEY_ID", "local")
            .env("AWS_SECRET_ACCESS_KEY", "local")
            .env("TABLE_NAME", &table.table)
            .env("ALLOWED_ORIGINS", super::stage::ORIGINS)
            .env(
                "AWS_ENDPOINT_URL_DYNAMODB",
                table.endpoint.as_deref().unwrap_or_default(),
            )
            .envs(variables.iter().cloned());
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the function can be started");
        let log = Arc::new(Mutex::new(String::new()));
        let (end, ended) = watch::channel(0);
        keep(child.stderr.take().expect("it is piped"), &log, end.clone());
        keep(child.stdout.take().expect("it is piped"), &log, end);
        Self {
            name: function.to_owned(),
            child,
            api,
            log,
            ended,
        }
    }

    /// Sends an event and waits for the result.
    pub async fn invoke(&mut self, event: &Value) -> Outcome {
        let told = self.api.send(event);
        tokio::select! {
            outcome = told => outcome.expect("the desk is open"),
            () = quiet(&mut self.ended) => panic!("{} ended:\n{}", self.name, said(&self.log)),
        }
    }

    /// The initialization error.
    pub async fn unstarted(&mut self) -> Value {
        tokio::select! {
            biased;
            told = self.api.unstarted() => told,
            () = quiet(&mut self.ended) => panic!("{} said nothing:\n{}", self.name, said(&self.log)),
        }
    }

    /// Waits for its exit: status and complete output.
    pub async fn end(mut self) -> (ExitStatus, String) {
        quiet(&mut self.ended).await;
        let status = self.child.wait().expect("it ended");
        (status, self.log())
    }

    /// Kills it and returns its output. Log lines of an event precede its response.
    pub async fn stop(mut self) -> String {
        self.child.kill().expect("it has not ended");
        quiet(&mut self.ended).await;
        said(&self.log)
    }

    /// Process id.
    pub fn process(&self) -> u32 {
        self.child.id()
    }

    /// The output so far, of both streams.
    pub fn log(&self) -> String {
        said(&self.log)
    }
}

impl Drop for Function {
    fn drop(&mut self) {
        // It may have exited already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Collects the output of a process by lines, and counts up at its end.
fn keep(output: impl Read + Send + 'static, log: &Arc<Mutex<String>>, end: watch::Sender<usize>) {
    let log = Arc::clone(log);
    std::thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            let mut log = log.lock().expect("the log");
            log.push_str(&line);
            log.push('\n');
        }
        end.send_modify(|ended| *ended += 1);
    });
}

fn said(log: &Mutex<String>) -> String {
    log.lock().expect("the log").clone()
}

/// Waits until both output streams have ended, as after exit.
async fn quiet(ended: &mut watch::Receiver<usize>) {
    ended
        .wait_for(|ended| *ended == 2)
        .await
        .expect("its outputs are read");
}

/// A table at an address without a listener.
pub fn unreachable() -> Location {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    Location {
        table: "funil".to_owned(),
        endpoint: Some(format!("http://{address}")),
    }
}
