use super::*;

#[test]
fn every_file_has_known_fields_and_each_name_once() {
    for text in FILES {
        let names: Names = toml::from_str(text).unwrap_or_else(|cause| panic!("{cause}\n{text}"));
        for main in FileKind::ALL {
            let mut seen = HashSet::new();
            for (name, headings) in names.section(main) {
                let whole = if name.contains('.') {
                    name.clone()
                } else {
                    format!("{}.{name}", main.name())
                };
                assert!(field(&whole).is_some(), "{}: {whole}", names.product);
                for heading in headings {
                    assert!(
                        seen.insert(plain(heading)),
                        "{}: {main:?}: {heading}",
                        names.product
                    );
                }
            }
        }
    }
}

#[test]
fn products_are_told_by_their_columns() {
    for (headings, product, kind) in [
        ("Record ID - Contact|First Name|Email", "hubspot", FileKind::Lead),
        (
            "ID|Título|Valor|Funil|Etapa|Status|Pessoa de contato|Negócio criado em",
            "pipedrive",
            FileKind::Opportunity,
        ),
        (
            "Nome|Etapa|Estado|Responsável|Contatos",
            "rdstation",
            FileKind::Opportunity,
        ),
        ("ID|Lead título|Etapa do lead", "kommo", FileKind::Opportunity),
        (
            "Opportunity Owner|Opportunity Name|Stage|Amount",
            "salesforce",
            FileKind::Opportunity,
        ),
    ] {
        let headings: Vec<_> = headings.split('|').map(str::to_owned).collect();
        let names = FileNames::of(Product::Auto, &headings);
        assert_eq!((names.product, names.kind), (product, Some(kind)), "{headings:?}");
        assert!(FileNames::of(Product::Csv, &headings).kind.is_none());
    }
}

#[test]
fn lines_of_totals() {
    for text in [
        "Total",
        "TOTAL GERAL:",
        "Total (2 pedidos)",
        "Grand Total",
        "Subtotal",
        "Soma",
        "Valor Total",
        "Total do vendedor",
        "Página 1 de 3",
        "Emitido em 29/11/2026 10:00",
    ] {
        assert!(names_totals(text), "{text}");
    }
    for text in [
        "Total Energies",
        "Totalmente",
        "Pedido",
        "Valor",
        "Media Markt",
        "",
    ] {
        assert!(!names_totals(text), "{text}");
    }
}
