//! Addresses of receivers.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

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
    if let Some(embedded) = embedded_v4(address) {
        return is_public_v4(embedded);
    }
    let parts = address.segments();
    match (parts[0], parts[1]) {
        // Protocol assignments with Teredo, and documentation.
        (0x2001, 0..=0x1ff | 0xdb8) | (0x3fff, 0..=0xfff) => false,
        // Only 2000::/3 is allocated to public addresses.
        (first, _) => (0x2000..=0x3fff).contains(&first),
    }
}

/// The IPv4 address in a NAT64, 6to4 or IPv4-mapped address.
fn embedded_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let parts = address.segments();
    // It is in the two parts from `first_part` on.
    let embedded = |first_part: usize| {
        let bits = u32::from(parts[first_part]) << 16 | u32::from(parts[first_part + 1]);
        Some(Ipv4Addr::from(bits))
    };
    match parts {
        [0x64, 0xff9b, 0, 0, 0, 0, ..] => embedded(6),
        [0x2002, ..] => embedded(1),
        _ => address.to_ipv4_mapped(),
    }
}

/// Whether an address belongs to the link of a machine, where clouds have their metadata. Nobody admits such a receiver.
#[must_use]
pub fn is_link_local(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => {
            let embedded = embedded_v4(address);
            address.is_unicast_link_local() || embedded.is_some_and(|address| address.is_link_local())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
