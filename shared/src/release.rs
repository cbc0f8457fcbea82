//! The release: the version of the package and, in a deployment, the label of template.yaml's parameter `Release`.

use std::env;
use std::sync::OnceLock;

/// Version and label: `0.1.0+4f2a9c1`; the version alone without a label.
pub fn release() -> &'static str {
    static RELEASE: OnceLock<String> = OnceLock::new();
    RELEASE.get_or_init(|| labelled(&env::var("RELEASE").unwrap_or_default()))
}

/// The label; `none` without one. template.yaml has the same text in the alarm of gradual releases.
#[must_use]
pub fn label() -> &'static str {
    release().split_once('+').map_or("none", |(_, label)| label)
}

fn labelled(label: &str) -> String {
    let version = env!("CARGO_PKG_VERSION");
    // The template admits only characters of a header.
    let label: String = label.chars().filter(char::is_ascii_graphic).collect();
    if label.is_empty() {
        return version.to_owned();
    }
    format!("{version}+{label}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_follows_the_version() {
        let version = env!("CARGO_PKG_VERSION");
        assert_eq!(labelled(""), version);
        assert_eq!(labelled("4f2a\n9c1 "), format!("{version}+4f2a9c1"));
    }
}
