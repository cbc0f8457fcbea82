//! The references of rows to companies and leads.

/// Kinds of values that identify a company or lead.
pub const EMAIL: &str = "email";
pub const PHONE: &str = "phone";
pub const CNPJ: &str = "cnpj";

/// The fields of a lead by which it is reached.
pub const CONTACT: [&str; 4] = [EMAIL, PHONE, "mobile", "chatapp"];

/// A row's reference to a company or lead.
#[derive(Debug, Default)]
pub struct RowReference {
    /// The product of the export.
    pub product: &'static str,
    /// Id in the export.
    pub id: String,
    /// Addresses, numbers and the CNPJ, each with its kind, in the form in which they are compared.
    pub values: Vec<(&'static str, String)>,
    /// Name.
    pub name: String,
    /// Whether the row is itself the record.
    pub is_row: bool,
    /// The number of the row in the index of persons.
    pub row: u32,
}

impl RowReference {
    /// Whether it refers to no record.
    pub fn is_empty(&self) -> bool {
        self.id.is_empty() && self.has_only_id()
    }

    /// Whether it has nothing but perhaps an id.
    pub fn has_only_id(&self) -> bool {
        self.values.is_empty() && self.name.is_empty()
    }
}
