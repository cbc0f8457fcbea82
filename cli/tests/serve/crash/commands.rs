//! kill -9 of the operator's commands at any moment, and of the service that they use. Acknowledged work persists, and
//! a repeated command completes the rest (C-81, C-84).

mod lines;

use std::collections::BTreeMap;
use std::fmt;
use std::fs::DirEntry;
use std::path::Path;
use std::process::{Child, Output};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::Value;
use shared::environment::Environment;
use tests::client::Ask;

use super::house::{Access, Home, House};
use super::plan::{self, Whereabouts, dice, milliseconds};

/// Kills of each command; set by `ROUNDS`.
fn kills() -> u64 {
    plan::number("ROUNDS", 2)
}

/// An import or its service is killed at any moment. The repeated import leaves the same result as an uninterrupted
/// one.
#[test]
fn an_interrupted_import_can_be_repeated() {
    let (mut whereabouts, chance) = begin(1);
    let (home, mut house) = open(&["acme", "twin"]);
    let file = |version| home.lines("data.ndjson", &lines::of(version));
    house.import("acme", &file(0));
    let whole = taken(|| house.import("twin", &file(0)));
    let (mut cuts, records) = (Cuts::default(), written(&house, 0));
    for kill in 1..=kills() {
        whereabouts.round = kill;
        let file = file(kill);
        let import = house.begin(&["import", "--instance", "acme", file.to_str().unwrap()]);
        let later = milliseconds(&chance, whole);
        house = if chance.below(3) == 0 {
            let beneath = house.kill_after(later, &home);
            wait(import);
            beneath
        } else {
            kill_after(import, later);
            house
        };
        cuts.note(0, written(&house, kill), records);
        begun_at_most(&house);
        if chance.below(2) == 0 {
            let repair = house.command(&["doctor", "--instance", "acme", "--repair"]);
            assert!(repair.status.success(), "{repair:?}");
            house.examine("acme");
        }
    }
    let last = file(kills());
    house.import("acme", &last);
    house.import("twin", &last);
    let (acme, twin) = (house.export("acme"), house.export("twin"));
    let other = acme.lines().zip(twin.lines()).find(|(one, other)| one != other);
    assert!(acme == twin, "other than uncut: {other:?}");
    house.examine("acme");
    println!("imports: {cuts}");
}

/// Only work of several steps may be incomplete: copies of a company, which are written before the company, and files,
/// which are written after their ticket. The repeated import or a repair completes it.
fn begun_at_most(house: &House) {
    let mut found = house.diagnose("acme");
    found.retain(|difference| {
        let begun = ["the copy of company", "the copy of ticket"];
        !begun.iter().any(|begun| difference.contains(begun))
    });
    assert!(found.is_empty(), "the doctor found {found:#?}");
}

/// An interrupted export leaves the previous file complete.
#[test]
fn an_interrupted_export_keeps_the_previous_file() {
    let (mut whereabouts, chance) = begin(2);
    let (home, house) = open(&["acme"]);
    let out = home.path().join("out.ndjson");
    let export = [
        "export",
        "--instance",
        "acme",
        "--output",
        out.to_str().unwrap(),
        "--force",
    ];
    house.import("acme", &home.lines("data.ndjson", &lines::of(0)));
    let whole = taken(|| assert!(house.command(&export).status.success()));
    let (mut cuts, mut left_beside) = (Cuts::default(), 0);
    for kill in 1..=kills() {
        whereabouts.round = kill;
        let (before, now) = (std::fs::read_to_string(&out).unwrap(), house.export("acme"));
        kill_after(house.begin(&export), milliseconds(&chance, whole));
        let left = std::fs::read_to_string(&out).unwrap();
        assert!(left == before || left == now, "half an export: {left}");
        // The temporary file of a killed export remains.
        let now_beside = beside(home.path()).len();
        cuts.note(
            left_beside,
            if left == now { usize::MAX } else { now_beside },
            usize::MAX,
        );
        left_beside = now_beside;
        house.import("acme", &home.lines("data.ndjson", &lines::of(kill)));
    }
    are_private(&beside(home.path()));
    println!("exports: {cuts}");
    assert!(house.command(&export).status.success());
    assert_eq!(std::fs::read_to_string(&out).unwrap(), house.export("acme"));
}

