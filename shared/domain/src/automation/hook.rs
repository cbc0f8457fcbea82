//! Receiver URLs: `https` only, to public addresses only (C-76).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use http::Uri;
use serde::{Deserialize, Serialize};

/// Maximum characters of a URL.
const MAX_URL: usize = 2000;

/// A receiver's URL: `https`, with a host, without user info. An IP literal must be public; the addresses
/// that a name resolves to are checked at each delivery.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct WebhookUrl {
    /// The URL as imported.
    text: String,
    /// In lower case. An IPv6 literal has its brackets.
    host: String,
    port: u16,
    /// Path and query, at least `/`.
    path: String,
}

impl WebhookUrl {
    /// The value of the `Host` header.
    #[must_use]
    pub fn authority(&self) -> String {
        if self.port == 443 {
            return self.host.clone();
        }
        format!("{}:{}", self.host, self.port)
    }

    /// The host name, or the IP literal without brackets.
    #[must_use]
    pub fn host(&self) -> &str {
        self.host.trim_start_matches('[').trim_end_matches(']')
    }

    /// The port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Path and query, which may have placeholders.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// With another path and query.
    #[must_use]
    pub fn with_path(&self, path: String) -> Self {
        Self { path, ..self.clone() }
    }
}

impl TryFrom<String> for WebhookUrl {
    type Error = &'static str;

    /// Parses and checks a URL. The error is the violated rule.
    fn try_from(text: String) -> Result<Self, Self::Error> {
        let invalid_url = "must be an https URL such as https://example.com/hook";
        // Other characters would need percent-encoding, which receivers decode differently.
        if text.len() > MAX_URL || !text.is_ascii() || text.contains('#') {
            return Err(invalid_url);
        }
        let uri: Uri = text.parse().map_err(|_| invalid_url)?;
        let authority = uri.authority().ok_or(invalid_url)?;
        if uri.scheme_str() != Some("https") || authority.host().is_empty() {
            return Err(invalid_url);
        }
        if authority.as_str().contains('@') {
            return Err("must not contain a user or password");
        }
        let port = match authority.as_str().strip_prefix(authority.host()) {
            Some("") => 443,
            // `u16::from_str` accepts a leading `+`.
            Some(port) if port.contains('+') => return Err(invalid_url),
            _ => authority.port_u16().filter(|port| *port > 0).ok_or(invalid_url)?,
        };
        // `to_string` adds the slash that a query directly after the host lacks.
        let path = uri
            .path_and_query()
            .map_or_else(|| "/".to_owned(), ToString::to_string);
        let url = Self {
            host: authority.host().to_ascii_lowercase(),
            port,
            path,
            text,
        };
        match url.host().parse::<IpAddr>() {
            Ok(address) if !is_public(address) => Err("must not lead to a private address"),
            Err(_) if url.host.starts_with('[') || is_ambiguous_host(url.host()) => Err(invalid_url),
            _ => Ok(url),
        }
    }
}

impl From<WebhookUrl> for String {
    fn from(hook: WebhookUrl) -> Self {
        hook.text
    }
}

