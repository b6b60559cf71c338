//! LAVA's log: a sequence in YAML, an entry a line. Where `lava-run` writes it
//! by itself, entries are without the dash.

use memchr::memmem;

/// Returns the message of an entry, quoted as it is; Some(None) of an entry that is
/// not the target's, None of a line that is no entry.
pub(super) fn entry(line: &[u8]) -> Option<Option<&[u8]>> {
    let line = line.trim_ascii();
    let rest = match line.strip_prefix(b"-") {
        Some(rest) => rest.trim_ascii_start(),
        None if line.starts_with(b"{\"dt\": ") => line,
        None => return None,
    };
    let rest = rest.strip_prefix(b"{")?;
    let level = value(rest, b"lvl")?;
    let is_target = [&b"target"[..], b"feedback"].iter().any(|name| {
        let level = level.trim_ascii_start();
        let level = level.strip_prefix(b"\"").or(level.strip_prefix(b"'"));
        level.unwrap_or_default().starts_with(name)
    }) || level.trim_ascii_start().starts_with(b"target");
    Some(is_target.then(|| value(rest, b"msg")).flatten())
}

/// Returns the text after `key:` or `"key":`.
fn value<'l>(entry: &'l [u8], key: &[u8]) -> Option<&'l [u8]> {
    let mut from = 0;
    loop {
        let rest = entry.get(from..)?;
        let at = memmem::find(rest, key)?;
        let after = rest.get(at + key.len()..)?;
        let after = after
            .strip_prefix(b"\"")
            .or(after.strip_prefix(b"'"))
            .unwrap_or(after);
        if let Some(value) = after.strip_prefix(b":") {
            return Some(value.trim_ascii_start());
        }
        from += at + key.len();
    }
}

/// Appends the text of the scalar at the beginning of `value`.
pub(super) fn unescape(value: &[u8], out: &mut Vec<u8>) {
    match value.split_first() {
        Some((b'"', text)) => double_quoted(text, out),
        Some((b'\'', text)) => single_quoted(text, out),
        _ => {
            let plain = value.strip_suffix(b"}").unwrap_or(value);
            out.extend_from_slice(plain.trim_ascii_end());
        }
    }
}

fn single_quoted(text: &[u8], out: &mut Vec<u8>) {
    let mut bytes = text.iter().peekable();
    while let Some(byte) = bytes.next() {
        if *byte == b'\'' && bytes.next_if_eq(&&b'\'').is_none() {
            return;
        }
        out.push(*byte);
    }
}

/// Appends the text of a scalar in double quotes (YAML 1.2, section 5.7).
fn double_quoted(text: &[u8], out: &mut Vec<u8>) {
    let mut rest = text;
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            b'"' => return,
            b'\\' => {}
            other => {
                out.push(*other);
                continue;
            }
        }
        let Some((kind, after)) = rest.split_first() else {
            return;
        };
        rest = after;
        let digits = match kind {
            b'x' => 2,
            b'u' => 4,
            b'U' => 8,
            _ => 0,
        };
        if digits > 0 {
            let (code, after) = rest.split_at(digits.min(rest.len()));
            let code = std::str::from_utf8(code).ok();
            let code = code.and_then(|code| u32::from_str_radix(code, 16).ok());
            if let Some(letter) = code.and_then(char::from_u32) {
                out.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
            }
            rest = after;
            continue;
        }
        out.push(match kind {
            b'0' => 0,
            b'a' => 7,
            b'b' => 8,
            b't' | b'\t' => b'\t',
            b'n' => b'\n',
            b'v' => 11,
            b'f' => 12,
            b'r' => b'\r',
            b'e' => 0x1b,
            other => *other,
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::report::log::clean::Cleaner;

    fn clean(line: &str) -> String {
        let mut cleaner = Cleaner::default();
        String::from_utf8_lossy(cleaner.clean(line.as_bytes())).into_owned()
    }

    #[test]
    fn entries_of_the_target_are_unquoted() {
        let entry = |msg: &str| {
            clean(&format!(
                r#"- {{"dt": "2026-01-02T10:11:12.345678", "lvl": "target", "msg": {msg}}}"#
            ))
        };
        assert_eq!(
            entry(r#""<RT_INSTR:x\t0\t1\t2/>""#),
            "<RT_INSTR:x\t0\t1\t2/>"
        );
        assert_eq!(
            entry(r#""say \"a\\b\" \e[0m\x41é\r""#),
            "say \"a\\b\" A\u{e9}"
        );
        assert_eq!(entry("'it''s'"), "it's");
        assert_eq!(entry("@PB 0001 end"), "@PB 0001 end");
        assert_eq!(
            clean(r#"- {"dt": "2026-01-02", "lvl": "info", "msg": "@PB 0001"}"#),
            ""
        );
        assert_eq!(
            clean(r#"{"dt": "2026-01-02", "lvl": "target", "msg": "@PB\t0001"}"#),
            "@PB\t0001"
        );
        assert_eq!(
            clean(r#"- {dt: 2026-01-02, lvl: target, msg: '10:11:12 @PB'}"#),
            "@PB"
        );
        for broken in [
            "- {",
            r#"- {"lvl": "target"}"#,
            r#"- {"lvl": "target", "msg": "\"#,
            r#"- {"lvl": "target", "msg": "\u12"#,
        ] {
            assert!(clean(broken).len() <= broken.len());
        }
    }
}
