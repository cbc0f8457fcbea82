//! Random exports from a seed, with the usual faults, and the expected outcome of their conversion.

#![expect(
    clippy::format_push_string,
    clippy::too_many_lines,
    reason = "an export is as long as it has columns, and its lines are made one by one"
)]

use std::collections::BTreeMap;

/// The number and the sum in cents of each column's opportunities, by funnel and column.
pub type Sums = BTreeMap<(String, String), (u64, u64)>;

/// Number of rows of each product.
const ROWS: u64 = 1667;

pub struct Export {
    pub product: &'static str,
    pub files: Vec<(&'static str, Vec<u8>)>,
    pub board: Sums,
    /// Prefixes of the lines about bad rows.
    pub bad: Vec<String>,
    /// Other expected texts in the report.
    pub shown: Vec<String>,
    /// The number of e-mail addresses that several leads share.
    pub duplicates: usize,
    /// Numbers in normal form by the lead's e-mail address.
    pub phones: Vec<(String, String)>,
}

impl Export {
    fn new(product: &'static str) -> Self {
        Self {
            product,
            files: Vec::new(),
            board: Sums::new(),
            bad: Vec::new(),
            shown: Vec::new(),
            duplicates: 0,
            phones: Vec::new(),
        }
    }

    fn count(&mut self, funnel: &str, column: &str, cents: u64) {
        let sums = self
            .board
            .entry((funnel.to_owned(), column.to_owned()))
            .or_default();
        sums.0 += 1;
        sums.1 += cents;
    }
}

/// Random numbers from a seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    fn of<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[usize::try_from(self.below(choices.len() as u64)).unwrap()]
    }

    fn name(&mut self) -> String {
        let first = self.of(&[
            "João", "Márcia", "Antônia", "Zé", "Inês", "Otávio", "Bruno", "Ana",
        ]);
        let last = self.of(&[
            "da Silva",
            "Araújo",
            "Gonçalves",
            "Sá",
            "Nóbrega",
            "Conceição",
            "Lima",
        ]);
        format!("{first} {last}")
    }

    /// A mobile number in normal form, and in one of five styles.
    fn phone(&mut self) -> (String, String) {
        let (area, number) = (self.of(&["11", "41", "81"]), 970_000_000 + self.below(29_999_999));
        let (head, tail) = (number / 10_000, number % 10_000);
        let written = match self.below(5) {
            0 => format!("+55 ({area}) {head}-{tail:04}"),
            1 => format!("({area}) {head}-{tail:04}"),
            2 => format!("0{area} {head} {tail:04}"),
            3 => format!("{area}.{head}.{tail:04} ramal 3"),
            _ => format!("55{area}{number}"),
        };
        (format!("55{area}{number}"), written)
    }

    fn cents(&mut self) -> u64 {
        match self.below(4) {
            0 => 100 * self.below(900),
            1 => self.below(100_000),
            _ => 100_000 + self.below(9_000_000),
        }
    }
}

/// An amount such as `1.234.567,89`, with these marks.
fn amount(cents: u64, group: &str, mark: &str) -> String {
    let digits = (cents / 100).to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push_str(group);
        }
        grouped.push(digit);
    }
    format!("{grouped}{mark}{:02}", cents % 100)
}

