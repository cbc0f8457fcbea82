//! Paths of the built functions.

use std::env;
use std::path::{Path, PathBuf};

/// Message for a missing or outdated binary. Cargo does not say what a binary was built from, so an outdated
/// one is noticed only by a different response.
pub const BUILD: &str = "the binary has to be there and of what is in the sources now: \
    `cargo test --workspace` builds it, or `cargo build --workspace --bins`";

/// The path of a binary in the directory of this test's profile.
pub fn binary(name: &str) -> PathBuf {
    let test = env::current_exe().expect("a test knows where it is");
    // Tests are in `deps/`, below the binaries.
    let directory = test
        .parent()
        .and_then(Path::parent)
        .expect("a profile's directory");
    let path = directory.join(format!("{name}{}", env::consts::EXE_SUFFIX));
    assert!(path.is_file(), "{}: {BUILD}", path.display());
    path
}
