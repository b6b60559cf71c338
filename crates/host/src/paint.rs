//! Colors lines of text: verdicts, results, changes, warnings and errors.

use console::{Color, Style};

/// The words that report a result, with their colors.
const WORDS: [(&str, Color); 14] = [
    ("better", Color::Green),
    ("right", Color::Green),
    ("passed", Color::Green),
    ("PASS", Color::Green),
    ("worse", Color::Red),
    ("wrong", Color::Red),
    ("failed", Color::Red),
    ("FAIL", Color::Red),
    ("regression", Color::Red),
    ("regressions", Color::Red),
    ("mixed", Color::Yellow),
    ("skipped", Color::Yellow),
    ("incomplete", Color::Yellow),
    ("INCOMPLETE", Color::Yellow),
];

/// The starts of lines that report a result, with their colors.
const STARTS: [(&str, Color); 10] = [
    ("PASS", Color::Green),
    ("FAIL", Color::Red),
    ("INCOMPLETE", Color::Yellow),
    ("bad input", Color::Red),
    ("no regression", Color::Green),
    ("Cannot tell", Color::Yellow),
    ("cannot tell", Color::Yellow),
    ("Warning:", Color::Yellow),
    ("warning:", Color::Yellow),
    ("error:", Color::Red),
];

/// The prefix of the payload's verdict.
const PAYLOAD: &str = "psci-bench: ";

/// Colors lines for one of the standard streams, if colors are enabled for it.
pub struct Painter {
    style: Style,
}

impl Painter {
    /// Returns a painter for lines on standard output.
    pub fn for_stdout() -> Self {
        let style = Style::new().for_stdout();
        Self { style }
    }

    /// Returns a painter for lines on standard error.
    pub fn for_stderr() -> Self {
        let style = Style::new().for_stderr();
        Self { style }
    }

    /// Returns `shown` in the colors of `line`. `shown` is either the same text, or the text after it
    /// has been wrapped or given a prefix.
    pub fn paint(&self, line: &str, shown: &str) -> String {
        match line_color(line) {
            Some(color) => {
                let lines = shown.split('\n').map(|part| self.paint_text(part, color));
                lines.collect::<Vec<_>>().join("\n")
            }
            None if line == shown && is_of_table(line) => self.paint_words(line),
            None => shown.to_owned(),
        }
    }

    /// Colors `text` except for its indentation.
    fn paint_text(&self, text: &str, color: Color) -> String {
        let painted = text.trim_start_matches(' ');
        let indent = &text[..text.len() - painted.len()];
        let style = self.style.clone().fg(color);
        format!("{indent}{}", style.apply_to(painted))
    }

    /// Colors the words of `line` that report a result.
    fn paint_words(&self, line: &str) -> String {
        let words = line.split(' ').map(|word| match word_color(word) {
            Some(color) => self.paint_text(word, color),
            None => word.to_owned(),
        });
        words.collect::<Vec<_>>().join(" ")
    }
}

/// Returns the color of a line that as a whole reports a result.
fn line_color(line: &str) -> Option<Color> {
    let text = line.strip_prefix(PAYLOAD).unwrap_or(line);
    let mut starts = STARTS.iter();
    let start = starts.find(|(start, _)| {
        let rest = text.strip_prefix(start);
        rest.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
    });
    start.map(|(_, color)| *color).or_else(|| count_color(text))
}

/// Returns the color of a line such as `50 worse, 36 better, 10 unchanged of 96 figures`: that of the
/// worst result that occurred, or green if none did.
fn count_color(line: &str) -> Option<Color> {
    if !line.starts_with(|first: char| first.is_ascii_digit()) || is_of_table(line) {
        return None;
    }
    let clauses = line.split([',', ':', ';']).map(str::trim_start);
    let counts = clauses.filter_map(|clause| {
        let mut words = clause.split(' ');
        match words.next()?.parse::<u64>() {
            Ok(count) => Some((count, word_color(words.next()?)?)),
            Err(_) => Some((1, word_color(clause)?)),
        }
    });
    let counts: Vec<(u64, Color)> = counts.collect();
    let has_occurred = |color: &Color| counts.iter().any(|(count, of)| *count > 0 && of == color);
    let mut worst = [Color::Red, Color::Yellow].into_iter().filter(has_occurred);
    let is_result = !counts.is_empty();
    worst.next().or(is_result.then_some(Color::Green))
}