pub fn hubspot(seed: u64) -> Export {
    let (mut dice, mut export) = (Dice(seed), Export::new("hubspot"));
    let (contacts, companies) = (ROWS / 2, ROWS / 10);
    let mut text =
        "Record ID,Company name,Company Domain Name,City,Industry,Company owner,Create Date\n".to_owned();
    for id in 0..companies {
        text += &format!(
            "{},\"Padaria {id}, Ltda\",p{id}.example,{},Food,Bruno Lima,2024-01-05 10:00\n",
            9_000_000_000 + id,
            dice.of(&["São Paulo", "Curitiba"])
        );
    }
    export.files.push(("companies.csv", text.into_bytes()));
    let mut text = "\u{feff}Record ID,First Name,Last Name,Email,Phone Number,Contact owner,Lifecycle Stage,Create Date,\
                    Associated Company IDs,Last Modified Device\n"
        .to_owned();
    for at in 0..contacts {
        let (name, (phone, written)) = (dice.name(), dice.phone());
        let (first, last) = name.split_once(' ').unwrap();
        let email = match at {
            3 => "sem e-mail".to_owned(),
            at if at % 50 == 7 => format!("lead{}@example.com", at - 1),
            at => format!("lead{at}@example.com"),
        };
        export.duplicates += usize::from(at % 50 == 7);
        if at % 50 > 7 {
            export.phones.push((email.clone(), phone));
        }
        let owner = dice.of(&["Bruno Lima", "Ana Souza (ana@example.com)", ""]);
        let company = 9_000_000_000 + dice.below(companies);
        text += &format!(
            "{},{first},{last},{email},{written},{owner},{},2025-0{}-1{} 09:15,{company};1,\n",
            101 + at,
            dice.of(&["lead", "customer"]),
            1 + dice.below(9),
            dice.below(10),
        );
    }
    export
        .bad
        .push("contacts.csv:5: \"Email\": \"sem e-mail\" is no e-mail address".to_owned());
    export.files.push(("contacts.csv", text.into_bytes()));
    let deals = hubspot_deals(&mut dice, &mut export, contacts);
    export.files.push(("deals.csv", deals.into_bytes()));
    export.shown = [
        "lead.firstname",
        "lead custom field lifecycle_stage",
        "left out: a company has no custom fields",
        "left out: empty",
        "amount, decimal point",
        "date y-m-d",
        "status \"Closed Won\": gain",
        "contacts.csv: the first one of several company ids is used",
    ]
    .map(str::to_owned)
    .to_vec();
    export
}

fn hubspot_deals(dice: &mut Dice, export: &mut Export, contacts: u64) -> String {
    let mut text = "Record ID,Deal Name,Deal Stage,Pipeline,Amount,Close Date,Deal owner,Create Date,Associated Contact IDs,Região\n".to_owned();
    for at in 0..ROWS * 2 / 5 {
        let line = at + 2;
        let (pipeline, stage) = (
            dice.of(&["Sales", "Partners"]),
            dice.of(&["New", "Proposal", "Closed Won", "Closed Lost"]),
        );
        let (cents, lead) = (dice.cents(), 101 + dice.below(contacts));
        let (shown, contact) = match at {
            // An unreadable amount; contact 104, whose address is bad; and contact 7, which is in no file.
            5 => ("a combinar".to_owned(), 105),
            6 => ("1".to_owned(), 104),
            7 => ("1".to_owned(), 7),
            _ if lead == 104 => ("10.5".to_owned(), 105),
            _ => (amount(cents, "", "."), lead),
        };
        match at {
            5 => export.bad.push(format!(
                "deals.csv:{line}: \"Amount\": \"a combinar\" is no amount"
            )),
            6 => export.count(pipeline, stage, 100),
            7 => export
                .bad
                .push(format!("deals.csv:{line}: lead {contact} is in no file")),
            _ => export.count(pipeline, stage, if shown == "10.5" { 1050 } else { cents }),
        }
        text += &format!(
            "{},Deal {at},{stage},{pipeline},{shown},2026-03-01 10:00,Bruno Lima,2026-01-02 08:00,{contact},Sul\n",
            5_000_000 + at
        );
    }
    text
}

