//! Measures import, export and doctor: lines per second, and memory, which must grow by at most some bytes per line.
//!
//! `cargo bench -p funil` measures 10,000 and 100,000 lines with an engine in a file. Arguments are other numbers:
//! `cargo bench -p funil --bench scale -- 1000000`. `-- lines 1000000 FILE` only writes the lines. The engine's file
//! is in the system's temporary directory, about 2 KB per line.

#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a benchmark that meets what cannot be must stop, says what it measured, and looks at the system's clock"
)]

mod lines;

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Default numbers of lines.
const SIZES: [u64; 2] = [10_000, 100_000];
/// Interval of sampling a command's memory.
const LOOK: Duration = Duration::from_millis(50);

fn main() {
    let arguments: Vec<_> = std::env::args()
        .skip(1)
        .filter(|word| word != "--bench")
        .collect();
    if let [what, about, path] = arguments.as_slice()
        && what == "lines"
    {
        let about = about.parse().expect("a number of lines");
        println!("{} lines", write(about, Path::new(path)));
        return;
    }
    let named: Vec<u64> = arguments.iter().filter_map(|size| size.parse().ok()).collect();
    let sizes = if named.is_empty() { SIZES.to_vec() } else { named };
    println!(
        "{:<24} {:>9} {:>9} {:>10} {:>8}",
        "", "lines", "seconds", "lines/s", "MB"
    );
    sizes.into_iter().for_each(measure);
}

fn write(about: u64, path: &Path) -> u64 {
    let mut out = BufWriter::new(File::create(path).expect("a file"));
    let count = lines::write(about, &mut out).expect("room for the lines");
    out.flush().expect("room for the lines");
    count
}

/// Imports the lines twice, exports them, and runs the doctor.
fn measure(about: u64) {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let (data, copy) = (folder.path().join("in.ndjson"), folder.path().join("out.ndjson"));
    let count = write(about, &data);
    let service = Service::start(&folder.path().join("engine"));
    let run = |name: &str, arguments: &[&str]| {
        let (seconds, megabytes) = service.run(arguments);
        let rate = count * 1000 / u64::try_from(seconds.as_millis()).unwrap_or(u64::MAX).max(1);
        println!(
            "{name:<24} {count:>9} {:>9.1} {rate:>10} {megabytes:>8}",
            seconds.as_secs_f64()
        );
    };
    let (data, copy) = (text(&data), text(&copy));
    service.run(&["instance", "create", "acme"]);
    run("import", &["import", "--instance", "acme", data]);
    run("import again", &["import", "--instance", "acme", data]);
    run("export", &["export", "--instance", "acme", "--output", copy]);
    run("doctor", &["doctor", "--instance", "acme"]);
    let exported = BufReader::new(File::open(copy).expect("the export"))
        .lines()
        .count();
    assert_eq!(exported as u64, count, "every record is exported");
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}

/// `funil serve` on an engine in a file.
struct Service {
    process: Child,
    data: PathBuf,
}

impl Service {
    fn start(data: &Path) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_funil"))
            .args(["serve", "--empty", "--json", "--port", "0", "--data"])
            .arg(data)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the service");
        let mut ready = String::new();
        let out = process.stdout.take().expect("its standard output");
        BufReader::new(out)
            .read_line(&mut ready)
            .expect("that it is ready");
        let data = data.to_owned();
        Self { process, data }
    }

    /// Duration of a command and its peak memory in MB.
    fn run(&self, arguments: &[&str]) -> (Duration, u64) {
        let begun = Instant::now();
        let mut command = Command::new(env!("CARGO_BIN_EXE_funil"))
            .arg("--data")
            .arg(&self.data)
            .args(arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the command");
        let mut most = 0;
        let status = loop {
            most = most.max(peak(command.id()));
            if let Some(status) = command.try_wait().expect("its end") {
                break status;
            }
            std::thread::sleep(LOOK);
        };
        assert!(status.success(), "{arguments:?}");
        (begun.elapsed(), most / 1024)
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Peak memory of a process in KB; 0 if the system does not report it.
fn peak(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    number.and_then(|number| number.parse().ok()).unwrap_or_default()
}
