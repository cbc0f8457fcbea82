//! The main kind of a file, and the fields that its columns most likely fill (C-105).

use std::collections::HashSet;

use super::kind::FileKind;
use super::names::{self, ColumnField, FileNames, plain};

/// The use of each heading, which depends on the other headings of the file.
#[derive(Debug)]
pub struct Layout<'a> {
    names: &'a FileNames,
    main: FileKind,
    /// Fields that columns with other names than `Nome` may fill.
    fields: HashSet<&'static str>,
}

/// Fields that identify a person.
pub const PERSON: [&str; 8] = [
    "id",
    "name",
    "firstname",
    "lastname",
    "email",
    "phone",
    "mobile",
    "chatapp",
];

impl<'a> Layout<'a> {
    /// The layout of a file of a kind.
    pub fn of(names: &'a FileNames, main: FileKind, headings: &[String]) -> Self {
        let headings = headings.iter().filter(|heading| !is_bare(heading));
        let fields = headings.filter_map(|heading| names.field(main, heading));
        let own = fields.filter(|(part, field)| *part == FileKind::Lead || *field == "title");
        let fields = own.map(|(_, field)| field).collect();
        Self { names, main, fields }
    }

    /// Whether a column fills one of these fields.
    pub fn has(&self, fields: &[&str]) -> bool {
        fields.iter().any(|field| self.fields.contains(field))
    }

    /// The field that a column most likely fills; `None` if none fits.
    pub fn field(&self, heading: &str) -> Option<ColumnField> {
        let found = self.names.field(self.main, heading)?;
        let is_bare = is_bare(heading);
        match found {
            // In a file with a column of last names alone, `Nome` contains first names.
            (FileKind::Lead, "name") if is_bare && self.has(&["lastname"]) && !self.has(&["firstname"]) => {
                names::field("lead.firstname")
            }
            // Beside an address, a number or another title, `Nome` is the person.
            (FileKind::Opportunity, "title") if is_bare && self.names.product == "csv" => {
                if !self.has(&["name"]) && self.has(&["title", "email", "phone", "mobile", "chatapp"]) {
                    names::field("lead.name")
                } else {
                    Some(found).filter(|_| !self.has(&["title"]))
                }
            }
            found => Some(found),
        }
    }
}

fn is_bare(heading: &str) -> bool {
    matches!(plain(heading).as_str(), "nome" | "name" | "nombre")
}

