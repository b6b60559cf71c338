//! Joins items into a string with a separator.

use alloc::string::String;
use core::fmt::{Display, Write as _};

/// Joins the items into one string.
pub fn join<T: Display>(items: impl Iterator<Item = T>, separator: &str) -> String {
    let mut text = String::new();
    items.for_each(|item| append(&mut text, separator, &item));
    text
}

/// Appends an item, preceded by the separator unless `text` is empty.
pub fn append(text: &mut String, separator: &str, item: &dyn Display) {
    if !text.is_empty() {
        text.push_str(separator);
    }
    // Writing to a String cannot fail.
    let _ = write!(text, "{item}");
}
