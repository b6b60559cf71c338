//! Parses reStructuredText grid tables into rows of entries with their positions.

use anyhow::{Result, bail, ensure};
use itertools::Itertools as _;

use super::published_rows::PublishedEntry;

/// Returns the rows of the table whose top border is `lines[first]`, and the index of the line
/// after the table. A first row with a single entry is a title and is omitted.
///
/// # Errors
/// Returns an error that starts with `LINE:COLUMN: ` if the table is not terminated, its lines have
/// different widths, or cells are merged.
pub(super) fn read(lines: &[&str], first: usize) -> Result<(Vec<Vec<PublishedEntry>>, usize)> {
    let is_in_table = |line: &&&str| line.trim_start().starts_with(['+', '|']);
    let end = first + lines[first..].iter().take_while(is_in_table).count();
    let table: Vec<Vec<char>> = lines[first..end]
        .iter()
        .map(|line| line.trim_end().chars().collect())
        .collect();
    let edges = edges(&table);
    ensure!(edges.len() > 1, "{}:1: expected a table border", first + 1);
    let left = edges[0];
    let right = edges[edges.len() - 1];
    let mut rows: Vec<Vec<PublishedEntry>> = Vec::new();
    // The row not yet closed by a border.
    let mut open: Option<Vec<PublishedEntry>> = None;
    for (number, line) in (first + 1..).zip(&table) {
        let byte_at = |column: usize| line.get(column).copied();
        let mut indent = line.iter().take(left);
        let is_whole = line.len() == right + 1 && indent.all(|letter| *letter == ' ');
        ensure!(
            is_whole && byte_at(left).is_some_and(|letter| letter != ' '),
            "{number}:{}: expected the table's border in column {}",
            line.len(),
            right + 1
        );
        if byte_at(left) == Some('+') {
            let border = &line[left..];
            if let Some(index) = border.iter().position(|mark| !"+-=".contains(*mark)) {
                bail!("{number}:{}: merged cells cannot be read", left + index + 1);
            }
            rows.extend(open.take());
            continue;
        }
        let missing = edges.iter().find(|edge| byte_at(**edge) != Some('|'));
        match missing {
            Some(edge) if *edge == right => bail!("{number}:{}: expected '|'", edge + 1),
            Some(_) if rows.is_empty() && open.is_none() && is_title(line, &edges) => continue,
            Some(edge) => bail!("{number}:{}: merged cells cannot be read", edge + 1),
            None => {}
        }
        let entries = edges.windows(2).map(|edges| entry(line, number, edges));
        match &mut open {
            // The line continues the same row.
            Some(row) => {
                for (entry, next) in row.iter_mut().zip(entries) {
                    entry.text = format!("{} {}", entry.text, next.text).trim().to_owned();
                }
            }
            None => open = Some(entries.collect()),
        }
    }
    ensure!(
        open.is_none(),
        "{end}:{}: the table has no bottom border",
        left + 1
    );
    Ok((rows, end))
}

/// Returns the columns at which borders separate entries, based on the border with the most
/// separators.
fn edges(table: &[Vec<char>]) -> Vec<usize> {
    let corners = |border: &Vec<char>| -> Vec<usize> {
        border.iter().positions(|mark| *mark == '+').collect()
    };
    let is_border = |line: &&Vec<char>| line.iter().all(|mark| " +-=".contains(*mark));
    let borders = table.iter().filter(is_border);
    borders
        .map(corners)
        .max_by_key(Vec::len)
        .unwrap_or_default()
}

/// Returns true if a line is a single entry that spans the table.
fn is_title(line: &[char], edges: &[usize]) -> bool {
    let between = &edges[1..edges.len() - 1];
    between.iter().all(|edge| line[*edge] != '|')
}

/// Returns the entry between two edges of a line.
fn entry(line: &[char], number: usize, edges: &[usize]) -> PublishedEntry {
    let inside = &line[edges[0] + 1..edges[1]];
    let blanks = inside.iter().take_while(|letter| **letter == ' ').count();
    let text: String = inside.iter().collect();
    let column = if blanks == inside.len() {
        edges[0] + 2
    } else {
        edges[0] + 2 + blanks
    };
    PublishedEntry {
        text: text.trim().to_owned(),
        position: (number, column),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> Result<Vec<Vec<String>>> {
        let lines: Vec<&str> = text.lines().collect();
        let (rows, end) = read(&lines, 0)?;
        assert_eq!(end, lines.len());
        let texts = |row: Vec<PublishedEntry>| row.into_iter().map(|entry| entry.text).collect();
        Ok(rows.into_iter().map(texts).collect())
    }

    #[test]
    fn titles_are_omitted_and_lines_of_an_entry_are_joined() {
        let rows = read_text(
            "  +-------+\n  | title |\n  +---+---+\n  | a | b |\n  +===+===+\n  | 1 | 2 |\n  |   | x |\n  +---+---+",
        );
        let expected = [["a", "b"], ["1", "2 x"]];
        assert_eq!(rows.expect("a table"), expected);
        let lines = ["+----+", "|  7 |", "+----+"];
        let (rows, _) = read(&lines, 0).expect("a table");
        assert_eq!(rows[0][0].position, (2, 4));
    }
}