/// The main kind of a file with these columns.
pub fn main_kind(names: &FileNames, headings: &[String]) -> FileKind {
    if let Some(kind) = names.kind {
        return kind;
    }
    let has = |part, fields: &[&str]| {
        headings.iter().any(|heading| {
            let found = names.field(part, heading).filter(|(of, _)| *of == part);
            found.is_some_and(|(_, field)| fields.contains(&field))
        })
    };
    let titles = headings
        .iter()
        .filter(|heading| names.field(FileKind::Opportunity, heading) == names::field("opportunity.title"));
    // `Número` may be that of a house or a telephone.
    let is_titled = titles
        .into_iter()
        .any(|heading| !is_bare(heading) && !matches!(plain(heading).as_str(), "numero" | "n" | "no"));
    if has(FileKind::Opportunity, &["column", "funnel", "value"]) || is_titled {
        return FileKind::Opportunity;
    }
    // A list of companies has their names, and one of persons has a column of contacts.
    let has_contacts = headings.iter().any(|heading| {
        names::resembles("contact", heading)
            && names.field(FileKind::Lead, heading) == names::field("lead.name")
    });
    let has_person = has_contacts || has(FileKind::Lead, &["firstname", "lastname", "mobile", "chatapp"]);
    let has_contact = has(FileKind::Lead, &["email", "name"]);
    let is_of_company = has(
        FileKind::Company,
        &["cnpj", "companynemployees", "companyindustry"],
    );
    let has_company = is_of_company && has(FileKind::Company, &["companyname"])
        || headings
            .iter()
            .any(|heading| matches!(plain(heading).as_str(), "razao social" | "company domain name"));
    // A company has an address and a name too.
    if has_person || has_contact && !has_company {
        FileKind::Lead
    } else {
        FileKind::Company
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::product::Product;

    fn mapped(product: Product, headings: &str) -> (FileKind, String) {
        let headings: Vec<_> = headings.split(['|', ';']).map(str::to_owned).collect();
        let names = FileNames::of(product, &headings);
        let main = main_kind(&names, &headings);
        let layout = Layout::of(&names, main, &headings);
        let fields = headings.iter().map(|heading| {
            let field = layout.field(heading);
            field.map_or("-".to_owned(), |(part, field)| format!("{}.{field}", part.name()))
        });
        (main, fields.collect::<Vec<_>>().join("|"))
    }

    #[test]
    #[expect(clippy::too_many_lines, reason = "it is as long as it has cases")]
    fn exports_are_recognised() {
        use FileKind::{Company, Lead, Opportunity};
        for (product, headings, main, fields) in [
            (
                Product::Hubspot,
                "Record ID|First Name|Last Name|Email|Phone Number|Contact owner|Lifecycle Stage|Create Date|Associated Company IDs",
                Lead,
                "lead.id|lead.firstname|lead.lastname|lead.email|lead.phone|lead.owner|-|lead.createDate|company.id",
            ),
            (
                Product::Hubspot,
                "ID do registro|Nome|Sobrenome|E-mail|Número de telefone|Proprietário do contato|Data de criação",
                Lead,
                "lead.id|lead.firstname|lead.lastname|lead.email|lead.phone|lead.owner|lead.createDate",
            ),
            (
                Product::Hubspot,
                "Record ID|Company name|Company Domain Name|Phone Number|City|Industry|Company owner",
                Company,
                "company.id|company.companyname|-|company.companyphone|company.companycity|company.companyindustry|company.owner",
            ),
            (
                Product::Pipedrive,
                "Negócio - ID|Negócio - Título|Negócio - Valor|Negócio - Etapa|Negócio - Status|Negócio - Negócio criado em|\
                 Pessoa - Nome|Pessoa - E-mail - Trabalho|Organização - Nome|Negócio - Ganho em",
                Opportunity,
                "opportunity.id|opportunity.title|opportunity.value|opportunity.column|opportunity.status|opportunity.createDate|\
                 lead.name|lead.email|company.companyname|opportunity.gain_date",
            ),
            (
                Product::Pipedrive,
                "Person - ID|Person - Name|Person - Phone - Mobile|Person - Organization|Person - Owner",
                Lead,
                "lead.id|lead.name|lead.mobile|company.companyname|lead.owner",
            ),
            (
                Product::Rdstation,
                "Nome|Empresa|Etapa|Estado|Motivo de Perda|Valor Único|Data de criação|Hora de criação|Responsável|Contatos|Email",
                Opportunity,
                "opportunity.title|company.companyname|opportunity.column|opportunity.status|opportunity.loss_reason|\
                 opportunity.value|opportunity.createDate|opportunity.createTime|opportunity.user|lead.name|lead.email",
            ),
            (
                Product::Rdstation,
                "Email|Nome|Telefone|Celular|Empresa|Estágio no funil|Estado|Tags",
                Lead,
                "lead.email|lead.name|lead.phone|lead.mobile|company.companyname|-|lead.state|lead.tags",
            ),
            (
                Product::Csv,
                "Nº Pedido;Data Emissão;Razão Social;CNPJ/CPF;Fone;E-mail;Vendedor;Situação;Vlr. Total",
                Opportunity,
                "opportunity.title|opportunity.createDate|company.companyname|company.cnpj|lead.phone|lead.email|opportunity.user|\
                 opportunity.status|opportunity.value",
            ),
            (
                Product::Csv,
                "Cliente;Telefone;E-mail;Oportunidade;Valor;Etapa;Vendedor",
                Opportunity,
                "lead.name|lead.phone|lead.email|opportunity.title|opportunity.value|opportunity.column|opportunity.user",
            ),
            (
                Product::Auto,
                "Nome;E-mail;Telefone;Negócio;Valor;Etapa;Data",
                Opportunity,
                "lead.name|lead.email|lead.phone|opportunity.title|opportunity.value|opportunity.column|opportunity.createDate",
            ),
            (
                Product::Auto,
                "Deal ID|Deal Name|Deal Stage|Amount|Close Date|HubSpot Owner|Associated Contacts",
                Opportunity,
                "opportunity.id|opportunity.title|opportunity.column|opportunity.value|opportunity.closeDate|opportunity.user|lead.name",
            ),
            (
                Product::Auto,
                "Código|Título do negócio|Empresa relacionada|Pessoa relacionada|Responsável|Funil|Etapa|Status|Valor total",
                Opportunity,
                "opportunity.id|opportunity.title|company.companyname|lead.name|opportunity.user|opportunity.funnel|\
                 opportunity.column|opportunity.status|opportunity.value",
            ),
            (
                Product::Csv,
                "Negócio;Valor;Etapa;Cliente;Telefone comercial;E-mail principal",
                Opportunity,
                "opportunity.title|opportunity.value|opportunity.column|lead.name|lead.phone|lead.email",
            ),
            (
                Product::Csv,
                "Name;Stage;Deal Value;Contacts;Phone;Value Currency;pipeline_name;ID Contato;Account Email",
                Opportunity,
                "opportunity.title|opportunity.column|opportunity.value|lead.name|lead.phone|opportunity.currency|\
                 opportunity.funnel|lead.id|company.companyemail",
            ),
            (
                Product::Csv,
                "Empresa;Contato;Telefone;E-mail;Segmento",
                Lead,
                "company.companyname|lead.name|lead.phone|lead.email|-",
            ),
            (
                Product::Csv,
                "ID;Nome;Endereço;Número;CEP;Fone;Celular;E-mail;Situação",
                Lead,
                "lead.id|lead.name|lead.address|-|lead.zipcode|lead.phone|lead.mobile|lead.email|-",
            ),
            (
                Product::Auto,
                "Vorname|Nachname|Firma|Telefon geschäftlich|E-Mail-Adresse|E-Mail 2: Adresse|Kategorien",
                Lead,
                "lead.firstname|lead.lastname|company.companyname|lead.phone|lead.email|lead.email|lead.tags",
            ),
            (
                Product::Auto,
                "ID|Nombre del lead|Contacto principal|Compañía|Teléfono oficina (contacto)|Teléfono celular (contacto)|Cerrado el",
                Opportunity,
                "opportunity.id|opportunity.title|lead.name|company.companyname|lead.phone|lead.mobile|opportunity.closeDate",
            ),
            (
                Product::Auto,
                "Record ID - Contact|First Name|Last Name|Record ID - Company|Associated Company",
                Lead,
                "lead.id|lead.firstname|lead.lastname|company.id|company.companyname",
            ),
            (
                Product::Bitrix24,
                "ID;Стадия сделки;Название сделки;Контакт;Сумма;Валюта;Ответственный;Предполагаемая дата закрытия;Причина отказа",
                Opportunity,
                "opportunity.id|opportunity.column|opportunity.title|lead.name|opportunity.value|opportunity.currency|\
                 opportunity.user|opportunity.closeDate|opportunity.loss_reason",
            ),
            (
                Product::Auto,
                "Affaire - ID|Affaire - Titre|Affaire - Étape|Affaire - Date de clôture prévue|Affaire - Raison de la perte",
                Opportunity,
                "opportunity.id|opportunity.title|opportunity.column|opportunity.expectedCloseDate|opportunity.loss_reason",
            ),
            (
                Product::Auto,
                "ID|Nome|Sobrenome|Telefone comercial|E-mail comercial|Pessoa responsável",
                Lead,
                "lead.id|lead.firstname|lead.lastname|lead.phone|lead.email|lead.owner",
            ),
            (
                Product::Csv,
                "Nome completo;CPF/CNPJ;E-mail;Telefone de contato;Total Consumido (BRL)",
                Lead,
                "lead.name|-|lead.email|lead.phone|-",
            ),
            (
                Product::Kommo,
                "ID|Full name|Responsible user|Work phone",
                Lead,
                "lead.id|lead.name|lead.owner|lead.phone",
            ),
            (
                Product::Csv,
                "Oportunidade;Valor;Status;Data fechamento;Fecha de pérdida;Motivo de la pérdida",
                Opportunity,
                "opportunity.title|opportunity.value|opportunity.status|opportunity.closeDate|opportunity.lost_date|\
                 opportunity.loss_reason",
            ),
            (
                Product::Auto,
                "ID|Nome|Primeiro nome|Sobrenome|E-mail - Trabalho|Telefone - Trabalho|Telefone - Celular",
                Lead,
                "lead.id|lead.name|lead.firstname|lead.lastname|lead.email|lead.phone|lead.mobile",
            ),
        ] {
            assert_eq!(mapped(product, headings), (main, fields.to_owned()), "{headings}");
        }
    }
}
