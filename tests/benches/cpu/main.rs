//! Processor time of a request, without engine and network.
//!
//! `cargo bench -p tests --bench cpu` measures every endpoint and fails if a target is missed. `--profile
//! release`, started in the folder `functions`, builds like the functions, which is the relevant case. A number
//! as argument sets the number of measured requests; other words select uses by name:
//! `cd functions && cargo bench -p tests --bench cpu --profile release -- board 50`.
//!
//! Each use is first sent to an engine, and the engine's responses are recorded. Then the request is repeated
//! through the whole service and the whole SDK, except its HTTP client, which replays the responses. The
//! result is the median of the thread's processor time. It includes the request's log line, but not the
//! Lambda runtime, HTTP and TLS. The targets apply to the service's own part: the time without calls in the
//! SDK.

#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a benchmark that meets what cannot be must stop, and says what it measured"
)]

mod ask;
mod measure;
mod stock;

use std::fs::OpenOptions;
use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Mutex;

use dynamodb::replay::Tape;
use shared::environment::Environment;
use shared::telemetry::JsonSubscriber;
use tests::world::over_sdk;
use tokio::runtime::Builder;
use tracing::level_filters::LevelFilter;

use ask::{Ask, asks};
use measure::{Figures, Sample, processor_time};

/// Rounds of each use; uses alternate, so that a disturbance of the machine affects all.
const ROUNDS: usize = 5;
const REQUESTS: usize = 100;

fn main() -> ExitCode {
    let words: Vec<_> = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with('-'))
        .collect();
    let requests = words.iter().find_map(|word| word.parse().ok());
    let wanted: Vec<_> = words
        .iter()
        .filter(|word| word.parse::<usize>().is_err())
        .collect();
    log_like_a_function();
    let runtime = Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let _sdk = over_sdk();
    let tape = Tape::new(processor_time);
    let (world, admin) = runtime.block_on(stock::stocked());
    let world = world.through(world.on_tape(&tape));
    let named = |ask: &Ask| wanted.is_empty() || wanted.iter().any(|word| ask.name.contains(word.as_str()));
    let asks: Vec<_> = asks(&admin).into_iter().filter(named).collect();
    for ask in asks.iter().filter(|ask| ask.is_read) {
        measure::once(&runtime, ask.request(&world));
    }
    let recorded: Vec<_> = asks
        .iter()
        .map(|ask| measure::record(&runtime, &world, &tape, ask))
        .collect();
    let mut samples = vec![Vec::<Sample>::new(); asks.len()];
    for _ in 0..ROUNDS {
        for (recorded, samples) in recorded.iter().zip(&mut samples) {
            for _ in 0..requests.unwrap_or(REQUESTS) {
                samples.push(measure::play(&runtime, &tape, recorded));
            }
        }
    }
    let figures = recorded.iter().zip(&mut samples);
    print(
        &figures
            .map(|(recorded, samples)| Figures::of(recorded, samples))
            .collect::<Vec<_>>(),
    )
}

/// Logs like a deployed function, discarding the output.
fn log_like_a_function() {
    let nowhere = OpenOptions::new()
        .write(true)
        .open("/dev/null")
        .expect("it can be opened");
    let nowhere = Mutex::new(nowhere);
    let lines = JsonSubscriber::new(
        Environment::system(),
        LevelFilter::INFO,
        "bench".to_owned(),
        move |line| {
            let mut nowhere = nowhere.lock().expect("nobody fails");
            nowhere.write_all(line.as_bytes()).expect("nowhere takes all");
        },
    );
    tracing::subscriber::set_global_default(lines).expect("there is none yet");
}

fn print(figures: &[Figures]) -> ExitCode {
    println!("\nmicroseconds of the processor for a request, medians; KB of 1,000 bytes\n");
    println!("| endpoint | calls | KB from the table | KB answered | all | of it the SDK | own | target |");
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    for figures in figures {
        println!("{figures}");
    }
    let missed: Vec<_> = figures.iter().filter(|figures| figures.is_missed()).collect();
    println!(
        "\n{} of {} targets missed",
        missed.len(),
        figures.iter().filter(|figures| figures.has_target()).count()
    );
    if missed.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
