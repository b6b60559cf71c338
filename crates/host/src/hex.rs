//! Bytes as hexadecimal digits.

/// Returns the bytes in hexadecimal, without a prefix.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
