//! Telephone numbers of the same line (C-72).

/// A number's normal form, and the other form of the same line.
#[derive(Debug, PartialEq)]
pub struct Line {
    pub digits: String,
    twin: Option<String>,
}

pub fn digits(text: &str) -> String {
    text.chars().filter(char::is_ascii_digit).collect()
}

/// The line of a text; `None` without digits.
pub fn line(text: &str) -> Option<Line> {
    let mut digits = digits(text);
    let (before, _) = text.split_once(|c: char| c.is_ascii_digit())?;
    let national = match digits.len() {
        11 => digits.as_bytes()[2] == b'9',
        10 => digits.as_bytes()[2] >= b'2',
        _ => false,
    };
    if national && has_area_code(&digits) && !before.contains('+') {
        digits.insert_str(0, "55");
    }
    let twin = twin(&digits);
    Some(Line { digits, twin })
}

/// A mobile number with or without its ninth digit, if 6 to 9 follows it.
fn twin(digits: &str) -> Option<String> {
    let (area, number) = digits.strip_prefix("55")?.split_at_checked(2)?;
    if !has_area_code(area) {
        return None;
    }
    let is_old = |number: &str| number.len() == 8 && number.as_bytes()[0] >= b'6';
    match number.strip_prefix('9').filter(|rest| is_old(rest)) {
        Some(rest) => Some(format!("55{area}{rest}")),
        None => is_old(number).then(|| format!("55{area}9{number}")),
    }
}

fn has_area_code(number: &str) -> bool {
    const NONE: [&str; 23] = [
        "20", "23", "25", "26", "29", "30", "36", "39", "40", "50", "52", "56", "57", "58", "59", "60", "70",
        "72", "76", "78", "80", "90", "10",
    ];
    number.as_bytes()[0] != b'0' && !NONE.contains(&&number[..2])
}

impl Line {
    /// Rank of another number: 0 is best.
    pub fn rank(&self, other: &str) -> Option<u8> {
        let other = line(other)?;
        if other.digits == self.digits {
            return Some(0);
        }
        (self.twin.as_ref() == Some(&other.digits)).then_some(1)
    }
}

/// The same vectors as the service's.
#[test]
fn the_phone_vectors_match() {
    let cases = include_str!("../../../../../../shared/domain/vectors/phones.json");
    let cases: Vec<serde_json::Value> = serde_json::from_str(cases).expect("JSON");
    assert!(cases.len() > 50, "there are cases");
    for case in cases {
        let [call, stored] = ["call", "stored"].map(|name| case[name].as_str().expect("a number"));
        let same = line(call).expect("digits").rank(stored).is_some();
        assert_eq!(same, case["same"] == serde_json::json!(true), "{case}");
    }
}
