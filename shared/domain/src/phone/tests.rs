use super::*;
use proptest::prelude::*;
use serde::Deserialize;

#[derive(Deserialize)]
struct Vector {
    why: String,
    call: String,
    stored: String,
    same: bool,
}

fn phone(text: &str) -> Phone {
    Phone::of(text).unwrap()
}

fn forms(text: &str) -> (String, Option<String>) {
    let Phone { digits, twin, .. } = phone(text);
    (digits, twin)
}

fn one_form(digits: &str) -> (String, Option<String>) {
    (digits.to_owned(), None)
}

fn two_forms(digits: &str, twin: &str) -> (String, Option<String>) {
    (digits.to_owned(), Some(twin.to_owned()))
}

/// Whether a number of one text is the line of a number of the other.
fn same(one: &str, other: &str) -> bool {
    let other = identifying(other);
    let is_found = |one: &ReadPhone| other.iter().any(|other| one.phone.same_line(&other.phone));
    identifying(one).iter().any(is_found)
}

/// The normal forms of the numbers in a text.
fn numbers(text: &str) -> Vec<String> {
    read(text).into_iter().map(|read| read.phone.digits).collect()
}

#[test]
fn every_vector_matches_as_recorded_in_both_directions() {
    let vectors: Vec<Vector> = serde_json::from_str(include_str!("../../vectors/phones.json")).unwrap();
    assert!(vectors.len() > 100);
    for Vector {
        why,
        call,
        stored,
        same: is_same,
    } in vectors
    {
        assert_eq!(same(&call, &stored), is_same, "{why}: {call} / {stored}");
        assert_eq!(same(&stored, &call), is_same, "{why}: {stored} / {call}");
    }
}

#[test]
fn there_are_sixty_seven_area_codes() {
    let codes = (b'0'..=b'9').flat_map(|tens| (b'0'..=b'9').map(move |units| (tens, units)));
    assert_eq!(
        codes.filter(|(tens, units)| is_area_code(*tens, *units)).count(),
        67
    );
}

#[test]
fn a_number_needs_one_digit_and_has_at_most_thirty_two() {
    for none in ["", "+ (ramal) —", "١٢٣", "ramal", "()"] {
        assert_eq!(Phone::of(none), None, "{none}");
    }
    assert_eq!(phone("7").digits(), "7");
    assert_eq!(phone(&"1".repeat(32)).digits(), "1".repeat(32));
    assert_eq!(Phone::of(&"1".repeat(33)), None);
}

#[test]
fn digits_of_other_scripts_are_punctuation() {
    assert_eq!(digits("１1٢2²3"), "123");
    assert_eq!(forms("٣11 3333-4444"), one_form("551133334444"));
}

#[test]
fn a_country_code_is_supplied_to_national_forms_only() {
    assert_eq!(
        forms("(11) 98765-4321"),
        two_forms("5511987654321", "551187654321")
    );
    assert_eq!(
        forms("(11) 8765-4321"),
        two_forms("551187654321", "5511987654321")
    );
    assert_eq!(forms("11 93765-4321"), one_form("5511937654321"));
    assert_eq!(forms("11 2222-3333"), one_form("551122223333"));
    // Invalid area code, invalid subscriber number, missing area code, toll-free.
    assert_eq!(forms("20 98765-4321"), one_form("20987654321"));
    assert_eq!(forms("11 88765-4321"), one_form("11887654321"));
    assert_eq!(forms("11 1765-4321"), one_form("1117654321"));
    assert_eq!(forms("98765-4321"), one_form("987654321"));
    assert_eq!(forms("0800 123 4567"), one_form("08001234567"));
    assert_eq!(forms("0300 123 4567"), one_form("03001234567"));
}

#[test]
fn area_code_55_is_distinguished_from_country_code_55() {
    assert_eq!(forms("55 98765-4321"), two_forms("5555987654321", "555587654321"));
    assert_eq!(forms("55 8765-4321"), two_forms("555587654321", "5555987654321"));
    assert_eq!(forms("55 3222-1111"), one_form("555532221111"));
    assert_eq!(
        forms("55 55 98765-4321"),
        two_forms("5555987654321", "555587654321")
    );
    assert_eq!(forms("+55 98765-4321"), one_form("55987654321"));
    // Toll-free: 80 is not an area code.
    assert_eq!(forms("55 800 987 6543"), one_form("558009876543"));
}

