//! Parses fractions given on the command line.

use thiserror::Error;

/// A string that is not a valid fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("expected a fraction below 1, such as 0.02 or 2%")]
pub struct NotAShare;

/// Parses a fraction, such as `0.02` or `2%`, into parts per million.
///
/// # Errors
/// Returns an error if `text` is not a number that is at least 0 and less than 1.
pub fn parse_share(text: &str) -> Result<u32, NotAShare> {
    let (digits, scale) = match text.strip_suffix('%') {
        Some(digits) => (digits, 10_000.0),
        None => (text, 1_000_000.0),
    };
    let number = digits.parse::<f64>().map_err(|_| NotAShare)?;
    let ppm = (number * scale).round();
    if number.is_sign_positive() && (0.0..1_000_000.0).contains(&ppm) {
        Ok(ppm as u32)
    } else {
        Err(NotAShare)
    }
}
