//! The products whose exports can be converted.

/// The product that wrote the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Product {
    /// The product by the names of a file's columns
    Auto,
    /// Any table with a heading
    Csv,
    /// `HubSpot`
    #[value(help = "HubSpot")]
    Hubspot,
    /// Pipedrive
    Pipedrive,
    /// RD Station CRM and Marketing
    Rdstation,
    /// Kommo (amoCRM)
    Kommo,
    /// Reports of Salesforce
    Salesforce,
    /// Zoho CRM
    Zoho,
    /// Bitrix24
    Bitrix24,
    /// `PipeRun`
    #[value(help = "PipeRun")]
    Piperun,
    /// Agendor
    Agendor,
    /// Ploomes
    Ploomes,
    /// Google Contacts
    Google,
    /// Contacts of Outlook
    Outlook,
}
