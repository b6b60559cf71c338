//! Pages in the layout that TF-A's documentation has used since v2.9.

use std::fmt::Write as _;

/// The rows of a table, whose cells are separated by commas.
pub type Rows<'r> = &'r [&'r str];

/// Returns a grid table. The cells in a row are separated by commas.
pub fn grid_table(title: &str, rows: Rows<'_>) -> String {
    let rule = ["-"; 5].map(|stroke| stroke.repeat(20)).join("+");
    let mut text = format!(".. table:: {title}\n\n    +{rule}+\n");
    for row in ["Cluster,Core,Powerdown,Wakeup,Cache Flush"]
        .iter()
        .chain(rows)
    {
        let cells: Vec<String> = row.split(',').map(|field| format!("{field:^20}")).collect();
        let _ = writeln!(text, "    |{}|\n    +{rule}+", cells.join("|"));
    }
    text + "\n"
}

/// Returns a page that shows the scenario with this `title` in v9.10 and v9.9.
pub fn page_of_two_releases(title: &str, new: Rows<'_>, old: Rows<'_>) -> String {
    let tables = [("v9.10", new), ("v9.9", old)]
        .map(|(release, rows)| grid_table(&format!("{title} ({release})"), rows));
    format!("Title\n=====\n\n{}", tables.concat())
}
