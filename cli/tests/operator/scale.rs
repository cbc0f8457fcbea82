//! Interrupted long commands, and their repetition.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};

use serde_json::json;
use tempfile::TempDir;

use crate::support::{Bench, Ended, overtaken};

/// More leads than one batch contains.
const LEADS: usize = 450;

fn leads() -> String {
    (1..=LEADS).fold(String::new(), |mut lines, id| {
        let _ = writeln!(
            lines,
            r#"{{"kind":"lead","id":{id},"interesse":"{}"}}"#,
            "a".repeat(1000)
        );
        lines
    })
}

/// A running import. It passes its process id and the lines of its standard error to another thread.
struct Import {
    process: Child,
    told: Sender<(u32, Receiver<String>)>,
    /// Directory of the import's file.
    _folder: TempDir,
}

impl Import {
    /// Starts an import that calls `interrupt` before its first transaction.
    fn begin(
        bench: &Bench,
        more: &[&str],
        interrupt: impl FnOnce(u32, &Receiver<String>) + Send + 'static,
    ) -> Self {
        let (told, known) = channel::<(u32, Receiver<String>)>();
        let before = move |_: &str| {
            let (process, says) = known.recv().unwrap();
            interrupt(process, &says);
        };
        let endpoint = overtaken(bench.endpoint(), before);
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("leads.ndjson");
        std::fs::write(&file, leads()).unwrap();
        let process = Command::new(env!("CARGO_BIN_EXE_funil"))
            .args(["--endpoint", &endpoint, "import", "--instance", "acme"])
            .arg(&file)
            .args(more)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        Self {
            process,
            told,
            _folder: folder,
        }
    }

    /// Waits for the end of the import; returns status and complete output.
    fn end(mut self) -> Ended {
        let (say, says) = channel();
        let errors = BufReader::new(self.process.stderr.take().unwrap());
        self.told.send((self.process.id(), says)).unwrap();
        let heard = std::thread::spawn(move || {
            let lines = errors.lines().map(Result::unwrap);
            lines
                .inspect(|line| drop(say.send(line.clone())))
                .collect::<Vec<_>>()
        });
        let mut out = String::new();
        self.process
            .stdout
            .take()
            .unwrap()
            .read_to_string(&mut out)
            .unwrap();
        let code = self.process.wait().unwrap().code().unwrap();
        let err = heard.join().unwrap().join("\n");
        Ended { code, out, err }
    }
}

fn interrupt(process: u32) {
    let told = Command::new("kill").args(["-INT", &process.to_string()]).status();
    assert!(told.unwrap().success());
}

const STOPPING: &str = "stopping after the current batch; interrupt again to stop at once";

#[test]
fn a_stopped_import_reports_its_progress_and_can_be_continued() {
    let bench = Bench::with_instance();
    let once = |process, says: &Receiver<String>| {
        interrupt(process);
        assert_eq!(says.recv().unwrap(), STOPPING);
    };
    let stopped = Import::begin(&bench, &["--json"], once).end();
    assert_eq!(stopped.code, 1);
    let custom = json!([{ "kind": "lead", "name": "interesse", "lines": 450 }]);
    assert_eq!(
        stopped.document(),
        json!({ "imported": 200, "unchanged": 0, "refused": [], "customFields": custom, "stopped": true, "left": 250 })
    );
    assert_eq!(bench.export().lines().count(), 200);
    let again = bench.import(&leads()).done().document();
    assert_eq!(
        again,
        json!({ "imported": 250, "unchanged": 200, "refused": [], "customFields": custom })
    );
}

#[test]
fn a_stopped_import_prints_advice() {
    let bench = Bench::with_instance();
    let once = |process, says: &Receiver<String>| {
        interrupt(process);
        assert_eq!(says.recv().unwrap(), STOPPING);
    };
    let stopped = Import::begin(&bench, &[], once).end();
    assert_eq!(stopped.out, "200 imported, 0 unchanged, 0 refused, 250 left\n");
    assert_eq!(
        stopped.err,
        format!(
            "{STOPPING}\ncustom field of lead: interesse (450 lines)\nstopped; rerun the command to resume"
        )
    );
}

/// The second signal ends the import without waiting for pending writes.
#[test]
fn a_second_signal_stops_an_import_at_once() {
    let bench = Bench::with_instance();
    let (ended, has_ended) = channel::<()>();
    let twice = move |process, says: &Receiver<String>| {
        interrupt(process);
        assert_eq!(says.recv().unwrap(), STOPPING);
        interrupt(process);
        // The table responds only after the end of the import.
        let _ = has_ended.recv();
    };
    let stopped = Import::begin(&bench, &["--json"], twice).end();
    drop(ended);
    let reason = "stopped after 0 of 450 lines; what was written is kept; rerun the command to resume";
    assert_eq!(
        (stopped.code, stopped.document()),
        (1, json!({ "error": reason }))
    );
    bench.import(&leads()).done();
}

/// The reader of an export closes the pipe, as in `funil export | head`.
#[test]
fn an_export_into_a_closed_pipe_ends_quietly() {
    let bench = Bench::with_instance();
    bench.import(&leads()).done();
    let mut export = bench.command("export --instance acme");
    let mut process = export
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = String::new();
    // Pipe and reader buffer less than the export.
    BufReader::new(process.stdout.take().unwrap())
        .read_line(&mut first)
        .unwrap();
    assert!(first.starts_with(r#"{"kind":"lead","id":1,"#), "{first}");
    let ended = Ended::from(process.wait_with_output().unwrap());
    assert_eq!(ended.code, 1, "it is no whole export");
    assert!(
        !ended.err.contains("error") && ended.err.lines().count() == 1,
        "{ended:?}"
    );
}

/// The tickets fill exactly one page of the table.
#[test]
fn an_export_of_exactly_one_page_is_complete() {
    let bench = Bench::with_instance();
    let lead = r#"{"kind":"lead","id":1}"#.to_owned();
    let lines: Vec<_> = (1..=1000)
        .map(|id| format!(r#"{{"kind":"ticket","id":{id},"lead_relation":1}}"#))
        .collect();
    bench.import(&[lead, lines.join("\n")].join("\n")).done();
    assert_eq!(bench.export().lines().count(), 1001);
}
