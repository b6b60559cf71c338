//! Reads the text that `acpidump` prints and `acpixtract` reads: for each table a line like
//! `DSDT @ 0x00000000BFD1C018`, followed by rows of an offset and up to 16 bytes in hexadecimal.

use std::ops::Range;

use thiserror::Error;

/// The maximum number of bytes in a row. The same bytes follow as characters.
const ROW_MAX: usize = 16;
/// Where a table's header has the length.
const LENGTH: Range<usize> = 4..8;
/// The name of the root pointer, which is not a table.
const ROOT_POINTER: &str = "RSD PTR";

/// A table in a dump. It is as long as its header says; nothing else has been checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DumpedTable {
    /// The number of the line with the table's name, starting at 1.
    pub line: usize,
    /// The name in that line.
    name: String,
    /// The bytes in the rows.
    pub bytes: Vec<u8>,
}

/// A reason why a dump cannot be read.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{line}: {table}: {fault}; dump the tables again")]
pub struct DumpError {
    /// The number of the line, starting at 1.
    line: usize,
    table: String,
    fault: DumpFault,
}

/// What is wrong in a line of a dump, or with the table that starts there.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
enum DumpFault {
    #[error("expected an offset and 1 to {ROW_MAX} bytes in hexadecimal")]
    Row,
    #[error("the row is at offset {found:#x}, expected {expected:#x}")]
    Offset { found: usize, expected: usize },
    #[error("the table has {found} bytes, but its header says {expected}")]
    Length { found: usize, expected: usize },
    #[error("the table has no complete header")]
    Header,
}

/// Returns the text of a file if it is a dump. In PowerShell, redirected output is UTF-16.
pub fn dump_text(bytes: &[u8]) -> Option<String> {
    let text = match bytes.strip_prefix(b"\xff\xfe") {
        Some(words) => {
            let (words, _) = words.as_chunks();
            let words: Vec<u16> = words.iter().map(|word| u16::from_le_bytes(*word)).collect();
            String::from_utf16(&words).ok()?
        }
        None => str::from_utf8(bytes).ok()?.to_owned(),
    };
    let is_dump = text.lines().any(|line| table_name(line).is_some());
    is_dump.then_some(text)
}

/// Returns the tables in a dump. Lines between tables are ignored.
///
/// # Errors
/// Returns an error with the line and the table if a row is malformed or missing, or if a table is
/// not as long as its header says.
pub fn read_dump(text: &str) -> Result<Vec<DumpedTable>, DumpError> {
    let mut tables = Vec::new();
    let mut current: Option<DumpedTable> = None;
    for (line, number) in text.lines().zip(1..) {
        let is_row = line.starts_with([' ', '\t']) && !line.trim().is_empty();
        if is_row && let Some(table) = &mut current {
            add_row(table, line).map_err(|fault| table.error(number, fault))?;
        } else if !line.trim().is_empty() {
            tables.extend(current.take());
            current = table_name(line).map(|name| DumpedTable {
                line: number,
                name: name.to_owned(),
                bytes: Vec::new(),
            });
        }
    }
    tables.extend(current);
    tables.retain(|table| table.name != ROOT_POINTER);
    for table in &tables {
        let check = table.check_length();
        check.map_err(|fault| table.error(table.line, fault))?;
    }
    Ok(tables)
}

impl DumpedTable {
    fn check_length(&self) -> Result<(), DumpFault> {
        let field = self.bytes.get(LENGTH).and_then(<[u8]>::first_chunk);
        let expected = u32::from_le_bytes(*field.ok_or(DumpFault::Header)?) as usize;
        let found = self.bytes.len();
        if found == expected {
            Ok(())
        } else {
            Err(DumpFault::Length { found, expected })
        }
    }

    fn error(&self, line: usize, fault: DumpFault) -> DumpError {
        DumpError {
            line,
            table: self.name.clone(),
            fault,
        }
    }
}

/// Returns the name in a line that starts a table.
fn table_name(line: &str) -> Option<&str> {
    let (name, address) = line.trim_end().split_once(" @ 0x")?;
    let name = name.trim_end();
    let is_name = name.len() == 4 || name == ROOT_POINTER;
    (is_name && is_hexadecimal(address) && !name.starts_with(' ')).then_some(name)
}

