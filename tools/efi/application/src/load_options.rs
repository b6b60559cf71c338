//! The boot arguments in an application's load options.

use alloc::string::String;
use alloc::vec::Vec;

/// The contents of load options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadOptions {
    /// No load options, or only whitespace.
    None,
    /// Boot arguments, which may still contain characters that are not printable ASCII.
    Arguments(String),
    /// Load options that are not text, such as data that a boot manager stores for its own use.
    Binary,
}

/// Reads load options: UCS-2 text, optionally NUL-terminated. If the first word ends with `.efi`,
/// that word is treated as the program name, which some shells include.
pub fn parse(bytes: &[u8]) -> LoadOptions {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let units: Vec<u16> = pairs.iter().map(|pair| u16::from_le_bytes(*pair)).collect();
    let end = units.iter().position(|unit| *unit == 0);
    let (before, after) = units.split_at(end.unwrap_or(units.len()));
    let text: Option<String> = char::decode_utf16(before.iter().copied())
        .map(|result| result.ok().filter(|c| !c.is_control() || c.is_whitespace()))
        .collect();
    let is_whole = rest.is_empty() && after.iter().all(|unit| *unit == 0);
    match text {
        Some(text) if text.trim().is_empty() && is_whole => LoadOptions::None,
        // Some boot managers store a GUID here; its bytes can look like text in a non-Latin script.
        Some(text) if text.trim_start().starts_with(|c: char| c.is_ascii()) && is_whole => {
            arguments(&text)
        }
        _ => LoadOptions::Binary,
    }
}

/// Returns the words in `text` as arguments, without the program name.
fn arguments(text: &str) -> LoadOptions {
    let mut words = text.split_whitespace().peekable();
    words.next_if(|word| is_program(word));
    let arguments: Vec<&str> = words.collect();
    if arguments.is_empty() {
        LoadOptions::None
    } else {
        LoadOptions::Arguments(arguments.join(" "))
    }
}

fn is_program(word: &str) -> bool {
    let ending = word.trim_end_matches('"').to_ascii_lowercase();
    ending.ends_with(".efi") && !word.contains('=')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ucs2(text: &str) -> Vec<u8> {
        text.encode_utf16().flat_map(u16::to_le_bytes).collect()
    }

    #[test]
    fn program_name_is_not_an_argument() {
        let arguments = |text: &str| LoadOptions::Arguments(text.into());
        for (text, expected) in [
            ("", LoadOptions::None),
            (" \0\0", LoadOptions::None),
            ("FS0:\\EFI\\BOOT\\BootAA64.EFI", LoadOptions::None),
            ("iterations=2", arguments("iterations=2")),
            (
                "iterations=2 \tend=off\0",
                arguments("iterations=2 end=off"),
            ),
            ("b.efi iterations=2 c.efi", arguments("iterations=2 c.efi")),
            ("nonsense", arguments("nonsense")),
            ("iterations\u{2013}2", arguments("iterations\u{2013}2")),
            ("a\0b", LoadOptions::Binary),
            ("a\u{1}", LoadOptions::Binary),
            ("\u{ac0e}\u{8108}\u{9d11}", LoadOptions::Binary),
        ] {
            assert_eq!(parse(&ucs2(text)), expected, "{text:?}");
        }
        assert_eq!(parse(&[0x61, 0, 0x62]), LoadOptions::Binary);
        assert_eq!(parse(&0xd800u16.to_le_bytes()), LoadOptions::Binary);
    }
}