#[test]
fn a_number_written_with_plus_is_never_given_a_country_code() {
    for text in [
        "+31 97 012 3456",
        "tel: +31970123456",
        " (+31) 97 012 3456",
        "+ 31-97-0123456",
        "00 31 97 012 3456",
        "31970123456@s.whatsapp.net",
        "+31 (0)97 012 3456",
        "00 31 (0)97 012 3456",
    ] {
        assert_eq!(forms(text), one_form("31970123456"), "{text}");
    }
    assert_eq!(
        forms("31 97 012 3456 +"),
        two_forms("5531970123456", "553170123456")
    );
    assert_eq!(forms("+41 44 668 18 00"), one_form("41446681800"));
    assert_eq!(forms("+47 22 22 55 55"), one_form("4722225555"));
    assert_eq!(
        forms("+55 (11) 8765-4321"),
        two_forms("551187654321", "5511987654321")
    );
}

#[test]
fn an_exact_match_comes_before_a_twin() {
    let called = phone("+55 11 98765-4321");
    assert_eq!(called.matches(&phone("11987654321")), Some(Match::Exact));
    assert_eq!(called.matches(&phone("1187654321")), Some(Match::Twin));
    assert_eq!(called.matches(&phone("1187654322")), None);
    assert!(Match::Exact < Match::Twin);
}

/// C-108: every way to write a number that the contract names.
#[test]
fn spellings_of_one_number() {
    for text in [
        "11987654321",
        "(11) 98765-4321",
        "(011) 98765-4321",
        "011 98765 4321",
        "0 15 11 98765-4321",
        "0xx11 98765-4321",
        "(0XX11) 98765.4321",
        "0 xx 11 98765-4321",
        "+55 (0)11 98765-4321",
        "+55 (0xx11) 98765-4321",
        "+55 011 98765-4321",
        "55 (011) 98765-4321",
        "0055 11 98765-4321",
        "00 55 (0)11 98765-4321",
        "0 55 11 98765-4321",
        "11 98765-4321 ramal 21",
        "11 98765-4321 R. 5",
        "11 98765-4321 r 5",
        "11 98765-4321 ext.12",
        "11 98765-4321x12",
        "11 98765-4321 #12",
        "tel:+55-11-98765-4321;ext=12",
        "tel:+5511987654321;ext=12;phone-context=example.com",
        "whatsapp:+5511987654321",
        "5511987654321@s.whatsapp.net",
        "5511987654321:17@s.whatsapp.net",
        "5511987654321.0:17@s.whatsapp.net",
        "5511987654321@c.us",
        "sip:+5511987654321@pbx.example.com",
        "\"Ana\" <sip:+5511987654321@pbx.example.com>",
        "5511987654321@pbx.example.com",
        "https://wa.me/5511987654321",
        "'11987654321",
        "11/98765-4321",
        "(11) 98765-4321 (recado com Ana, casa 2)",
        "\u{200e}+55 11 98765\u{2011}4321\u{202c}",
    ] {
        assert!(same(text, "+5511987654321"), "{text}: {:?}", read(text));
        assert!(same(text, "551187654321"), "{text}");
        assert_eq!(phone(text).digits(), "5511987654321", "{text}");
    }
}

#[test]
fn what_stands_next_to_a_number_does_not_count() {
    for text in [
        "11 98765-4321 ana@gmail.com",
        "ana1@x.com 11 98765-4321",
        "11 98765-4321 @anasilva",
        "11 98765-4321 <fixo>",
        "11987654321.0",
    ] {
        assert_eq!(phone(text).digits(), "5511987654321", "{text}");
    }
}