#[test]
fn an_interrupted_repair_is_completed_by_the_next() {
    let (mut whereabouts, chance) = begin(3);
    let (home, house) = open(&["acme"]);
    house.import("acme", &home.lines("data.ndjson", &lines::of(0)));
    let repair = ["doctor", "--instance", "acme", "--repair"];
    let right = derived(&house);
    damage(&house, &right, &chance);
    let whole = taken(|| assert!(house.command(&repair).status.success()));
    let mut cuts = Cuts::default();
    for kill in 1..=kills() {
        whereabouts.round = kill;
        damage(&house, &derived(&house), &chance);
        let damaged = derived(&house).len();
        kill_after(house.begin(&repair), milliseconds(&chance, whole));
        cuts.note(damaged, derived(&house).len(), right.len());
    }
    println!("repairs: {cuts}");
    let done = house.command(&repair);
    assert!(done.status.success(), "{done:?}");
    let keys = |items: &[Value]| -> Vec<_> { items.iter().map(|item| item["sk"].clone()).collect() };
    assert_eq!(keys(&derived(&house)), keys(&right));
    house.examine("acme");
}

/// The service is killed while commands run on its database. The commands go on, and acknowledged work persists.
#[test]
fn acknowledged_commands_persist() {
    let (mut whereabouts, chance) = begin(4);
    let (home, mut house) = open(&["acme"]);
    let mut said = Said::default();
    let whole = taken(|| drop(house.command(&["instance", "list"])));
    for kill in 1..=kills() {
        whereabouts.round = kill;
        let (data, stop) = (house.data().to_owned(), AtomicBool::new(false));
        house = std::thread::scope(|scope| {
            let commands = scope.spawn(|| said.run(&data, kill, &stop));
            let beneath = house.kill_after(milliseconds(&chance, whole * 6), &home);
            stop.store(true, Ordering::Relaxed);
            commands.join().unwrap();
            beneath
        });
        said.check(&house);
        // An interrupted command can be repeated.
        let name = format!("cut-{kill}");
        let create = ["instance", "create", &name];
        kill_after(house.begin(&create), milliseconds(&chance, whole));
        house.command(&create);
        assert!(listed(&house).contains(&name));
        house.examine(&name);
    }
    println!(
        "commands: {} kills of the service beneath, {} commands said done",
        kills(),
        said.count
    );
}

/// Number of kills before any write, between writes, and after all writes.
#[derive(Debug, Default)]
struct Cuts {
    before: u64,
    midst: u64,
    behind: u64,
}

impl Cuts {
    /// Counts a kill by the numbers of records before the command, now, and in the complete state.
    fn note(&mut self, before: usize, now: usize, whole: usize) {
        let came = match now {
            _ if now >= whole => &mut self.behind,
            _ if now > before => &mut self.midst,
            _ => &mut self.before,
        };
        *came += 1;
    }
}

impl fmt::Display for Cuts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            before,
            midst,
            behind,
        } = self;
        write!(
            f,
            "{before} kills before it wrote, {midst} in the midst, {behind} behind all"
        )
    }
}

fn begin(part: u64) -> (Whereabouts, Environment) {
    let seed = plan::seed();
    (Whereabouts { seed, round: 0 }, dice(seed, 999_000 + part))
}

/// A service with these instances.
fn open(instances: &[&str]) -> (Home, House) {
    let home = Home::new();
    let house = House::with_demo(&home);
    for name in instances {
        assert!(house.command(&["instance", "create", name]).status.success());
    }
    (home, house)
}

/// kill -9.
fn kill_after(mut command: Child, later: Duration) {
    std::thread::sleep(later);
    command.kill().unwrap();
    wait(command);
}

fn wait(mut command: Child) {
    command.wait().unwrap();
}

/// Duration in milliseconds, at least one.
fn taken(something: impl FnOnce()) -> u64 {
    let now = || Environment::system().now().unix_millis();
    let before = now();
    something();
    u64::try_from(now() - before).unwrap_or(1).max(1)
}

/// Number of stored records of a version.
fn written(house: &House, version: u64) -> usize {
    let named = format!(" {version}\"");
    let export = house.export("acme");
    export.lines().filter(|line| line.contains(&named)).count()
}

/// Derived items of opportunities: entries on boards and links from leads.
fn derived(house: &House) -> Vec<Value> {
    let items = house.items();
    let items = items
        .iter()
        .map(|item| serde_json::from_str::<Value>(item).unwrap());
    let of = |item: &Value| {
        let pk = item["pk"]["S"].as_str().unwrap();
        pk.starts_with("acme#board#") || pk.starts_with("acme#lead-opportunity#")
    };
    let mut items: Vec<_> = items.filter(of).collect();
    items.sort_by_key(|item| format!("{} {}", item["pk"], item["sk"]));
    items
}

