//! Where the built functions are.

use std::env;
use std::path::{Path, PathBuf};

/// What has to be said where a binary is missing or old. Cargo tells nobody what a binary was built of, so an old one shows
/// only where it answers otherwise.
pub const BUILD: &str = "the binary has to be there and of what is in the sources now: \
    `cargo test --workspace` builds it, or `cargo build --workspace --bins`";

/// The binary of this name, in the directory of this test's own profile.
pub fn binary(name: &str) -> PathBuf {
    let test = env::current_exe().expect("a test knows where it is");
    // Tests are in deps/, binaries above it.
    let directory = test
        .parent()
        .and_then(Path::parent)
        .expect("a profile's directory");
    let path = directory.join(format!("{name}{}", env::consts::EXE_SUFFIX));
    assert!(path.is_file(), "{}: {BUILD}", path.display());
    path
}
