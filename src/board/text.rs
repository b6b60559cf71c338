//! Text from outside: its parts, its numbers, and its form for a terminal.

use core::fmt::{self, Write};

/// Parses digits. A sign, which the standard library accepts, is refused: two words
/// could mean one number.
pub(crate) fn number(digits: &[u8], radix: u32) -> Option<u32> {
    let mut number = 0u32;
    for digit in digits {
        let digit = char::from(*digit).to_digit(36).filter(|d| *d < radix)?;
        number = number.checked_mul(radix)?.checked_add(digit)?;
    }
    (!digits.is_empty()).then_some(number)
}

/// The first characters of a text, at most the given number, followed by `...` if there
/// are more; unprintable characters become `?`.
pub(crate) struct Shown<'t>(pub(crate) &'t str, pub(crate) usize);

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
