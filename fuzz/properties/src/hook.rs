//! Receiver URLs of notifications (C-76).

use std::net::{IpAddr, Ipv4Addr};

use shared::automation::template::with_example_values;
use shared::automation::{WebhookUrl, is_link_local, is_public};

/// The address that a lenient parser, such as the C library's `inet_aton`, reads: one to four numbers, each decimal, octal or
/// hexadecimal. The last number fills the remaining bytes.
fn lenient_address(host: &str) -> Option<Ipv4Addr> {
    let host = host.strip_suffix('.').unwrap_or(host);
    let number = |part: &str| {
        let (digits, radix) = match part.as_bytes() {
            [b'0', b'x' | b'X', ..] => (&part[2..], 16),
            [b'0', _, ..] => (&part[1..], 8),
            _ => (part, 10),
        };
        // Some parsers read an empty hexadecimal number as 0.
        let digits = if digits.is_empty() && radix == 16 {
            "0"
        } else {
            digits
        };
        (!digits.starts_with('+')).then(|| u64::from_str_radix(digits, radix).ok())?
    };
    let numbers: Vec<_> = host.split('.').map(number).collect::<Option<_>>()?;
    let (last, before) = numbers.split_last()?;
    if before.len() > 3 || before.iter().any(|number| *number > 255) {
        return None;
    }
    let room = 1_u64 << (8 * (4 - before.len()));
    let high = (0..)
        .zip(before)
        .map(|(at, number)| number << (24 - 8 * at))
        .sum::<u64>();
    (*last < room).then(|| u32::try_from(high + last).ok().map(Ipv4Addr::from))?
}

/// A URL is accepted only with http or https and a host that no parser takes for a link-local address or, if it needs no
/// admission, for a private one; the request line contains no line break outside of placeholders; the text round-trips.
///
/// # Panics
/// If any of this is violated.
pub fn hook(data: &[u8]) {
    let Some(text) = crate::text(data) else { return };
    let Ok(hook) = WebhookUrl::try_from(text.to_owned()) else {
        return;
    };
    let (scheme, behind) = text.split_once("://").unwrap_or_default();
    let (scheme, port) = (
        scheme.to_ascii_lowercase(),
        if hook.is_plain() { 80 } else { 443 },
    );
    assert_eq!(scheme, if hook.is_plain() { "http" } else { "https" }, "{text:?}");
    let end = behind.find(['/', '?']).unwrap_or(behind.len());
    let (authority, path) = behind.split_at(end);
    let host = hook.host();
    let plain = |c: char| c.is_ascii_graphic() && !"@#/?\\\"<>^`{|}%".contains(c);
    assert!(!host.is_empty() && host.chars().all(plain), "{text:?}: {host:?}");
    assert_eq!(host.to_ascii_lowercase(), host);
    let written = hook.authority().to_ascii_lowercase();
    let authority = authority.to_ascii_lowercase();
    assert!(
        authority == written
            || authority == format!("{written}:{port}")
            || has_zeros(&authority, hook.port()),
        "{text:?}: {written:?}"
    );
    assert!(hook.port() > 0);
    assert!(
        hook.path() == path || hook.path() == format!("/{path}"),
        "{text:?}: {}",
        hook.path()
    );
    let path = with_example_values(hook.path());
    assert!(
        path.starts_with('/') && !path.contains(|c: char| c.is_control() || c == ' '),
        "{text:?}"
    );
    assert_host(text, &hook);
    assert_eq!(String::from(hook.clone()), text);
    assert_eq!(WebhookUrl::try_from(text.to_owned()), Ok(hook));
}

/// Requires that no parser takes the host for an address that needs more than the URL.
fn assert_host(text: &str, hook: &WebhookUrl) {
    let host = hook.host();
    let address = host.parse::<IpAddr>().ok();
    assert!(!address.is_some_and(is_link_local), "{text:?}");
    assert!(
        hook.needs_admission() || address.is_none_or(is_public),
        "{text:?}"
    );
    let lenient = lenient_address(host).map(IpAddr::V4);
    assert!(
        lenient.is_none() || lenient == address,
        "{text:?} is {lenient:?} to some"
    );
    assert!(
        !host.contains(':') || address.is_some_and(|address| address.is_ipv6()),
        "{text:?}"
    );
}

/// Whether a port has leading zeros.
fn has_zeros(authority: &str, port: u16) -> bool {
    let written = authority
        .rsplit_once(':')
        .map(|(_, port)| port.trim_start_matches('0'));
    written.is_some_and(|written| written == port.to_string())
}
