//! Outcomes of requests with a fault: the response, and the final state of the table.

/// Kinds of responses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Answered {
    /// The response without faults.
    Right,
    /// A list without an unreadable item, which it counts.
    Partial,
    /// The internal error.
    Failed,
    /// The table was busy.
    Busy,
}

/// Kinds of final states.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Left {
    /// Nothing was done.
    Before,
    /// Nothing was done, but an id is reserved, which no record gets.
    Reserved,
    /// All was done.
    After,
    /// Something else was done, which is consistent.
    Other,
}
