//! The limit of open files.

/// Open files beside the connections: the database, deliveries and directories.
#[cfg(unix)]
const OTHERS: usize = 512;

/// Raises the limit of open files as far as needed for so many connections and allowed. Returns the number of
/// connections for which the limit suffices.
#[cfg(unix)]
pub fn raise_limit(connections: usize) -> usize {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let wanted = (connections + OTHERS) as u64;
    let wanted = maximum.unwrap_or(wanted).min(wanted);
    let mut files = current.unwrap_or(wanted);
    if files < wanted {
        let raised = Rlimit {
            current: Some(wanted),
            maximum,
        };
        match setrlimit(Resource::Nofile, raised) {
            Ok(()) => files = wanted,
            Err(cause) => tracing::warn!(%cause, "the limit of open files stays as it is"),
        }
    }
    let files = usize::try_from(files).unwrap_or(usize::MAX);
    files.saturating_sub(OTHERS).max(files / 2).min(connections)
}

/// All systems but Unix have no such limit.
#[cfg(not(unix))]
pub fn raise_limit(connections: usize) -> usize {
    connections
}
