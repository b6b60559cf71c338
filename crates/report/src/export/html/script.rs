//! The page's script, and the hash by which the content security policy allows it.

use base64ct::{Base64, Encoding as _};
use serde::Serialize;
use sha2::{Digest, Sha256};

const FLAME: &str = include_str!("flame.js");

/// A script and its SHA-256 in Base64.
#[derive(Serialize)]
pub struct Script {
    text: &'static str,
    hash: String,
}

impl Script {
    /// Returns the script that zooms and searches flame graphs.
    pub fn flame_graphs() -> Self {
        Self {
            text: FLAME,
            hash: Base64::encode_string(&Sha256::digest(FLAME)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn script_has_nothing_that_xml_reads_as_markup() {
        assert!(!FLAME.contains(['<', '&']) && !FLAME.contains("]]>"));
    }
}