fn word_color(word: &str) -> Option<Color> {
    let mut words = WORDS.iter();
    let found = words.find(|(known, _)| *known == word);
    found.map(|(_, color)| *color)
}

/// Returns true for a line of a table: it has two or more spaces between words. Text that is indented
/// by two spaces, such as a list, is not a table, even if it has such spaces.
fn is_of_table(line: &str) -> bool {
    let text = line.trim_start_matches(' ');
    line.len() - text.len() != 2 && text.trim_end().contains("  ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const GREEN: &str = "\x1b[32m";
    const RED: &str = "\x1b[31m";
    const YELLOW: &str = "\x1b[33m";
    const END: &str = "\x1b[0m";

    fn painter() -> Painter {
        let style = Style::new().force_styling(true);
        Painter { style }
    }

    #[test]
    fn results_warnings_and_errors_are_painted_whole() {
        for (line, color) in [
            ("50 worse, 36 better, 10 unchanged of 96 figures", RED),
            ("0 worse, 36 better, 60 unchanged of 96 figures", GREEN),
            ("0 worse, 0 better, 96 unchanged of 96 figures", GREEN),
            (
                "0 worse, 1 better, 95 unchanged of 96 figures; incomplete",
                YELLOW,
            ),
            ("94 printed: 0 right, 94 wrong", RED),
            (
                "3 runs: 2 PASS, 0 FAIL, 0 bad input, 1 INCOMPLETE, in 9 s",
                YELLOW,
            ),
            ("2 regressions against old.log; the largest is Wakeup", RED),
            ("no regression against old.log", GREEN),
            ("Cannot tell: the clocks differ", YELLOW),
            (
                "psci-bench: PASS (6 passed, 0 skipped, 0 failed; 0 rows skipped)",
                GREEN,
            ),
            (
                "psci-bench: FAIL (5 passed, 0 skipped, 1 failed; 0 rows skipped)",
                RED,
            ),
            ("psci-bench: INCOMPLETE: no CPU left", YELLOW),
            ("psci-bench: bad input: no such key", RED),
            ("PASS after 9.0 s", GREEN),
            ("warning: 3 lines lost", YELLOW),
            ("error: run.log: no run in its 3 lines", RED),
        ] {
            let expected = format!("{color}{line}{END}");
            assert_eq!(painter().paint(line, line), expected);
        }
    }

    #[test]
    fn only_whole_words_in_tables_are_painted() {
        let painted = |line: &str| painter().paint(line, line);
        assert_eq!(
            painted("susp_deep  Powerdown  384.98  +24.98  worse 6/6"),
            format!("susp_deep  Powerdown  384.98  +24.98  {RED}worse{END} 6/6")
        );
        assert_eq!(
            painted("   psci_version passed 100 Call    14.66"),
            format!("   psci_version {GREEN}passed{END} 100 Call    14.66")
        );
        assert_eq!(
            painted("cpu_susp  skipped  mixed  wrong"),
            format!("cpu_susp  {YELLOW}skipped{END}  {YELLOW}mixed{END}  {RED}wrong{END}")
        );
        for line in [
            "fitness, method warm, failed (1 check failed)",
            "  * CPU 0 is worse  than CPU 1",
            "  Verdict     the run failed",
            "80 samples, 0 not counted.",
            "PASSWORD",
            "noise?  worsening",
            "",
        ] {
            assert_eq!(painted(line), line);
        }
    }

    #[test]
    fn wrapped_lines_keep_their_color() {
        let painted = painter().paint("Cannot tell: why", "Cannot tell:\n  why");
        assert_eq!(
            painted,
            format!("{YELLOW}Cannot tell:{END}\n  {YELLOW}why{END}")
        );
    }

    #[test]
    fn nothing_is_painted_without_colors() {
        let style = Style::new().force_styling(false);
        let line = "psci-bench: PASS (6 passed)";
        assert_eq!(Painter { style }.paint(line, line), line);
    }
}