#[test]
fn several_numbers_of_one_field() {
    let both = ["5511987650404", "551133330404"];
    for text in [
        "11 98765-0404 / 11 3333-0404",
        "(11) 98765-0404; (11) 3333-0404",
        "11987650404,1133330404",
        "11987650404|1133330404",
        "11987650404:::1133330404",
        "11 98765-0404 OU 11 3333-0404",
        "11987650404\n1133330404",
        // The later one has the area code of the first.
        "11 98765-0404 / 3333-0404",
        "(011) 98765-0404 ramal 2 / 3333-0404 ramal 3",
        "11/98765-0404/3333-0404",
        "tel:+5511987650404;ext=3;tel:+551133330404",
    ] {
        assert_eq!(numbers(text), both, "{text}");
    }
    assert_eq!(
        numbers("+31 97 012 3456 / 3333-0404"),
        ["31970123456", "33330404"]
    );
    assert_eq!(
        numbers("98765-0404 / 11 3333-0404"),
        ["987650404", "551133330404"]
    );
    assert_eq!(numbers("11 98765-0404 / casa 2"), ["5511987650404"]);
    assert_eq!(numbers("11987650404, 11987650404"), ["5511987650404"]);
    let many: Vec<_> = (1..9).map(|n| format!("1198765040{n}")).collect();
    assert_eq!(numbers(&many.join("/")).len(), 8);
    assert_eq!(identifying(&many.join("/")).len(), MAX_IDENTIFYING);
}

#[test]
fn some_numbers_identify_nobody() {
    for nobody in [
        "0",
        "190",
        "1234567",
        "0000000000",
        "000000000000",
        "(99) 99999-9999",
        "+55 99 99999-9999",
        "+266696687",
        "Anonymous 266696687",
        "7378742833",
        "+7378742833",
        "86282452253",
        "2562533",
        "1234567890123456",
        "ramal 12",
        "120363041234567890@g.us",
        "5511987654321-1600000000@g.us",
        "123456789012345@lid",
        "ana1234567890@example.com",
        "status@broadcast",
    ] {
        assert_eq!(identifying(nobody), [], "{nobody}");
        assert!(!same(nobody, nobody), "{nobody}");
    }
    // An exchange that dials the trunk prefix means the number.
    assert_eq!(phone("0 73 7874-2833").digits(), "557378742833");
    for somebody in ["33334444", "98765-4321", "+4722225555", "08001234567"] {
        assert!(same(somebody, somebody), "{somebody}");
    }
    let is_unique = |text: &str| phone(text).is_unique();
    assert!(!is_unique("3333-4444") && !is_unique("98765-4321"));
    assert!(is_unique("+298 123456") && is_unique("11 3333-4444"));
}

#[test]
fn a_read_number_keeps_the_digits_as_they_were_written() {
    let digits = |text: &str| read(text).into_iter().map(|read| read.digits).collect::<Vec<_>>();
    assert_eq!(digits("(011) 98765-4321 ramal 12"), ["011987654321"]);
    assert_eq!(
        digits("0 15 11 98765-4321 / 3333-4444"),
        ["01511987654321", "33334444"]
    );
    assert_eq!(digits("5511987654321:17@s.whatsapp.net"), ["5511987654321"]);
    // It is not dialled, so the number without it would be another one.
    assert_eq!(digits("+44 (0)20 7946 0111"), ["442079460111"]);
}

#[test]
fn a_text_of_numbers_alone_is_told_from_other_texts() {
    for numbers in ["11 98765-4321", "(0xx11) 98765-4321 ramal 3", "4321", "1/2"] {
        assert!(is_only_numbers(numbers), "{numbers}");
    }
    for other in ["", "Ana", "Rua 7", "7a", "11 98765-4321 Ana"] {
        assert!(!is_only_numbers(other), "{other}");
    }
}

/// Text that normalises to a number, often a Brazilian one.
fn number() -> impl Strategy<Value = String> {
    prop_oneof!["\\+?[0-9]{1,15}", "\\+?(55)?[1-9]{2}9?[2-9][0-9]{7}"]
}

