//! Kinds of records in a file.

/// A kind of record that a row can fill. A file has one main kind; its rows refer to records of the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FileKind {
    /// `company`
    Company,
    /// `lead`
    Lead,
    /// `opportunity`
    Opportunity,
}

impl FileKind {
    /// All kinds, in the order in which their files are read.
    pub const ALL: [Self; 3] = [Self::Company, Self::Lead, Self::Opportunity];

    /// The kind's name in lines.
    pub fn name(self) -> &'static str {
        match self {
            Self::Company => "company",
            Self::Lead => "lead",
            Self::Opportunity => "opportunity",
        }
    }

    /// The kind with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}
