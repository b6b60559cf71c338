//! Numbers in bytes from outside.

/// Returns the little-endian number in `size` bytes at `at`; 0 outside of `bytes`.
pub(super) fn number(bytes: &[u8], at: usize, size: usize) -> u64 {
    let bytes = bytes.get(at..at + size).unwrap_or_default();
    bytes.iter().rfold(0, |n, byte| n << 8 | u64::from(*byte))
}
