//! Helpers that parse numbers in untrusted text and make such text printable for messages.

use alloc::string::String;
use core::fmt::{self, Write};

/// Parses digits. Unlike the standard library, this function rejects signs, because otherwise two
/// different strings could have the same value.
pub fn parse_number(digits: &[u8], radix: u32) -> Option<u32> {
    let mut number = 0u32;
    for digit in digits {
        let value = char::from(*digit).to_digit(radix)?;
        number = number.checked_mul(radix)?.checked_add(value)?;
    }
    (!digits.is_empty()).then_some(number)
}

/// Parses an address: `0x` and hexadecimal digits.
pub fn parse_address(text: &str) -> Option<u64> {
    let digits = text.strip_prefix("0x")?;
    // The standard library would accept a sign.
    let is_number = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    u64::from_str_radix(digits, 16).ok().filter(|_| is_number)
}

/// A text for a message, truncated to the given number of characters and followed by `...` if it is
/// longer. Unprintable characters become `?`.
pub struct Excerpt<'t>(pub &'t str, pub usize);

impl fmt::Display for Excerpt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, c) in self.0.chars().enumerate() {
            if index == self.1 {
                return f.write_str("...");
            }
            let plain = c == ' ' || c.is_ascii_graphic();
            f.write_char(if plain { c } else { '?' })?;
        }
        Ok(())
    }
}

/// Returns `text` with all characters that are not printable ASCII replaced. On a host terminal,
/// which shows Unicode, `host::untrusted_text::plain` is used instead.
pub fn printable(text: &str) -> String {
    text.chars().map(to_printable).collect()
}

/// Returns `c`, or a replacement if it is not printable ASCII.
pub fn to_printable(c: char) -> char {
    match c {
        ' '..='~' => c,
        c if c.is_ascii_whitespace() => ' ',
        _ => '?',
    }
}
