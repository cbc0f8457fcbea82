//! The stored form of an item: its attributes except the key, in compact binary.
//!
//! Each value begins with a byte: its kind in the lower half, and a length or number below 15 in the upper half, or 15 if
//! the length or number follows in groups of 7 bits. Names are ordered and numbers canonical, so equal values have equal
//! bytes. A change of this form increments `FORMAT` in `connection.rs`.

use table::{AttributeValue, Item};

use crate::number::{Number, integer, integer_size};

const TEXT: u8 = 0;
/// An integer: 0, -1, 1, -2, … as 0, 1, 2, 3, …
const INTEGER: u8 = 1;
/// Any other number, as text.
const DECIMAL: u8 = 2;
const BOOL: u8 = 3;
const NULL: u8 = 4;
const LIST: u8 = 5;
const MAP: u8 = 6;
const TEXTS: u8 = 7;
const NUMBERS: u8 = 8;
/// The upper half of a first byte, if the length or number follows.
const FOLLOWS: u8 = 15;

const INVALID_NUMBER: &str = "a number is invalid, too long, too small or too large";

/// A stored item without its key.
#[derive(Debug, Default, PartialEq)]
pub struct Encoded {
    pub body: Vec<u8>,
    /// Bytes that DynamoDB bills.
    pub size: usize,
    /// The attribute `ttl`, if it is an integer.
    pub expiry: Option<i64>,
}

/// Encodes the attributes of an item except its key. The error names the reason.
pub fn encode(item: &Item) -> Result<Encoded, &'static str> {
    let mut encoder = Encoder(Vec::with_capacity(128));
    let attributes = item.iter().filter(|(name, _)| *name != "pk" && *name != "sk");
    let size = encoder.attributes(attributes.collect())?;
    let expiry = match item.get("ttl") {
        Some(AttributeValue::N(digits)) => integer(digits),
        _ => None,
    };
    let body = encoder.0;
    Ok(Encoded { body, size, expiry })
}

/// Whether DynamoDB considers two values equal.
pub fn are_equal(left: &AttributeValue, right: &AttributeValue) -> bool {
    let encoded = |value| {
        let mut encoder = Encoder(Vec::new());
        encoder.value(value).map(|_| encoder.0)
    };
    left == right || encoded(left).is_ok_and(|left| encoded(right).is_ok_and(|right| left == right))
}

struct Encoder(Vec<u8>);

impl Encoder {
    /// Writes attributes in the order of their names. Returns their size.
    fn attributes(&mut self, mut attributes: Vec<(&String, &AttributeValue)>) -> Result<usize, &'static str> {
        attributes.sort_unstable_by_key(|(name, _)| *name);
        self.number(attributes.len() as u64);
        let mut size = 0;
        for (name, value) in attributes {
            self.number(name.len() as u64);
            self.0.extend_from_slice(name.as_bytes());
            size += name.len() + self.value(value)?;
        }
        Ok(size)
    }

    /// Writes a value. Returns its size.
    fn value(&mut self, value: &AttributeValue) -> Result<usize, &'static str> {
        Ok(match value {
            AttributeValue::S(text) => self.text(TEXT, text),
            AttributeValue::N(digits) => self.digits(digits)?,
            AttributeValue::Bool(flag) => self.head(BOOL, u64::from(*flag)),
            AttributeValue::Null(flag) => self.head(NULL, u64::from(*flag)),
            AttributeValue::L(list) => {
                let mut size = 2 + self.head(LIST, list.len() as u64);
                for value in list {
                    size += 1 + self.value(value)?;
                }
                size
            }
            AttributeValue::M(map) => {
                2 + self.head(MAP, 0) + map.len() + self.attributes(map.iter().collect())?
            }
            AttributeValue::Ss(texts) => {
                self.head(TEXTS, texts.len() as u64);
                let mut texts: Vec<_> = texts.iter().collect();
                texts.sort_unstable();
                texts.into_iter().map(|text| self.text(TEXT, text)).sum()
            }
            AttributeValue::Ns(numbers) => {
                self.head(NUMBERS, numbers.len() as u64);
                let canonical = numbers.iter().map(|digits| Some(Number::parse(digits)?.text()));
                let mut canonical: Vec<_> = canonical.collect::<Option<_>>().ok_or(INVALID_NUMBER)?;
                canonical.sort_unstable();
                let sizes = canonical.iter().map(|digits| self.digits(digits));
                sizes.sum::<Result<_, _>>()?
            }
            _ => return Err("a value has a type that is not stored"),
        })
    }

    fn digits(&mut self, digits: &str) -> Result<usize, &'static str> {
        if let Some(integer) = integer(digits) {
            self.head(INTEGER, ((integer << 1) ^ (integer >> 63)).cast_unsigned());
            return Ok(integer_size(integer));
        }
        let number = Number::parse(digits).ok_or(INVALID_NUMBER)?;
        match number.text() {
            // A text with an exponent, for example.
            canonical if integer(&canonical).is_some() => self.digits(&canonical),
            canonical => {
                self.text(DECIMAL, &canonical);
                Ok(number.size())
            }
        }
    }

    fn text(&mut self, kind: u8, text: &str) -> usize {
        self.head(kind, text.len() as u64);
        self.0.extend_from_slice(text.as_bytes());
        text.len()
    }

    /// Writes the first byte of a value, and the number if it does not fit. Returns 1, the size of a flag.
    fn head(&mut self, kind: u8, number: u64) -> usize {
        match u8::try_from(number) {
            Ok(small) if small < FOLLOWS => self.0.push(kind | small << 4),
            _ => {
                self.0.push(kind | FOLLOWS << 4);
                self.number(number);
            }
        }
        1
    }

    fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number.to_le_bytes()[0] | 0x80);
            number >>= 7;
        }
        self.0.push(number.to_le_bytes()[0]);
    }
}

