//! What XML may hold.

/// `text` with U+FFFD for what no XML may hold, escaped or not: control
/// characters, of which logs have some.
pub(super) fn characters(text: &str) -> String {
    let may = |c: char| match c {
        '\t' | '\n' => true,
        '\u{fffe}' | '\u{ffff}' => false,
        c => !c.is_control(),
    };
    text.chars()
        .map(|c| if may(c) { c } else { '\u{fffd}' })
        .collect()
}
