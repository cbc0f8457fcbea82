//! Receiver URLs (C-76, C-102). `https` to a public address needs nothing more; `http` and private addresses are
//! accepted only by a process that admits their host.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};
use std::str::FromStr;

use http::Uri;
use http::uri::Authority;
use serde::{Deserialize, Serialize};

use super::address::{is_link_local, is_public};
use super::template;

/// Maximum characters of a URL.
const MAX_URL: usize = 2000;
const INVALID_URL: &str = "must be a URL such as https://example.com/hook";
const LINK_LOCAL: &str = "must not lead to a link-local address";
/// Ports of the schemes.
const HTTPS: u16 = 443;
const HTTP: u16 = 80;

/// A receiver's URL: `https` or `http`, with a host, without user info, with placeholders in path and query alone. An IP
/// literal must not be link-local; the addresses that a name resolves to are checked at each delivery.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct WebhookUrl {
    /// The URL as imported.
    text: String,
    is_plain: bool,
    receiver: HostAndPort,
    /// Path and query, at least `/`.
    path: String,
}

/// A host, in lower case, and a port. An IPv6 literal has its brackets.
#[derive(Debug, Clone, PartialEq, Eq)]
struct HostAndPort {
    host: String,
    /// `None` if it is not written.
    port: Option<u16>,
}

/// A receiver that a process admits although its URL is `http` or its address is private: one name or address, with one
/// port, or with those of both schemes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotifyHost(HostAndPort);

impl WebhookUrl {
    /// The value of the `Host` header.
    #[must_use]
    pub fn authority(&self) -> String {
        let host = &self.receiver.host;
        if self.port() == self.default_port() {
            return host.clone();
        }
        format!("{host}:{}", self.port())
    }

    /// The host name, or the IP literal without brackets.
    #[must_use]
    pub fn host(&self) -> &str {
        self.receiver.bare_host()
    }

    /// The port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.receiver.port.unwrap_or(self.default_port())
    }

    /// Whether its scheme is `http`.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.is_plain
    }

    /// Whether it can be delivered only by a process that admits its host. A name may lead to a private address too.
    #[must_use]
    pub fn needs_admission(&self) -> bool {
        self.is_plain || self.receiver.address().is_some_and(|address| !is_public(address))
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

    fn default_port(&self) -> u16 {
        if self.is_plain { HTTP } else { HTTPS }
    }
}

impl HostAndPort {
    fn of(authority: &Authority) -> Result<Self, &'static str> {
        let host = authority.host();
        if host.is_empty() {
            return Err(INVALID_URL);
        }
        if authority.as_str().contains('@') {
            return Err("must not contain a user or password");
        }
        let port = match authority.as_str().strip_prefix(host) {
            Some("") => None,
            // `u16::from_str` accepts a leading `+`.
            Some(port) if port.contains('+') => return Err(INVALID_URL),
            _ => Some(authority.port_u16().filter(|port| *port > 0).ok_or(INVALID_URL)?),
        };
        let host = host.to_ascii_lowercase();
        let found = Self { host, port };
        match found.address() {
            Some(address) if is_link_local(address) => Err(LINK_LOCAL),
            None if found.host.starts_with('[') || is_ambiguous_host(&found.host) => Err(INVALID_URL),
            _ => Ok(found),
        }
    }

    fn bare_host(&self) -> &str {
        self.host.trim_start_matches('[').trim_end_matches(']')
    }

    /// The address, if the host is an IP literal.
    fn address(&self) -> Option<IpAddr> {
        self.bare_host().parse().ok()
    }
}

impl NotifyHost {
    /// Whether it admits a receiver.
    #[must_use]
    pub fn admits(&self, url: &WebhookUrl) -> bool {
        let Self(HostAndPort { host, port }) = self;
        let is_host = match self.0.address() {
            Some(address) => url.receiver.address() == Some(address),
            None => *host == url.receiver.host,
        };
        is_host && port.map_or([HTTPS, HTTP].contains(&url.port()), |port| port == url.port())
    }
}

impl FromStr for NotifyHost {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let rule = "must be HOST or HOST:PORT, such as erp.local:8080, without wildcards";
        let authority = match text.parse::<Ipv6Addr>() {
            Ok(address) => format!("[{address}]"),
            Err(_) => text.to_owned(),
        };
        let is_of_host = |c: char| c.is_ascii_alphanumeric() || "-_.:[]".contains(c);
        let authority = authority.parse::<Authority>().map_err(|_| rule)?;
        if !authority.as_str().chars().all(is_of_host) {
            return Err(rule);
        }
        let found = HostAndPort::of(&authority);
        found
            .map(Self)
            .map_err(|reason| if reason == INVALID_URL { rule } else { reason })
    }
}

impl fmt::Display for NotifyHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(HostAndPort { host, port }) = self;
        match port {
            Some(port) => write!(f, "{host}:{port}"),
            None => f.write_str(host),
        }
    }
}