/// The attributes of an encoded item; `None` if the bytes are damaged.
pub fn decode(body: &[u8]) -> Option<Item> {
    let mut decoder = Decoder(body);
    // Room for the key.
    let item = decoder.attributes(2)?;
    decoder.0.is_empty().then_some(item)
}

struct Decoder<'b>(&'b [u8]);

impl Decoder<'_> {
    fn attributes(&mut self, room: usize) -> Option<Item> {
        let count = self.count()?;
        let mut item = Item::with_capacity(count + room);
        for _ in 0..count {
            let name = self.count().and_then(|length| self.text(length))?;
            item.insert(name, self.value()?);
        }
        Some(item)
    }

    fn value(&mut self) -> Option<AttributeValue> {
        let (kind, number) = self.head()?;
        let length = usize::try_from(number).ok()?;
        Some(match kind {
            TEXT => AttributeValue::S(self.text(length)?),
            INTEGER => AttributeValue::N(unfolded(number).to_string()),
            DECIMAL => AttributeValue::N(self.text(length)?),
            BOOL => AttributeValue::Bool(number == 1),
            NULL => AttributeValue::Null(number == 1),
            LIST => AttributeValue::L((0..length).map(|_| self.value()).collect::<Option<_>>()?),
            MAP => AttributeValue::M(self.attributes(0)?),
            TEXTS => AttributeValue::Ss(self.set(length)?),
            NUMBERS => AttributeValue::Ns(self.set(length)?),
            _ => return None,
        })
    }

    fn set(&mut self, length: usize) -> Option<Vec<String>> {
        let elements = (0..length).map(|_| match self.value()? {
            AttributeValue::S(text) | AttributeValue::N(text) => Some(text),
            _ => None,
        });
        elements.collect()
    }

    fn head(&mut self) -> Option<(u8, u64)> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        let number = match first >> 4 {
            FOLLOWS => self.number()?,
            small => u64::from(small),
        };
        Some((first & 15, number))
    }

    fn text(&mut self, length: usize) -> Option<String> {
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        String::from_utf8(text.to_vec()).ok()
    }

    /// A number of bytes or elements. Each element has a byte at least.
    fn count(&mut self) -> Option<usize> {
        let count = usize::try_from(self.number()?).ok()?;
        (count <= self.0.len()).then_some(count)
    }

    fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let (byte, rest) = self.0.split_first()?;
            self.0 = rest;
            number |= u64::from(byte & 0x7f) << shift;
            if *byte < 0x80 {
                return Some(number);
            }
        }
        None
    }
}

