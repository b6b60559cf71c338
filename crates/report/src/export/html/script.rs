//! The page's script, and the hash by which the content security policy allows it.

use serde::Serialize;
use sha2::{Digest, Sha256};

const FLAME: &str = include_str!("flame.js");
const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// A script and its SHA-256 in Base64.
#[derive(Serialize)]
pub struct Script {
    text: &'static str,
    hash: String,
}

impl Script {
    /// Returns the script that zooms and searches flame graphs.
    pub fn of_flame_graphs() -> Self {
        Self {
            text: FLAME,
            hash: base64(&Sha256::digest(FLAME)),
        }
    }
}

/// Encodes bytes in Base64 (RFC 4648, section 4).
fn base64(bytes: &[u8]) -> String {
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let byte = |place: usize| u32::from(group.get(place).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            let digit = bits >> (18 - 6 * place) & 0x3f;
            text.push(match place <= group.len() {
                true => BASE64[digit as usize].into(),
                false => '=',
            });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_matches_the_examples_of_the_rfc() {
        for (text, encoded) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(text.as_bytes()), encoded);
        }
    }

    #[test]
    fn script_has_nothing_that_xml_reads_as_markup() {
        assert!(!FLAME.contains(['<', '&']) && !FLAME.contains("]]>"));
    }
}
