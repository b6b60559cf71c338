//! Checks that help texts fit a terminal and can be used as they are printed.

use clap::Command;

/// The terminal size that every help text must fit.
const COLUMNS: usize = 80;
const LINES: usize = 40;
/// The indentation of a continuation line.
const CONTINUED: &str = "            ";

/// Checks the help of `command` and all its subcommands. Each help text must fit on a terminal with
/// 80 columns and 40 lines without being truncated, and must contain examples. `-h` and `--help`
/// must print the same text.
pub fn check_help(command: &Command) {
    check_help_of(&command.clone().term_width(COLUMNS), command, &[]);
}

/// Checks the help of `inner`, the subcommand of `root` at `path`.
fn check_help_of(root: &Command, inner: &Command, path: &[&str]) {
    let name = path.join(" ");
    let [short, long] = ["-h", "--help"].map(|option| {
        let words = ["program"].iter().chain(path).chain([&option]);
        let printed = root.clone().try_get_matches_from(words);
        printed.expect_err("help is an error").to_string()
    });
    assert_eq!(short, long, "{name}");
    let lines: Vec<&str> = long.lines().collect();
    let count = lines.len();
    assert!(count <= LINES, "{name}: {count} lines\n{long}");
    let widest = lines.iter().map(|line| line.chars().count()).max();
    assert!(widest <= Some(COLUMNS), "{name}: {widest:?}\n{long}");
    assert!(long.contains("\nExample"), "{name}\n{long}");
    for leak in ["[`", "crate::", "super::", "Self::", "{program}"] {
        assert!(!long.contains(leak), "{name}: {leak}\n{long}");
    }
    // Examples must be ready to paste.
    let examples = inner.get_after_help().map(ToString::to_string);
    let cut = examples
        .iter()
        .flat_map(|text| text.lines())
        .filter(|line| line.starts_with("  "))
        .find(|line| !lines.contains(line));
    assert_eq!(cut, None, "{name}\n{long}");
    // A description starts on the same line as its option and is at most two lines long.
    let is_continued = |line: &&str| line.starts_with(CONTINUED);
    let third = lines.windows(2).find(|pair| pair.iter().all(is_continued));
    assert_eq!(third, None, "{name}\n{long}");
    for verb in inner.get_subcommands() {
        let path = [path, &[verb.get_name()]].concat();
        check_help_of(root, verb, &path);
    }
}