fn unfolded(number: u64) -> i64 {
    (number >> 1).cast_signed() ^ -(number & 1).cast_signed()
}

#[cfg(test)]
mod tests {
    use proptest::collection::{hash_map, vec};
    use proptest::prelude::*;

    use super::*;

    fn n(digits: &str) -> AttributeValue {
        AttributeValue::N(digits.to_owned())
    }

    fn item<const N: usize>(attributes: [(&str, AttributeValue); N]) -> Item {
        attributes.map(|(name, value)| (name.to_owned(), value)).into()
    }

    fn restored(item: &Item) -> Item {
        decode(&encode(item).unwrap().body).unwrap()
    }

    #[test]
    fn an_item_is_small_and_has_the_billed_size() {
        let example = item([
            ("pk", n("1")),
            ("name", AttributeValue::S("Ana".to_owned())),
            ("ttl", n("1600000001")),
            ("v", n("7")),
            (
                "list",
                AttributeValue::L(vec![n("-1.5"), AttributeValue::Bool(true)]),
            ),
            (
                "map",
                AttributeValue::M(item([("a", AttributeValue::Null(true))])),
            ),
        ]);
        let Encoded { body, size, expiry } = encode(&example).unwrap();
        assert_eq!(expiry, Some(1_600_000_001));
        let [list, map] = [3 + (1 + 4) + (1 + 1), 3 + (1 + 1 + 1)];
        assert_eq!(size, (4 + list) + (3 + map) + (4 + 3) + (3 + 6) + (1 + 2));
        assert_eq!(
            body.len(),
            1 + (5 + 4) + (4 + 6) + (2 + 1) + (5 + 1 + 5 + 1) + (4 + 1 + 1 + 2 + 1)
        );
    }

    #[test]
    fn numbers_and_sets_become_canonical() {
        let set = |elements: &[&str]| elements.iter().map(|text| (*text).to_owned()).collect();
        let written = item([
            ("a", n("1e2")),
            ("b", n("01.50")),
            ("c", AttributeValue::Ss(set(&["b", "a"]))),
            ("d", AttributeValue::Ns(set(&["2.0", "-7"]))),
        ]);
        let stored = item([
            ("a", n("100")),
            ("b", n("1.5")),
            ("c", AttributeValue::Ss(set(&["a", "b"]))),
            ("d", AttributeValue::Ns(set(&["-7", "2"]))),
        ]);
        assert_eq!(restored(&written), stored);
        assert!(are_equal(&n("1.0"), &n("1")));
        assert!(!are_equal(&n("1"), &AttributeValue::S("1".to_owned())));
    }

    #[test]
    fn what_dynamodb_refuses_is_refused() {
        assert!(encode(&item([("a", n("x"))])).is_err());
        let blob = AttributeValue::B(Vec::new().into());
        assert!(encode(&item([("a", AttributeValue::L(vec![blob]))])).is_err());
    }

    fn values() -> impl Strategy<Value = AttributeValue> {
        let leaf = prop_oneof![
            ".*".prop_map(AttributeValue::S),
            any::<i64>().prop_map(|number| n(&number.to_string())),
            (1..99_i64, 1..9_u8).prop_map(|(whole, tenth)| n(&format!("{whole}.{tenth}"))),
            any::<bool>().prop_map(AttributeValue::Bool),
            any::<bool>().prop_map(AttributeValue::Null),
        ];
        leaf.prop_recursive(3, 24, 6, |inner| {
            prop_oneof![
                vec(inner.clone(), 0..20).prop_map(AttributeValue::L),
                hash_map("[a-z]{0,20}", inner, 0..5).prop_map(AttributeValue::M),
            ]
        })
    }

    proptest! {
        #[test]
        fn an_item_survives(item in hash_map("[a-z]{3,20}", values(), 0..6)) {
            prop_assert_eq!(restored(&item), item);
        }

        #[test]
        fn a_damaged_item_does_not_panic(bytes in vec(any::<u8>(), 0..40)) {
            let _ = decode(&bytes);
        }
    }
}