impl TryFrom<String> for WebhookUrl {
    type Error = &'static str;

    /// Parses and checks a URL. The error is the violated rule.
    fn try_from(text: String) -> Result<Self, Self::Error> {
        let (scheme, rest) = text.split_once("://").ok_or(INVALID_URL)?;
        let path = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(path);
        // Names of fields may have any characters. Others would need percent-encoding, which receivers decode differently.
        let example = format!("{scheme}://{authority}{}", template::with_example_values(path));
        if text.len() > MAX_URL || !example.is_ascii() || example.contains('#') || authority.contains('{') {
            return Err(INVALID_URL);
        }
        let uri: Uri = example.parse().map_err(|_| INVALID_URL)?;
        let is_plain = match uri.scheme_str() {
            Some("https") => false,
            Some("http") => true,
            _ => return Err(INVALID_URL),
        };
        // A query may be directly after the host.
        let slash = if path.starts_with('/') { "" } else { "/" };
        Ok(Self {
            receiver: HostAndPort::of(uri.authority().ok_or(INVALID_URL)?)?,
            is_plain,
            path: format!("{slash}{path}"),
            text,
        })
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
        "https://{op=title}.example/",
        "{op=title}://erp.example/",
        "https://erp.example{op=title}/",
        "https://erp.example:{op=id}/",
        "https://erp.example/{ção}",
    ];

    #[test]
    fn malformed_urls_and_link_local_addresses_are_refused() {
        let wrong = "must be a URL such as https://example.com/hook";
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
            "https://169.254.169.254/",
            "http://169.254.0.1:8080/",
            "http://[fe80::1]/",
            "https://[::ffff:169.254.169.254]/",
            "https://[64:ff9b::a9fe:a9fe]/",
            "https://[2002:a9fe:a9fe::]/",
        ] {
            assert_eq!(hook(text), Err("must not lead to a link-local address"), "{text}");
        }
    }

    /// C-102: path and query may name custom fields, whose names have any characters.
    #[test]
    fn path_and_query_may_have_placeholders() {
        for path in [
            "/a?id=eq.{op=id}",
            "/{contactfield=Situação do/da?}/x",
            "/?{form=#}",
        ] {
            let read = hook(&format!("https://erp.example{path}")).unwrap();
            assert_eq!(read.path(), path);
        }
    }

    /// C-102: plain and private receivers need a process that admits them.
    #[test]
    fn exactly_the_named_receivers_are_admitted() {
        let host = |text: &str| text.parse::<NotifyHost>();
        for (text, needs) in [
            ("https://erp.example/", false),
            ("https://8.8.8.8/", false),
            ("http://erp.example/", true),
            ("https://127.0.0.1/", true),
            ("https://10.1.2.3:8443/a", true),
            ("https://[::1]/", true),
            ("https://[::ffff:10.0.0.1]/", true),
            ("https://[fd00:ec2::254]/", true),
        ] {
            assert_eq!(hook(text).unwrap().needs_admission(), needs, "{text}");
        }
        for (named, url, admits) in [
            ("erp.local", "http://ERP.local/", true),
            ("erp.local", "https://erp.local/", true),
            ("erp.local", "http://erp.local:443/", true),
            ("erp.local", "http://erp.local:8080/", false),
            ("erp.local", "http://erp.local.example/", false),
            ("erp.local", "http://a.erp.local/", false),
            ("ERP_1:8080", "http://erp_1:8080/", true),
            ("ERP_1:8080", "http://erp_1/", false),
            ("127.0.0.1:9000", "http://127.0.0.1:9000/", true),
            ("127.0.0.1:9000", "http://localhost:9000/", false),
            ("127.0.0.1:9000", "http://127.0.0.2:9000/", false),
            ("::1", "http://[0:0:0:0:0:0:0:1]/", true),
            ("[::1]:9000", "https://[::1]:9000/", true),
        ] {
            let (named, url) = (host(named).unwrap(), hook(url).unwrap());
            assert_eq!(named.admits(&url), admits, "{named} {url:?}");
        }
    }

    #[test]
    fn wildcards_and_link_local_hosts_are_refused() {
        let host = |text: &str| text.parse::<NotifyHost>();
        let rule = "must be HOST or HOST:PORT, such as erp.local:8080, without wildcards";
        for text in [
            "",
            "*",
            "*.local",
            "http://erp.local",
            "erp.local/a",
            "a b",
            "erp:0",
            "erp:",
            "127.1",
            "10.0.0.0/8",
            "a@b",
        ] {
            assert_eq!(host(text), Err(rule), "{text}");
        }
        for text in ["169.254.169.254", "fe80::1", "[fe80::1]:80"] {
            assert_eq!(host(text), Err("must not lead to a link-local address"), "{text}");
        }
    }
}
