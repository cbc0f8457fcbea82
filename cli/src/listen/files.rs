//! The limit of open files.

/// Open files that suffice for the connections of both ports, the database and deliveries.
#[cfg(unix)]
const FILES: u64 = 4096;

/// Raises the limit of open files as far as needed and allowed.
#[cfg(unix)]
pub fn raise_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let wanted = maximum.unwrap_or(FILES).min(FILES);
    if current.is_none_or(|current| current >= wanted) {
        return;
    }
    let raised = Rlimit {
        current: Some(wanted),
        maximum,
    };
    if let Err(cause) = setrlimit(Resource::Nofile, raised) {
        tracing::warn!(%cause, "the limit of open files stays as it is");
    }
}

/// Raises the limit of open files on systems that have one.
#[cfg(not(unix))]
pub fn raise_limit() {}
