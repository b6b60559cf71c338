//! Tables in the documentation that follow from code.

/// Compares the table in `page`, which starts with the header row of `table`, with `table`.
/// `UPDATE_EXPECT=1` rewrites it. `page` is a path in `docs`.
///
/// # Panics
/// Panics if the page has another table, or none.
pub(crate) fn check_table(page: &str, table: &str) {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/");
    let file = std::format!("{folder}{page}");
    let text = std::fs::read_to_string(&file).expect("the documentation");
    let header = table.lines().next().expect("a header row");
    let start = text.find(header).expect("the table");
    let length = text[start..]
        .find("\n\n")
        .map_or(text.len() - start, |index| index + 1);
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        let updated = [&text[..start], table, &text[start + length..]].concat();
        std::fs::write(file, updated).expect("the documentation can be written");
        return;
    }
    assert_eq!(&text[start..start + length], table);
}
