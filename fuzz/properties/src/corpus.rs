//! The inputs of a target in one file: a line for each, in double quotes, escaped as a byte string of Rust. Other lines are
//! comments.

/// The inputs in a file. `None` if a line is no input and no comment.
#[must_use]
pub fn read(text: &str) -> Option<Vec<Vec<u8>>> {
    let lines = text.lines().filter(|line| !line.starts_with("//"));
    lines
        .map(|line| unescaped(line.strip_prefix('"')?.strip_suffix('"')?))
        .collect()
}

/// The line of an input.
#[must_use]
pub fn line(input: &[u8]) -> String {
    format!("\"{}\"\n", input.escape_ascii())
}

fn unescaped(text: &str) -> Option<Vec<u8>> {
    let (mut bytes, mut rest) = (Vec::new(), text.bytes());
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        let digit = |digit: u8| char::from(digit).to_digit(16);
        bytes.push(match rest.next()? {
            b't' => b'\t',
            b'r' => b'\r',
            b'n' => b'\n',
            b'x' => u8::try_from(digit(rest.next()?)? * 16 + digit(rest.next()?)?).ok()?,
            quoted => quoted,
        });
    }
    Some(bytes)
}