/// Deletes a third of some items.
fn damage(house: &House, items: &[Value], chance: &Environment) {
    let table = house.table();
    for item in items.iter().filter(|_| chance.below(3) == 0) {
        let part = |name: &str| item[name]["S"].as_str().unwrap();
        table.delete(part("pk"), part("sk"));
    }
}

/// Temporary files of interrupted exports in a directory.
fn beside(directory: &Path) -> Vec<DirEntry> {
    let entries = std::fs::read_dir(directory).unwrap().map(Result::unwrap);
    let hidden = |entry: &DirEntry| entry.file_name().to_string_lossy().starts_with('.');
    entries.filter(hidden).collect()
}

/// Requires that only the owner can read files, because they may contain secrets.
#[cfg(unix)]
fn are_private(entries: &[DirEntry]) {
    use std::os::unix::fs::PermissionsExt as _;
    for entry in entries {
        let mode = entry.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{}: {mode:o}", entry.path().display());
    }
}

#[cfg(not(unix))]
fn are_private(_: &[DirEntry]) {}

fn listed(house: &House) -> Vec<String> {
    let list = document(&house.command(&["instance", "list", "--json"]));
    let names = list.as_array().unwrap().iter();
    names
        .map(|entry| entry["name"].as_str().unwrap().to_owned())
        .collect()
}

fn document(output: &Output) -> Value {
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Acknowledged work of commands.
#[derive(Debug, Default)]
struct Said {
    instances: Vec<String>,
    /// Keys by id, and whether they are revoked; `None` while that is pending.
    keys: BTreeMap<String, (String, Option<bool>)>,
    /// Possible values of `timezone`: the last acknowledged one, and pending ones.
    timezones: Vec<String>,
    /// Number of acknowledged commands.
    count: u64,
}

impl Said {
    /// Runs commands in sequence until `stop`.
    fn run(&mut self, data: &str, round: u64, stop: &AtomicBool) {
        let mut turns = 0..;
        while !stop.load(Ordering::Relaxed) {
            self.turn(data, round, turns.next().unwrap());
        }
    }

    fn turn(&mut self, data: &str, round: u64, turn: usize) {
        let name = format!("said-{round}-{turn}");
        self.ran(data, &["instance", "create", &name]);
        self.instances.push(name);
        let zone = ["UTC", "America/Sao_Paulo", "Europe/Lisbon"][turn % 3];
        self.timezones.push(zone.to_owned());
        self.ran(data, &["instance", "set", "acme", "timezone", zone]);
        self.timezones = vec![zone.to_owned()];
        let issue = ["key", "issue", "--instance", "demo", "--user", "7", "--json"];
        let issued = document(&self.ran(data, &issue));
        let [id, key] = ["id", "key"].map(|name| issued[name].as_str().unwrap().to_owned());
        let even = turn.is_multiple_of(2);
        self.keys.insert(id.clone(), (key, (!even).then_some(false)));
        if even {
            self.ran(data, &["key", "revoke", "--instance", "demo", &id]);
            self.keys.get_mut(&id).unwrap().1 = Some(true);
        }
    }

    /// Runs a command.
    fn ran(&mut self, data: &str, arguments: &[&str]) -> Output {
        let output = crate::running::funil(&[&["--data", data], arguments].concat());
        assert!(output.status.success(), "{arguments:?} {output:?}");
        self.count += 1;
        output
    }

    fn check(&mut self, house: &House) {
        let there = listed(house);
        let missing: Vec<_> = self
            .instances
            .iter()
            .filter(|name| !there.contains(name))
            .collect();
        assert!(missing.is_empty(), "lost: {missing:?}");
        let shown = document(&house.command(&["instance", "show", "acme", "--json"]));
        let timezone = shown["settings"]["timezone"].as_str().unwrap_or("UTC").to_owned();
        let may = self.timezones.is_empty() || self.timezones.contains(&timezone);
        assert!(may, "{timezone}, not {:?}", self.timezones);
        self.timezones = vec![timezone];
        for (id, (key, revoked)) in &mut self.keys {
            let access = Access {
                key: key.clone(),
                ..house.access.clone()
            };
            let ask = access.signed(Ask::new("GET", "/leads?i=demo&limit=1", &Value::Null));
            let refused = house.ask(&ask).status == 401;
            assert_eq!(*revoked.get_or_insert(refused), refused, "key {id}");
        }
        house.examine("demo");
    }
}
