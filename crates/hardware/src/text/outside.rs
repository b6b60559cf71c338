//! Text from outside: parsing numbers, and showing the text in messages.

use alloc::string::String;
use core::fmt::{self, Write};

/// Parses digits. Rejects a sign, which the standard library accepts: otherwise two different words
/// could mean the same number.
pub fn number(digits: &[u8], radix: u32) -> Option<u32> {
    let mut number = 0u32;
    for digit in digits {
        let digit = char::from(*digit).to_digit(36).filter(|d| *d < radix)?;
        number = number.checked_mul(radix)?.checked_add(digit)?;
    }
    (!digits.is_empty()).then_some(number)
}

/// The first characters of a text, at most the given number, followed by `...` if there
/// are more; unprintable characters become `?`.
pub struct Shown<'t>(pub &'t str, pub usize);

impl fmt::Display for Shown<'_> {
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

/// Returns `text` with every character that is not printable ASCII replaced.
pub fn printable(text: &str) -> String {
    text.chars().map(to_printable).collect()
}

/// Returns `c`, or the character that replaces it if it is not printable ASCII.
pub fn to_printable(c: char) -> char {
    match c {
        ' '..='~' => c,
        c if c.is_ascii_whitespace() => ' ',
        _ => '?',
    }
}