/// Whether a host that is not an IP literal could be parsed as one by a lenient client, for example `127.1`,
/// `0x7f000001` or `fe80::1%25eth0`. Host names never end in a number or contain a colon.
fn is_ambiguous_host(host: &str) -> bool {
    let last = host.trim_end_matches('.').rsplit('.').next().unwrap_or_default();
    host.contains([':', '%']) || last.starts_with("0x") || last.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether an address is globally reachable: not in any block of the IANA special-purpose registries. IPv6
/// addresses with an embedded IPv4 address are checked by that address.
#[must_use]
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [first, second, third, _] = address.octets();
    // This host, private networks, loopback, multicast, reserved, carrier-grade NAT, link-local,
    // benchmarking.
    let is_special_network = matches!(
        (first, second),
        (0 | 10 | 127 | 224.., _)
            | (100, 64..=127)
            | (169, 254)
            | (172, 16..=31)
            | (192, 168)
            | (198, 18 | 19)
    );
    // Protocol assignments, documentation, 6to4 relays.
    let is_special_block = matches!(
        (first, second, third),
        (192, 0, 0 | 2) | (192, 88, 99) | (198, 51, 100) | (203, 0, 113)
    );
    !is_special_network && !is_special_block
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let parts = address.segments();
    // The embedded IPv4 address is in the two parts from `first_part` on.
    let embeds_public_v4 = |first_part: usize| {
        let bits = u32::from(parts[first_part]) << 16 | u32::from(parts[first_part + 1]);
        is_public_v4(Ipv4Addr::from(bits))
    };
    match (parts[0], parts[1]) {
        // NAT64, 6to4, and IPv4-mapped addresses.
        (0x64, 0xff9b) => parts[2..6] == [0; 4] && embeds_public_v4(6),
        (0x2002, _) => embeds_public_v4(1),
        _ if address.to_ipv4_mapped().is_some() => embeds_public_v4(6),
        // Protocol assignments with Teredo, and documentation.
        (0x2001, 0..=0x1ff | 0xdb8) | (0x3fff, 0..=0xfff) => false,
        // Only 2000::/3 is allocated to public addresses.
        (first, _) => (0x2000..=0x3fff).contains(&first),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hook(text: &str) -> Result<WebhookUrl, &'static str> {
        WebhookUrl::try_from(text.to_owned())
    }

    #[test]
    fn a_webhook_url_has_authority_host_port_and_path() {
        for (text, authority, host, port, path) in [
            ("https://ERP.example", "erp.example", "erp.example", 443, "/"),
            (
                "https://erp.example:443/a?b=c",
                "erp.example",
                "erp.example",
                443,
                "/a?b=c",
            ),
            (
                "https://erp.example:8443/a",
                "erp.example:8443",
                "erp.example",
                8443,
                "/a",
            ),
            (
                "https://erp.example?b=c",
                "erp.example",
                "erp.example",
                443,
                "/?b=c",
            ),
            ("https://8.8.8.8/", "8.8.8.8", "8.8.8.8", 443, "/"),
            (
                "https://[2606:4700::1]:8443/",
                "[2606:4700::1]:8443",
                "2606:4700::1",
                8443,
                "/",
            ),
        ] {
            let read = hook(text).unwrap();
            assert_eq!(
                (read.authority().as_str(), read.host(), read.port(), read.path()),
                (authority, host, port, path),
                "{text}"
            );
            assert_eq!(String::from(read), text);
        }
    }

    /// Rejected, regardless of the address.
    const WRONG: &[&str] = &[
        "",
        "erp.example",
        "/hook",
        "http://erp.example/",
        "ftp://erp.example/",
        "https://",
        "https:///a",
        "https://erp.example:0/",
        "https://erp.example:99999/",
        "https://erp.example:/",
        "https://erp.example:+443/",
        "https://erp.example/a\u{87}b",
        "https://erp.example/ação",
        "https://erp.example/#a",
        "https://erp example/",
        "https://erp.example/\r\nx-a: b",
        "https://erp.example/a b",
        "https://não.example/",
        "https://0x7f000001/",
        "https://erp%2eexample/",
        "https://127.1/",
        "https://0177.0.0.1./",
        "https://[::1/",
        "https://[fe80::1%25eth0]/",
        "https://[25%..]/",
    ];

    #[test]
    fn only_https_urls_to_public_hosts_are_accepted() {
        let wrong = "must be an https URL such as https://example.com/hook";
        for text in WRONG {
            assert_eq!(hook(text), Err(wrong), "{text}");
        }
        assert_eq!(
            hook(&format!("https://e.example/{}", "a".repeat(2000))),
            Err(wrong)
        );
        for text in ["https://a@erp.example/", "https://a:b@erp.example/"] {
            assert_eq!(hook(text), Err("must not contain a user or password"), "{text}");
        }
        for text in [
            "https://127.0.0.1/",
            "https://10.1.2.3:8443/a",
            "https://[::1]/",
            "https://[::ffff:10.0.0.1]/",
            "https://[fd00:ec2::254]/",
            "https://169.254.169.254/",
        ] {
            assert_eq!(hook(text), Err("must not lead to a private address"), "{text}");
        }
    }

    const SPECIAL: &[&str] = &[
        "0.0.0.0",
        "0.1.2.3",
        "10.0.0.1",
        "100.64.0.1",
        "100.127.255.255",
        "127.0.0.1",
        "127.255.255.254",
        "169.254.169.254",
        "172.16.0.1",
        "172.31.255.255",
        "192.0.0.1",
        "192.0.2.1",
        "192.88.99.1",
        "192.168.1.1",
        "198.18.0.1",
        "198.19.255.255",
        "198.51.100.1",
        "203.0.113.1",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "::127.0.0.1",
        "64:ff9b::7f00:1",
        "64:ff9b:1::808:808",
        "100::1",
        "2001::1",
        "2001:db8::1",
        "2002:7f00:1::",
        "3fff::1",
        "fc00::1",
        "fd12::1",
        "fe80::1",
        "fec0::1",
        "ff02::1",
    ];
    const PUBLIC: &[&str] = &[
        "1.1.1.1",
        "8.8.8.8",
        "100.63.255.255",
        "100.128.0.1",
        "172.15.0.1",
        "172.32.0.1",
        "192.167.0.1",
        "223.255.255.255",
        "2606:4700::1",
        "2001:4860:4860::8888",
        "::ffff:8.8.8.8",
        "64:ff9b::808:808",
        "2002:808:808::",
    ];

    #[test]
    fn special_addresses_are_not_public() {
        let public = |text: &&&str| is_public(text.parse().unwrap());
        assert_eq!(SPECIAL.iter().find(public), None);
        assert_eq!(PUBLIC.iter().find(|text| !public(text)), None);
    }
}
