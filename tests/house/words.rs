//! The words of comments, by which a reader sees what an item is.

use std::fs;
use std::path::{Path, PathBuf};

/// Words that no doc comment begins with: what follows has no head.
const HEADLESS: [&str; 7] = ["What", "Whether", "Who", "Whose", "How", "The same", "Its"];
/// Words that no comment has.
const AVOIDED: [&str; 5] = ["he", "his", "nobody", "whoever", "told"];

/// The comment of a line: its mark, and its text.
fn comment(line: &str) -> Option<(&str, &str)> {
    let line = line.trim_start();
    let marks = ["///", "//!", "//"];
    let mark = marks.into_iter().find(|mark| line.starts_with(mark))?;
    Some((mark, line[mark.len()..].trim()))
}

fn begins_with(text: &str, word: &str) -> bool {
    let rest = text.strip_prefix(word);
    rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
}

/// Lists the lines of `text` whose comments break a rule.
pub fn faults(text: &str) -> Vec<(usize, String)> {
    let mut faults = Vec::new();
    let mut last_mark = "";
    for (place, line) in text.lines().enumerate() {
        let Some((mark, said)) = comment(line) else {
            last_mark = "";
            continue;
        };
        let begins = mark != "//" && mark != last_mark;
        last_mark = mark;
        if let Some(word) = HEADLESS.iter().find(|it| begins && begins_with(said, it)) {
            faults.push((place + 1, format!("begins with {word:?}")));
        }
        let words = said.split(|c: char| !c.is_alphanumeric());
        for word in words.filter(|word| AVOIDED.contains(&word.to_lowercase().as_str())) {
            faults.push((place + 1, format!("has {word:?}")));
        }
    }
    faults
}

/// All Rust files below these folders.
pub fn files(root: &Path, folders: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut pending: Vec<PathBuf> = folders.iter().map(|it| root.join(it)).collect();
    while let Some(folder) = pending.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() && !path.ends_with("target") {
                pending.push(path);
            } else if path.extension().is_some_and(|it| it == "rs") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}
