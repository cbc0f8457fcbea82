//! The main kind of a file, and the fields of its columns, by the columns' names (C-105). Names are compared without
//! case, accents and punctuation.

use shared::text::fold;

use super::kind::FileKind;
use super::names::{COMPANY, LEAD, OPPORTUNITY};

/// The product that wrote the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Product {
    /// Any table with a heading.
    Csv,
    /// `HubSpot`: contacts, companies, deals.
    #[value(help = "HubSpot: contacts, companies, deals")]
    Hubspot,
    /// Pipedrive: people, organizations, deals.
    Pipedrive,
    /// RD Station CRM and Marketing: deals, companies, contacts, leads.
    Rdstation,
}

impl FileKind {
    /// The fields that a column can fill, with the names of such columns in a file of this kind.
    fn columns(self) -> &'static [(FileKind, &'static str, &'static str)] {
        match self {
            Self::Company => COMPANY,
            Self::Lead => LEAD,
            Self::Opportunity => OPPORTUNITY,
        }
    }

    /// The fields that a map may name.
    pub fn fields(self) -> impl Iterator<Item = &'static str> {
        let columns = self.columns().iter();
        columns
            .filter(move |(part, ..)| *part == self)
            .map(|(_, field, _)| *field)
    }
}

/// A field that a column fills.
pub type ColumnField = (FileKind, &'static str);

/// Prefixes of Pipedrive's columns.
const PREFIXES: [(&str, FileKind); 6] = [
    ("deal", FileKind::Opportunity),
    ("negocio", FileKind::Opportunity),
    ("person", FileKind::Lead),
    ("pessoa", FileKind::Lead),
    ("organization", FileKind::Company),
    ("organizacao", FileKind::Company),
];

/// A heading in the form in which names are compared.
pub fn plain(heading: &str) -> String {
    let folded = fold(heading);
    let words = folded.split(|c: char| !c.is_alphanumeric());
    words
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

/// The kind of a Pipedrive column, and its name without the prefix.
fn prefixed(heading: &str) -> Option<(FileKind, String)> {
    let (prefix, name) = heading.split_once(" - ")?;
    let prefix = plain(prefix);
    let (_, part) = PREFIXES.iter().find(|(known, _)| *known == prefix)?;
    Some((*part, plain(name)))
}

/// The main kind of a file with these columns.
pub fn main_part(product: Product, headings: &[String]) -> FileKind {
    let parts = headings.iter().filter_map(|heading| prefixed(heading));
    let prefixes: Vec<_> = parts.map(|(part, _)| part).collect();
    if product == Product::Pipedrive && !prefixes.is_empty() {
        // A file of deals also has columns of their persons and organizations, and one of persons has organizations.
        let main = [FileKind::Opportunity, FileKind::Lead]
            .into_iter()
            .find(|part| prefixes.contains(part));
        return main.unwrap_or(FileKind::Company);
    }
    let names: Vec<_> = headings.iter().map(|heading| plain(heading)).collect();
    let has = |part, fields: &[&str]| {
        names.iter().any(|name| {
            let field = known(part, name).filter(|(of, _)| *of == part);
            field.is_some_and(|(_, field)| fields.contains(&field))
        })
    };
    let has_name = |wanted: &[&str]| names.iter().any(|name| wanted.contains(&name.as_str()));
    let has_deals = has(FileKind::Opportunity, &["column", "funnel", "value"])
        || has_name(&["deal name", "nome do negocio", "deal", "negocio", "oportunidade"]);
    if has_deals {
        return FileKind::Opportunity;
    }
    let has_person = has(FileKind::Lead, &["firstname", "lastname", "mobile", "chatapp"]);
    let has_contact = has(FileKind::Lead, &["email", "name"]);
    let has_company = has(
        FileKind::Company,
        &["cnpj", "companynemployees", "companyindustry"],
    ) || has_name(&["razao social", "company domain name"]);
    // A company has an address and a name too.
    if has_person || has_contact && !has_company {
        FileKind::Lead
    } else {
        FileKind::Company
    }
}

/// The field of a column by its name in a file of a kind.
fn known(main: FileKind, name: &str) -> Option<ColumnField> {
    let columns = main.columns().iter();
    let mut named = columns.filter(|(.., names)| names.split('|').any(|known| known == name));
    named.next().map(|(part, field, _)| (*part, *field))
}

/// The field that a column of a file most likely fills, by its heading and the other headings; `None` if none fits.
pub fn guessed(product: Product, main: FileKind, heading: &str, others: &[String]) -> Option<ColumnField> {
    if product == Product::Pipedrive
        && let Some((part, name)) = prefixed(heading)
    {
        return known(part, &name);
    }
    let name = plain(heading);
    if (product, main, name.as_str()) == (Product::Rdstation, FileKind::Opportunity, "estado") {
        return Some((FileKind::Opportunity, "status"));
    }
    let found = known(main, &name);
    // In a file with a column of last names, `nome` and `name` contain first names.
    let has_last_names = || {
        others
            .iter()
            .any(|other| known(main, &plain(other)) == Some((FileKind::Lead, "lastname")))
    };
    match found {
        Some((FileKind::Lead, "name"))
            if main == FileKind::Lead && has_last_names() && ["nome", "name"].contains(&name.as_str()) =>
        {
            Some((FileKind::Lead, "firstname"))
        }
        found => found,
    }
}

/// The kind and the name of the custom field for a column without a field. The name has no prefix.
pub fn of_part(product: Product, main: FileKind, heading: &str) -> (FileKind, &str) {
    match (product, prefixed(heading), heading.split_once(" - ")) {
        (Product::Pipedrive, Some((part, _)), Some((_, name))) => (part, name),
        _ => (main, heading),
    }
}

/// The field with a name such as `lead.email`, as maps contain it.
pub fn field(text: &str) -> Option<ColumnField> {
    let (part, field) = text.split_once('.')?;
    let part = FileKind::ALL.into_iter().find(|known| known.name() == part)?;
    part.fields()
        .find(|known| *known == field)
        .map(|field| (part, field))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapped(product: Product, headings: &[&str]) -> (FileKind, Vec<String>) {
        let headings: Vec<_> = headings.iter().map(|heading| (*heading).to_owned()).collect();
        let main = main_part(product, &headings);
        let fields = headings.iter().map(|heading| {
            let field = guessed(product, main, heading, &headings);
            field.map_or("-".to_owned(), |(part, field)| format!("{}.{field}", part.name()))
        });
        (main, fields.collect())
    }

    #[test]
    #[expect(clippy::too_many_lines, reason = "it is as long as it has cases")]
    fn exports_are_recognised() {
        for (product, headings, main, fields) in [
            (
                Product::Hubspot,
                "Record ID|First Name|Last Name|Email|Phone Number|Contact owner|Lifecycle Stage|Create Date|Associated Company IDs",
                FileKind::Lead,
                "lead.id|lead.firstname|lead.lastname|lead.email|lead.phone|lead.owner|-|lead.createDate|company.id",
            ),
            (
                Product::Hubspot,
                "ID do registro|Nome|Sobrenome|E-mail|Número de telefone|Proprietário do contato|Data de criação",
                FileKind::Lead,
                "lead.id|lead.firstname|lead.lastname|lead.email|lead.phone|lead.owner|lead.createDate",
            ),
            (
                Product::Hubspot,
                "Record ID|Company name|Company Domain Name|Phone Number|City|Industry|Company owner",
                FileKind::Company,
                "company.id|company.companyname|-|company.companyphone|company.companycity|company.companyindustry|company.owner",
            ),
            (
                Product::Hubspot,
                "ID do registro|Nome do negócio|Etapa do negócio|Data de fechamento|Proprietário do negócio|Valor|Pipeline",
                FileKind::Opportunity,
                "opportunity.id|opportunity.title|opportunity.column|opportunity.closeDate|opportunity.user|opportunity.value|\
                 opportunity.funnel",
            ),
            (
                Product::Pipedrive,
                "Negócio - ID|Negócio - Título|Negócio - Valor|Negócio - Etapa|Negócio - Status|Negócio - Negócio criado em|\
                 Pessoa - Nome|Pessoa - E-mail - Trabalho|Organização - Nome|Negócio - Ganho em",
                FileKind::Opportunity,
                "opportunity.id|opportunity.title|opportunity.value|opportunity.column|opportunity.status|opportunity.createDate|\
                 lead.name|lead.email|company.companyname|opportunity.gain_date",
            ),
            (
                Product::Pipedrive,
                "Person - ID|Person - Name|Person - Phone - Mobile|Person - Organization|Person - Owner",
                FileKind::Lead,
                "lead.id|lead.name|lead.mobile|company.companyname|lead.owner",
            ),
            (
                Product::Rdstation,
                "Nome|Empresa|Etapa|Estado|Motivo de Perda|Valor Único|Data de criação|Hora de criação|Responsável|Contatos|Email",
                FileKind::Opportunity,
                "opportunity.title|company.companyname|opportunity.column|opportunity.status|opportunity.loss_reason|\
                 opportunity.value|opportunity.createDate|opportunity.createTime|opportunity.user|lead.name|lead.email",
            ),
            (
                Product::Rdstation,
                "Email|Nome|Telefone|Celular|Empresa|Estágio no funil|Estado|Tags",
                FileKind::Lead,
                "lead.email|lead.name|lead.phone|lead.mobile|company.companyname|-|lead.state|lead.tags",
            ),
            (
                Product::Rdstation,
                "Nome|Etapa|Estado|Data de fechamento|Hora do fechamento|Data de previsão de fechamento|Equipes do responsável",
                FileKind::Opportunity,
                "opportunity.title|opportunity.column|opportunity.status|opportunity.closeDate|opportunity.closeTime|\
                 opportunity.expectedCloseDate|-",
            ),
            (
                Product::Csv,
                "Nº Pedido;Data Emissão;Razão Social;CNPJ/CPF;Fone;E-mail;Vendedor;Situação;Vlr. Total",
                FileKind::Opportunity,
                "opportunity.title|opportunity.createDate|company.companyname|company.cnpj|lead.phone|lead.email|opportunity.user|\
                 opportunity.status|opportunity.value",
            ),
            (
                Product::Csv,
                "Cliente;Telefone;E-mail;Oportunidade;Valor;Etapa;Vendedor",
                FileKind::Opportunity,
                "lead.name|lead.phone|lead.email|opportunity.title|opportunity.value|opportunity.column|opportunity.user",
            ),
        ] {
            let headings: Vec<_> = headings.split(['|', ';']).collect();
            let (found, guessed) = mapped(product, &headings);
            assert_eq!((found, guessed.join("|")), (main, fields.to_owned()));
        }
    }

    #[test]
    fn no_name_fills_two_fields() {
        for main in FileKind::ALL {
            let names: Vec<_> = main
                .columns()
                .iter()
                .flat_map(|(.., names)| names.split('|'))
                .collect();
            for name in &names {
                assert_eq!(plain(name), **name, "{name}");
                assert_eq!(
                    names.iter().filter(|other| *other == name).count(),
                    1,
                    "{main:?}: {name}"
                );
            }
        }
    }
}
