//! Parses reStructuredText grid tables into rows of cells with their positions.

use anyhow::{Result, bail, ensure};

use super::published_rows::PublishedCell;

/// Returns the rows of the table whose top border is `lines[first]`, and the index of the line
/// after the table. A first row with a single cell is a title and is omitted.
///
/// # Errors
/// Returns an error that starts with `LINE:COLUMN: ` if the table is not terminated, its lines have
/// different widths, or cells are merged.
pub(super) fn read(lines: &[&str], first: usize) -> Result<(Vec<Vec<PublishedCell>>, usize)> {
    let is_part = |line: &&str| line.trim_start().starts_with(['+', '|']);
    let end = first + lines[first..].iter().take_while(|it| is_part(it)).count();
    let table: Vec<Vec<char>> = lines[first..end]
        .iter()
        .map(|it| it.trim_end().chars().collect())
        .collect();
    let edges = edges(&table);
    ensure!(edges.len() > 1, "{}:1: expected a table border", first + 1);
    let (left, right) = (edges[0], edges[edges.len() - 1]);
    let mut rows: Vec<Vec<PublishedCell>> = Vec::new();
    // The row not yet closed by a border.
    let mut open: Option<Vec<PublishedCell>> = None;
    for (number, line) in (first + 1..).zip(&table) {
        let at = |column: usize| line.get(column).copied();
        let is_whole = line.len() == right + 1 && line.iter().take(left).all(|c| *c == ' ');
        ensure!(
            is_whole && at(left).is_some_and(|c| c != ' '),
            "{number}:{}: expected the table's border in column {}",
            line.len(),
            right + 1
        );
        if at(left) == Some('+') {
            if let Some(place) = line[left..].iter().position(|c| !"+-=".contains(*c)) {
                bail!("{number}:{}: merged cells cannot be read", left + place + 1);
            }
            rows.extend(open.take());
            continue;
        }
        let missing = edges.iter().find(|edge| at(**edge) != Some('|'));
        match missing {
            Some(edge) if *edge == right => bail!("{number}:{}: expected '|'", edge + 1),
            Some(_) if rows.is_empty() && open.is_none() && is_title(line, &edges) => continue,
            Some(edge) => bail!("{number}:{}: merged cells cannot be read", edge + 1),
            None => {}
        }
        let cells = edges.windows(2).map(|edge| cell(line, number, edge));
        match &mut open {
            // The line continues the same row.
            Some(row) => row.iter_mut().zip(cells).for_each(|(own, next)| {
                own.text = format!("{} {}", own.text, next.text).trim().to_owned();
            }),
            None => open = Some(cells.collect()),
        }
    }
    ensure!(
        open.is_none(),
        "{end}:{}: the table has no bottom border",
        left + 1
    );
    Ok((rows, end))
}

/// Returns the columns at which borders separate cells, based on the border with the most
/// separators.
fn edges(table: &[Vec<char>]) -> Vec<usize> {
    let corners = |line: &Vec<char>| -> Vec<usize> {
        let all = line.iter().enumerate();
        all.filter(|it| *it.1 == '+').map(|it| it.0).collect()
    };
    let is_border = |line: &&Vec<char>| line.iter().all(|c| " +-=".contains(*c));
    let all = table.iter().filter(is_border).map(corners);
    all.max_by_key(Vec::len).unwrap_or_default()
}

/// Returns true if a line is a single cell that spans the table.
fn is_title(line: &[char], edges: &[usize]) -> bool {
    let between = &edges[1..edges.len() - 1];
    between.iter().all(|edge| line[*edge] != '|')
}

fn cell(line: &[char], number: usize, edge: &[usize]) -> PublishedCell {
    let inside = &line[edge[0] + 1..edge[1]];
    let blanks = inside.iter().take_while(|c| **c == ' ').count();
    let text: String = inside.iter().collect();
    let column = match blanks == inside.len() {
        true => edge[0] + 2,
        false => edge[0] + 2 + blanks,
    };
    PublishedCell {
        text: text.trim().to_owned(),
        place: (number, column),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> Result<Vec<Vec<String>>> {
        let lines: Vec<&str> = text.lines().collect();
        let (rows, end) = read(&lines, 0)?;
        assert_eq!(end, lines.len());
        let texts = |row: Vec<PublishedCell>| row.into_iter().map(|it| it.text).collect();
        Ok(rows.into_iter().map(texts).collect())
    }

    #[test]
    fn rows_titles_and_lines_of_a_cell() {
        let rows = read_text(
            "  +-------+\n  | title |\n  +---+---+\n  | a | b |\n  +===+===+\n  | 1 | 2 |\n  |   | x |\n  +---+---+",
        );
        let expected = [["a", "b"], ["1", "2 x"]];
        assert_eq!(rows.expect("a table"), expected);
        let lines = ["+----+", "|  7 |", "+----+"];
        let (rows, _) = read(&lines, 0).expect("a table");
        assert_eq!(rows[0][0].place, (2, 4));
    }
}
