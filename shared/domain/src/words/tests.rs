use super::*;
use proptest::prelude::*;

fn search(term: &str) -> WordSearch {
    WordSearch::new(term).unwrap()
}

fn lead(id: u64) -> LeadId {
    LeadId::new(id).unwrap()
}

fn phones(texts: &[&str]) -> Vec<Phone> {
    let read = texts.iter().flat_map(|text| phone::read(text));
    read.map(|read| read.phone).collect()
}

/// Whether a search finds the stored keys of texts and numbers, for every word.
fn reaches(search: &WordSearch, texts: &[&str], numbers: &[&str]) -> bool {
    let keys = word_keys(texts.iter().copied());
    let numbers: Vec<_> = phones(numbers).iter().map(number_key).collect();
    let has = |span: &KeySpan, keys: &[String]| match span {
        KeySpan::Prefix(prefix) => keys.iter().any(|key| key.starts_with(prefix)),
        KeySpan::Key(whole) => keys.contains(whole),
    };
    let words = search.word_spans();
    let by_words = search.needs_all()
        || !words.is_empty()
            && words
                .iter()
                .all(|spans| spans.iter().any(|span| has(span, &keys)));
    by_words || search.number_spans().iter().any(|span| has(span, &numbers))
}

#[test]
fn blank_terms_are_none() {
    for blank in ["", " ", "\t\r\n", "\u{a0}\u{3000}", "\u{301}", " \u{301}\u{303} "] {
        assert_eq!(WordSearch::new(blank), None, "{blank:?}");
    }
}

/// C-20.
#[test]
fn every_word_of_a_term_begins_a_word() {
    let email = "maria.silva+1@Empresa-Sul.com.br";
    for (term, found) in [
        ("maria", true),
        ("MÁRIA  sIL", true),
        ("silva maria", true),
        ("goncalves", true),
        ("GONC", true),
        ("aria", false),
        ("maria souza", false),
        ("mariana", false),
        ("maria.silva+1@empresa-sul.com.br", true),
        ("silva+1@emp", true),
        ("@empresa", true),
        ("sul.com", true),
        ("com", true),
        ("br", true),
        ("b", true),
        ("brasil", false),
        ("1", true),
        ("neil", true),
        ("o'n", true),
        ("(maria", true),
        ("%", false),
        ("m & s", true),
        ("11", false),
    ] {
        let name = "Maria (Sílvia) O'Neil Gonçalves";
        let search = search(term);
        assert_eq!(
            search.finds_lead(lead(7), (name, Some(email)), []),
            found,
            "{term}"
        );
        assert_eq!(reaches(&search, &[name, email], &[]), found, "{term}");
    }
}

/// C-20, C-72.
#[test]
fn digits_find_numbers_by_form_and_ending() {
    let numbers = [
        "+55 (11) 98765-4321",
        "551133334444 ramal 12",
        "190",
        "55 43 8765-1111 / 2222-3333",
    ];
    for (term, found) in [
        ("(11) 98765-4321", true),
        ("5511987654321", true),
        ("+55 11 8765-4321", true),
        ("1187654321", true),
        ("98765-4321", true),
        ("4321", true),
        ("33334444", true),
        ("321", false),
        ("190", true),
        ("90", false),
        ("98765", false),
        ("tel 4321", false),
        ("11 3333", false),
        ("5521987654321", false),
        ("(0xx11) 98765-4321", true),
        ("011 98765-4321", true),
        ("whatsapp:+5511987654321", true),
        ("11 3333-4444 ramal 7", true),
        ("4312", false),
        // With the ninth digit that the stored number lacks, with and without area code.
        ("98765-1111", true),
        ("43 98765-1111", true),
        ("3 98765-1111", true),
        ("43 8765-1111", true),
        ("43 2222-3333", true),
        ("1 8765-4321", true),
    ] {
        let search = search(term);
        let found_lead = search.finds_lead(lead(7), ("", None), phones(&numbers));
        assert_eq!(found_lead, found, "{term}");
        assert_eq!(reaches(&search, &[], &numbers), found, "{term}");
    }
}

#[test]
fn an_id_is_found_whole() {
    for (term, found) in [
        ("1042", true),
        (" １０４２ ", true),
        ("104", false),
        ("042", false),
        ("01042", false),
        ("+1042", false),
        ("#1042", false),
    ] {
        assert_eq!(
            search(term).finds_lead(lead(1042), ("", None), []),
            found,
            "{term}"
        );
    }
}

