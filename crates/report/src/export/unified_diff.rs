//! Writes edits to a text as a unified diff.

use std::fmt::Write as _;
use std::ops::Range;

/// The number of unchanged lines around a change.
const CONTEXT: usize = 3;

/// A replacement of a part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TextEdit {
    /// The bytes to replace; empty for an insertion.
    pub(super) at: Range<usize>,
    pub(super) new: String,
}

/// Consecutive lines that are replaced.
struct Chunk<'t> {
    /// The indices of the old lines.
    old: Range<usize>,
    new: Vec<String>,
    lines: &'t [&'t str],
}

/// Returns a diff of the file called `name`. The edits may be in any order, but must not overlap.
pub(super) fn unified_diff(name: &str, text: &str, mut edits: Vec<TextEdit>) -> String {
    edits.sort_by_key(|edit| (edit.at.start, edit.at.end));
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let chunks = chunks(text, &lines, &edits);
    // A name with a space ends at a tab.
    let end = if name.contains(' ') { "\t" } else { "" };
    let mut diff = format!("--- a/{name}{end}\n+++ b/{name}{end}\n");
    let mut grown = 0isize;
    let is_near = |a: &Chunk<'_>, b: &Chunk<'_>| b.old.start - a.old.end <= 2 * CONTEXT;
    for hunk in chunks.chunk_by(is_near) {
        grown += write_hunk(&mut diff, &lines, hunk, grown);
    }
    diff
}

/// Groups the edits into lines that change.
fn chunks<'t>(text: &str, lines: &'t [&'t str], edits: &[TextEdit]) -> Vec<Chunk<'t>> {
    let starts: Vec<usize> = lines
        .iter()
        .scan(0, |at, line| {
            let start = *at;
            *at += line.len();
            Some(start)
        })
        .collect();
    let line_of = |at: usize| {
        starts
            .partition_point(|start| *start <= at)
            .saturating_sub(1)
    };
    // The line of an edit's last byte; an insertion belongs to the line before it.
    let rows = |edit: &TextEdit| {
        let first = line_of(edit.at.start);
        first..line_of(edit.at.end.saturating_sub(1).max(edit.at.start)) + 1
    };
    let joins = |a: &TextEdit, b: &TextEdit| rows(b).start < rows(a).end;
    let groups = edits.chunk_by(joins);
    let chunks = groups.map(|group| {
        let first = rows(&group[0]).start;
        let last = group.iter().map(|edit| rows(edit).end).max();
        let old = first..last.unwrap_or(first);
        let end = starts.get(old.end).copied().unwrap_or(text.len());
        let (mut new, mut at) = (String::new(), starts[old.start]);
        for edit in group {
            new += &text[at..edit.at.start];
            new += &edit.new;
            at = edit.at.end;
        }
        new += &text[at..end];
        let new = new.split_inclusive('\n').map(str::to_owned).collect();
        Chunk { old, new, lines }.without_same_ends()
    });
    chunks.collect()
}

impl Chunk<'_> {
    /// Leaves out lines at both ends that do not change.
    fn without_same_ends(mut self) -> Self {
        while self.new.first().map(String::as_str) == self.lines[self.old.clone()].first().copied()
            && !self.new.is_empty()
        {
            self.new.remove(0);
            self.old.start += 1;
        }
        while self.new.last().map(String::as_str) == self.lines[self.old.clone()].last().copied()
            && !self.new.is_empty()
        {
            self.new.pop();
            self.old.end -= 1;
        }
        self
    }
}

/// Writes one hunk. `grown` is the number of lines that earlier hunks add. Returns the number of
/// lines that this hunk adds.
fn write_hunk(diff: &mut String, lines: &[&str], hunk: &[Chunk<'_>], grown: isize) -> isize {
    let first = hunk[0].old.start.saturating_sub(CONTEXT);
    let last = hunk.last().map_or(first, |chunk| chunk.old.end);
    let last = (last + CONTEXT).min(lines.len());
    let added = hunk.iter().map(|chunk| chunk.new.len().cast_signed());
    let removed = hunk.iter().map(|chunk| chunk.old.len().cast_signed());
    let more = added.sum::<isize>() - removed.sum::<isize>();
    let count = last - first;
    let start = first + 1;
    let new_start = start.saturating_add_signed(grown);
    let new_count = count.saturating_add_signed(more);
    // Writing to a String cannot fail.
    let _ = writeln!(diff, "@@ -{start},{count} +{new_start},{new_count} @@");
    let mut at = first;
    for chunk in hunk {
        let same = lines[at..chunk.old.start].iter();
        same.for_each(|line| write_line(diff, ' ', line));
        let old = lines[chunk.old.clone()].iter();
        old.for_each(|line| write_line(diff, '-', line));
        chunk
            .new
            .iter()
            .for_each(|line| write_line(diff, '+', line));
        at = chunk.old.end;
    }
    let same = lines[at..last].iter();
    same.for_each(|line| write_line(diff, ' ', line));
    more
}

fn write_line(diff: &mut String, mark: char, line: &str) {
    diff.push(mark);
    diff.push_str(line);
    if !line.ends_with('\n') {
        diff.push_str("\n\\ No newline at end of file\n");
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn edits_become_hunks_with_context() {
        let lines = (1..=20).map(|line| format!("line {line}\n"));
        let text = lines.collect::<String>() + "end";
        // Replaces `old` in the first occurrence of `around`.
        let edit = |around: &str, old: &str, new: &str| {
            let inner = around.find(old).expect("a part");
            let start = text.find(around).expect("there") + inner;
            let at = start..start + old.len();
            let new = new.to_owned();
            TextEdit { at, new }
        };
        // Unsorted: a last line without an end, a removed line, two changes of a line, and an
        // insertion.
        let mut edits = vec![
            edit("end", "end", "END"),
            edit("line 3\n", "line 3\n", ""),
            edit("line 12", "2", "2!"),
            edit("line 12", "line", "row"),
            edit("line 5", "line 5", "line 5\nline 5a"),
        ];
        let insertion = edits[4].at.end;
        edits[4] = TextEdit {
            at: insertion..insertion,
            new: "\nline 5a".to_owned(),
        };
        expect![[r#"
            --- a/my file	
            +++ b/my file	
            @@ -1,15 +1,15 @@
             line 1
             line 2
            -line 3
             line 4
             line 5
            +line 5a
             line 6
             line 7
             line 8
             line 9
             line 10
             line 11
            -line 12
            +row 12!
             line 13
             line 14
             line 15
            @@ -18,4 +18,4 @@
             line 18
             line 19
             line 20
            -end
            \ No newline at end of file
            +END
            \ No newline at end of file
        "#]]
        .assert_eq(&unified_diff("my file", &text, edits));
    }
}
