//! Comments, sizes and exceptions of all Rust files.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use fancy_regex::Regex;

/// Words that begin no doc comment, as the sentence has no head then.
const HEADLESS: [&str; 8] = [
    "What", "Whether", "Who", "Whose", "How", "The same", "Its", "It's",
];
/// Words that no comment contains.
const AVOIDED: [&str; 5] = ["he", "his", "nobody", "whoever", "told"];

/// All Rust files below `root`, by their path from there, with their text.
pub fn read_all(root: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    let mut pending = vec![root.to_path_buf()];
    while let Some(folder) = pending.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().and_then(|name| name.to_str());
            let is_source = name.is_some_and(|name| name != "target" && !name.starts_with('.'));
            if path.is_dir() && is_source {
                pending.push(path);
            } else if path.extension().is_some_and(|it| it == "rs") {
                let inner = path.strip_prefix(root).expect("a path below the root");
                found.insert(inner.into(), fs::read_to_string(&path).expect("a text"));
            }
        }
    }
    found
}

/// The mark and the text of a line's comment.
fn comment(line: &str) -> Option<(&str, &str)> {
    let line = line.trim_start();
    if let Some((_, text)) = line.split_once("doc = \"")
        && line.starts_with('#')
    {
        return Some(("#[doc]", text));
    }
    for mark in ["///", "//!", "//"] {
        if let Some(text) = line.strip_prefix(mark) {
            return Some((mark, text.trim()));
        }
    }
    // A comment after code, where the mark is not in a string.
    let (code, text) = line.split_once(" // ")?;
    (code.matches('"').count() % 2 == 0).then_some(("", text))
}

fn begins_with(text: &str, word: &str) -> bool {
    let rest = text.strip_prefix(word);
    rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
}

/// The number and the fault of each line of `text` whose comment breaks a rule.
pub fn wording_faults(text: &str) -> Vec<(usize, String)> {
    let mut faults = Vec::new();
    let mut last_mark = "";
    for (line, number) in text.lines().zip(1..) {
        let (mark, text) = comment(line).unwrap_or_default();
        let begins = mark.len() > 2 && mark != last_mark;
        last_mark = mark;
        if let Some(word) = HEADLESS.iter().find(|it| begins && begins_with(text, it)) {
            faults.push((number, format!("begins with {word:?}")));
        }
        let words = text.split(|c: char| !c.is_alphanumeric());
        for word in words.filter(|word| AVOIDED.contains(&word.to_lowercase().as_str())) {
            faults.push((number, format!("contains {word:?}")));
        }
    }
    faults
}

/// The clippy lints that `text` turns off by `#[expect]` or `#[allow]`.
pub fn lint_exceptions(text: &str) -> Vec<String> {
    static EXCEPTION: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"#!?\[(?:expect|allow)\(\s*clippy::(\w+)").expect("it is good")
    });
    let found = EXCEPTION.captures_iter(text).filter_map(Result::ok);
    found.map(|it| it[1].to_owned()).collect()
}