#[test]
fn a_lead_has_few_keys() {
    for (name, email, keys) in [
        (
            "Maria Silva",
            "maria@gmail.com",
            &["gmail.com", "maria@gmail.com", "silva"][..],
        ),
        (
            "Maria Silva",
            "maria.silva@obra.com.br",
            &[
                "com.br",
                "maria.silva@obra.com.br",
                "obra.com.br",
                "silva@obra.com.br",
            ],
        ),
        ("João da Costa", "", &["costa", "da", "joao"]),
        ("Ana Anabela", "", &["anabela"]),
        ("Ana", "a@obra.com", &["a@obra.com", "ana", "obra.com"]),
        ("Li Li", "li@li.li", &["li.li", "li@li.li"]),
        ("- 🙂 %", "", &[]),
        (
            "",
            "x@gmail.com.au",
            &["au", "com.au", "gmail.com.au", "x@gmail.com.au"],
        ),
        (
            "gmail.com gmail.commerce",
            "",
            &["commerce", "gmail.com", "gmail.commerce"],
        ),
    ] {
        assert_eq!(word_keys([name, email]), keys, "{name} {email}");
    }
}

/// C-92.
#[test]
fn a_plain_address_is_a_word() {
    let longest = format!("{}@x.org", "a".repeat(MAX_KEY - 6));
    for (email, word) in [
        (" Ana.Souza@Obra.COM ", Some("ana.souza@obra.com")),
        (longest.as_str(), Some(longest.as_str())),
        (&format!("a{longest}"), None),
        ("ana souza@obra.com", None),
        ("antônia@obra.com", None),
        ("_ana@obra.com", None),
        ("ana#1@obra.com", None),
        (" ", None),
    ] {
        assert_eq!(address_word(email).as_deref(), word, "{email}");
    }
}

#[test]
fn long_words_share_keys() {
    let long = "x".repeat(MAX_KEY + 9);
    let keys = word_keys([long.as_str()]);
    assert_eq!(keys, [&long[..MAX_KEY]]);
    assert!(search(&long).finds_lead(lead(1), (&long, None), []));
    assert!(!search(&format!("{long}x")).finds_lead(lead(1), (&long, None), []));
    assert!(reaches(&search(&long), &[&long], &[]));
}

/// C-86: a term of any length has few look-ups.
#[test]
fn few_words_of_a_long_term_are_looked_up() {
    let term: Vec<_> = (0..500).map(|n| format!("{} {n}", "x".repeat(n % 50))).collect();
    let search = search(&term.join(" x "));
    assert_eq!(search.word_spans().len(), MAX_LOOKED_UP);
    assert!(search.words.len() < 501, "{}", search.words.len());
}

/// Text of few letters, so that words often begin alike, among shared endings.
fn few_letters() -> impl Strategy<Value = String> {
    prop_oneof![
        "[aAbã1 .@-]{0,12}",
        "[ab]{1,2}@(gmail|uol)?\\.?com(\\.br)?",
        "(com|br|gmail|b)[ .]?(com|b)?",
        any::<String>(),
    ]
}

proptest! {
    /// Every lead that a term finds by its words is reached by its keys.
    #[test]
    fn keys_reach_all_that_a_term_finds(term in few_letters(), name in few_letters(), email in few_letters()) {
        if let Some(search) = WordSearch::new(&term) {
            let found = search.begins_words_of(&[&name, &email]);
            prop_assert!(!found || reaches(&search, &[&name, &email], &[]));
        }
    }

    /// The same for numbers.
    #[test]
    fn keys_reach_all_numbers(term in "\\+?[0-9 ]{1,14}|0?(55)?11[69]?8765432[01]|[19]?[69]?8765432[01]", number in "\\+?[0-9]{1,14}|(55)?11[69]?8765432[01]") {
        if let Some(search) = WordSearch::new(&term) {
            let finds = |numbers: &Numbers| phones(&[&number]).iter().any(|phone| numbers.finds(phone));
            let found = search.numbers.as_ref().is_some_and(finds);
            prop_assert!(!found || reaches(&search, &[], &[&number]));
        }
    }
}
