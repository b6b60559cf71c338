//! Writes edits to a text as a unified diff.

use std::ops::Range;

use similar::TextDiff;

/// The number of unchanged lines around a change.
const CONTEXT: usize = 3;

/// A replacement of a part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TextEdit {
    /// The bytes to replace; empty for an insertion.
    pub(super) at: Range<usize>,
    pub(super) new: String,
}

/// Returns a diff of the file called `name`. The edits may be in any order, but must not overlap.
pub(super) fn unified_diff(name: &str, text: &str, mut edits: Vec<TextEdit>) -> String {
    edits.sort_by_key(|edit| (edit.at.start, edit.at.end));
    let mut edited = String::new();
    let mut copied = 0;
    for edit in &edits {
        edited += &text[copied..edit.at.start];
        edited += &edit.new;
        copied = edit.at.end;
    }
    edited += &text[copied..];
    // A name with a space ends at a tab.
    let end = if name.contains(' ') { "\t" } else { "" };
    let [old_name, new_name] = ["a", "b"].map(|side| format!("{side}/{name}{end}"));
    TextDiff::from_lines(text, &edited)
        .unified_diff()
        .context_radius(CONTEXT)
        .header(&old_name, &new_name)
        .to_string()
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
        let edit = |surrounding_text: &str, old_text: &str, new_text: &str| {
            let inner = surrounding_text.find(old_text).expect("a part");
            let start = text.find(surrounding_text).expect("there") + inner;
            TextEdit {
                at: start..start + old_text.len(),
                new: new_text.to_owned(),
            }
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
