//! Request lines with bytes that are invalid in a URI. API Gateway forwards them in the query, so they have the same
//! meaning here (C-6).

/// Percent-encodes invalid bytes in the target of a request's first line. Other text is unchanged.
pub fn readable(bytes: Vec<u8>) -> Vec<u8> {
    match split(&bytes) {
        Some((before, target, after)) if !target.iter().all(|byte| may_stay(*byte)) => {
            let mut line = before.to_vec();
            for byte in target {
                if may_stay(*byte) {
                    line.push(*byte);
                } else {
                    line.extend(format!("%{byte:02X}").into_bytes());
                }
            }
            line.extend(after);
            line
        }
        _ => bytes,
    }
}

/// The bytes before, of and after the target; `None` if they do not begin with a whole request line.
fn split(bytes: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    let line = bytes[..end].strip_suffix(b"\r").unwrap_or(&bytes[..end]);
    // The target is between the first and the last space.
    let from = line.iter().position(|byte| *byte == b' ')? + 1;
    let to = line.iter().rposition(|byte| *byte == b' ')?;
    let is_request = line[..from - 1].iter().all(u8::is_ascii_uppercase)
        && line.get(from) == Some(&b'/')
        && line[to..].starts_with(b" HTTP/1.");
    (is_request && to > from).then(|| (&bytes[..from], &bytes[from..to], &bytes[to..]))
}

fn may_stay(byte: u8) -> bool {
    byte.is_ascii_graphic() && !b"\"#<>".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_target_of_a_request_line_is_encoded() {
        for (sent, read) in [
            (
                "GET /leads?search=<a \"ã\"#> HTTP/1.1\r\nx: <a b>\r\n",
                "GET /leads?search=%3Ca%20%22%C3%A3%22%23%3E HTTP/1.1\r\nx: <a b>\r\n",
            ),
            ("GET /a%20b?c={d} HTTP/1.0\n", "GET /a%20b?c={d} HTTP/1.0\n"),
            ("user-agent: a b c\r\n", "user-agent: a b c\r\n"),
            ("GET  HTTP/1.1\r\n", "GET  HTTP/1.1\r\n"),
            ("GET / b", "GET / b"),
            ("", ""),
        ] {
            assert_eq!(String::from_utf8(readable(sent.into())).unwrap(), read);
        }
    }
}