/// A number in national form, and a spelling of it.
fn spelling() -> impl Strategy<Value = (String, String)> {
    let national = "(11|21|43|55|68)(9[6-9][0-9]{7}|[2-5][0-9]{7})";
    (national, 0..12_u8, "( ramal | r\\. |x|;ext=)[0-9]{1,4}|").prop_map(|(national, style, extension)| {
        let (area, subscriber) = national.split_at(2);
        let (exchange, line) = subscriber.split_at(subscriber.len() - 4);
        let text = match style {
            0 => format!("({area}) {exchange}-{line}"),
            1 => format!("(0{area}) {exchange}-{line}"),
            2 => format!("0 15 {area} {exchange}-{line}"),
            3 => format!("0xx{area} {exchange}{line}"),
            4 => format!("+55 (0){area} {exchange}.{line}"),
            5 => format!("+55 {area} {exchange} {line}"),
            6 => format!("0055{area}{exchange}{line}"),
            7 => format!("55{area}{exchange}{line}"),
            8 => format!("tel:+55-{area}-{exchange}-{line}"),
            9 => format!("whatsapp:+55{area}{exchange}{line}"),
            10 => format!("{area}/{exchange}-{line}"),
            _ => return (national.clone(), format!("55{national}@s.whatsapp.net")),
        };
        (national.clone(), text + &extension)
    })
}

proptest! {
    #[test]
    fn the_twin_of_a_twin_is_the_number(text in number()) {
        let phone = phone(&text);
        if let Some(twin) = &phone.twin {
            prop_assert_ne!(twin, &phone.digits);
            prop_assert_eq!(twin_of(twin), Some(phone.digits));
        }
    }

    #[test]
    fn the_normal_form_is_its_own_normal_form_when_written_with_plus(text in number()) {
        let phone = phone(&text);
        prop_assert_eq!(forms(&format!("+{}", phone.digits)), (phone.digits, phone.twin));
    }

    #[test]
    fn matching_is_symmetric(a in number(), b in number()) {
        let (a, b) = (phone(&a), phone(&b));
        prop_assert_eq!(a.matches(&a).is_some(), a.identifies());
        prop_assert_eq!(a.matches(&b), b.matches(&a));
        if let Some(twin) = a.twin().filter(|_| a.identifies()) {
            let twin = Phone::of(twin).unwrap();
            prop_assert_eq!(a.matches(&twin), Some(Match::Twin));
            prop_assert_eq!(twin.matches(&a), Some(Match::Twin));
        }
    }

    #[test]
    fn two_spellings_of_one_number_identify_each_other(
        (national, one) in spelling(), (other_national, other) in spelling()
    ) {
        prop_assert!(same(&one, &national), "{} {:?}", one, read(&one));
        let twin = |digits: &str| twin_of(&format!("55{digits}"));
        let is_one = national == other_national || twin(&national) == Some(format!("55{other_national}"));
        prop_assert_eq!(same(&one, &other), is_one && phone(&national).identifies());
    }

    #[test]
    fn punctuation_changes_nothing(
        digits in "(55)?[1-9]{2}9?[2-9][0-9]{7}|[0-9]{1,15}",
        noise in prop::collection::vec("[ ().\\-\u{a0}\u{2013}\u{200b}']{0,3}", 16)
    ) {
        let mut noisy = String::new();
        for (noise, digit) in noise.iter().zip(digits.chars()) {
            noisy.push_str(noise);
            noisy.push(digit);
        }
        prop_assume!(!noisy.contains("(0)"));
        prop_assert_eq!(Phone::of(&noisy), Phone::of(&digits));
        prop_assert_eq!(Phone::of(&format!("{noisy} +")), Phone::of(&digits));
    }

    #[test]
    fn no_text_panics(text in any::<String>(), digits in "[0-9+(); ,x@/:=a-c]{0,40}") {
        for text in [text, digits] {
            for phone in read(&text) {
                prop_assert!((1..=MAX_DIGITS + 2).contains(&phone.phone.digits().len()));
            }
        }
    }
}

#[test]
fn whole_texts_have_nothing_but_numbers() {
    for text in [
        "(11) 98765-4321",
        "0055 (11) 98765-4321 ramal 12",
        "+55 (0)11 98765-4321",
        "11/98765-4321, r. 5",
        "(0xx11) 3222-1111 / 98765-4321",
        "tel:+55-11-98765-4321;ext=12",
    ] {
        assert!(is_whole(text), "{text}");
    }
    for text in [
        "",
        "ramal 12",
        "98765-4321 (11)",
        "98765-4321 / 11",
        "98765-4321 ramal 12 Ana",
        "98765-4321 Ana",
        "11 9B765-4321",
    ] {
        assert!(!is_whole(text), "{text}");
    }
}