/// Adds the bytes in a row to a table.
fn add_row(table: &mut DumpedTable, line: &str) -> Result<(), DumpFault> {
    let (found, bytes) = parse_row(line).ok_or(DumpFault::Row)?;
    let expected = table.bytes.len();
    if found != expected {
        return Err(DumpFault::Offset { found, expected });
    }
    table.bytes.extend(bytes);
    Ok(())
}

/// Returns a row's offset and bytes, of which there is at least one.
fn parse_row(line: &str) -> Option<(usize, Vec<u8>)> {
    let (offset, rest) = line.trim_start().split_once(": ")?;
    if !is_hexadecimal(offset) {
        return None;
    }
    let offset = usize::from_str_radix(offset, 16).ok()?;
    let mut bytes = Vec::new();
    // In a short row, padding follows the bytes.
    for digits in rest.split(' ').take(ROW_MAX) {
        if digits.is_empty() && !bytes.is_empty() {
            break;
        }
        if digits.len() != 2 || !is_hexadecimal(digits) {
            return None;
        }
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
    }
    Some((offset, bytes))
}

fn is_hexadecimal(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a dump of a table of 20 bytes.
    fn dump(name: &str) -> String {
        format!(
            "{name} @ 0x00000000BFD1C018\n\
             \x20   0000: 44 53 44 54 14 00 00 00 02 AA 50 53 43 49 42 20  DSDT......PSCIB \n\
             \x20   0010: 20 41 3a 20                                       A: \n\n"
        )
    }

    #[test]
    fn tables_in_a_dump_are_read() {
        let root = "RSD PTR @ 0x000F0000\n    0000: 52 53 44 20  RSD \n";
        let two = format!(
            "$ acpidump\n{root}{}{}$ ls\n  a b\n",
            dump("DSDT"),
            dump("SSDT")
        );
        let utf_16 = two.encode_utf16().flat_map(u16::to_le_bytes);
        for bytes in [
            two.clone().into_bytes(),
            two.replace('\n', "\r\n").into_bytes(),
            b"\xff\xfe".iter().copied().chain(utf_16).collect(),
        ] {
            let text = dump_text(&bytes).expect("a dump");
            let tables = read_dump(&text).expect("good tables");
            let found: Vec<_> = tables
                .iter()
                .map(|table| (table.line, table.name.as_str(), table.bytes.len()))
                .collect();
            assert_eq!(found, [(4, "DSDT", 20), (8, "SSDT", 20)]);
            assert_eq!(tables[0].bytes[16..], *b" A: ");
        }
    }

    #[test]
    fn other_files_are_not_dumps() {
        for bytes in [
            &b"DSDT\x14\0\0\0\x02\xaaPSCIB A: "[..],
            b"/* DSDT @ 0x1000 */",
            b"DSDT @ 0x10zz",
            b"    DSDT @ 0x1000",
            b"\xff\xfe\0\xd8",
            b"",
        ] {
            assert_eq!(dump_text(bytes), None, "{bytes:?}");
        }
    }

    #[test]
    fn damaged_dump_is_rejected_with_its_line_and_table() {
        let row = "expected an offset and 1 to 16 bytes in hexadecimal";
        for (old, new, expected) in [
            (
                "14 00 00",
                "15 00 00",
                "1: DSDT: the table has 20 bytes, but its header says 21",
            ),
            (
                "0010: ",
                "0020: ",
                "3: DSDT: the row is at offset 0x20, expected 0x10",
            ),
            ("0010: 20 41", "0010: 2g 41", &format!("3: DSDT: {row}")),
            ("0010: 20 41 3a 20", "0010:", &format!("3: DSDT: {row}")),
            ("    0000", "  + 0000", &format!("2: DSDT: {row}")),
            ("14 00 00", "1400 00", &format!("2: DSDT: {row}")),
            (
                "    0000",
                "0000",
                "1: DSDT: the table has no complete header",
            ),
        ] {
            let text = dump("DSDT").replacen(old, new, 1);
            let error = read_dump(&text).expect_err("a damaged dump").to_string();
            assert_eq!(
                error,
                format!("{expected}; dump the tables again"),
                "{text}"
            );
        }
    }
}
