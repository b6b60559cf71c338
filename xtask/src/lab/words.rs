//! Words of the user's that go into jobs and environments.

/// The most characters of a device type in LAVA.
const DEVICE_TYPE_MAX: usize = 200;
/// The most characters of a tag in LAVA's database.
const TAG_MAX: usize = 50;

/// Returns a type of devices: LAVA's schema has a length for it, and YAML does not have
/// all characters.
pub fn device_type(text: &str) -> Result<String, String> {
    if text.chars().count() > DEVICE_TYPE_MAX || text.contains('/') {
        return Err(format!(
            "LAVA takes up to {DEVICE_TYPE_MAX} characters, and no '/'"
        ));
    }
    printable(text)
}

/// Returns a tag.
pub fn tag(text: &str) -> Result<String, String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    if text.is_empty() || text.len() > TAG_MAX || !text.chars().all(plain) {
        return Err(format!(
            "a tag of LAVA's has up to {TAG_MAX} letters, digits, '-' and '_'"
        ));
    }
    Ok(text.to_owned())
}

/// Text that people and YAML can read.
pub fn printable(text: &str) -> Result<String, String> {
    if text.trim().is_empty() || text.chars().any(is_odd) {
        return Err("this is printable text, and not empty".to_owned());
    }
    Ok(text.to_owned())
}

/// Returns whether YAML does not print `c`, or takes it for the end of a line.
pub(super) fn is_odd(c: char) -> bool {
    c.is_control() || "\u{2028}\u{2029}\u{feff}\u{fffe}\u{ffff}".contains(c)
}

/// Checks the address of a folder for LAVA's dispatcher. A file's name is put after it.
pub fn url(text: &str) -> Result<String, String> {
    let (scheme, rest) = text.split_once("://").unwrap_or_default();
    let host = rest.split('/').next().unwrap_or_default();
    let host = host.rsplit('@').next().unwrap_or_default();
    let has_host = !host.is_empty() && !host.starts_with(':');
    let is_good = match scheme.to_ascii_lowercase().as_str() {
        "http" | "https" | "scp" => has_host && !text.contains(char::is_whitespace),
        "file" => rest.starts_with('/'),
        _ => false,
    };
    if !is_good {
        let kinds = "http://HOST/…, https://HOST/…, scp://HOST/… and file:///…";
        return Err(format!("LAVA's dispatcher takes {kinds}"));
    }
    match parts(text) {
        Some(c) => Err(format!(
            "a file's name is added, and LAVA ends an address's path at {c:?}"
        )),
        None => printable(text),
    }
}

/// Returns the first character that ends the path in an address. LAVA's dispatcher decodes
/// no `%` escapes, so that no path can have these characters.
pub fn parts(address: &str) -> Option<char> {
    address.chars().find(|c| "?#".contains(*c))
}
