//! The beginning of every key of an instance, and the text of numbers in keys.

use crate::instance::InstanceName;

/// Builds the keys of one instance.
#[derive(Debug, Clone, Copy)]
pub struct Keys<'a> {
    pub(super) instance: &'a InstanceName,
}

impl<'a> Keys<'a> {
    /// The keys of an instance.
    pub fn of(instance: &'a InstanceName) -> Self {
        Self { instance }
    }
}

impl Keys<'_> {
    pub(super) fn pk(self, rest: &str) -> String {
        format!("{}#{rest}", self.instance)
    }

    /// The prefix of the partition key of every item of the instance.
    pub fn prefix(self) -> String {
        self.pk("")
    }
}

/// A number as a sort key. It is padded, so that keys sort by number.
pub fn number(number: u64) -> String {
    format!("{number:015}")
}

/// The name of a class of records that are counted together. Each part narrows the class of the previous parts.
pub fn class<const N: usize>(parts: [&str; N]) -> String {
    parts.join("#")
}