pub fn pipedrive(seed: u64) -> Export {
    let (mut dice, mut export) = (Dice(seed), Export::new("pipedrive"));
    let mut text = "Negócio - ID\tNegócio - Título\tNegócio - Valor\tNegócio - Funil\tNegócio - Etapa\tNegócio - Status\t\
                    Negócio - Proprietário\tNegócio - Negócio criado em\tNegócio - Ganho em\tNegócio - Motivo da perda\t\
                    Negócio - Etiqueta\tPessoa - Nome\tPessoa - E-mail - Trabalho\tPessoa - Telefone\tOrganização - Nome\n"
        .to_owned();
    for at in 0..ROWS {
        let (funnel, stage) = (
            dice.of(&["Vendas", "Renovação"]),
            dice.of(&["Contato", "Proposta enviada", "Negociação"]),
        );
        let (mut status, cents) = (dice.of(&["Aberto", "Ganho", "Perdido"]), dice.cents());
        let (phone, written) = dice.phone();
        let person = at % 1200;
        if at == 9 {
            status = "Talvez";
            export
                .bad
                .push("deals.csv:11: status: \"Talvez\" is unknown".to_owned());
        } else {
            export.count(funnel, stage, cents);
        }
        if at < 1200 && at != 9 {
            export.phones.push((format!("pessoa{person}@example.com"), phone));
        }
        let (won, lost) = match status {
            "Ganho" => ("2026-05-02 11:00:00", ""),
            "Perdido" => ("", "Preço"),
            _ => ("", ""),
        };
        text += &format!(
            "{}\tNegócio {at}\t{}\t{funnel}\t{stage}\t{status}\tAna Souza\t2026-02-0{} 23:30:00\t{won}\t{lost}\tQuente\t{}\t\
             pessoa{person}@example.com\t{written}\tOrganização {}\n",
            at + 1,
            amount(cents, "", "."),
            1 + dice.below(9),
            dice.name(),
            person / 3,
        );
    }
    let wide = text.encode_utf16().flat_map(u16::to_le_bytes);
    export
        .files
        .push(("deals.csv", [0xFF, 0xFE].into_iter().chain(wide).collect()));
    export.shown = [
        "UTF-16LE, separated by tabs",
        "company.companyname",
        "opportunity custom field Etiqueta",
        "status \"Ganho\": gain",
        "funnel \"Renovação\" has the columns",
    ]
    .map(str::to_owned)
    .to_vec();
    export
}

pub fn rdstation(seed: u64) -> Export {
    let (mut dice, mut export) = (Dice(seed), Export::new("rdstation"));
    let mut text = "Nome;Empresa;Etapa;Estado;Motivo de Perda;Valor Único;Data de criação;Hora de criação;Previsão de fechamento;\
                    Fonte;Responsável;Contatos;Email;Telefone;Placa\r\n"
        .to_owned();
    for at in 0..ROWS {
        let (stage, outcome) = (
            dice.of(&["Sem contato", "Apresentação", "Negociação"]),
            dice.of(&["Em andamento", "Vendida", "Perdida"]),
        );
        let (cents, (phone, written), contact) = (dice.cents(), dice.phone(), at % 1500);
        let day = match at {
            2 => "31/02/2026".to_owned(),
            _ => format!("{:02}/{:02}/2026", 1 + dice.below(28), 1 + dice.below(12)),
        };
        match at {
            2 => export
                .bad
                .push("negociacoes.csv:4: \"Data de criação\": \"31/02/2026\" is no date d/m/y".to_owned()),
            4 => export
                .bad
                .push("negociacoes.csv:6: has 16 values, and the heading has 15".to_owned()),
            _ => export.count("Funil", stage, cents),
        }
        if at < 1500 && ![2, 4].contains(&at) {
            export
                .phones
                .push((format!("contato{contact}@example.com"), phone));
        }
        text += &format!(
            "Negociação {at};Empresa {};{stage};{outcome};{};R$ {};{day};23:30;;Indicação;Ana Souza;{};contato{contact}@example.com;{written};{}{}\r\n",
            contact / 2,
            if outcome == "Perdida" { "Preço" } else { "" },
            amount(cents, ".", ","),
            dice.name(),
            dice.of(&["ABC1D23", "-"]),
            if at == 4 { ";solta" } else { "" },
        );
    }
    let latin = text.chars().map(|c| u8::try_from(u32::from(c)).unwrap());
    export.files.push(("negociacoes.csv", latin.collect()));
    export.shown = [
        "windows-1252, separated by ;",
        "amount, decimal comma",
        "date d/m/y",
        "opportunity.status",
        "opportunity custom field Placa",
        "status \"Vendida\": gain",
        "local dates are in America/Sao_Paulo",
    ]
    .map(str::to_owned)
    .to_vec();
    export
}
